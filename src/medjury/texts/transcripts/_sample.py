"""Which pairs to judge: some from every band of word error rate, so that clear and garbled speech are both seen."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass

from medjury.foundation.errors import MedjuryError

# Up to a fifth of the words wrong is what recognisers usually reach; from two fifths on the published study took
# pairs on purpose; from 1 on the recogniser wrote more wrong words than were said (or nothing at all).
EDGES = (0.2, 0.4, 1.0)


@dataclass(frozen=True, slots=True)
class Band:
    """Error rates from `low` to below `high`; `found` pairs lie in it, and the places in `chosen` were drawn."""

    low: float
    high: float
    found: int
    chosen: tuple[int, ...]

    @property
    def name(self) -> str:
        return f"{self.low:g} and more" if math.isinf(self.high) else f"{self.low:g} to {self.high:g}"


def sample_by_band(
    rates: Sequence[float | None],
    *,
    edges: Sequence[float] = EDGES,
    per_band: int | None = None,
    keep_perfect: bool = False,
    seed: int = 0,
) -> list[Band]:
    """At most `per_band` pairs of each band (all, where None), drawn with the seed.

    Pairs without an error (rate 0) are left out unless `keep_perfect`: they cannot have harmed anybody. A pair
    whose rate is None has none (nothing was said) and is in no band.

    >>> [(band.name, band.chosen) for band in sample_by_band([0.0, 0.1, 0.5, 1.2, None])]
    [('0 to 0.2', (1,)), ('0.2 to 0.4', ()), ('0.4 to 1', (2,)), ('1 and more', (3,))]
    """
    if list(edges) != sorted(set(edges)) or any(not 0 < edge < math.inf for edge in edges):
        raise MedjuryError("bands of word error rate must be rising numbers above 0, such as 0.2 0.4 1")
    if per_band is not None and per_band < 1:
        raise MedjuryError("a band needs at least 1 pair; leave the number out to take all")
    draw = random.Random(seed)
    bands = []
    for low, high in zip((0.0, *edges), (*edges, math.inf), strict=True):
        places = [
            place
            for place, rate in enumerate(rates)
            if rate is not None and low <= rate < high and (rate > 0 or keep_perfect)
        ]
        chosen = places if per_band is None or len(places) <= per_band else draw.sample(places, per_band)
        bands.append(Band(low, high, len(places), tuple(sorted(chosen))))
    return bands
