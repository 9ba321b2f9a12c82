"""Tables as people hold them: polars, pandas, Arrow, or a list of dictionaries; one polars frame comes of each."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from medjury.foundation.errors import MedjuryError

if TYPE_CHECKING:
    import polars

FORMS = "a polars, pandas or Arrow table, or a list of dictionaries"


def as_polars(source: object) -> polars.DataFrame | None:
    """The frame that a table of any of these forms is; None where it is none of them. Nothing but the table's own
    library is asked, and it is there already: a pandas frame is no reason to install Arrow."""
    import polars as pl

    if isinstance(source, pl.DataFrame):
        return source
    if isinstance(source, pl.LazyFrame):
        return source.collect()
    if (pandas := sys.modules.get("pandas")) is not None and isinstance(source, pandas.DataFrame):
        named = _columns(source)
        return _of_columns({name: _values(source.iloc[:, place], pandas) for place, name in enumerate(named)})
    if (arrow := sys.modules.get("pyarrow")) is not None and isinstance(source, arrow.Table):
        return _of_columns(source.to_pydict())
    if isinstance(source, list) and source and all(isinstance(row, Mapping) for row in source):
        names = dict.fromkeys(name for row in source for name in row)
        return _of_columns({_name(name): [row.get(name) for row in source] for name in names})
    return None


def as_pandas(rows: list[dict[str, Any]]) -> Any:
    """The same rows as a pandas frame."""
    try:
        import pandas  # type: ignore[import-untyped]
    except ImportError:
        raise MedjuryError(
            "pandas is not installed; `frame()` gives a polars table, `to_dicts()` rows"
        ) from None
    return pandas.DataFrame(rows)


def _columns(frame: Any) -> list[str]:
    names = [_name(name) for name in frame.columns]
    if twice := [name for name in names if names.count(name) > 1]:
        raise MedjuryError(f"the column {twice[0]} appears twice in the table; rename one of them")
    return names


def _name(name: object) -> str:
    if not isinstance(name, str):
        raise MedjuryError(
            f"a column's name must be text, not {name!r} ({type(name).__name__}); rename the column"
        )
    return name


def _values(column: Any, pandas: Any) -> list[Any]:
    """Missing is None, whatever pandas calls it (NaN, NaT, NA); everything else stays what it is."""
    return [None if gone else value for value, gone in zip(column.tolist(), pandas.isna(column), strict=True)]


def _of_columns(columns: Mapping[str, list[Any]]) -> polars.DataFrame:
    import polars as pl

    made = []
    for name, values in columns.items():
        kinds = {type(value) for value in values if value is not None}
        if kinds == {int, float}:
            values = [None if value is None else float(value) for value in values]
        try:
            made.append(pl.Series(name, values, strict=True))
        except (TypeError, pl.exceptions.PolarsError):
            # Numbers and text in one column stay as they are written; none of them is turned into a blank.
            made.append(pl.Series(name, [None if value is None else str(value) for value in values]))
    return pl.DataFrame(made)
