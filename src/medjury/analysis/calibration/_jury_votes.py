"""Stored votes of a whole jury, and what a jury that stops early would have scored and cost on them."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from medjury.analysis.calibration._conformal import check_level, strangeness
from medjury.analysis.calibration._part import Marks, Part, units_of
from medjury.foundation.errors import MedjuryError
from medjury.statistics import Floats

if TYPE_CHECKING:
    from medjury.judging import AdaptiveRule, Widths

    _Stage = tuple[dict[tuple[int, int], float], float]


Order = tuple[int, ...]
Calls = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class JuryTable:
    """Every juror's vote on every unit (one system's answer to one item), where every juror was asked.

    `votes` is units × jurors × dimensions, NaN where the call gave no score; `skipped` marks the votes "not
    applicable"; `present` marks the dimensions (units × dimensions) that were asked at all. One call asks one
    juror for all dimensions of a unit.
    """

    jurors: tuple[str, ...]
    dimensions: tuple[str, ...]
    scales: tuple[tuple[float, float], ...]
    votes: Floats
    skipped: Marks
    present: Marks
    labels: Floats
    systems: NDArray[np.str_]
    cases: NDArray[np.object_]

    def where(self, chosen: Marks) -> JuryTable:
        by_unit = ("votes", "skipped", "present", "labels", "systems", "cases")
        return replace(self, **{name: getattr(self, name)[chosen] for name in by_unit})

    def of_dimensions(self, columns: Sequence[int]) -> JuryTable:
        chosen = list(columns)
        return replace(
            self,
            dimensions=tuple(self.dimensions[k] for k in chosen),
            scales=tuple(self.scales[k] for k in chosen),
            **{name: getattr(self, name)[..., chosen] for name in ("votes", "skipped", "present", "labels")},
        )

    @property
    def everybody(self) -> Order:
        return tuple(range(len(self.jurors)))

    @property
    def fingerprint(self) -> str:
        """A hash of the jurors, the votes and the labels."""
        found = hashlib.sha256("\0".join((*self.jurors, *self.dimensions)).encode())
        for values in (self.votes, self.labels):
            found.update(values.tobytes())
        return found.hexdigest()


def jury_table(parts: Sequence[Part], jurors: tuple[str, ...]) -> tuple[JuryTable, tuple[str, ...]]:
    """The stored votes of a full jury, and what the reader must know of what is left out."""
    if len(jurors) < 2:
        raise MedjuryError(
            f"there is one juror, {jurors[0]}: a jury that stops early needs the stored votes of two or more. "
            "Name them with --raters"
        )
    units = dict.fromkeys(unit for part in parts for unit in units_of(part.grid))
    place = {unit: index for index, unit in enumerate(units)}
    shape = (len(units), len(jurors), len(parts))
    votes, skipped, asked = np.full(shape, np.nan), np.zeros(shape, bool), np.zeros(shape, bool)
    labels = np.full((len(units), len(parts)), np.nan)
    cases = np.empty(len(units), dtype=object)
    for column, part in enumerate(parts):
        here = [place[unit] for unit in units_of(part.grid)]
        cases[here] = part.cases
        labels[here, column] = part.labels
        for row, juror in enumerate(jurors):
            votes[here, row, column] = part.scores(juror)
            skipped[here, row, column] = part.not_applicable(juror)
            asked[here, row, column] = part.asked(juror)
    everyone: Marks = np.all(asked.any(axis=2), axis=1)
    present: Marks = np.any(asked, axis=1)
    systems = np.array([system for _, system in units])
    table = JuryTable(
        jurors,
        tuple(part.dimension for part in parts),
        tuple(part.scale for part in parts),
        votes,
        skipped,
        present,
        labels,
        systems,
        cases,
    ).where(everyone)
    notes = []
    if not everyone.all():
        notes.append(
            f"{int((~everyone).sum()):,} of {len(units):,} answers left out: not every juror was asked"
        )
    if not len(table.votes):
        raise MedjuryError("no answer was given to every juror: there is no full jury to compare with")
    lost = int((np.isnan(table.votes) & ~table.skipped & table.present[:, np.newaxis]).sum())
    if lost:
        notes.append(
            f"{lost:,} votes are calls without a score: the call is counted, the next juror is asked"
        )
    return table, tuple(notes)


def doubts(table: JuryTable, order: Order, rule: AdaptiveRule) -> Floats:
    """Calls × units: the greatest doubt over the dimensions after each call, infinite below the minimum of votes
    and while no more than half of the jurors called have voted."""
    greatest = np.zeros((len(order), len(table.votes)))
    for column, (dimension, scale) in enumerate(zip(table.dimensions, table.scales, strict=True)):
        coded = _coded(table, order, column)
        pattern = np.zeros(len(coded), dtype=np.int64)
        for call in range(len(order)):
            _, level = np.unique(coded[:, call], return_inverse=True)
            _, first, pattern = np.unique(
                pattern * (level.max(initial=0) + 1) + level, return_index=True, return_inverse=True
            )
            known = np.array(
                [_doubt(rule, dimension, coded[row, : call + 1].tolist(), scale) for row in first.tolist()]
            )
            here = np.where(table.present[:, column], known[pattern], 0.0)
            greatest[call] = np.maximum(greatest[call], here)
    return greatest


def calls_made(doubt: Floats, tolerance: float) -> Calls:
    """How many calls each unit takes: up to the first after which nothing is open, or all of them."""
    closed = doubt <= tolerance + 1e-9
    closed[-1] = True
    return np.asarray(closed.argmax(axis=0) + 1, dtype=np.int64)


def scores_after(table: JuryTable, order: Order, calls: Calls, minimum: int = 1) -> Floats:
    """Units × dimensions: the mean of the votes of the jurors that were called; NaN where none gave a score,
    more than half gave "not applicable", or no more than half or fewer than `minimum` gave a vote at all: who gave
    none keeps the seat. The votes are averaged as they are: see docs/judging/adaptive.md on why jurors are not
    aligned with each other first."""
    called = np.arange(len(order))[np.newaxis, :, np.newaxis] < calls[:, np.newaxis, np.newaxis]
    votes = table.votes[:, list(order)]
    given = called & ~np.isnan(votes)
    skipped = (called & table.skipped[:, list(order)]).sum(axis=1)
    count = given.sum(axis=1)
    total = np.where(given, votes, 0.0).sum(axis=1)
    voted, seats = count + skipped, calls[:, np.newaxis]
    usable = (count > 0) & (2 * skipped <= seats) & (2 * voted > seats) & (voted >= minimum)
    # Rounded, so that the same mean of other votes is a tie and not a difference in the last digit.
    return np.where(usable, np.round(total / np.maximum(count, 1), 10), np.nan)


def fixed_scores(table: JuryTable, members: Sequence[int]) -> Floats:
    """The mean of the same jurors on every unit."""
    return scores_after(table, tuple(members), np.full(len(table.votes), len(members), dtype=np.int64))


def _coded(table: JuryTable, order: Order, column: int) -> Floats:
    """Votes as numbers that can be sorted: −∞ for no vote, ∞ for "not applicable"."""
    votes = table.votes[:, list(order), column]
    skipped = table.skipped[:, list(order), column]
    return np.where(skipped, np.inf, np.where(np.isnan(votes), -np.inf, votes))


def _doubt(rule: AdaptiveRule, dimension: str, coded: list[float], scale: tuple[float, float]) -> float:
    votes = [None if vote == math.inf else vote for vote in coded if vote != -math.inf]
    few = len(votes) < rule.minimum or 2 * len(votes) <= len(coded)
    return math.inf if few else rule.doubt(dimension, votes, scale)


# Conformal widths for a jury that stops early: how far may the final score still lie from the score so far?
#
# Cells of the table (number of votes, score so far, range of the votes) are calibrated apart, so that the width
# holds for answers like this one (Mondrian conformal prediction: Vovk, Lindsay, Nouretdinov & Gammerman 2003).

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
        from medjury.judging import Widths

        table, (low, high) = self._table, self._table.scales[column]
        votes, final = table.votes[:, list(called), column], self._final[signal][:, column]
        usable = ~np.isnan(votes).any(axis=1) & ~np.isnan(final)
        votes, cases = (votes[usable] - low) / (high - low), self._cases[usable]
        misses = np.abs(votes.mean(axis=1) - (final[usable] - low) / (high - low))
        patterns, place = np.unique(votes, axis=0, return_inverse=True)
        cells = [Widths.cell(pattern) for pattern in patterns.tolist()]
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
