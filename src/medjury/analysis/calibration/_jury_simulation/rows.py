"""A simulated jury as rows: whatever has a number of calls and a loss, under the same columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from medjury.analysis.calibration._jury_simulation.result import JuryCurvePoint, SimulatedJury
from medjury.analysis.calibration._written import flat
from medjury.statistics import Estimate

_NOTHING = Estimate(None, None, None, 0, "", "not asked for")


@dataclass(frozen=True, slots=True)
class SimulationRow:
    """A policy, a point of the curve, a fixed jury or a dimension, as `kind` tells; None is not known."""

    kind: str
    name: str
    jurors: str | None = None
    dimension: str | None = None
    calls: float | None = None
    cost: float | None = None
    spearman: Estimate = _NOTHING
    loss: Estimate = _NOTHING
    within: Estimate = _NOTHING
    within_loss: Estimate = _NOTHING
    point: JuryCurvePoint | None = None
    offset: float | None = None
    n_unscored: int | None = None

    def as_dict(self) -> dict[str, Any]:
        of_curve = ("tolerance", "random_loss", "random_low", "random_high")
        more = dict.fromkeys(of_curve) if self.point is None else flat(self.point, *of_curve)
        return {**{name: value for name, value in flat(self).items() if name != "point"}, **more}


def rows_of(found: SimulatedJury) -> tuple[SimulationRow, ...]:
    rule = " + ".join(found.jurors)
    priced = found.adaptive.cost is not None
    rows = [
        SimulationRow(
            "policy",
            each.name,
            " + ".join(each.jurors),
            calls=each.calls,
            cost=each.cost,
            offset=each.offset,
            n_unscored=each.n_unscored,
            spearman=each.spearman,
            loss=each.loss,
            within=each.within,
            within_loss=each.within_loss,
        )
        for each in found.policies
    ]
    rows += [
        SimulationRow(
            "curve", "adaptive jury", rule, calls=point.calls, cost=point.cost, loss=point.loss, point=point
        )
        for point in found.curve
    ]
    for jurors, share, loss in found.fixed:
        calls, cost = (None, share) if priced else (share, None)
        lost = Estimate(loss, None, None, found.n_tested[1], "no interval")
        rows.append(SimulationRow("fixed", "fixed jury", " + ".join(jurors), None, calls, cost, loss=lost))
    rows += [
        SimulationRow(
            "dimension", "adaptive jury", dimension=each.dimension, spearman=each.rule, loss=each.loss
        )
        for each in found.dimensions
    ]
    return tuple(rows)
