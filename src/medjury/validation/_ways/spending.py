"""What judging took: calls, seconds and cost of each rater on each answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from medjury.records import dataclass
from medjury.tables import RatingTable

if TYPE_CHECKING:
    import polars

AMOUNTS = ("calls", "seconds", "cost")
_UNIT = ["item", "system"]


@dataclass(frozen=True, slots=True)
class Spending:
    """Means per answer, all dimensions and repeats together; None is not known, which is not 0. `unknown` counts
    the answers whose cost nobody knows, such as those whose calls all failed: no mean has them."""

    calls: float | None
    seconds: float | None
    cost: float | None
    answers: int
    unknown: int


def spent(table: RatingTable, aside: Sequence[str] = ()) -> polars.DataFrame:
    """One row per judge and held-out answer: rater, item, system, calls, seconds, cost. A sum over some of the
    rows would pass for the sum over all, so an amount is null where one of its rows does not know it. `aside` are
    cases that are left out besides."""
    import polars as pl

    rows = table.rows.filter(
        pl.col("rater_kind") == "judge",
        # Rows that follow from others took nothing.
        pl.col("dimension").is_in([each.name for each in table.counted]),
        ~pl.col("item").is_in(list(aside)),
    )
    # Runs of earlier versions did not count calls.
    lacking = [pl.lit(None, dtype=pl.Int64).alias(name) for name in AMOUNTS if name not in rows.columns]
    return (
        rows.with_columns(lacking)
        .group_by("rater", "cluster", *_UNIT)
        .agg(
            pl.when(pl.col(name).null_count() == 0).then(pl.col(name).cast(pl.Float64).sum()).alias(name)
            for name in AMOUNTS
        )
        .sort("rater", *_UNIT)
    )


def together(rows: polars.DataFrame) -> polars.DataFrame:
    """What all judges took for each answer: item, system, its patient, calls, seconds, cost."""
    import polars as pl

    return (
        rows.group_by(*_UNIT, "cluster")
        .agg(pl.when(pl.col(name).null_count() == 0).then(pl.col(name).sum()).alias(name) for name in AMOUNTS)
        .sort(_UNIT)
    )


def sharing(rows: polars.DataFrame, yardstick: str) -> list[str]:
    """The judges that were asked about any of the yardstick's answers; the others judged other texts."""
    import polars as pl

    own = rows.filter(pl.col("rater") == yardstick).select(_UNIT)
    return sorted(rows.join(own, on=_UNIT, how="semi")["rater"].unique().to_list())


def spending(
    rows: polars.DataFrame,
    judges: Sequence[str],
    alike: Sequence[str],
    juries: Mapping[str, Sequence[str]],
) -> Mapping[str, Spending]:
    """What each judge took per answer, on the answers that all who judged `alike` ones were asked about, and what
    each of the `juries` of them took. A judge of other texts is on its own answers."""
    import polars as pl

    shared = (
        rows.filter(pl.col("rater").is_in(alike)).group_by(_UNIT).len().filter(pl.col("len") == len(alike))
    )
    same = rows.join(shared, on=_UNIT, how="semi")
    found = {}
    for judge in judges:
        mine = same.filter(pl.col("rater") == judge)
        found[judge] = _mean(mine if mine.height else rows.filter(pl.col("rater") == judge))
    for jury, members in juries.items():
        voted = (same if same.height else rows).filter(pl.col("rater").is_in(members))
        found[jury] = _mean(together(voted))
    return found


def _mean(rows: polars.DataFrame) -> Spending:
    found: dict[str, float | None] = {}
    for name in AMOUNTS:
        mean = rows[name].mean()
        found[name] = float(mean) if isinstance(mean, int | float) else None
    return Spending(
        found["calls"], found["seconds"], found["cost"], rows.height, int(rows["cost"].null_count())
    )
