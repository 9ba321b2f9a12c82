"""From several votes to one: a pure function of stored ratings, never of the order they came in.

The rule of a jury is here: `combine` for the votes on one answer, `combine_columns` for those on many. Calibrated
scores are no grades; `analysis/calibration/_apply.py` joins these.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from medjury.instruments import NotApplicable, Outcome, Reason, Score, Unscored

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Rule = Literal["mean", "median", "majority"]
RULES: tuple[Rule, ...] = ("mean", "median", "majority")


def scores_needed(seats: int, quorum: int | None = None) -> int:
    """How many scores a jury of so many seats needs: more than half of them, or the `quorum`."""
    return seats // 2 + 1 if quorum is None else quorum


def combine(votes: Sequence[Outcome], *, seats: int, rule: Rule, quorum: int | None = None) -> Outcome:
    """One outcome from the votes of `seats` voters (a voter who gave no row at all still has a seat).

    `quorum` is how many scores are needed; by default more than half of the seats. More than half of the
    seats saying "not applicable" makes it not applicable. A majority is strict: more than half of all seats
    on one grade; anything else is a tie, and a tie is unscored.
    """
    needed = scores_needed(seats, quorum)
    scores = sorted([vote.value for vote in votes if isinstance(vote, Score)])
    not_applicable = sum([isinstance(vote, NotApplicable) for vote in votes])
    counted = _counted(scores, not_applicable, seats)
    if 2 * not_applicable > seats:
        return NotApplicable(counted)
    if len(scores) < needed:
        return Unscored(Reason.NO_QUORUM, f"{counted}; {needed} scores are needed")
    if rule == "mean":
        return Score(statistics.fmean(scores), counted)
    if rule == "median":
        return Score(statistics.median(scores), counted)
    grade, count = Counter(scores).most_common(1)[0]
    if 2 * count > seats:
        return Score(grade, counted)
    return Unscored(Reason.TIE, f"{counted}; no grade has more than half of the {seats} votes")


class CombinedColumns(NamedTuple):
    """The score of each answer, NaN where it has none, and why it has none."""

    scores: NDArray[np.float64]
    not_applicable: NDArray[np.bool_]
    no_quorum: NDArray[np.bool_]
    tie: NDArray[np.bool_]


def combine_columns(
    scores: NDArray[np.float64],
    not_applicable: NDArray[np.bool_],
    *,
    rule: Rule,
    quorum: int | None = None,
) -> CombinedColumns:
    """`combine` for many answers: a row is an answer and a column a seat, NaN where the voter gave no score."""
    import numpy as np

    seats = scores.shape[1]
    known = ~np.isnan(scores)
    excused = 2 * not_applicable.sum(axis=1) > seats
    enough = (known.sum(axis=1) >= scores_needed(seats, quorum)) & ~excused
    some = known.any(axis=1)
    found = np.full(len(scores), np.nan)
    if rule == "mean":
        found[some] = np.nansum(scores[some], axis=1) / known[some].sum(axis=1)
    elif rule == "median":
        found[some] = np.nanmedian(scores[some], axis=1)
    else:
        for grade in np.unique(scores[known]):
            found[2 * (scores == grade).sum(axis=1) > seats] = grade
    found = np.where(enough, found, np.nan)
    return CombinedColumns(found, excused, ~enough & ~excused, enough & np.isnan(found))


def _counted(scores: Sequence[float], not_applicable: int, seats: int) -> str:
    """The votes in words, so that a jury's row explains itself."""
    parts = ["scores " + ", ".join(f"{score:g}" for score in scores) if scores else "no scores"]
    if not_applicable:
        parts.append(f"{not_applicable} not applicable")
    missing = seats - len(scores) - not_applicable
    if missing:
        parts.append(f"{missing} unscored")
    return f"{'; '.join(parts)} (of {seats})"
