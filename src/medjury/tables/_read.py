"""Tables from files: plain columns under their names, and ratings in a long table or through their import."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from medjury.foundation import limits
from medjury.foundation.errors import MedjuryError, no_such
from medjury.foundation.frames import FORMS, as_polars
from medjury.intake import READ_BY_CELLS, DeclaredMissing, plain_header, read_table, shown_of
from medjury.intake.cases import holds_pairs, is_marks_file, marks_table
from medjury.store.runs import files
from medjury.tables._clean import REQUIRED, whose

if TYPE_CHECKING:
    import polars


def read_plain_table(path: str | os.PathLike[str]) -> polars.DataFrame | None:
    """The cells of a CSV, TSV, Parquet, JSONL, spreadsheet, SPSS or Stata file as text (numbers where the file has
    types), or None where there is no such table."""
    import polars as pl

    place = Path(path)
    # Short ways for the largest files; a new form goes into `intake.READERS`, and is read by `_read_cells`.
    readers = {
        ".csv": lambda: _read_text(place),
        ".tsv": lambda: _read_text(place),
        ".parquet": lambda: limits.read_parquet(place),
        ".jsonl": lambda: limits.read_json_lines(place),
        ".ndjson": lambda: limits.read_json_lines(place),
        **dict.fromkeys((*READ_BY_CELLS, ".gz"), lambda: _read_cells(place)),
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
    cells = []
    for number, row, *_ in table.rows:
        if missing := [at for at in kept if isinstance(row[at], DeclaredMissing)]:
            raise MedjuryError(
                f"{place.name}, row {number}, column {table.header[missing[0]]!r}: {row[missing[0]]} is a code "
                "that the file declares as missing; name it in a mapping, under `blank` where it means not rated, "
                "or under `na` where it means not applicable"
            )
        cells.append([shown_of(row[at]) or None for at in kept])
    return pl.DataFrame(
        cells, schema=dict.fromkeys((table.header[at] for at in kept), pl.String), orient="row"
    )


# Rating tables from files: a long table as it stands, anything else through the import of ratings.


_OF_A_RUN = (files.RATINGS, files.RATINGS_CSV)
_WRITTEN_BY_US = {"key", "created_at", "explanation"}


def read_rating_table(path: str | os.PathLike[str]) -> tuple[polars.DataFrame, tuple[str, ...]]:
    """The ratings in a CSV, Parquet, JSONL or Excel file, a mapping (`.yaml`) or a run folder, and what the
    reader should know of how they were read.

    A CSV, Parquet or JSONL file with the columns item, rater, dimension, score is taken as it stands, extra
    columns such as `patient` included; an empty score in it is an unscored rating. Everything else passes
    the import of ratings, in which bad cells become unscored ratings with their reason."""
    place = Path(path)
    if place.is_dir():
        inside = [place / name for name in _OF_A_RUN if (place / name).is_file()]
        if not inside:
            raise MedjuryError(f"{place}: this folder holds no {' or '.join(_OF_A_RUN)}; is it a run folder?")
        place = inside[0]
    if not place.is_file():
        raise MedjuryError(no_such(place, "file or run folder"))
    if is_marks_file(place):
        import polars as pl

        table = marks_table(place)
        # Of long lists of marks the first that is missing may come late.
        kinds = dict.fromkeys(table.header, pl.String) | {"score": pl.Float64, "points": pl.Float64}
        return pl.DataFrame([row.cells for row in table.rows], schema=kinds, orient="row"), ()
    frame = _long_table(place)
    if frame is not None:
        return frame, ()
    return _imported(place, None)


def read_mapped(
    source: object, mapping: Mapping[str, Any] | str | os.PathLike[str]
) -> tuple[polars.DataFrame, tuple[str, ...]]:
    """The ratings of a file or a frame, read by a mapping, and what the reader should know of that."""
    frame = None if isinstance(source, str | os.PathLike) else as_polars(source)
    if frame is None and not isinstance(source, str | os.PathLike):
        raise MedjuryError(f"a mapping reads a file, or {FORMS}, not {type(source).__name__}")
    return _imported(frame if frame is not None else Path(str(source)), mapping)


def grades_in_mapping(
    mapping: Mapping[str, Any] | str | os.PathLike[str], dimensions: Sequence[str]
) -> dict[str, tuple[float, ...]] | None:
    """The grades that a mapping states, of those of the dimensions that have none; None where it states none."""
    from medjury.store.ratings import mapping_grades

    stated = mapping_grades(mapping)
    found = {name: grades for name in dimensions if (grades := stated.get(name, stated.get("")))}
    return found or None


def _imported(
    source: polars.DataFrame | Path, mapping: Mapping[str, Any] | str | os.PathLike[str] | None
) -> tuple[polars.DataFrame, tuple[str, ...]]:
    from medjury.store.ratings import rating_frame, read_ratings  # most tables need no import

    imported = read_ratings(source, mapping=mapping, on_bad="unscored")
    notes = [line.strip() for line in imported.report.text().splitlines() if not line.startswith("warning:")]
    by_reason: dict[str, list[str]] = {}
    for each in imported.ratings:
        if each.reason is not None:
            by_reason.setdefault(f"unscored, {each.reason}: ", []).append(each.rater)
    notes = [
        next(
            (f"{note} ({whose(raters)})" for start, raters in by_reason.items() if note.startswith(start)),
            note,
        )
        for note in notes
    ]
    return with_patients(rating_frame(imported.ratings), imported.patients), tuple(notes)


def with_patients(ratings: polars.DataFrame, patients: Mapping[str, str]) -> polars.DataFrame:
    """The ratings with whose each item is, where the files name patients."""
    import polars as pl

    if not patients:
        return ratings
    return ratings.with_columns(pl.col("item").replace_strict(patients, default=None).alias("patient"))


def _long_table(place: Path) -> polars.DataFrame | None:
    """The table where it has our four columns, unless it is a text file that we wrote: there a cell that a
    spreadsheet would take for a formula stands guarded, and the import takes the guard off."""
    if place.suffix.lower() in READ_BY_CELLS:
        return None  # the import reads its cells
    frame = read_plain_table(place)
    if frame is None:
        return None  # the import names the row and the fix
    names = set(frame.columns)
    escaped = names >= _WRITTEN_BY_US and place.suffix.lower() != ".parquet"
    return frame if (set(REQUIRED) <= names and not escaped) or holds_pairs(frame.columns) else None
