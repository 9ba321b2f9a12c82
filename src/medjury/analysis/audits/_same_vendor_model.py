"""Judge by system: how far each judge likes each answering system, and how far it does so whoever made it.

A judge likes single systems for reasons that have nothing to do with their vendor. Many cases measure such a
liking ever more precisely and never show where it comes from: only further systems do. So the unit is the cell of
one judge and one system, m_js = judge + system + effects + liking_js + error_js. The errors' covariance comes from
a mixed model of all scores (random intercepts of case and response); the likings' variance from what the cells
leave over beyond it (moments, as Hedges & Vevea 1998, Psychol Methods 3:486-504); Student's t has as many degrees
of freedom as cells are left. With equal numbers of cases this is the analysis of variance of judge x system, and
exact. One judge may like single systems more unevenly than the others do: of the interval with one variance for all
judges and that with a variance for each (Satterthwaite's degrees of freedom) the wider one is given.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import special

from medjury.analysis.audits._finding import Adjustment, Finding, adjust, names
from medjury.analysis.audits._what_is_audited import Audited, attribute
from medjury.foundation.errors import MedjuryError
from medjury.statistics import (
    Estimate,
    Floats,
    MixedModel,
    fit_mixed_model,
    identified,
    independent,
    percent,
    undefined,
)
from medjury.tables import Grid

# Who made the judges and who made the answers: from columns of the ratings or from the caller.

NO_VENDOR = "none"


@dataclass(frozen=True, slots=True)
class Vendors:
    """The vendor of every judge and every answering system, and which system is the judge's own model."""

    judges: Mapping[str, str]
    systems: Mapping[str, str]
    own_model: Mapping[str, frozenset[str]]

    def same_vendor(self, judge: str, system: str) -> bool:
        return self.judges[judge] != NO_VENDOR and self.judges[judge] == self.systems[system]

    def same_model(self, judge: str, system: str) -> bool:
        return system in self.own_model.get(judge, frozenset())

    def own(self, judge: str) -> list[str]:
        """The systems of the judge's own vendor."""
        return [system for system in self.systems if self.same_vendor(judge, system)]

    def baseline(self, judge: str) -> list[str]:
        """The judges of other vendors: a judge of the same house may share its taste."""
        return [each for each in self.judges if self.judges[each] != self.judges[judge]]

    def neutral(self, judge: str, baseline: Sequence[str]) -> list[str]:
        """The systems that share a vendor with neither the judge nor any of the baseline judges."""
        involved = {self.judges[each] for each in (judge, *baseline)} - {NO_VENDOR}
        return [system for system, vendor in self.systems.items() if vendor not in involved]


def read_vendors(
    about: Audited,
    judge_vendors: Mapping[str, str] | None,
    system_vendors: Mapping[str, str] | None,
    own_models: Mapping[str, Sequence[str]] | None,
) -> Vendors:
    """Vendors as they are given, else as the run or the cases state them, else from the columns `judge_vendor` and
    `vendor`.

    A name without a vendor is refused: taken for a stranger it would hide what the audit looks for. A judge
    or a system that has none, such as a clinician's answer, gets the vendor "none"."""
    table, judges = about.table, about.raters
    systems = sorted(about.rows["system"].unique().to_list())
    if systems == [""]:
        raise MedjuryError("self-preference needs to know who answered: the ratings have no column `system`.")
    of_judges = {
        **attribute(table.rows, "judge_vendor", "rater"),
        **table.run.judge_vendors,
        **_known("judge", judge_vendors, list(table.raters)),
    }
    of_systems = {
        **attribute(table.rows, "vendor", "system"),
        **table.run.system_vendors,
        **_known("system", system_vendors, systems),
    }
    _refuse_missing("judge", judges, of_judges, "--judge-vendor")
    _refuse_missing("system", systems, of_systems, "--system-vendor")
    models: dict[str, frozenset[str]] = {}
    for judge, own in (own_models or {}).items():
        _known("judge", {judge: ""}, judges)
        _known("system", dict.fromkeys(own, ""), systems)
        models[judge] = frozenset(own)
    return Vendors(
        {judge: of_judges[judge].strip().casefold() for judge in judges},
        {system: of_systems[system].strip().casefold() for system in systems},
        models,
    )


def _known(what: str, given: Mapping[str, str] | None, present: Sequence[str]) -> dict[str, str]:
    unknown = [name for name in given or {} if name not in present]
    if unknown:
        raise MedjuryError(
            f"a vendor or model is given for the {what} {unknown[0]!r}; there are {names(present, 12)}."
        )
    return dict(given or {})


def _refuse_missing(what: str, listed: Sequence[str], known: Mapping[str, str], option: str) -> None:
    missing = [name for name in listed if not known.get(name, "").strip()]
    if missing:
        raise MedjuryError(
            f"no vendor is known for the {what}{'s' if len(missing) > 1 else ''} {names(missing, 12)}. Give "
            f"each one, as in {option} {missing[0]}=VENDOR, or {missing[0]}={NO_VENDOR} where it has none."
        )


NAME = "judge x system means, random judge x system"
LEAST_CASES = 5
# Scores times cells of judge and system that are held in memory at once: 400 MB.
LARGEST = 50_000_000
# With fewer cells left Student's t is so wide that a number would only mislead.
LEAST_FREEDOM = 3
NOT_IDENTIFIED = (
    "cannot be told apart from the effects of judges and answering systems: there must be judges of another "
    "vendor for the same answers, and answers of another vendor for the same judge"
)


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """The mean of every judge on every system that it scored, with the covariance of their errors. `judge` and
    `system` are numbers; `base` has the indicator columns of judges and systems, but for the first of each."""

    mean: Floats
    covariance: Floats
    judge: NDArray[np.int64]
    system: NDArray[np.int64]
    base: Floats
    model: MixedModel
    notes: tuple[str, ...] = ()

    def column(self, holds: Sequence[Sequence[bool]]) -> Floats:
        """A table of judges by systems as a column of cells."""
        return np.array(holds, dtype=np.float64)[self.judge, self.system]


@dataclass(frozen=True, slots=True)
class Effect:
    """An effect with its standard error and degrees of freedom, or the `reason` why there is none."""

    value: float = math.nan
    error: float = math.nan
    freedom: float = 0.0
    reason: str = ""

    @property
    def reach(self) -> float:
        """Half the width of the 95 % interval, to tell the wider of two."""
        return float(special.stdtrit(self.freedom, 0.975)) * self.error

    def p_value(self) -> float | None:
        if self.reason:
            return None
        return (
            float(2.0 * special.stdtr(self.freedom, -abs(self.value) / self.error)) if self.error > 0 else 1.0
        )

    def estimate(self, n: int, confidence: float, name: str = NAME) -> Estimate:
        if self.reason:
            return undefined(self.reason, n, name)
        half = float(special.stdtrit(self.freedom, 0.5 + confidence / 2.0)) * self.error
        df = f"{self.freedom:.1f}".removesuffix(".0")
        method = f"{100 * confidence:g} % Student t with {df} df, {name}"
        return Estimate(self.value, self.value - half, self.value + half, n, method)


def judge_by_system(grid: Grid, judges: Sequence[str], systems: Sequence[str]) -> Cells:
    """The cells of one dimension; refused where the mixed model of the scores cannot be had."""
    grid, notes = _lighter(grid, judges, systems)
    table = np.column_stack([grid.scores[judge] for judge in judges])
    response, judge = np.nonzero(~np.isnan(table))
    place = {name: number for number, name in enumerate(systems)}
    system = np.array([place[name] for name in grid.systems.tolist()], dtype=np.int64)[response]
    case = np.unique(grid.clusters, return_inverse=True)[1][response]
    cases = len(np.unique(case))
    if cases < LEAST_CASES:
        raise MedjuryError(f"{cases} cases are too few for the mixed model; {LEAST_CASES} are needed")
    known, cell = np.unique(judge * len(systems) + system, return_inverse=True)
    terms = [f"{judges[code // len(systems)]} on {systems[code % len(systems)]}" for code in known.tolist()]
    model = fit_mixed_model(
        table[response, judge], np.eye(len(known))[cell], terms, {"case": case, "response": response}
    )
    if not model.converged:
        raise MedjuryError("the mixed model did not converge")
    of_judge, of_system = np.divmod(known, len(systems))
    base = _indicators(of_judge, of_system)
    return Cells(model.coefficients, model.covariance, of_judge, of_system, base, model, notes)


def _lighter(grid: Grid, judges: Sequence[str], systems: Sequence[str]) -> tuple[Grid, tuple[str, ...]]:
    """So many cases, drawn at random, as the model has room for. More would measure each liking better, and that is
    not what is uncertain."""
    names = np.unique(grid.clusters)
    size = len(grid.items) * len(judges) ** 2 * len(systems)
    if size <= LARGEST:
        return grid, ()
    count = max(int(len(names) * LARGEST / size), LEAST_CASES)
    kept = np.random.default_rng(0).permutation(names)[:count]
    notes = (
        f"the mixed model rests on {count:,} of {len(names):,} cases, drawn at random: systems are its units"
    )
    return grid.where(np.isin(grid.clusters, kept)), (notes,)


def effects_of(cells: Cells, columns: Mapping[str, Floats]) -> tuple[dict[str, Effect], float | None]:
    """Every effect, and the variance of the likings for single systems beside them (None where none can be had)."""
    design = np.column_stack([cells.base, *columns.values()])
    apart = identified(design)[cells.base.shape[1] :]
    kept = independent(design)
    used = design[:, kept]
    freedom = len(cells.mean) - len(kept)
    if freedom < LEAST_FREEDOM:
        reason = (
            f"{len(np.unique(cells.judge))} judges and {len(np.unique(cells.system))} systems leave "
            f"{max(freedom, 0)} comparisons to show how far judges like single systems whoever made them; "
            f"{LEAST_FREEDOM} are needed. Add systems, or judges of other vendors"
        )
        return {
            name: Effect(reason=reason if known else NOT_IDENTIFIED)
            for name, known in zip(columns, apart, strict=True)
        }, None
    weights = np.linalg.pinv(used)
    coefficients = weights @ cells.mean
    remainder = np.eye(len(cells.mean)) - used @ weights
    left = remainder @ cells.mean
    noise = float(np.trace(cells.covariance) - np.trace(weights @ cells.covariance @ used))
    liking = max(0.0, (float(left @ left) - noise) / freedom)
    spread = cells.covariance + liking * np.eye(len(left))
    found = {}
    for number, (name, known) in enumerate(zip(columns, apart, strict=True), start=cells.base.shape[1]):
        if not known:
            found[name] = Effect(reason=NOT_IDENTIFIED)
            continue
        row, value = weights[kept.index(number)], float(coefficients[kept.index(number)])
        pooled = Effect(value, math.sqrt(float(row @ spread @ row)), freedom)
        found[name] = max(pooled, _by_judge(cells, remainder, row, pooled), key=lambda each: each.reach)
    return found, liking


def _by_judge(cells: Cells, remainder: Floats, row: Floats, pooled: Effect) -> Effect:
    """The effect with a variance of likings for each judge, by moments: what a judge's cells leave over is a sum of
    all judges' variances, with the squares of the residual matrix as weights. The pooled one where they cannot be
    told apart, as of two judges."""
    inside = np.eye(int(cells.judge.max()) + 1)[cells.judge].T
    inside = inside[inside.any(axis=1)]
    mixed = inside @ remainder**2 @ inside.T
    if np.linalg.matrix_rank(mixed, tol=1e-9) < len(mixed):
        return pooled
    noise = np.diag(remainder @ cells.covariance @ remainder.T)
    likings = np.linalg.solve(mixed, inside @ ((remainder @ cells.mean) ** 2 - noise))
    own = (inside @ row**2) * np.maximum(likings, 0.0)
    variance = float(own.sum()) + float(row @ cells.covariance @ row)
    # What belongs to which judge, for the degrees of freedom: each has as many as its cells leave.
    parts = own + inside @ (row**2 * np.diag(cells.covariance))
    left = np.maximum(inside @ np.diag(remainder), 1.0)
    total = float((parts**2 / left).sum())
    freedom = min(float(parts.sum() ** 2) / total, pooled.freedom) if total > 0 else pooled.freedom
    return Effect(pooled.value, math.sqrt(max(variance, 0.0)), freedom)


def _indicators(judge: NDArray[np.int64], system: NDArray[np.int64]) -> Floats:
    columns = [np.ones(len(judge))]
    for codes in (judge, system):
        columns += [codes == code for code in np.unique(codes)[1:]]
    return np.column_stack(columns).astype(np.float64)


# The mixed model of self-preference: score ~ same vendor + judge + answering system + (judge x system) + (case) +
# (response).

# The model's variances are taken as known: few cases give a warning.
FEW_CASES = 20


def model_findings(
    grid: Grid, vendors: Vendors, *, dimension: str, confidence: float
) -> tuple[list[Finding], list[str], Cells | None]:
    """One effect for all judges with the model's variances, what the judge's very own model gets beyond its
    vendor, then one effect per judge; the warnings; and the cells that it rests on.

    The fixed effect of every answering system takes what the system is worth to all judges; the random judge x
    system takes what a judge sees in one system whoever made it.
    """
    judges = list(vendors.judges)
    try:
        cells = judge_by_system(grid, judges, list(vendors.systems))
    except MedjuryError as error:
        nothing = undefined(
            str(error), int(sum(np.isfinite(grid.scores[name]).sum() for name in judges)), NAME
        )
        whose = ["", *(judge for judge in judges if vendors.own(judge))]
        return (
            [
                Finding("same_vendor", nothing, judge, dimension, vendors.judges.get(judge, ""))
                for judge in whose
            ],
            [],
            None,
        )

    def finding(statistic: str, effect: Effect, judge: str = "") -> Finding:
        vendor, estimate = vendors.judges.get(judge, ""), effect.estimate(cells.model.n, confidence)
        return Finding(statistic, estimate, judge, dimension, vendor, p_value=effect.p_value())

    found, liking = same_vendor(cells, vendors)
    findings = [finding("same_vendor", found[""])]
    variances = {**({} if liking is None else {"judge_system": liking}), **cells.model.variances}
    for name, value in variances.items():
        estimate = Estimate(
            value, None, None, cells.model.n, f"no interval: variance component, {cells.model.method}"
        )
        findings.append(Finding(f"{name}_variance", estimate, dimension=dimension))
    model = cells.column([[vendors.same_model(judge, each) for each in vendors.systems] for judge in judges])
    if model.any():
        both, _ = effects_of(cells, {"same_vendor": _same(cells, vendors), "same_model": model})
        findings.append(finding("same_model", both["same_model"]))
    findings += [finding("same_vendor", effect, judge) for judge, effect in found.items() if judge]
    return findings, _warnings(cells, dimension), cells


def same_vendor(cells: Cells, vendors: Vendors) -> tuple[dict[str, Effect], float | None]:
    """The effect of all judges ("") and of each one that has answers of its own vendor; and the variance of likings
    beside the first."""
    same = _same(cells, vendors)
    overall, liking = effects_of(cells, {"": same})
    by_judge = {
        judge: same * (cells.judge == place)
        for place, judge in enumerate(vendors.judges)
        if vendors.own(judge)
    }
    return overall | effects_of(cells, by_judge)[0], liking


def _same(cells: Cells, vendors: Vendors) -> Floats:
    return cells.column(
        [[vendors.same_vendor(judge, system) for system in vendors.systems] for judge in vendors.judges]
    )


def _warnings(cells: Cells, dimension: str) -> list[str]:
    found = [f"{dimension}: {text}" for text in (*cells.notes, *cells.model.warnings)]
    if cells.model.clusters < FEW_CASES:
        found.append(
            f"{dimension}: {cells.model.clusters} cases are few: the model's intervals are too narrow"
        )
    return found


# The placebo of self-preference: the vendors are shuffled over the systems, and the audit is made again.
#
# A shuffled vendor made nothing, so whatever is flagged then is a false alarm of these judges on these systems.

SHUFFLES = 100
# Fewer ways to shuffle say nothing of a share of one in twenty.
LEAST_WAYS = 20
METHOD = "mixed model with the vendors shuffled over the systems"


def placebo_findings(about: Audited, cells: Mapping[str, Cells], vendors: Vendors) -> list[Finding]:
    """The share of rows (a judge, or all of them, on a dimension) that would be flagged with shuffled vendors:
    `placebo_flagged` after the same correction as the findings, `placebo_flagged_uncorrected` before it."""
    draw = np.random.default_rng(about.seed)
    names, labels = list(vendors.systems), np.array(list(vendors.systems.values()), dtype=object)
    drawn = {tuple(draw.permutation(labels).tolist()) for _ in range(SHUFFLES)} - {tuple(labels.tolist())}
    shuffled = [replace(vendors, systems=dict(zip(names, each, strict=True))) for each in sorted(drawn)]
    shares = [_flagged(cells, each, about.adjustment, 1.0 - about.confidence) for each in shuffled]
    rows = np.sum(shares, axis=0) if shares else np.zeros(3)
    findings = []
    for place, name in enumerate(("placebo_flagged", "placebo_flagged_uncorrected")):
        if len(drawn) < LEAST_WAYS:
            reason = f"the vendors can be shuffled in {len(drawn)} ways; {LEAST_WAYS} are needed"
            findings.append(Finding(name, undefined(reason, len(drawn), METHOD)))
        elif not rows[2]:
            findings.append(Finding(name, undefined("no row has an estimate", len(drawn), METHOD)))
        else:
            method = f"no interval: share of rows over {len(drawn)} shuffles, {METHOD}"
            findings.append(
                Finding(name, Estimate(float(rows[place] / rows[2]), None, None, len(drawn), method))
            )
    return findings


def placebo_warnings(placebo: Sequence[Finding], confidence: float) -> list[str]:
    """What the placebo says in words; louder where twice as many rows as the level allows would be flagged."""
    after, before = (each.estimate.value for each in placebo)
    if after is None or before is None:
        return [f"no placebo: {placebo[0].estimate.reason}"]
    lines = [f"placebo: with the vendors shuffled, {percent(after)} of the rows would be flagged"]
    if before > 2.0 * (1.0 - confidence):
        lines.append(
            f"placebo: before correction it would be {percent(before)} where {percent(1.0 - confidence)} are due: "
            "these judges like single systems too unevenly for any verdict here to be trusted"
        )
    return lines


def _flagged(
    cells: Mapping[str, Cells], vendors: Vendors, adjustment: Adjustment, level: float
) -> tuple[int, int, int]:
    """Rows flagged after correction, before it, and rows in all; corrected together as the findings are."""
    found = [same_vendor(each, vendors)[0] for each in cells.values()]
    families = ([each[""].p_value() for each in found],
                [effect.p_value() for each in found for judge, effect in each.items() if judge])  # fmt: skip
    after = [p for family in families for p in adjust(family, adjustment) if p is not None]
    before = [p for family in families for p in family if p is not None]
    return sum(p <= level for p in after), sum(p <= level for p in before), len(before)
