"""`medjury run` without its report, which takes longer to draw than a small run takes; and what the run left."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from unittest.mock import patch

import polars

from medjury.cli import main


def run_without_report(study: Path, *flags: str) -> int:
    """The exit status of `medjury run STUDY --quiet`, with all that it says but of the report."""
    with patch("medjury.cli.run.print_report", return_value=None):
        return main(["run", str(study), "--quiet", *flags])


def ratings_of(study: Path) -> polars.DataFrame:
    """All rows of the run of a study called `small`, as `write_study` writes it."""
    return polars.read_parquet(study.parent / "runs" / "small" / "ratings.parquet")


def votes_of(study: Path) -> polars.DataFrame:
    """The judges' own rows, case by case, without the composite that follows from them."""
    rows = ratings_of(study).filter(polars.col("dimension") != "overall", rater_kind="judge")
    return rows.sort("item", maintain_order=True)


def records_of(study: Path) -> list[dict[str, Any]]:
    """How each rating came about, case by case."""
    lines = (study.parent / "runs" / "small" / "records.jsonl").read_text(encoding="utf-8").splitlines()
    return sorted(map(json.loads, lines), key=lambda each: (each["item"], each["repeat"]))


def manifest_of(study: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((study.parent / "runs" / "small" / "manifest.json").read_text())
    return found
