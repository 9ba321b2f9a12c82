"""Who rated a run, and what is known of its cases besides their scores, as its folder has it."""

from __future__ import annotations

from pathlib import Path

from medjury.foundation.errors import MedjuryError
from medjury.store.ratings import unguard
from medjury.store.runs import files
from medjury.store.runs._manifest import Manifest


def read_profiles(folder: Path, manifest: Manifest) -> dict[str, dict[str, str]]:
    """By rater, panel, years, specialty and so on; a file that the manifest does not name is not the run's."""
    rows = _rows(folder, files.RATERS, manifest)
    return {
        unguard(name): {column: unguard(text) for column, text in own.items()} for name, own in rows.items()
    }


def read_labels(folder: Path, manifest: Manifest) -> dict[str, dict[str, int]]:
    """By case, its labels: 0 or 1."""
    rows = _rows(folder, files.LABELS, manifest)
    return {name: {label: int(text == "1") for label, text in own.items()} for name, own in rows.items()}


def _rows(folder: Path, name: str, manifest: Manifest) -> dict[str, dict[str, str]]:
    import polars as pl

    if name not in manifest.files:
        return {}
    try:
        frame = pl.read_csv(folder / name, infer_schema=False)
    except (OSError, pl.exceptions.PolarsError):
        raise MedjuryError(
            f"{folder / name}: cannot be read; run the study again, which writes the file anew and asks nothing "
            "twice"
        ) from None
    key, *columns = frame.columns
    return {
        row[key]: {column: row[column] for column in columns if row[column]}
        for row in frame.iter_rows(named=True)
    }
