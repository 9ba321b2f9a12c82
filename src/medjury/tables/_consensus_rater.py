"""A consensus as a rater of its own: its score on every unit, and why it has none where it has none."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from medjury.tables._grid import ABSENT, NOT_APPLICABLE, SCORED, UNSCORED, Grid
from medjury.tables._probability import probability_of

Numbers = NDArray[np.float64]


def with_consensus(
    grid: Grid, name: str, scores: Numbers, members: Sequence[str]
) -> tuple[Grid, dict[str, int]]:
    """The grid with the consensus of its members, and how many units it leaves unscored, by reason. Without a score
    it is unscored where those who scored tie, or where nobody scored and one of them failed; not applicable where
    that is all they say; and absent where nobody was asked."""
    states = np.stack([grid.states[member] for member in members])
    scored, failed, excused = ((states == each).any(axis=0) for each in (SCORED, UNSCORED, NOT_APPLICABLE))
    excused &= ~failed & ~scored
    asked = (states != ABSENT).any(axis=0)
    missing = np.isnan(scores)
    state = np.select([~missing, excused, asked], [SCORED, NOT_APPLICABLE, UNSCORED], ABSENT).astype(np.uint8)
    lost = missing & (state == UNSCORED)
    reasons = {"missing": lost & ~scored, "tie": lost & scored}
    counted = {reason: int(units.sum()) for reason, units in reasons.items() if units.any()}
    drawn = probability_of(grid, members) if all(member in grid.drawn for member in members) else None
    return grid.with_rater(name, scores, state, drawn), counted
