"""Small tables and run folders for the tests: rows, and a manifest, ratings and patients, as a run writes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from medjury.foundation.errors import MedjuryError
from medjury.store.runs import Manifest, file_hash, files

GRADES = [1, 2, 3, 4, 5]
DIMENSIONS: list[dict[str, Any]] = [
    {"name": "accuracy", "label": "Accuracy", "grades": GRADES},
    {"name": "risk", "label": "Risk", "grades": GRADES, "higher_is_better": False},
    {"name": "safety", "grades": GRADES, "derived": True, "of": "risk"},
    {"name": "overall", "derived": True, "weights": {"accuracy": 0.5, "safety": 0.5}},
]


def rows_of(
    scores: Mapping[str, Sequence[float | None]],
    *,
    dimension: str = "accuracy",
    systems: Sequence[str] = ("",),
) -> pl.DataFrame:
    """`scores[rater]` has one score for each case and system; the kind is the first word of the rater's name."""
    kinds = {"clinician": "clinician", "judge": "judge", "jury": "jury", "metric": "metric"}
    return pl.DataFrame(
        [
            {
                "item": f"case {place // len(systems)}",
                "system": systems[place % len(systems)],
                "rater": rater,
                "rater_kind": kinds.get(rater.split()[0], ""),
                "instrument": "house@1",
                "dimension": dimension,
                "score": score,
                "status": "unscored" if score is None else "scored",
                "reason": "parse" if score is None else None,
            }
            for rater, given in scores.items()
            for place, score in enumerate(given)
        ],
        schema_overrides={"score": pl.Float64, "reason": pl.String},
    )


def frame(**columns: Sequence[Any]) -> pl.DataFrame:
    """Rows of one rater on one dimension, unless the columns say otherwise."""
    count = len(next(iter(columns.values())))
    usual = {
        "item": [str(place) for place in range(count)],
        "rater": ["a"] * count,
        "dimension": ["d"] * count,
        "score": [3.0] * count,
    }
    return pl.DataFrame({**usual, **columns}, strict=False)


def nans(values: Any) -> list[Any]:
    """Numbers as a list, None for NaN."""
    return [None if np.isnan(each) else float(each) for each in np.asarray(values).tolist()]


def refused(call: Callable[[], object]) -> str:
    """The words in which a call is refused."""
    with pytest.raises(MedjuryError) as caught:
        call()
    return str(caught.value)


def run_folder(
    folder: Path,
    ratings: pl.DataFrame,
    *,
    patients: Mapping[str, str] | None = None,
    dimensions: Sequence[Mapping[str, Any]] = DIMENSIONS,
    **stated: Any,
) -> Path:
    """A finished run; `stated` is what else its manifest says (`gate`, `jury`, `report`, ...)."""
    folder.mkdir()
    ratings.write_parquet(folder / files.RATINGS)
    if patients is not None:
        groups = {"item": list(patients), "patient": list(patients.values())}
        pl.DataFrame(groups).write_csv(folder / files.PATIENTS)
    written = {each.name: file_hash(each) for each in folder.iterdir()}
    Manifest.model_validate(
        {
            "run": "study@1",
            "status": "complete",
            "instrument": {"name": "house", "version": "1", "dimensions": list(dimensions)},
            "files": written,
            **stated,
        }
    ).write(folder)
    return folder
