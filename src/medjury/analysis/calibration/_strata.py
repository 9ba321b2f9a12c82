"""Strata: the level of every answer in a column (specialty, site, length, group), and the target's shares."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from medjury.foundation.errors import MedjuryError
from medjury.tables import Grid, RatingTable, read_plain_table

# More levels than this are numbers that were not cut into bands.
MOST_LEVELS = 50
# Shares are often rounded to whole percent.
ROUNDED = 0.02


def levels(
    table: RatingTable,
    grid: Grid,
    column: str,
    cuts: Sequence[float] = (),
    given: Mapping[str, str] | None = None,
) -> NDArray[np.object_]:
    """The level of each answer in the grid, "" where it has none: `given` by item, else from the column of the
    ratings, by answer where it has a value there and else by item. `cuts` turn a number into bands."""
    import polars as pl

    if given is not None:
        known = {(item, ""): value for item, value in given.items()}
    elif column in table.rows.columns:
        text = pl.col(column).cast(pl.String).str.strip_chars()
        rows = table.rows.filter(text.is_not_null() & (text != "")).with_columns(text.alias(column))
        known = {}
        for keys in (["item"], ["item", "system"]):
            for *unit, values in rows.group_by(keys).agg(pl.col(column).unique()).iter_rows():
                if len(values) == 1:
                    known[unit[0], unit[1] if len(unit) > 1 else ""] = values[0]
                elif len(keys) == 2:
                    raise MedjuryError(
                        f"{column}: the answer of {unit[1]!r} to {unit[0]!r} has {len(values)} values. Give it one."
                    )
    else:
        there = ", ".join(table.rows.columns[:20])
        raise MedjuryError(f"there is no column {column!r} in the ratings or the cases; there are {there}.")
    pairs = zip(grid.items.tolist(), grid.systems.tolist(), strict=True)
    found = [known.get((item, system)) or known.get((item, ""), "") for item, system in pairs]
    if cuts:
        found = [_band(column, value, cuts) if value else "" for value in found]
    if len(set(found)) > MOST_LEVELS:
        raise MedjuryError(
            f"{column} has {len(set(found))} levels. Cut a number into bands, as in {column}=18,65."
        )
    return np.array(found, dtype=object)


def check_shares(column: str, shares: Mapping[str, float]) -> dict[str, float]:
    """The target's shares, adding up to one; refused where they do not."""
    if any(not 0.0 <= share <= 1.0 for share in shares.values()) or abs(sum(shares.values()) - 1.0) > ROUNDED:
        raise MedjuryError(
            f"the shares of {column} in the target add up to {sum(shares.values()):g}, not to 1."
        )
    return {name: share / sum(shares.values()) for name, share in shares.items()}


def refuse_missing(column: str, shares: Mapping[str, float], there: NDArray[np.object_]) -> None:
    """A stratum of the target that the ratings lack cannot be made up for by the others."""
    missing = [name for name, share in shares.items() if share > 0 and name not in set(there.tolist())]
    if missing:
        raise MedjuryError(
            f"the target holds {column} {missing[0]!r} and the ratings do not, so nothing is known about it; they "
            f"have {', '.join(sorted(set(there.tolist()) - {''}))}."
        )


def read_target(path: str | Path) -> tuple[str, dict[str, float]]:
    """A table with the columns COLUMN, share: the name of the first is the column of the ratings."""
    frame = read_plain_table(path)
    if frame is None:
        raise MedjuryError(f"{path}: a target is a table (.csv, .xlsx, .parquet, .jsonl).")
    others = [name for name in frame.columns if name != "share"]
    if len(others) != 1 or len(frame.columns) != 2:
        raise MedjuryError(
            f"{path}: a target has two columns, the stratum's and `share`, not {frame.columns}."
        )
    found: dict[str, float] = {}
    for row, (level, share) in enumerate(frame.select(others[0], "share").iter_rows(), start=2):
        try:
            value = float(share)
        except (TypeError, ValueError):
            raise MedjuryError(f"{path}, line {row}: {share!r} is not a share, such as 0.25.") from None
        name = "" if level is None else str(level).strip()
        if not name or name in found:
            raise MedjuryError(f"{path}, line {row}: the stratum {name!r} appears twice or is empty.")
        found[name] = value
    return others[0], found


def _band(column: str, value: str, cuts: Sequence[float]) -> str:
    """`below 18`, `18 to below 65`, `65 and above`."""
    points = sorted(cuts)
    try:
        place = bisect_right(points, float(value))
    except ValueError:
        raise MedjuryError(f"{column}: {value!r} is not a number, so it cannot be cut into bands.") from None
    if place == 0:
        return f"below {points[0]:g}"
    return (
        f"{points[-1]:g} and above"
        if place == len(points)
        else f"{points[place - 1]:g} to below {points[place]:g}"
    )
