"""What is known of each case of a run that makes it part of a group: specialty, site, sex; what has few values,
and what the gate of the study names."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from medjury.foundation.errors import MedjuryError
from medjury.store.ratings import unguard
from medjury.store.runs import files
from medjury.store.runs._manifest import Manifest

if TYPE_CHECKING:
    import polars


def with_parts(ratings: polars.DataFrame, folder: Path, manifest: Manifest) -> polars.DataFrame:
    """The ratings with a column for each thing that the run wrote down of its cases. A file that the manifest does
    not name is not the run's."""
    import polars as pl

    if files.PARTS not in manifest.files:
        return ratings
    file = folder / files.PARTS
    try:
        texts = {"item": pl.String, "system": pl.String}
        known = pl.read_csv(file, infer_schema_length=None, schema_overrides=texts)
        # A line is of a case, or, where the file names systems, of one system's answer to it.
        key = [name for name in texts if name in known.columns]
        people = pl.col(pl.String).exclude(key)
        known = known.with_columns(
            pl.col(key).fill_null(""), people.map_elements(unguard, return_dtype=pl.String)
        )
        new = [name for name in known.columns if name in key or name not in ratings.columns]
        return ratings.join(known.select(new).unique(key), on=key, how="left", maintain_order="left")
    except (OSError, pl.exceptions.PolarsError):
        raise MedjuryError(
            f"{file}: cannot be read, and without it nobody knows which cases belong together; run the study "
            "again, which writes the file anew and asks nothing twice"
        ) from None
