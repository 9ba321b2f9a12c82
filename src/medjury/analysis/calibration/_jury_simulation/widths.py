"""Conformal widths for a jury that stops early: how far may the final score still lie from the score so far?

Cells of the table (number of votes, score so far, range of the votes) are calibrated apart, so that the width
holds for answers like this one (Mondrian conformal prediction: Vovk, Lindsay, Nouretdinov & Gammerman 2003).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

import numpy as np

from medjury.analysis.calibration._conformal.strangeness import check_level, strangeness
from medjury.analysis.calibration._jury_simulation.simulation import JuryTable, Order, fixed_scores
from medjury.analysis.calibration._maps.calibrator import Floats

if TYPE_CHECKING:
    from medjury.judging import WidthCell, Widths

    _Stage = tuple[dict[WidthCell, float], float]

JurySignal = Literal["disagreement", "jury width", "reference width"]
JURY_SIGNALS: tuple[JurySignal, ...] = ("disagreement", "jury width", "reference width")
# Widths to the clinicians' grades learn from the very labels that rules are compared by: only where asked for.
DEFAULT_JURY_SIGNALS: tuple[JurySignal, ...] = ("disagreement", "jury width")


class WidthFitter:
    """Fits the widths of any order of jurors on one table; what two orders share is fitted once.

    The final score is the full jury's ("jury width": needs no clinician) or the clinicians' ("reference
    width"). Every case weighs the same, as in all of the conformal intervals here.
    """

    def __init__(self, table: JuryTable, level: float) -> None:
        check_level(level)
        self._table = table
        self._level = level
        self._cases = table.cases.astype(str).astype(object)
        self._final: Mapping[str, Floats] = {
            "jury width": fixed_scores(table, table.everybody),
            "reference width": table.labels,
        }
        self._known: dict[tuple[JurySignal, frozenset[int], int], _Stage] = {}

    def widths(self, order: Order, signal: JurySignal) -> Widths | None:
        """The table for jurors asked in this order; None for the signal that needs none."""
        if signal == "disagreement":
            return None
        from medjury.judging import Widths

        stages = {
            dimension: [self._stage(signal, order[: call + 1], column) for call in range(len(order))]
            for column, dimension in enumerate(self._table.dimensions)
        }
        return Widths(
            {name: tuple(cells for cells, _ in each) for name, each in stages.items()},
            {name: tuple(whole for _, whole in each) for name, each in stages.items()},
        )

    def _stage(self, signal: JurySignal, called: Order, column: int) -> _Stage:
        key = (signal, frozenset(called), column)
        if key not in self._known:
            self._known[key] = self._fit(signal, called, column)
        return self._known[key]

    def _fit(self, signal: JurySignal, called: Order, column: int) -> _Stage:
        from medjury.judging import width_cell

        table, (low, high) = self._table, self._table.scales[column]
        votes, final = table.votes[:, list(called), column], self._final[signal][:, column]
        usable = ~np.isnan(votes).any(axis=1) & ~np.isnan(final)
        votes, cases = (votes[usable] - low) / (high - low), self._cases[usable]
        misses = np.abs(votes.mean(axis=1) - (final[usable] - low) / (high - low))
        patterns, place = np.unique(votes, axis=0, return_inverse=True)
        cells = [width_cell(pattern) for pattern in patterns.tolist()]
        number = {cell: index for index, cell in enumerate(sorted(set(cells)))}
        of = np.array([number[cell] for cell in cells], dtype=np.int64)[place.ravel()]
        whole = strangeness(misses, cases).quantile(self._level)
        found = {}
        for cell, index in number.items():
            width = strangeness(misses[of == index], cases[of == index]).quantile(self._level)
            if np.isfinite(width):  # else the cell holds too few cases for the level, and the whole counts
                found[cell] = _share(width)
        return found, _share(whole)


def _share(width: float) -> float:
    """Six digits, as it is written to a file; no width is more than the whole scale."""
    return round(min(width, 1.0), 6)
