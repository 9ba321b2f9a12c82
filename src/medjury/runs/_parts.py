"""What is known of each case of a run that makes it part of a group: specialty, site, sex; as far as the gate of
the study names it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from medjury.errors import MedjuryError
from medjury.runs import files
from medjury.runs._manifest import Manifest

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
        known = pl.read_csv(file, infer_schema_length=None, schema_overrides={"item": pl.String})
        new = [name for name in known.columns if name == "item" or name not in ratings.columns]
        return ratings.join(known.select(new).unique("item"), on="item", how="left", maintain_order="left")
    except (OSError, pl.exceptions.PolarsError):
        raise MedjuryError(
            f"{file}: cannot be read, and without it nobody knows which cases belong together; run the study "
            "again, which writes the file anew and asks nothing twice"
        ) from None
