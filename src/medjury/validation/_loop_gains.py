"""What a closed loop gained: by its own judge, by the juror outside of it, and how far the two differ."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from medjury.statistics import FEWEST_CLUSTERS, RESAMPLES, Estimate, Floats, replicates
from medjury.tables import Measured
from medjury.validation._clustered import clustered_contrast, patients
from medjury.validation._evidence import Evidence

if TYPE_CHECKING:
    from medjury.judging import ClosedLoopBody

# With fewer cases (of different patients) no interval of a mean was seen to hold: no gain can be shown.
FEWEST = FEWEST_CLUSTERS


@dataclass(frozen=True, slots=True)
class LoopRun:
    """One unit of a loop, as its record tells it."""

    item: str
    system: str
    body: ClosedLoopBody

    @property
    def revised(self) -> bool:
        return len(self.body.rounds) > 1 and self.body.final.last is not None

    def gains(self, dimension: Measured) -> tuple[float, float] | None:
        """Last less first draft by the loop judge and by the final juror, better upwards; None where a score is
        missing."""
        final, rounds = self.body.final, self.body.rounds
        scores = []
        for given in (rounds[0].scores, rounds[-1].scores, final.first or {}, final.last or {}):
            outcome = given.get(dimension.name)
            if outcome is None or outcome.score is None:
                return None
            scores.append(outcome.score)
        sign = 1.0 if dimension.higher_is_better else -1.0
        return sign * (scores[1] - scores[0]), sign * (scores[3] - scores[2])


@dataclass(frozen=True, slots=True)
class Gain:
    """One dimension of one loop: both gains, their difference, and what that means."""

    rater: str
    dimension: Measured
    cases: int
    patients: int  # or cases, where no patients are named
    left_out: int
    loop: Estimate
    final: Estimate
    difference: Estimate

    @property
    def enough(self) -> bool:
        return self.patients >= FEWEST

    @property
    def worse(self) -> bool:
        """The final juror finds the last drafts worse than the first."""
        return self.enough and below(self.final)

    @property
    def refuted(self) -> bool:
        """The loop claims a gain; the final juror finds none, and clearly less than is claimed."""
        claimed = self.enough and above(self.loop) and above(self.difference)
        return claimed and not above(self.final)

    @property
    def word(self) -> str:
        if not self.enough:
            return f"too few cases to tell (fewer than {FEWEST})"
        if self.worse:
            return "WORSE by the final juror" + (", NOT CONFIRMED" if self.refuted else "")
        if self.refuted:
            return "NOT CONFIRMED: the final juror does not share it"
        if not above(self.loop):
            return "gain by the final juror alone" if above(self.final) else "the loop claims no gain"
        if above(self.final):
            return "confirmed, but smaller than the loop claims" if above(self.difference) else "confirmed"
        return "not confirmed: too uncertain to tell"


def loop_gains(evidence: Evidence, rater: str, runs: Sequence[LoopRun]) -> list[Gain]:
    """Over the drafts that were revised: the others have no gain to speak of."""
    revised = [run for run in runs if run.revised]
    table, confidence = evidence.table, evidence.confidence
    whose = patients(table)
    found = []
    for dimension in table.counted:
        pairs = [(run.item, gain) for run in revised if (gain := run.gains(dimension)) is not None]
        if not pairs:
            continue
        items = [item for item, _ in pairs]
        clusters = [whose.get(item, item) for item in items]
        made = gain_estimates(
            np.asarray([gain for _, gain in pairs]),
            np.asarray(clusters, dtype=object),
            span=None if (grades := dimension.grades) is None else float(grades.highest - grades.lowest),
            confidence=confidence,
            resamples=table.resamples(None),
            seed=table.seed(None),
        )
        found.append(
            Gain(rater, dimension, len(set(items)), len(set(clusters)), len(revised) - len(pairs), *made)
        )
    return found


def gain_estimates(
    gains: Floats,
    clusters: NDArray[Any],
    *,
    span: float | None,
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> tuple[Estimate, Estimate, Estimate]:
    """The mean gains by the loop judge and by the final juror (columns), and the first less the second. Where all
    are the same resampling has no interval, and on a scale of length `span` it is exact instead: that of the cases
    that could have lost the whole scale."""
    made = replicates(gains, _means, clusters=clusters, resamples=resamples, seed=seed)

    def exact(found: Estimate, values: Floats, reach: float) -> Estimate:
        if span is None or "the same in all" not in found.method:
            return found
        farthest = reach * span + abs(found.value or 0.0)
        everyone = np.ones(len(values), dtype=np.int64)
        return clustered_contrast(values, everyone, clusters, confidence=confidence, span=farthest)[0]

    return (
        exact(made.estimate("loop", confidence=confidence), gains[:, 0], 1.0),
        exact(made.estimate("final", confidence=confidence), gains[:, 1], 1.0),
        exact(made.difference("loop", "final", confidence=confidence), gains[:, 0] - gains[:, 1], 2.0),
    )


def _means(rows: Any) -> Callable[[Any], dict[str, Any]]:
    return lambda weights: {
        name: weights @ rows[:, place] / weights.sum(axis=-1) for place, name in enumerate(("loop", "final"))
    }


def above(estimate: Estimate) -> bool:
    return estimate.low is not None and estimate.low > 0


def below(estimate: Estimate) -> bool:
    return estimate.high is not None and estimate.high < 0
