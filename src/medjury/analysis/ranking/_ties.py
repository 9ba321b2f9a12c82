"""Tie groups: which systems do the data really tell apart?

Two systems are *separated* where their difference is significant with all pairs looked at together: the chance of
separating any two equal systems stays near 1 − confidence. "Not separated" is not equality, nor is it
transitive: A may be level with B, B with C, and A still better than C. So tie groups overlap. They are a compact
letter display: two systems share a letter exactly where they are not separated. (Joining systems along chains of
ties would call A and C tied; one group per system would have to deny one of the ties.) A rank's interval counts
the systems separated above and below: it stays valid where systems tie, as percentiles of bootstrapped ranks do
not (Mogstad, Romano, Shaikh & Wilhelm (2024) Rev Econ Stud 91:476-518).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import special

from medjury.statistics import Floats

Kind = Literal["scores", "wins", "steps"]
# With fewer resampled units the bootstrap of the largest difference cannot be trusted (measured): Bonferroni.
FEW_UNITS = 20


def separate(
    values: Floats,
    resampled: Floats,
    *,
    freedom: int | Floats,
    kind: Kind = "scores",
    confidence: float = 0.95,
) -> tuple[Floats, NDArray[np.bool_]]:
    """All pairwise differences of `values` (systems) against their resamples `(resamples, systems)`: systems by
    systems the p-value of "no difference" over all pairs, and who is separated from whom.

    `freedom` is the number of resampled units less one; where systems have units of their own, that of each
    system, and a pair has that of the smaller one (the conservative choice of Welch's two-sample t). `scores` and
    `wins` are means over the resampled units: t = |d| / s, with s the bootstrap standard deviation times √(n/(n −
    1)), is compared with the resampled maximum over pairs of |d* − d| / s (Romano & Wolf (2005) JASA 100:94-108,
    single step), after being shrunk to the normal quantile of its Student probability; with few units it is
    Student's t with Bonferroni. `wins` are bounded, so n units can never show more than that all of them favour
    one side: p is at least that of the sign test with Bonferroni. `steps` are win rates that resample items, which
    jump where two means cross; t does not describe them, and Bonferroni of the share of resamples beyond zero is
    used.
    """
    first, second = np.triu_indices(len(values), 1)
    difference = values[first] - values[second]
    drawn = resampled[:, first] - resampled[:, second]
    each = np.broadcast_to(np.asarray(freedom, dtype=np.float64), values.shape)
    of_pair = np.maximum(np.minimum(each[first], each[second]), 1.0)
    if not len(drawn):
        p = np.ones(len(difference))
    elif kind == "steps":
        beyond = np.minimum((drawn <= 1e-12).sum(axis=0), (drawn >= -1e-12).sum(axis=0))
        p = 2.0 * (1.0 + beyond) / (1.0 + len(drawn)) * len(difference)
    else:
        p = _student(difference, drawn, of_pair, sign_test=kind == "wins")
    p = np.where(np.abs(difference) > 1e-12, np.minimum(p, 1.0), 1.0)
    table = np.ones((len(values), len(values)))
    table[first, second] = table[second, first] = p
    return table, table <= 1.0 - confidence


def _student(difference: Floats, drawn: Floats, freedom: Floats, sign_test: bool) -> Floats:
    spread = drawn.std(axis=0, ddof=1) if len(drawn) > 1 else np.zeros(len(difference))
    varies = spread > 1e-12
    scale = np.where(varies, spread, 1.0)
    t = np.abs(difference) / scale * np.sqrt(freedom / (freedom + 1.0))
    tail = np.maximum(special.stdtr(freedom, -t), 1e-300)
    p = 2.0 * tail * len(difference)
    if (freedom + 1 >= FEW_UNITS).any():
        largest = np.max(np.abs(drawn - difference) / scale * varies, axis=1, initial=0.0)
        together = (1.0 + (largest[:, np.newaxis] >= -special.ndtri(tail)).sum(axis=0)) / (1.0 + len(drawn))
        p = np.where(freedom + 1 < FEW_UNITS, p, together)
    # A difference that never varies has no t: all units agree exactly, which is the sign test's case.
    least = 2.0 * 0.5 ** (freedom + 1) * len(difference)
    return np.where(varies, np.maximum(p, least) if sign_test else p, least)


def tie_groups(order: Sequence[int], separated: NDArray[np.bool_]) -> list[str]:
    """The letters of each system; `order` lists the systems from best to worst, and "a" holds the best.

    Insert and absorb: Piepho (2004) J Comput Graph Stat 13:456-466.

    >>> apart = np.array([[False, False, True], [False, False, False], [True, False, False]])
    >>> tie_groups([0, 1, 2], apart)
    ['a', 'ab', 'b']
    """
    place = {system: rank for rank, system in enumerate(order)}
    groups = [frozenset(order)]
    for rank, one in enumerate(order):
        for other in order[rank + 1 :]:
            if not separated[one, other]:
                continue
            split = [part for group in groups for part in _without_both(group, one, other)]
            unique = list(dict.fromkeys(split))
            groups = [group for group in unique if not any(group < larger for larger in unique)]
    groups.sort(key=lambda group: sorted(place[system] for system in group))
    letters: dict[int, str] = dict.fromkeys(order, "")
    for number, group in enumerate(groups):
        for system in group:
            letters[system] += chr(ord("a") + number) if number < 26 else f"({number + 1})"
    return [letters[system] for system in range(len(order))]


def in_order(
    values: Floats, systems: Sequence[str], separated: NDArray[np.bool_], *, same: float
) -> list[tuple[int, int, int, int, str]]:
    """From best to worst: each system's place in `values`, its rank, the best and the worst rank left open, and its
    letters. Values that differ by no more than `same` share a rank."""
    order = sorted(range(len(values)), key=lambda place: (-values[place], systems[place]))
    letters, (low, high) = tie_groups(order, separated), rank_limits(values, separated)
    ranks = [1 + int(np.count_nonzero(values > own + same)) for own in values]
    return [(place, ranks[place], low[place], high[place], letters[place]) for place in order]


def rank_limits(values: Floats, separated: NDArray[np.bool_]) -> tuple[list[int], list[int]]:
    """The best and the worst rank of each system that the separations leave open."""
    better = (values[np.newaxis, :] > values[:, np.newaxis]) & separated
    worse = (values[np.newaxis, :] < values[:, np.newaxis]) & separated
    low, high = 1 + better.sum(axis=1), len(values) - worse.sum(axis=1)
    return [int(each) for each in low], [int(each) for each in high]


def _without_both(group: frozenset[int], one: int, other: int) -> list[frozenset[int]]:
    return [group - {one}, group - {other}] if one in group and other in group else [group]
