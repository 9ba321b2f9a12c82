"""Reviews that look where it hurts: with which probability each answer was drawn for the clinicians.

Whoever reads all dangerous answers and a tenth of the rest has not read a random sample. Weighted by one over its
probability each reviewed answer stands for those that were not read; unweighted, every number is biased. So a table
whose probabilities differ is refused wherever the analysis does not weight: here, and not in fifty places.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from medjury.foundation.errors import MedjuryError
from medjury.tables._clean import PROBABILITY
from medjury.tables._grid import ABSENT, Grid, Numbers
from medjury.tables._roles import MACHINES

if TYPE_CHECKING:
    import polars

_SAME = 1e-9
WEIGHTED = "`medjury agreement`, `medjury estimate` and `medjury validate`"


def unequal_raters(rows: polars.DataFrame, raters: Mapping[str, str]) -> dict[str, tuple[float, float]]:
    """The people whose answers were drawn with different probabilities: the least and the greatest of each. A
    missing one is 1."""
    import polars as pl

    if rows[PROBABILITY].null_count() == rows.height:
        return {}
    found = (
        rows.group_by("rater")
        .agg(
            pl.col(PROBABILITY).fill_null(1.0).min().alias("least"),
            pl.col(PROBABILITY).fill_null(1.0).max().alias("most"),
        )
        .filter(pl.col("most") - pl.col("least") > _SAME)
        .sort("rater")
    )
    return {
        name: (least, most) for name, least, most in found.iter_rows() if raters.get(name) not in MACHINES
    }


def refuse_unequal(unequal: Mapping[str, tuple[float, float]], raters: Iterable[str]) -> None:
    """Refuse what does not weight, where one of these raters' answers were drawn with different probabilities."""
    name = next((each for each in raters if each in unequal), None)
    if name is None:
        return
    least, most = unequal[name]
    raise MedjuryError(
        f"the answers that {name!r} rated were drawn with unequal probabilities ({least:.3g} to {most:.3g}), and "
        f"this analysis does not weight them: unweighted, its numbers would be biased. {WEIGHTED} do weight them; "
        "or give this one ratings that were drawn at random."
    )


def probability_of(grid: Grid, raters: Sequence[str]) -> Numbers:
    """With which probability each unit was drawn for those of the raters for whom somebody drew and who have a row
    on it; 1 where nobody drew. They must agree on it: two draws of one answer are two reviews. Who read everything
    beside them changes nothing: both have read what was drawn."""
    drawn = [name for name in raters if name in grid.drawn]
    found = np.ones(len(grid.items))
    known = np.zeros(len(grid.items), dtype=bool)
    for name in drawn:
        here = grid.states[name] != ABSENT
        apart = here & known & (np.abs(grid.drawn[name] - found) > _SAME)
        if apart.any():
            place = int(np.flatnonzero(apart)[0])
            raise MedjuryError(
                f"item {grid.items[place]!r} was drawn with probability {found[place]:.3g} for one rater and "
                f"{grid.drawn[name][place]:.3g} for {name!r}: two reviews cannot be weighted together. Name the "
                "raters of one of them (reference=RATER)."
            )
        found = np.where(here & ~known, grid.drawn[name], found)
        known |= here
    return found


def weights_of(grid: Grid, raters: Sequence[str]) -> Numbers | None:
    """One over the probability of every unit, for raters who are one yardstick together; None where all that they
    rated have the same. If answers were drawn for some of them only, their word together has no probability."""
    there = [name for name in raters if name in grid.drawn]
    if not there:
        return None
    if len(there) < len(raters):
        other = next(name for name in raters if name not in there)
        raise MedjuryError(
            f"answers were drawn for {', '.join(there)} and not for {other!r}: together they have no probability "
            "to weight by. Name the raters of one review (reference=RATER)."
        )
    rated = np.any([grid.states[name] != ABSENT for name in there], axis=0)
    weights: Numbers = 1.0 / probability_of(grid, there)
    return weights if rated.any() and np.ptp(weights[rated]) > _SAME else None
