"""The evidence: all that a verdict rests on: the rating table of a run, its checks, its records, its agreement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from medjury.analysis.agreement import AgreementRow, AgreementTable, NonInferiority, SevereErrors, agreement
from medjury.foundation.errors import MedjuryError
from medjury.intake.cases import PREFERENCE
from medjury.statistics import RESAMPLES, Estimate, Floats, cluster_codes, effective_n
from medjury.store.runs import Check, GateRules, Manifest, ManifestInstrument, ManifestJury, RunFolder
from medjury.tables import (
    ABSENT,
    NOT_APPLICABLE,
    SCORED,
    UNSCORED,
    Grid,
    Measured,
    Names,
    RatingTable,
    Roles,
    of_cases,
    rating_table,
)
from medjury.validation._clustered import clustered_share, patients
from medjury.validation._colleague import Beside, Tested, colleague_test
from medjury.validation._registered import Standing, standing
from medjury.validation._rule import Rule
from medjury.validation._scope import Scope, StudyParts, by_raters, shares_below, tested_parts
from medjury.validation._sentences import Units
from medjury.version import __version__

# What verdicts and reports show of agreement; `medjury agreement` has them all.
REPORTED = (
    "exact_match",
    "offset",
    "rmse",
    "spearman",
    "kappa_quadratic",
    "icc_2_1",
    "icc_3_k",
    "krippendorff_alpha_ordinal",
    "gwet_ac2_quadratic",
    "spearman_between_systems",
    "spearman_within_systems",
    "spearman_system_mean_baseline",
)


@dataclass(frozen=True, eq=False)
class Evidence:
    """`rater` is on trial: the first jury, the only judge, or who was named. `agreement` is None where nothing can
    be compared, and `problem` says why where that is no plain want of clinicians. `named` are raters and reference
    as they were asked for, if they were."""

    table: RatingTable
    roles: Roles
    rater: str
    agreement: AgreementTable | None
    checks: tuple[Check, ...] = ()
    problem: str = ""
    confidence: float = 0.95
    resamples: int = RESAMPLES
    seed: int = 0
    named: tuple[Names | None, Names | None] = (None, None)
    _more: dict[Any, AgreementTable | None] = field(default_factory=dict, init=False, repr=False)
    _tested: dict[str, Tested] = field(default_factory=dict, init=False, repr=False)
    _part_tests: dict[str, tuple[Scope, tuple[Rule, ...]]] = field(
        default_factory=dict, init=False, repr=False
    )

    @property
    def manifest(self) -> Manifest:
        """The run's, or, of ratings that come from no run, what can be said of them."""
        return self.table.run.manifest or self._described

    @cached_property
    def _described(self) -> Manifest:
        rule, instrument = self.table.jury_rule, self.table.instrument
        return Manifest(
            study=self.table.run.name or "A table of ratings",
            medjury=__version__,
            cases=of_cases(self.table.everything).select("item", "system").n_unique(),
            jury=ManifestJury(name=rule.name, rule=rule.rule, quorum=rule.quorum),
            instrument=ManifestInstrument() if instrument is None else ManifestInstrument.of(instrument),
        )

    @property
    def units(self) -> Units:
        """What is rated, where it is not whole answers one by one."""
        return "pair" if self.table.pairs else "mark" if self.table.criteria else "answer"

    @property
    def rules(self) -> GateRules:
        return self.table.rules

    @property
    def clinicians(self) -> tuple[str, ...]:
        """Whose scores are the yardstick."""
        return self.roles.reference

    @property
    def reference_words(self) -> str:
        """What the raters are compared with, for a reader: `the clinicians' mean`, or the only clinician's name."""
        if len(self.clinicians) < 2:
            return next(iter(self.clinicians), "nobody")
        word = {"adjudicated": "adjudicated scores"}.get(
            self.table.people.consensus, self.table.people.consensus
        )
        return f"the clinicians' {word}"

    @property
    def raters(self) -> tuple[str, ...]:
        """The rater on trial first, then all others that are compared."""
        others = [name for name in self.roles.raters if name != self.rater]
        return (self.rater, *others) if self.rater else tuple(others)

    @property
    def main_reference(self) -> str:
        """What the clinicians together are called in a table of agreement; "" without any."""
        return "consensus" if len(self.clinicians) > 1 else next(iter(self.clinicians), "")

    @property
    def how(self) -> dict[str, Any]:
        """How its intervals are drawn, for an analysis of the same answers."""
        return {"confidence": self.confidence, "resamples": self.resamples, "seed": self.seed}

    def label(self, dimension: str) -> str:
        return next((each.label for each in self.table.dimensions if each.name == dimension), dimension)

    def grid(self, dimension: str) -> Grid:
        """Every rater's scores of the held-out answers, those of a jury that is formed here included."""
        return self.table.grid(dimension, self.roles)

    def reference(self, grid: Grid) -> Floats:
        """The clinicians' one score on every answer, by the run's consensus; NaN where there is none."""
        return self.table.reference_scores(grid, self.clinicians)

    @cached_property
    def patients(self) -> dict[str, str]:
        """Whose each held-out item is: the patient where one is named, else the item itself."""
        return patients(self.table)

    def share(self, hits: Sequence[bool], items: Sequence[str]) -> Estimate:
        """A share with its interval, the rows of one patient together; its `n` counts patients."""
        return clustered_share(self.table, hits, items, confidence=self.confidence)

    def differences(self, dimension: str) -> tuple[Grid, Floats, str]:
        """By how much the rater on trial is above the clinicians on every answer or, for want of clinicians, how
        far the judges lie apart; NaN where that is not known. And in words which of the two it is ("": neither)."""
        grid = self.grid(dimension)
        if self.clinicians and self.rater:
            return grid, grid.scores[self.rater] - self.reference(grid), "jury less clinicians"
        apart = np.full(len(grid.items), np.nan)
        judges = [grid.scores[name] for name in self.table.judges]
        if len(judges) < 2:
            return grid, apart, ""
        table = np.column_stack(judges)
        full = ~np.isnan(table).any(axis=1)
        apart[full] = np.ptp(table[full], axis=1)
        return grid, apart, "between judges"

    def both(self, dimension: str, rater: str = "") -> tuple[Grid, Floats, Floats]:
        """The answers with the clinicians' consensus and a score of the rater (the one on trial, unless another is
        named), and both scores."""
        grid, rater = self.grid(dimension), rater or self.rater
        reference = self.reference(grid)
        text = grid.scores[rater] if rater else np.full(len(grid.items), np.nan)
        known = ~np.isnan(reference) & ~np.isnan(text)
        return grid.where(known), reference[known], text[known]

    def row(self, dimension: str, rater: str, statistic: str) -> AgreementRow | None:
        """The row of a rater against the clinicians' consensus, or against the only clinician."""
        return self._rows.get((dimension, rater, statistic))

    def estimate(self, dimension: str, rater: str, statistic: str) -> Estimate | None:
        row = self.row(dimension, rater, statistic)
        return None if row is None else row.estimate

    def beside(self, dimension: str, rater: str) -> Mapping[str, NonInferiority]:
        """By statistic, a rater's mean agreement with single clinicians beside theirs with one another."""
        return {} if self.agreement is None else self.agreement.non_inferiority.get((dimension, rater), {})

    def severe(self, dimension: str, rater: str) -> SevereErrors | None:
        return None if self.agreement is None else self.agreement.severe.get((dimension, rater))

    def also(
        self,
        *statistics: str,
        dimensions: Sequence[str] | None = None,
        pooled: bool = False,
        intervals: bool = True,
        groups: bool = False,
    ) -> AgreementTable | None:
        """More of agreement, asked for in the same way, and computed once; None where nothing can be compared."""
        key = (statistics, None if dimensions is None else tuple(dimensions), pooled, intervals, groups)
        if key not in self._more:
            self._more[key] = None
            if self.agreement is not None:
                with suppress(MedjuryError):  # where these ratings do not give it, the section says nothing
                    self._more[key] = agreement(
                        self.table,
                        raters=self.named[0],
                        reference=self.named[1],
                        dimensions=dimensions,
                        by="all" if pooled else "dimension",
                        confidence=self.confidence,
                        resamples=self.resamples if intervals else 0,
                        seed=self.seed,
                        statistics=statistics,
                        severe=(),
                        singles=False,
                        groups=groups,
                    )
        return self._more[key]

    def tested(self, dimension: Measured) -> Tested:
        """The colleague test of the rater on trial on one dimension."""
        if dimension.name not in self._tested:
            beside = self.beside_clinicians(dimension)
            preference = self._is_preference(dimension)
            compared = beside.both_ways() if preference else beside
            made = colleague_test(
                compared, self.rules, resamples=self.resamples, seed=self.seed, preference=preference
            )
            self._tested[dimension.name] = replace(made, beside=beside, doubly=int(beside.doubly.sum()))
        return self._tested[dimension.name]

    def _is_preference(self, dimension: Measured) -> bool:
        return self.table.pairs and dimension.name == PREFERENCE

    def beside_clinicians(self, dimension: Measured) -> Beside:
        """The rater on trial beside the clinicians, answer by answer. Where a run recorded what was asked, an
        answer without any row of the rater was not asked about; elsewhere nobody knows, and it counts as left
        without a score. That something does not apply is no excuse where a clinician could score it."""
        grid = self.grid(dimension.name)
        columns = [grid.scores[name] for name in self.clinicians]
        nothing = np.full(len(grid.items), np.nan)
        known = self.rater in grid.scores
        jury = grid.scores[self.rater] if known else nothing
        states = grid.states[self.rater] if known else np.full(len(grid.items), ABSENT, dtype=np.uint8)
        excused = (states == ABSENT) & (self.table.run.manifest is not None)
        return Beside(
            np.column_stack(columns) if columns else nothing[:, np.newaxis],
            jury,
            np.isnan(jury) & ~excused,
            cluster_codes(grid.items, len(grid.items)),
            cluster_codes(grid.systems, len(grid.items)),
            cluster_codes(grid.clusters, len(grid.items)),
            dimension.grades,
            gate_statistic(self.rules, dimension),
            dimension.claimed_danger(self.rules),
            not dimension.higher_is_better,
            self._weights(grid),
        )

    def _weights(self, grid: Grid) -> Floats | None:
        """One over the probabilities of answers that clinicians rated, summing to what these are worth; None where
        all are the same."""
        weights = self.table.weights(grid, self.clinicians)
        if weights is None:
            return None
        rated = np.any([grid.states[name] != ABSENT for name in self.clinicians], axis=0)
        scaled: Floats = weights * effective_n(weights[rated]) / weights[rated].sum()
        return scaled

    def covered(self, dimension: str) -> tuple[float | None, int, int]:
        """Share, scored and asked, of the rater on trial; of pairs the judgements, each order being one."""
        found = coverage_of(self.table, self.grid(dimension), self.rater, self.roles)
        if not (self.table.pairs and dimension == PREFERENCE):
            return found
        own = self.table.rows.filter(rater=self.rater, dimension=PREFERENCE)["status"]
        scored, asked = int((own == "scored").sum()), int((own != "not_applicable").sum())
        if found[0] is None or not asked or found[0] < scored / asked:
            return found
        return scored / asked, scored, asked

    def parts(self, dimension: Measured) -> tuple[Scope, tuple[Rule, ...]]:
        """For which parts of the cases the rater is shown to be worse, and the rules on them."""
        if dimension.name not in self._part_tests:
            beside = self.tested(dimension).beside
            parts, unknown = self._parts.of(self.grid(dimension.name))
            if self._is_preference(dimension):
                beside = beside.both_ways()
                parts = tuple(replace(each, answers=np.tile(each.answers, 2)) for each in parts)
            self._part_tests[dimension.name] = tested_parts(
                beside, (*parts, *by_raters(beside)), unknown, self.rules
            )
        return self._part_tests[dimension.name]

    def shares_below(self, dimension: str) -> dict[str, tuple[float, ...]]:
        """Where the numbers of the cases were cut into thirds."""
        return shares_below(self._parts.of(self.grid(dimension))[0])

    @cached_property
    def standing(self) -> Standing:
        """How far the rules were stated beforehand: one answer for all dimensions."""
        return standing(self.table)

    @cached_property
    def _parts(self) -> StudyParts:
        return StudyParts(self.table, self.rater)

    @cached_property
    def _rows(self) -> dict[tuple[str, str, str], AgreementRow]:
        if self.agreement is None:
            return {}
        reference = self.main_reference
        return {
            (row.dimension, row.rater, row.statistic): row
            for row in self.agreement.rows
            if row.reference == reference and row.level == "item" and not row.system
        }


def evidence_of(
    source: object,
    *,
    checks: Sequence[Check] = (),
    raters: Names | None = None,
    reference: Names | None = None,
    dimensions: Names | None = None,
    confidence: float = 0.95,
    resamples: int | None = None,
    seed: int | None = None,
    statistics: Sequence[str] = REPORTED,
) -> Evidence:
    """The evidence of a run folder or of anything else that is a rating table; `checks` are findings beyond the
    hashes of its files. Only the `statistics` that are read are computed, against the clinicians' consensus."""
    table = rating_table(source).with_weights
    own: tuple[Check, ...] = ()
    if table.run.folder is not None and table.run.manifest is not None:
        own = RunFolder(table.run.folder).check_files(table.run.manifest)
    named = {check.what for check in own}
    roles = roles_of(table, raters, reference)
    found, problem = None, ""
    if roles.reference and roles.raters:
        try:
            found = agreement(
                table,
                raters=raters,
                reference=reference,
                dimensions=dimensions,
                confidence=confidence,
                resamples=resamples,
                seed=seed,
                statistics=statistics,
                severe=_dangerous(table, dimensions),
                margin=table.rules.margin if len(roles.reference) > 1 else None,
                singles=False,
            )
        except MedjuryError as error:
            problem = str(error)
    return Evidence(
        table,
        roles,
        roles.jury or (roles.raters[0] if len(roles.raters) == 1 else ""),
        found,
        (*own, *(check for check in checks if check.what not in named)),
        problem,
        confidence,
        table.resamples(resamples),
        table.seed(seed),
        (raters, reference),
    )


def gate_evidence(
    table: object, dimensions: Names | None, **how: Any
) -> tuple[tuple[Measured, ...], Evidence]:
    """What the gate needs alone, and the dimensions that raters gave themselves: all of these, or those named."""
    ready = rating_table(table).with_weights
    measured = ready.chosen(dimensions, derived=False)
    statistics = sorted({gate_statistic(ready.rules, each) for each in measured})
    names = [each.name for each in measured]
    return measured, evidence_of(ready, dimensions=names, statistics=statistics, **how)


def _dangerous(table: RatingTable, dimensions: Names | None) -> list[str]:
    """Where severe errors are counted: on dimensions that carry danger and have a scale."""
    chosen = table.chosen(dimensions, derived=False)
    return [each.name for each in chosen if not each.derived and each.claimed_danger(table.rules) is not None]


def roles_of(table: RatingTable, raters: Names | None = None, reference: Names | None = None) -> Roles:
    """Who is on trial and who is the yardstick; a run of clinicians alone, or of nobody, has no rater on trial."""
    if raters is None and all(kind == "clinician" for kind in table.raters.values()):
        return Roles(table.default_reference, ())
    return table.roles(raters, reference, need_reference=False)


def gate_statistic(rules: GateRules, dimension: Measured) -> str:
    """The statistic that the rules name; without a scale there is no kappa, and the ICC stands in for it."""
    lacking = rules.statistic == "kappa_quadratic" and dimension.grades is None
    return "icc_2_1" if lacking else rules.statistic


def coverage_of(table: RatingTable, grid: Grid, rater: str, roles: Roles) -> tuple[float | None, int, int]:
    """Share, scored and asked: answers that the rater scored, of those it was asked about and that apply. That
    something does not apply, or is not there where nobody recorded what was asked, is no excuse where a clinician
    could score it."""
    states = grid.states.get(rater)
    if states is None:
        return None, 0, 0
    rated = np.zeros(len(grid.items), dtype=bool)
    for name in roles.reference:
        rated |= ~np.isnan(grid.scores[name])
    excused = (NOT_APPLICABLE,) if table.run.manifest is not None else (NOT_APPLICABLE, ABSENT)
    scored = int((states == SCORED).sum())
    lost = int(((states == UNSCORED) | (rated & np.isin(states, excused))).sum())
    return (scored / (scored + lost) if scored + lost else None), scored, scored + lost
