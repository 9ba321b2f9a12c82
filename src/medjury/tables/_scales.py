"""Scores against their scale: one that lies off it is no score, and most of them off it is a wrong scale."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from medjury.foundation.documents import nearest
from medjury.foundation.errors import MedjuryError
from medjury.tables._clean import MISALIGNED, OFF_SCALE
from medjury.tables._grades import GradesArgument
from medjury.tables._measured import Measured

if TYPE_CHECKING:
    import polars


def on_scale(
    rows: polars.DataFrame, dimensions: Sequence[Measured]
) -> tuple[polars.DataFrame, tuple[str, ...]]:
    """The rows with scores off the scale as unscored (`out_of_range`), and a warning for each dimension that has
    any. A text metric's numbers are on a scale of their own. What lay off an earlier scale is read anew."""
    import polars as pl

    if OFF_SCALE in rows.columns:
        off_before = pl.col(OFF_SCALE).is_not_null()
        rows = rows.with_columns(
            pl.when(off_before).then(pl.col(OFF_SCALE)).otherwise(pl.col("score")).alias("score"),
            pl.when(off_before).then(pl.lit("scored")).otherwise(pl.col("status")).alias("status"),
            pl.when(off_before).then(None).otherwise(pl.col("reason")).alias("reason"),
        )
    warnings = []
    off = pl.lit(value=False)
    rated = rows.filter(pl.col("rater_kind").ne_missing("metric"), pl.col("score").is_not_null())
    for each in dimensions:
        if each.grades is None:
            continue
        lowest, highest, source = each.grades.lowest, each.grades.highest, each.grades.source
        own = rated.filter(pl.col("dimension") == each.name)
        scores = own["score"].to_numpy()
        off_scale = ~each.grades.holds(scores)
        outside = int(off_scale.sum())
        if 2 * outside > len(scores):
            raise MedjuryError(
                f"dimension {each.name!r}: {outside} of {len(scores)} scores lie off the scale {lowest:g} to "
                f"{highest:g} ({source}); the scale is probably wrong. "
                f"Scores run from {scores.min():g} to {scores.max():g}."
            )
        if outside:
            warnings.append(
                f"dimension {each.name!r}: {outside} scores lie off the scale {lowest:g} to {highest:g} and "
                f"count as unscored (out_of_range): {whose(own.filter(off_scale)['rater'].to_list())}"
            )
            far = ~pl.col("score").is_between(lowest - 1e-9, highest + 1e-9)
            off = off | ((pl.col("dimension") == each.name) & pl.col("rater_kind").ne_missing("metric") & far)
    off = off.fill_null(value=False)
    changed = rows.with_columns(
        pl.when(off).then(pl.col("score")).alias(OFF_SCALE),
        pl.when(off).then(None).otherwise(pl.col("score")).alias("score"),
        pl.when(off).then(pl.lit("unscored")).otherwise(pl.col("status")).alias("status"),
        pl.when(off).then(pl.lit("out_of_range")).otherwise(pl.col("reason")).alias("reason"),
    )
    return changed, (*warnings, *_misaligned(rows))


def whose(raters: Sequence[str]) -> str:
    """Who gave these scores, those with the most first."""
    counts = Counter(raters).most_common()
    if len(counts) == 1:
        return f"{'all ' if len(raters) > 1 else ''}given by {counts[0][0]}"
    shown = ", ".join(f"{count} by {name}" for name, count in counts[:4])
    return f"{shown}, {sum(count for _, count in counts[4:])} by others" if counts[4:] else shown


def check_scale(scale: GradesArgument, rows: polars.DataFrame) -> None:
    """Refuse a scale for a dimension that the rows do not have."""
    if isinstance(scale, Mapping):
        known = rows["dimension"].unique().sort().to_list()
        for name in scale:
            if name not in known:
                raise MedjuryError(
                    f"a scale is given for {name!r}, which is no dimension; {nearest(name, known)}"
                )


def _misaligned(rows: polars.DataFrame) -> tuple[str, ...]:
    import polars as pl

    odd = rows.filter(pl.col("reason") == MISALIGNED).select("item", "system").unique(maintain_order=True)
    if not odd.height:
        return ()
    shown = ", ".join(f"{item} {system}".strip() for item, system in odd.head(5).iter_rows())
    return (
        f"{odd.height} ids name different contents in different rows (first: {shown}); "
        "their scores count as unscored (misaligned)",
    )
