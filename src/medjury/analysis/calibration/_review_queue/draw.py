"""Drawing with stated probabilities: how likely each unit is, and which ones come up.

The probabilities are c · size, at most 1, with the c that makes them add up to the number that may be read: so many
are drawn, exactly, and each with exactly its probability, by systematic sampling from a list in random order (Madow
1949, Ann Math Stat 20:333-354). Order and start come from SHA-256 of the seed and the names, and not from a random
number generator: anybody can draw again, in any language, in fifty years.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from medjury.analysis.calibration._maps.calibrator import Floats
from medjury.foundation.errors import MedjuryError

Flags = NDArray[np.bool_]


def inclusion_probabilities(
    sizes: Floats, certain: Flags, count: float, *, floor: float = 0.0, costs: Floats | None = None
) -> Floats:
    """With which probability each unit is drawn: 1 where `certain`, else in proportion to its size, and at least
    `floor` times what plain random drawing of the rest would give. Their sum (that of π · cost, where a unit brings
    several answers) is `count`."""
    cost = np.ones(len(sizes)) if costs is None else costs
    if not count > 0.0:
        raise MedjuryError("a review reads at least one answer.")
    if count >= cost.sum():
        return np.ones(len(sizes))
    sure = float(cost[certain].sum())
    rest = ~certain
    if sure >= count:
        raise MedjuryError(
            f"{sure:g} answers are to be read in any case and only {count:g} may be: nothing is left for the "
            "others, of which nothing could then be said. Allow more ratings, or let fewer be certain."
        )
    if not np.isfinite(sizes[rest]).all() or (sizes[rest] <= 0).any():
        raise MedjuryError("every answer needs a size above 0: whoever can never be drawn is never known.")
    share = (count - sure) / float(cost[rest].sum())
    # A mixture with plain random drawing, so that no weight exceeds 1/floor times that of a random review.
    mixed = floor + (1.0 - floor) * sizes / float(np.average(sizes[rest], weights=cost[rest]))
    found = np.where(certain, 1.0, mixed * share)
    full = certain.copy()
    while (over := ~full & (found >= 1.0)).any():
        full |= over
        left = (count - float(cost[full].sum())) / float((mixed * cost)[~full].sum())
        found = np.where(full, 1.0, mixed * left)
    return found


def draw(
    names: Sequence[str], probabilities: Floats, seed: int, rule: str
) -> tuple[Flags, NDArray[np.int64]]:
    """Which units come up, and each unit's place in the order of reading, which is random too, and another one."""
    order = np.array(sorted(range(len(names)), key=lambda place: _number(seed, "order", names[place])))
    start = int.from_bytes(_number(seed, "start", rule)[:8]) / 2.0**64
    reading = sorted(range(len(names)), key=lambda place: _number(seed, "place", names[place]))
    places = np.empty(len(names), dtype=np.int64)
    places[reading] = np.arange(len(names))
    chosen = np.zeros(len(names), dtype=bool)
    chosen[order] = systematic(probabilities[order], start)
    return chosen, places


def systematic(probabilities: Floats, start: float) -> Flags:
    """Units whose stretch of the line holds start, start + 1, start + 2…: each has the length of its probability.

    >>> systematic(np.array([0.5, 0.25, 0.25, 1.0]), 0.6).tolist()
    [False, True, False, True]
    """
    ends = np.concatenate([[0.0], np.cumsum(probabilities)])
    # Sums of many numbers are not exact: what should be whole is, so that nobody is drawn too many.
    whole = np.rint(ends)
    ends = np.where(np.abs(ends - whole) < 1e-9, whole, ends)
    passed = np.ceil(ends - start)
    found: Flags = passed[1:] > passed[:-1]
    return found


def _number(seed: int, what: str, name: str) -> bytes:
    return hashlib.sha256(f"{seed}\0{what}\0{name}".encode("utf-8", "surrogatepass")).digest()
