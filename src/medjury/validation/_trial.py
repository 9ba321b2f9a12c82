"""The trial: one rater on one dimension beside the clinicians, answer by answer. Rules of the gate read it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medjury.agreement import (
    correlation_statistics,
    icc_statistics,
    incomplete,
    kappa_statistics,
    no_disagreement,
    over_pairs,
    too_few_each,
)
from medjury.records import dataclass
from medjury.runs import ConsensusRule, GateRules
from medjury.statistics import (
    Estimate,
    Floats,
    PostStrata,
    Read,
    Replicates,
    Statistics,
    by_last_column,
    by_strata,
    cluster_codes,
    combined,
    replicates,
)
from medjury.tables import ABSENT, UNSCORED, Grid, Measured, consensus_of, mean_of_raters

Flags = NDArray[np.bool_]
# Standard errors of differences need fewer resamples than the ends of an interval.
FEW_RESAMPLES = 300


@dataclass(frozen=True, eq=False)
class Trial:
    """`grid` has the held-out answers that the rater was asked about or clinicians scored; `humans` a column for
    each of the `clinicians`, `said` the rater's scores, NaN where there is none. Where a run `recorded` what was
    asked, an answer without any row of the rater was not asked about; elsewhere nobody knows, and it counts as left
    without a score. `weights` are one over the probabilities with which the answers were drawn for the
    clinicians, on the footing of as many answers as they are worth; None where these are all
    the same; `strata` are then those of all answers by the rater's score."""

    dimension: Measured
    rules: GateRules
    statistic: str
    grid: Grid
    clinicians: tuple[str, ...]
    humans: Floats
    said: Floats
    states: NDArray[np.uint8]
    recorded: bool
    resamples: int
    seed: int
    confidence: float
    consensus: ConsensusRule = "mean"
    settled: Floats | None = None  # the adjudicator's labels, where one settles
    weights: Floats | None = None
    strata: PostStrata | None = None

    @cached_property
    def raters(self) -> NDArray[np.int64]:
        """How many clinicians scored each answer."""
        return np.asarray((~np.isnan(self.humans)).sum(axis=1))

    @cached_property
    def reference(self) -> Floats:
        """The clinicians' one score by the stated consensus; NaN where none scored the answer, and where they
        have none (no majority, nobody who settles)."""
        if self.humans.shape[1] < 2:
            return mean_of_raters(self.humans)
        return consensus_of(self.humans, self.consensus, self.settled)

    @cached_property
    def middle(self) -> Floats:
        """The same, and the clinicians' mean where they have no consensus: what an unscored answer could have
        got."""
        return np.where(np.isnan(self.reference), mean_of_raters(self.humans), self.reference)

    @cached_property
    def both(self) -> Flags:
        """Answers that a clinician and the rater on trial scored."""
        return np.asarray((self.raters > 0) & ~np.isnan(self.said))

    @cached_property
    def compared(self) -> Flags:
        """Of those, the answers on which the clinicians have a consensus."""
        return np.asarray(self.both & ~np.isnan(self.reference))

    @cached_property
    def silent(self) -> Flags:
        """Answers that a clinician scored and the rater left without a score. That something does not apply is no
        excuse where a clinician could score it."""
        asked = self.states != ABSENT if self.recorded else np.ones(len(self.said), dtype=bool)
        return np.asarray((self.raters > 0) & np.isnan(self.said) & asked)

    @cached_property
    def unscored(self) -> Flags:
        """Answers that the rater was asked about and left without a score, rated by clinicians or not."""
        return np.asarray(self.silent | (self.states == UNSCORED))

    @cached_property
    def flat(self) -> bool:
        """Whether the rater gave one score to answers that clinicians tell apart."""
        said = self.said[self.both]
        return said.size > 0 and float(np.ptp(said)) < 1e-9 and _vary(self.humans[self.both])

    @cached_property
    def span(self) -> float | None:
        """The length of the scale; None where none is known."""
        grades = self.dimension.grades
        return None if grades is None else float(grades.highest - grades.lowest)

    def cases(self, chosen: Flags) -> int:
        """How many patients (cases, where no patient is known) the chosen answers are of."""
        return int(np.count_nonzero(np.bincount(self._clusters[chosen])))

    @cached_property
    def _clusters(self) -> NDArray[np.int64]:
        """A number for each answer's patient or case: numbers are told apart sooner than names."""
        return cluster_codes(self.grid.clusters, len(self.grid.clusters))

    def without(self, place: int) -> Trial:
        """The trial without one clinician."""
        kept = tuple(name for other, name in enumerate(self.clinicians) if other != place)
        return replace(self, clinicians=kept, humans=np.delete(self.humans, place, axis=1))

    @cached_property
    def overall(self) -> Estimate:
        """Agreement with single clinicians on every answer that one of them and the rater scored."""
        made = self.agreement({"all": self.both}, humans=False, interval=True)
        found = made.estimate(
            "jury all",
            confidence=self.confidence,
            reason="a rater does not vary, or nothing is shared",
            statistic=self.statistic,
        )
        alike = no_disagreement(self._counted(self.said)[self.both], self.grid.clusters[self.both])
        return found if alike is None else alike.ends(found, (1 - self.confidence) / 2)

    def if_silence_were(self, scores: Floats) -> float | None:
        """The same agreement if the silent answers had these scores."""
        said = np.where(self.silent, scores, self.said)
        made = self.agreement({"all": self.both | self.silent}, humans=False, resamples=0, said=said)
        value = made.observed.get("jury all", np.nan)
        return float(value) if np.isfinite(value) else None

    def agreement(
        self,
        parts: Mapping[str, Flags],
        *,
        humans: bool = True,
        interval: bool = False,
        resamples: int | None = None,
        said: Floats | None = None,
    ) -> Replicates:
        """In each of these parts, on the same resamples of cases, `jury PART`: agreement of the rater with single
        clinicians, and `clinicians PART`: theirs with one another. Both are pooled over pairs of raters: in a part,
        pairs share few answers."""
        together = self._counted(self.said if said is None else said)
        width, several = together.shape[1], self.humans.shape[1]
        pairs = {"jury": [(human, width - 1) for human in range(several)]}
        if humans and several > 1:
            pairs["clinicians"] = list(combinations(range(several), 2))
        # One rule for a part and for the rest of the answers, so that they can be compared.
        pool = not interval or incomplete(self.humans) or bool((self.raters[self.both] < several).any())
        strata = self.strata
        used = np.any(list(parts.values()), axis=0) if strata is None else strata.weights > 0
        flags = [flag[used].astype(np.float64) for flag in parts.values()]
        rows = np.column_stack([together[used], *flags])
        statistics = [
            _in_part(
                over_pairs(self._statistics(), rows[flag[used]], each, f"{who} {part}\0", pool=pool),
                width,
                width + place,
                f"{who} {part}",
                # Who gives one score to answers that clinicians tell apart agrees by chance alone.
                0.0 if who == "jury" and _vary(self.humans[flag]) and self.can_be_weighted else np.nan,
            )
            for place, (part, flag) in enumerate(parts.items())
            for who, each in pairs.items()
        ]
        times = self.resamples if interval else min(self.resamples, FEW_RESAMPLES)
        every = combined(*statistics)
        if strata is not None:
            rows, every = strata.rows(rows), by_strata(every)
        elif self.weights is not None:
            rows, every = np.column_stack([rows, self.weights[used]]), by_last_column(every)
        made = replicates(
            rows,
            every,
            clusters=self.grid.clusters[used] if strata is None else strata.clusters,
            resamples=times if resamples is None else resamples,
            seed=self.seed,
            jackknife=interval,
            n=int(used.sum()),
        )
        few = too_few_each(self.humans[self.both], self.statistic) if pool else None
        return made if few is None else replace(made, refused=dict.fromkeys(made.observed, few))

    def _counted(self, said: Floats) -> Floats:
        """The clinicians' scores and, last, the rater's, as the statistic sees them."""
        together, grades = np.column_stack([self.humans, said]), self.dimension.grades
        graded = self.statistic.startswith("kappa") and grades is not None
        return grades.grade(together) if grades is not None and graded else together

    @property
    def can_be_weighted(self) -> bool:
        """False where the answers have weights and the statistic of the gate has no weighted form."""
        return self.weights is None or self.statistic in ("kappa_quadratic", "spearman")

    def of(self, chosen: Flags) -> Floats | None:
        """The weights of the chosen answers, where they have any."""
        return None if self.weights is None else self.weights[chosen]

    def _statistics(self) -> Statistics:
        grades = self.dimension.grades
        if not self.can_be_weighted:
            return lambda _: lambda weights: {"none": np.full(len(weights), np.nan)}
        if self.statistic == "kappa_quadratic" and grades is not None:
            return kappa_statistics(grades.values, ["quadratic"])
        if self.statistic == "spearman":
            return correlation_statistics(["spearman"])
        return icc_statistics(["icc_2_1"])


def _vary(scores: Floats) -> bool:
    known = scores[~np.isnan(scores)]
    return bool(known.size) and float(np.ptp(known)) > 0


def _in_part(statistics: Statistics, width: int, column: int, name: str, undefined: float) -> Statistics:
    """A statistic of one value on the rows that a column marks, and what it is where it does not exist."""

    def prepare(rows: Floats) -> Read:
        inside = rows[:, column] > 0
        read = statistics(rows[inside][:, :width]) if inside.any() else None

        def every(weights: Floats) -> Mapping[str, Floats]:
            found: Mapping[str, Any] = {} if read is None else read(weights[:, inside])
            values = next(iter(found.values()), np.full(len(weights), np.nan))
            return {name: np.where(np.isfinite(values), values, undefined)}

        return every

    return prepare
