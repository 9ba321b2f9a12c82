"""Which cases of a run are of the same patient, so that intervals resample patients and not visits."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from medjury.foundation.errors import MedjuryError
from medjury.store.runs import files
from medjury.store.runs._manifest import Manifest

if TYPE_CHECKING:
    import polars


def with_patients(ratings: polars.DataFrame, folder: Path, manifest: Manifest) -> polars.DataFrame:
    """The ratings with the `patient` of each case that shares one with others. A file that the manifest does not
    name is not the run's, and a run without one has a patient for each case, as far as anybody knows."""
    import polars as pl

    if files.PATIENTS not in manifest.files or "patient" in ratings.columns:
        return ratings
    file = folder / files.PATIENTS
    try:
        groups = pl.read_csv(file, schema={"item": pl.String, "patient": pl.String})
    except (OSError, pl.exceptions.PolarsError):
        raise MedjuryError(
            f"{file}: cannot be read, and without it intervals would take visits of one patient for patients; "
            "run the study again, which writes the file anew and asks nothing twice"
        ) from None
    return ratings.join(groups.unique("item"), on="item", how="left", maintain_order="left")
