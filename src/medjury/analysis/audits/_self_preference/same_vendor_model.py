"""The mixed model of self-preference: score ~ same vendor + judge + answering system + (judge x system) + (case) +
(response)."""

from __future__ import annotations

import numpy as np

from medjury.analysis.audits._audit import Finding
from medjury.analysis.audits._self_preference.judge_by_system import (
    NAME,
    Cells,
    Effect,
    Floats,
    effects_of,
    judge_by_system,
)
from medjury.analysis.audits._self_preference.vendors import Vendors
from medjury.foundation.errors import MedjuryError
from medjury.statistics import Estimate, undefined
from medjury.tables import Grid

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
    found = [f"{dimension}: {text}" for text in (*cells.told, *cells.model.warnings)]
    if cells.model.cases < FEW_CASES:
        found.append(f"{dimension}: {cells.model.cases} cases are few: the model's intervals are too narrow")
    return found
