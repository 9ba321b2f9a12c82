"""The jury as one rater: its judges' votes on every unit become one score by the stated rule, or none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from medjury.tables._grid import ABSENT, NOT_APPLICABLE, SCORED, UNSCORED, Grid

JURY = "jury"
CALIBRATED = ":calibrated"  # how the name of a calibrated rater ends
Numbers = NDArray[np.float64]
JuryName = Literal["mean", "median", "majority"]


@dataclass(frozen=True, slots=True)
class JuryRule:
    """How votes become one: the same as when a study is run. `quorum` is how many judges must have given a score;
    None means more than half. `members` are the judges who vote; none named means all of them."""

    rule: JuryName = "mean"
    quorum: int | None = None
    name: str = JURY
    members: tuple[str, ...] = ()


def seated_once(judges: Sequence[str]) -> tuple[str, ...]:
    """A judge and its calibrated self have one seat between them, and it is the calibrated one's."""
    return tuple(name for name in judges if f"{name}{CALIBRATED}" not in judges)


def add_jury(grid: Grid, members: Sequence[str], rule: JuryRule) -> Grid:
    """The grid with the jury of `members`. A judge with no row at all in the grid has no seat, for its silence is
    no failure."""
    seated = [name for name in members if (grid.states[name] != ABSENT).any()]
    return grid.with_rater(rule.name, *jury_votes(grid, seated, rule)[:2])


def jury_votes(
    grid: Grid, seated: Sequence[str], rule: JuryRule
) -> tuple[Numbers, NDArray[np.uint8], dict[str, int]]:
    """The votes of those who have a seat, as one: the score and the state on every unit, and how many units are
    left unscored, by reason. Too few scores (`no_quorum`) or a tie leave no score."""
    from medjury.judging import combine_columns  # the rule is there; few analyses form a jury

    nothing = np.full(len(grid.items), np.nan)
    scores = np.column_stack([nothing, *(grid.scores[name] for name in seated)])[:, 1:]
    states = np.column_stack([nothing, *(grid.states[name] for name in seated)])[:, 1:]
    seats = len(seated)
    # Where fewer judges have a seat than the quorum asks for, all of them are needed.
    quorum = None if rule.quorum is None else min(rule.quorum, seats)
    made = combine_columns(scores, states == NOT_APPLICABLE, rule=rule.rule, quorum=quorum)
    asked = (states != ABSENT).any(axis=1)
    scored, excused = ~np.isnan(made.scores), made.not_applicable
    state = np.select([scored, excused, asked], [SCORED, NOT_APPLICABLE, UNSCORED], ABSENT)
    lost = {"no_quorum": made.no_quorum & asked, "tie": made.tie & asked}
    counted = {reason: int(units.sum()) for reason, units in lost.items() if units.any()}
    return made.scores, state.astype(np.uint8), counted
