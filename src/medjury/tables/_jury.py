"""The jury as one rater: its judges' votes on every unit become one score by the stated rule, or none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from medjury.tables._grid import ABSENT, NOT_APPLICABLE, SCORED, UNSCORED, Grid

JuryName = Literal["mean", "median", "majority"]
JURY = "jury"
Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class JuryRule:
    """How votes become one: the same as when a study is run. `quorum` is how many judges must have given a score;
    None means more than half."""

    rule: JuryName = "mean"
    quorum: int | None = None
    name: str = JURY

    def needed(self, seats: int) -> int:
        return seats // 2 + 1 if self.quorum is None else min(self.quorum, seats)


def add_jury(grid: Grid, members: Sequence[str], rule: JuryRule) -> Grid:
    """The grid with the jury of `members`. A judge with no row at all on the dimension has no seat there, for its
    silence is no failure; too few scores, or a tie, leave the jury without a score."""
    seated = [name for name in members if (grid.states[name] != ABSENT).any()]
    if not seated:
        nothing = np.full(len(grid.items), np.nan)
        return grid.with_rater(rule.name, nothing, np.full(len(nothing), ABSENT, dtype=np.uint8))
    scores = np.column_stack([grid.scores[name] for name in seated])
    states = np.column_stack([grid.states[name] for name in seated])
    seats = len(seated)
    excused = 2 * (states == NOT_APPLICABLE).sum(axis=1) > seats
    enough = ((states == SCORED).sum(axis=1) >= rule.needed(seats)) & ~excused
    found = np.where(enough, _combined(scores, rule.rule), np.nan)
    asked = (states != ABSENT).any(axis=1)
    state = np.select([~np.isnan(found), excused, asked], [SCORED, NOT_APPLICABLE, UNSCORED], ABSENT)
    return grid.with_rater(rule.name, found, state.astype(np.uint8))


def _combined(scores: Numbers, rule: JuryName) -> Numbers:
    """Each row's mean, median, or the grade of more than half of all seats; NaN where there is none."""
    known = ~np.isnan(scores)
    found = np.full(len(scores), np.nan)
    some = known.any(axis=1)
    if rule == "mean":
        found[some] = np.nansum(scores[some], axis=1) / known[some].sum(axis=1)
    elif rule == "median":
        found[some] = np.nanmedian(scores[some], axis=1)
    else:
        for grade in np.unique(scores[known]):
            found[2 * (scores == grade).sum(axis=1) > scores.shape[1]] = grade
    return found
