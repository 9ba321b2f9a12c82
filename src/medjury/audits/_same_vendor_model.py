"""The mixed model of self-preference: score ~ same vendor + judge + answering system + (case) +
(response)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from medjury.audits._audit import Finding
from medjury.audits._columns import identified, independent
from medjury.audits._mixed_model import MixedModel, fit_mixed_model
from medjury.audits._vendors import Vendors
from medjury.errors import MedjuryError
from medjury.statistics import Estimate, undefined
from medjury.tables import Grid

Floats = NDArray[np.float64]
NAME = "mixed model of same vendor"
# Wald intervals take the variances as known: fewer cases give none, few ones a warning.
LEAST_CASES, FEW_CASES = 5, 20
NOT_IDENTIFIED = (
    "cannot be told apart from the effects of judges and answering systems: there must be judges of another "
    "vendor for the same answers, and answers of another vendor for the same judge"
)


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """Every score of every judge on one dimension; judge, system, case and response are numbers. `fixed` are the
    indicator columns of judges and systems, but for the first of each, which the intercept stands for."""

    score: Floats
    judge: NDArray[np.int64]
    system: NDArray[np.int64]
    case: NDArray[np.int64]
    response: NDArray[np.int64]
    fixed: Mapping[str, Floats]

    @property
    def cases(self) -> int:
        return len(np.unique(self.case))


def scored(grid: Grid, judges: Sequence[str], systems: Sequence[str]) -> Scored:
    """The judges' scores in a grid, answer by answer."""
    table = np.column_stack([grid.scores[judge] for judge in judges])
    response, judge = np.nonzero(~np.isnan(table))
    place = {name: number for number, name in enumerate(systems)}
    system = np.array([place[name] for name in grid.systems.tolist()], dtype=np.int64)[response]
    case = np.unique(grid.clusters, return_inverse=True)[1][response]
    fixed = {"intercept": np.ones(len(judge))}
    for kind, names, codes in (("judge", judges, judge), ("system", systems, system)):
        for number in np.unique(codes)[1:].tolist():
            fixed[f"{kind} {names[number]}"] = (codes == number).astype(np.float64)
    return Scored(table[response, judge], judge, system, case, response, fixed)


def model_findings(
    grid: Grid, vendors: Vendors, *, dimension: str, confidence: float
) -> tuple[list[Finding], list[str]]:
    """One effect for all judges with the model's variances, what the judge's very own model gets beyond its
    vendor, then one effect per judge; and the warnings.

    The fixed effect of every answering system takes what the system is worth to all judges; the random
    intercept of the response takes what this one answer is worth.
    """
    judges, systems = list(vendors.judges), list(vendors.systems)
    answers = scored(grid, judges, systems)

    def indicator(holds: list[list[bool]]) -> Floats:
        return np.array(holds, dtype=np.float64)[answers.judge, answers.system]

    same = indicator([[vendors.same_vendor(judge, system) for system in systems] for judge in judges])
    model = indicator([[vendors.same_model(judge, system) for system in systems] for judge in judges])
    by_judge = {
        judge: same * (answers.judge == place) for place, judge in enumerate(judges) if vendors.own(judge)
    }
    findings, warnings = [], []
    found, fit = _fit(answers, {"same_vendor": same}, confidence)
    estimate, p_value = found["same_vendor"]
    findings.append(Finding("same_vendor", estimate, dimension=dimension, p_value=p_value))
    if fit is not None:
        warnings += [f"{dimension}: {text}" for text in fit.warnings]
        if fit.cases < FEW_CASES:
            warnings.append(f"{dimension}: {fit.cases} cases are few: the model's intervals are too narrow")
        for name, value in fit.variances.items() if fit.converged else ():
            estimate = Estimate(value, None, None, fit.n, f"no interval: variance component, {fit.method}")
            findings.append(Finding(f"{name}_variance", estimate, dimension=dimension))
    if model.any():
        found, _ = _fit(answers, {"same_vendor": same, "same_model": model}, confidence)
        estimate, p_value = found["same_model"]
        findings.append(Finding("same_model", estimate, dimension=dimension, p_value=p_value))
    found, fit = _fit(answers, by_judge, confidence)
    for judge, (estimate, p_value) in found.items():
        vendor = vendors.judges[judge]
        findings.append(Finding("same_vendor", estimate, judge, dimension, vendor, p_value=p_value))
    if fit is not None and not fit.converged:
        warnings.append(f"{dimension}: the model with one effect per judge did not converge")
    return findings, warnings


def _fit(
    answers: Scored, effects: Mapping[str, Floats], confidence: float
) -> tuple[dict[str, tuple[Estimate, float | None]], MixedModel | None]:
    # Effects are named apart from the rest: a judge may be called "intercept".
    columns = {**answers.fixed, **{f"effect {name}": column for name, column in effects.items()}}
    terms, design = list(columns), np.column_stack(list(columns.values()))
    apart = dict(zip(terms, identified(design), strict=True))
    kept = independent(design)
    reason, fit = NOT_IDENTIFIED, None
    try:
        if answers.cases < LEAST_CASES:
            raise MedjuryError(
                f"{answers.cases} cases are too few for the mixed model; {LEAST_CASES} are the least"
            )
        fit = fit_mixed_model(
            answers.score,
            design[:, kept],
            [terms[place] for place in kept],
            case=answers.case,
            response=answers.response,
        )
    except MedjuryError as error:
        reason = str(error)
    found: dict[str, tuple[Estimate, float | None]] = {}
    for name in effects:
        term = f"effect {name}"
        if fit is not None and apart[term]:
            found[name] = fit.estimate(term, confidence), fit.p_value(term)
        else:
            found[name] = undefined(reason, len(answers.score), NAME), None
    return found, fit
