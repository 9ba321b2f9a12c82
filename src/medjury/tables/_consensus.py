"""One score of several raters (mean, median, strict majority or an adjudicator's word), as a rater of its own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from medjury.foundation.errors import MedjuryError
from medjury.store.runs import ConsensusRule
from medjury.tables._grid import ABSENT, NOT_APPLICABLE, SCORED, UNSCORED, Grid
from medjury.tables._probability import probability_of

Numbers = NDArray[np.float64]


def mean_of_raters(scores: ArrayLike) -> Numbers:
    """Mean of the raters who scored the item (items x raters, NaN: no score); NaN where nobody did."""
    table, known = _table(scores)
    total = np.where(known, table, 0.0).sum(axis=1)
    mean = np.full(len(table), np.nan)
    np.divide(total, known.sum(axis=1), out=mean, where=known.any(axis=1))
    return mean


def median_of_raters(scores: ArrayLike) -> Numbers:
    """Median of the raters who scored the item; NaN where nobody did."""
    table, known = _table(scores)
    result = np.full(len(table), np.nan)
    some = known.any(axis=1)
    result[some] = np.nanmedian(table[some], axis=1)
    return result


def majority(scores: ArrayLike) -> Numbers:
    """The label more than half of the item's raters gave; NaN where there is none, never by list order.

    >>> majority([[1, 1, 0], [1, 0, np.nan], [2, 2, np.nan]]).tolist()
    [1.0, nan, 2.0]
    """
    table, known = _table(scores)
    result = np.full(len(table), np.nan)
    for label in np.unique(table[known]):
        wins = 2 * (table == label).sum(axis=1) > known.sum(axis=1)
        result[wins] = label
    return result


def adjudicated(scores: ArrayLike, adjudicator: ArrayLike) -> Numbers:
    """The adjudicator's label where there is one, else the label on which two or more raters all agree; NaN
    where they differ and nobody settled it.

    >>> adjudicated([[0, 0], [0, 1], [1, 2]], [np.nan, 1, np.nan]).tolist()
    [0.0, 1.0, nan]
    """
    table, known = _table(scores)
    final = np.array(adjudicator, dtype=float)
    if final.shape != (len(table),):
        raise MedjuryError(f"{len(table)} items need {len(table)} adjudicated labels, not {final.size}.")
    lowest = np.where(known, table, np.inf).min(axis=1)
    agreed = (lowest == np.where(known, table, -np.inf).max(axis=1)) & (known.sum(axis=1) >= 2)
    open_items = np.isnan(final)
    final[open_items & agreed] = lowest[open_items & agreed]
    return final


def consensus_of(scores: ArrayLike, rule: ConsensusRule, adjudicator: ArrayLike | None = None) -> Numbers:
    """Apply one of the four rules."""
    if rule == "adjudicated":
        if adjudicator is None:
            raise MedjuryError("an adjudicated reference needs the adjudicator's labels.")
        return adjudicated(scores, adjudicator)
    if adjudicator is not None:
        raise MedjuryError(f"an adjudicator has no part in a {rule} consensus; ask for 'adjudicated'.")
    rules = {"mean": mean_of_raters, "median": median_of_raters, "majority": majority}
    if rule not in rules:
        raise MedjuryError(f"there is no consensus rule {rule!r}; use {', '.join(rules)} or adjudicated.")
    return rules[rule](scores)


def _table(scores: ArrayLike) -> tuple[Numbers, NDArray[np.bool_]]:
    table = np.asarray(scores, dtype=float)
    if table.ndim != 2:
        raise MedjuryError(f"a consensus needs a table of items by raters, not {table.ndim} axes.")
    return table, ~np.isnan(table)


# A consensus as a rater of its own: its score on every unit, and why it has none where it has none.


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
