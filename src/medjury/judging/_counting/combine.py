"""From several votes to one: a pure function of stored ratings, never of the order they came in."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Sequence
from typing import Literal

from medjury.instruments import NotApplicable, Outcome, Reason, Score, Unscored

Rule = Literal["mean", "median", "majority"]
RULES: tuple[Rule, ...] = ("mean", "median", "majority")


def combine(votes: Sequence[Outcome], *, seats: int, rule: Rule, quorum: int | None = None) -> Outcome:
    """One outcome from the votes of `seats` voters (a voter who gave no row at all still has a seat).

    `quorum` is how many scores are needed; by default more than half of the seats. More than half of the
    seats saying "not applicable" makes it not applicable. A majority is strict: more than half of all seats
    on one grade; anything else is a tie, and a tie is unscored.
    """
    needed = seats // 2 + 1 if quorum is None else quorum
    scores = sorted([vote.value for vote in votes if isinstance(vote, Score)])
    not_applicable = sum([isinstance(vote, NotApplicable) for vote in votes])
    told = _tell(scores, not_applicable, seats)
    if not_applicable > seats / 2:
        return NotApplicable(told)
    if len(scores) < needed:
        return Unscored(Reason.NO_QUORUM, f"{told}; {needed} scores are needed")
    if rule == "mean":
        return Score(statistics.fmean(scores), told)
    if rule == "median":
        return Score(statistics.median(scores), told)
    grade, count = Counter(scores).most_common(1)[0]
    if count > seats / 2:
        return Score(grade, told)
    return Unscored(Reason.TIE, f"{told}; no grade has more than half of the {seats} votes")


def _tell(scores: Sequence[float], not_applicable: int, seats: int) -> str:
    """The votes in words, so that a jury's row explains itself."""
    parts = ["scores " + ", ".join(f"{score:g}" for score in scores) if scores else "no scores"]
    if not_applicable:
        parts.append(f"{not_applicable} not applicable")
    missing = seats - len(scores) - not_applicable
    if missing:
        parts.append(f"{missing} unscored")
    return f"{'; '.join(parts)} (of {seats})"
