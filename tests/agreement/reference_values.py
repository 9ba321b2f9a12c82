"""Reads the reference values beside this file; README.md says where they come from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

FOLDER = Path(__file__).parent / "reference"


def reference(name: str) -> dict[str, Any]:
    values: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return values


def resample_indices(name: str) -> NDArray[np.int64]:
    """Fixed resamples: one a row, 0-based items."""
    with np.load(FOLDER / f"{name}.npz") as archive:
        return archive["indices"].astype(np.int64)
