"""Rating tables from files: a long table as it stands, anything else through the import of ratings."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from medjury.foundation.errors import MedjuryError, no_such
from medjury.store.runs import files
from medjury.tables._clean import REQUIRED
from medjury.tables._plain import read_plain_table
from medjury.tables._scales import whose

if TYPE_CHECKING:
    import polars

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
    frame = _long_table(place)
    if frame is not None:
        return frame, ()
    from medjury.store.ratings import rating_frame, read_ratings  # most tables need no import

    imported = read_ratings(place, on_bad="unscored")
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
    return rating_frame(imported.ratings), tuple(notes)


def _long_table(place: Path) -> polars.DataFrame | None:
    """The table where it has our four columns, unless it is a text file that we wrote: there a cell that a
    spreadsheet would take for a formula stands guarded, and the import takes the guard off."""
    if place.suffix.lower() in (".xlsx", ".ods", ".sav", ".zsav", ".por", ".dta"):
        return None  # its cells have types of their own, which the import reads
    frame = read_plain_table(place)
    if frame is None:
        return None  # the import names the row and the fix
    names = set(frame.columns)
    escaped = names >= _WRITTEN_BY_US and place.suffix.lower() != ".parquet"
    return frame if set(REQUIRED) <= names and not escaped else None
