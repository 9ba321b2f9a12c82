"""Who rates which case, as pure functions of counts: the same seed gives the same design.

A design is a list with one tuple of raters (by number) for each case.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Sequence

from medjury.foundation.errors import MedjuryError

Design = list[tuple[int, ...]]
_MOST_TRIES = 20_000


def everyone(cases: int, raters: int) -> Design:
    """Every rater, every case."""
    return [tuple(range(raters))] * cases


def balanced(cases: int, raters: int, per_case: int, seed: int = 0) -> Design:
    """`per_case` raters for each case: loads differ by one at most, and pairs meet as evenly as that allows.

    Each case takes the raters with the least work so far, which keeps loads even, and of these the ones who have
    met one another least. Then raters of two cases are exchanged, which leaves loads as they are, while that makes
    the meetings more even.
    """
    if per_case > raters:
        raise MedjuryError(f"{per_case} raters per case need {per_case} raters; there are {raters}")
    chance = random.Random(seed)
    load, met = [0] * raters, _Meetings(raters)
    design: list[set[int]] = []
    for _ in range(cases):
        chosen = _least_met(load, met, per_case, chance)
        for rater in chosen:
            load[rater] += 1
            met.add(rater, chosen - {rater}, 0.5)
        design.append(chosen)
    if 1 < per_case < raters:
        _exchange(design, met, chance)
    chance.shuffle(design)
    return [tuple(sorted(chosen)) for chosen in design]


class _Meetings:
    """How often each two raters were given the same case."""

    def __init__(self, raters: int) -> None:
        self._counts = [[0.0] * raters for _ in range(raters)]

    def add(self, rater: int, others: Collection[int], times: float = 1) -> None:
        for other in others:
            self._counts[rater][other] += times
            self._counts[other][rater] += times

    def between(self, rater: int, others: Collection[int]) -> float:
        return sum(self._counts[rater][other] for other in others)


def _least_met(load: Sequence[int], met: _Meetings, wanted: int, chance: random.Random) -> set[int]:
    """The `wanted` raters with the least load; where more have the same load, those who met the chosen least."""
    order = sorted(range(len(load)), key=lambda rater: load[rater])
    limit = load[order[wanted - 1]]
    chosen = {rater for rater in order if load[rater] < limit}
    free = [rater for rater in order if load[rater] == limit]
    chance.shuffle(free)
    while len(chosen) < wanted:
        chosen.add(free.pop(min(range(len(free)), key=lambda place: met.between(free[place], chosen))))
    return chosen


def _exchange(design: Sequence[set[int]], met: _Meetings, chance: random.Random) -> None:
    """Exchange raters between cases while that lowers the sum of squared meetings."""
    for _ in range(min(_MOST_TRIES, 200 * len(design))):
        one, other = chance.choice(design), chance.choice(design)
        leaves, comes = chance.choice(sorted(one)), chance.choice(sorted(other))
        if comes in one or leaves in other:
            continue
        with_one, with_other = one - {leaves}, other - {comes}
        for rater, others in ((leaves, with_one), (comes, with_other)):
            met.add(rater, others, -1)
        gain = met.between(leaves, with_one) + met.between(comes, with_other)
        gain -= met.between(leaves, with_other) + met.between(comes, with_one)
        # Of squares: (n + 1)^2 - n^2 is 2n + 1, and the ones are as many on both sides. Half the ties are taken.
        if gain > 0 or (gain == 0 and chance.random() < 0.5):
            one ^= {leaves, comes}
            other ^= {leaves, comes}
            with_one, with_other = with_other, with_one
        for rater, others in ((leaves, with_one), (comes, with_other)):
            met.add(rater, others, 1)


def overlapping(common: Sequence[bool], raters: int, seed: int = 0) -> Design:
    """Everyone rates the cases that are common, and one rater each of the rest."""
    singles = iter(balanced(len(common) - sum(common), raters, 1, seed))
    return [tuple(range(raters)) if each else next(singles) for each in common]


def paired(cases: int, raters: int, seed: int = 0) -> Design:
    """Raters work in fixed pairs, in the order in which they joined; each case goes to one pair. A rater without a
    partner has no case until another joins."""
    if raters < 2:
        return [()] * cases
    pairs = [(first, first + 1) for first in range(0, raters - 1, 2)]
    design: Design = [pairs[case % len(pairs)] for case in range(cases)]
    random.Random(seed).shuffle(design)
    return design
