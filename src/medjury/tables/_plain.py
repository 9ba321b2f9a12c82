"""Plain tables from files: the one reader of columns under their names, whatever they hold."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from medjury.foundation import limits
from medjury.foundation.errors import MedjuryError
from medjury.intake import plain_header, read_table, shown_of

if TYPE_CHECKING:
    import polars


def read_plain_table(path: str | os.PathLike[str]) -> polars.DataFrame | None:
    """The cells of a CSV, TSV, Parquet, JSONL, spreadsheet, SPSS or Stata file as text (numbers where the file has
    types), or None where there is no such table."""
    import polars as pl

    place = Path(path)
    readers = {
        ".csv": lambda: _read_text(place),
        ".tsv": lambda: _read_text(place),
        ".parquet": lambda: limits.read_parquet(place),
        ".jsonl": lambda: limits.read_json_lines(place),
        ".ndjson": lambda: limits.read_json_lines(place),
        **dict.fromkeys(
            (".xlsx", ".ods", ".gz", ".sav", ".zsav", ".por", ".dta"), lambda: _read_cells(place)
        ),
    }
    reader = readers.get(place.suffix.lower())
    if reader is None or not place.is_file():
        return None
    try:
        frame = reader()
    except pl.exceptions.NoDataError:
        raise MedjuryError(f"{place}: the file is empty; its first row must name the columns") from None
    except (pl.exceptions.PolarsError, OSError, UnicodeError, limits.UnreadableParquetError):
        return None
    return frame.rename({name: name.strip() for name in frame.columns if name.strip() not in frame.columns})


def _read_text(place: Path) -> polars.DataFrame:
    """Cells as text, parted by the sign that the header uses most (Excel writes semicolons in much of Europe)."""
    start = plain_header(place)
    if start is None:
        return _read_cells(place)
    names = [name.strip() for name in start[0]]
    limits.check_shape(place, 1, len(names))
    if twice := sorted(name for name, count in Counter(names).items() if name and count > 1):
        raise MedjuryError(f"{place}: two columns are named {', '.join(twice)}; rename one of them")
    return limits.read_csv(place, len(names), separator=start[1])


def _read_cells(place: Path) -> polars.DataFrame:
    """The cells as their reader sees them, from a file that the import of ratings reads too."""
    import polars as pl

    table = read_table(place)
    kept = [at for at, name in enumerate(table.header) if name]
    cells = [[shown_of(row[at]) or None for at in kept] for _, row, *_ in table.rows]
    return pl.DataFrame(
        cells, schema=dict.fromkeys((table.header[at] for at in kept), pl.String), orient="row"
    )
