"""One state of a run's ratings, answer by answer. Every number comes from the rating table and the evidence that
the report reads; here they are only brought into one order of answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from medjury.analysis.agreement import SevereErrors
from medjury.analysis.calibration import triage
from medjury.panel._evidence._texts import Key
from medjury.store.runs import Manifest
from medjury.tables import Grid, Measured, RatingTable, case_column
from medjury.validation import Evidence, evidence_of

if TYPE_CHECKING:
    import polars

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Numbers = NDArray[np.int64]
_P = ParamSpec("_P")
_Made = TypeVar("_Made")
_ORDER = {"clinician": 0, "jury": 1, "judge": 2}


def _once(make: Callable[Concatenate[Snapshot, _P], _Made]) -> Callable[Concatenate[Snapshot, _P], _Made]:
    """What a method makes of the same words is made once for a state, whichever page asks first."""

    def kept(state: Snapshot, /, *words: _P.args, **named: _P.kwargs) -> _Made:
        key = (make.__name__, words, *named.items())
        with state._lock:
            if key not in state._made:
                state._made[key] = make(state, *words, **named)
            made: _Made = state._made[key]
            return made

    return kept


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The ratings as they stand. An answer is known by its number, its place in `keys`; columns have an entry for
    each. `judged` counts the answers that every judge has rated, where the run is still going on."""

    table: RatingTable
    manifest: Manifest
    going_on: bool = False
    _made: dict[Any, Any] = field(default_factory=dict, repr=False)
    _lock: RLock = field(default_factory=RLock, repr=False)

    @cached_property
    def evidence(self) -> Evidence:
        """Without resampling: no interval is shown here that the report does not compute."""
        return evidence_of(self.table, statistics=("offset",), resamples=0)

    @cached_property
    def rows(self) -> polars.DataFrame:
        """Every rating, those of one answer one after the other: clinicians, jury, judges, others."""
        import polars as pl

        kind = pl.col("rater_kind").replace_strict(_ORDER, default=3, return_dtype=pl.Int8)
        rows = self.table.everything.with_columns(pl.col(case_column(self.table.everything)).alias("item"))
        return rows.sort("item", "system", kind, "rater", "repeat", maintain_order=True)

    @cached_property
    def keys(self) -> tuple[Key, ...]:
        return tuple(zip(*(self._answers[name].to_list() for name in ("item", "system")), strict=True))

    @cached_property
    def number(self) -> dict[Key, int]:
        return {key: place for place, key in enumerate(self.keys)}

    @cached_property
    def items(self) -> dict[str, list[int]]:
        """The answers to each item."""
        found: dict[str, list[int]] = {}
        for place, (item, _) in enumerate(self.keys):
            found.setdefault(item, []).append(place)
        return found

    @cached_property
    def development(self) -> Flags:
        served = set(self.table.rules.development_cases)
        return np.array([item in served for item, _ in self.keys], dtype=bool)

    @cached_property
    def judged(self) -> int:
        """How many answers have a rating of every judge of the run."""
        import polars as pl

        judges = {each.name for each in self.manifest.judges} or set(self.table.judges)
        rated = self.rows.filter(pl.col("rater").is_in(sorted(judges)))
        counted = rated.group_by("item", "system").agg(pl.col("rater").n_unique().alias("raters"))
        return counted.filter(pl.col("raters") >= len(judges)).height

    @cached_property
    def reasons(self) -> dict[str, int]:
        """Why ratings have no score, and how many of them."""
        import polars as pl

        lost = self.rows.filter(pl.col("status") == "unscored").select(
            pl.col("reason").fill_null("not known")
        )
        return dict(lost.group_by("reason").len().sort("len", "reason", descending=[True, False]).iter_rows())

    @property
    def dimensions(self) -> tuple[Measured, ...]:
        return self.table.dimensions

    @property
    def rater(self) -> str:
        """Whose word is on trial: the jury's, or the first judge's."""
        return self.evidence.rater

    def of_answer(self, place: int) -> polars.DataFrame:
        """Every rating of one answer."""
        start = int(self._starts[place])
        return self.rows.slice(start, int(self._starts[place + 1]) - start)

    # Columns: one entry for each answer, NaN or False where there is nothing.

    @_once
    def scores(self, dimension: str, rater: str) -> Floats:
        """A rater's score, repeats taken together as the table does; a jury that is formed there included."""
        grid = self._whole_grid(dimension)
        return self._spread(grid, grid.scores.get(rater))

    @_once
    def reference(self, dimension: str) -> Floats:
        """The clinicians' one score."""
        grid = self._whole_grid(dimension)
        return self._spread(grid, self._whole.reference_scores(grid, self.evidence.clinicians))

    @_once
    def difference(self, dimension: str = "") -> Floats:
        """How far the rater on trial is above the clinicians (without clinicians: how far the judges are apart), on
        held-out answers. Without a dimension, the largest of all."""
        if dimension:
            grid, values, why = self.evidence.differences(dimension)
            return self._spread(grid, values if why else None)
        found = np.column_stack([self.difference(each.name) for each in self.dimensions] or [self._nothing])
        largest = np.nanargmax(np.nan_to_num(np.abs(found), nan=-1.0), axis=1)
        return np.asarray(found[np.arange(len(found)), largest])

    @cached_property
    def difference_words(self) -> str:
        """Whose difference it is, for the head of a column."""
        words = (self.evidence.differences(each.name)[2] for each in self.dimensions)
        found = next((each for each in words if each), "")
        return found.replace("jury", self.rater) if self.rater else found

    @_once
    def apart(self, dimension: str = "") -> Floats:
        """How far the judges lie apart: the largest score less the smallest. Without a dimension, the most."""
        widths = [self._nothing]
        for name in [dimension] if dimension else [each.name for each in self.dimensions]:
            scores = (self.scores(name, judge) for judge in self.table.judges)
            votes = np.column_stack([self._nothing, *scores])
            known = (~np.isnan(votes)).sum(axis=1) > 1
            width = self._nothing.copy()
            width[known] = np.nanmax(votes[known], axis=1) - np.nanmin(votes[known], axis=1)
            widths.append(width)
        return np.asarray(np.fmax.reduce(widths))

    def dangerous(self, dimension: str = "") -> Flags:
        """Held-out answers that the clinicians called dangerous, by the run's own rule."""
        return self.flagged("danger", dimension, self.rater)

    def dangerous_scored(self, dimension: str = "", rater: str = "", *, scored: bool = True) -> Flags:
        """Of the dangerous answers those that a rater scored, or those that it did not; on any dimension, where
        none is named."""
        rater = rater or self.rater
        found = np.zeros(len(self.keys), dtype=bool)
        for each in self.dimensions:
            if dimension in ("", each.name):
                known = ~np.isnan(self.scores(each.name, rater))
                found |= self.flagged("danger", each.name, rater) & (known if scored else ~known)
        return found

    @_once
    def below_danger(self, dimension: str) -> Flags:
        """Held-out answers at the dangerous end of a dimension, be severe errors counted on it or not: what triage
        is to catch."""
        measured, grid = self.table.dimension(dimension), self.evidence.grid(dimension)
        column = np.zeros(len(self.keys), dtype=bool)
        limit = measured.danger(self.table.rules)
        if limit is not None:
            word = self.table.danger_word(grid, measured, self.evidence.clinicians)
            column[self._places(grid)[word <= limit[0] + 1e-9]] = True
        return column

    def missed(self, dimension: str = "", rater: str = "") -> Flags:
        """Of these, where a rater (by default the one on trial) made a severe error."""
        return self.flagged("flags", dimension, rater or self.rater)

    def severe(self, dimension: str, rater: str) -> SevereErrors | None:
        return self.evidence.severe(dimension, rater)

    @_once
    def with_status(self, status: str, *, dimension: str = "", rater: str = "", reason: str = "") -> Flags:
        """Answers with a rating of this status, as far as dimension, rater and reason are named."""
        import polars as pl

        wanted = pl.col("status") == status
        for name, value in (("dimension", dimension), ("rater", rater)):
            wanted &= pl.col(name) == value if value else pl.lit(True)
        wanted &= pl.col("reason").fill_null("not known") == reason if reason else pl.lit(True)
        found = np.zeros(len(self.keys), dtype=bool)
        found[[self.number[key] for key in self.rows.filter(wanted).select("item", "system").iter_rows()]] = (
            True
        )
        return found

    @_once
    def queue(self, dimension: str) -> Numbers:
        """The order in which a clinician should read: that of `medjury triage`."""
        rows = triage(self.table, dimensions=dimension, resamples=0).rows
        places = dict.fromkeys(self._number_of[row.item, row.system] for row in rows)
        return np.array(list(places), dtype=np.int64)

    @cached_property
    def queues(self) -> tuple[str, ...]:
        """The dimensions by which there is an order for review."""
        return tuple(
            each.name for each in self.table.counted if each.grades is not None and self.table.judges
        )

    @_once
    def sums(self, what: str) -> Floats:
        """Seconds, cost or calls of the judges on every answer, NaN where none is known."""
        import polars as pl

        judged = self.rows.filter(pl.col("rater_kind") == "judge", pl.col(what).is_not_null())
        found = judged.group_by("item", "system").agg(pl.col(what).sum())
        column = self._nothing.copy()
        for item, system, value in found.iter_rows():
            column[self.number[item, system]] = value
        return column

    @_once
    def flagged(self, what: str, dimension: str, rater: str) -> Flags:
        """What `SevereErrors` says of every answer: `danger`, or `flags` where the error happened."""
        column = np.zeros(len(self.keys), dtype=bool)
        for each in self.table.dimensions:
            found = self.severe(each.name, rater) if dimension in ("", each.name) else None
            if found is not None:
                column[self._places(self.evidence.grid(each.name))[getattr(found, what)]] = True
        return column

    @cached_property
    def _nothing(self) -> Floats:
        return np.full(len(self.keys), np.nan)

    @cached_property
    def _answers(self) -> polars.DataFrame:
        import polars as pl

        return self.rows.group_by("item", "system", maintain_order=True).agg(pl.len().alias("ratings"))

    @cached_property
    def _starts(self) -> Numbers:
        return np.concatenate([[0], np.cumsum(self._answers["ratings"].to_numpy())]).astype(np.int64)

    @cached_property
    def _whole(self) -> RatingTable:
        """The same table with the cases that served development: for showing them, never for counting."""
        table = self.table
        if not table.left_aside:
            return table
        return replace(table, rows=table.everything, development_rows=table.development_rows.clear())

    @_once
    def _whole_grid(self, dimension: str) -> Grid:
        return self._whole.grid(dimension, self.evidence.roles)

    def _places(self, grid: Grid) -> Numbers:
        """The numbers of a grid's answers."""
        names = zip(grid.items.tolist(), grid.systems.tolist(), strict=True)
        return np.array([self._number_of[key] for key in names], dtype=np.int64)

    @cached_property
    def _number_of(self) -> dict[Key, int]:
        """The answer of each unit of a grid: itself or, where units are criteria of a case, what they mark."""
        if not self.table.criteria:
            return self.number
        units = self.table.everything.select("item", "system", case_column(self.table.everything)).unique()
        return {(item, system): self.number[case, system] for item, system, case in units.iter_rows()}

    def _spread(self, grid: Grid, values: Floats | None) -> Floats:
        """Values of units as a column of answers: the mean where an answer has several that are known."""
        column = self._nothing.copy()
        if values is None:
            return column
        places, known = self._places(grid), ~np.isnan(values)
        counts = np.bincount(places[known], minlength=len(column))
        sums = np.bincount(places[known], weights=values[known], minlength=len(column))
        there = counts > 0
        column[there] = np.round(sums[there] / counts[there], 12)  # sums of a few marks, not their last digit
        return column
