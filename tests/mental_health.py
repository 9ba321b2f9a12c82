"""The real ratings of shared/data/mental_health_judges, where they are on this machine: read once for the suite."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path

import pytest
from tests.once import made_once

from medjury.store.ratings import rating_frame, read_ratings

ROOT = Path(__file__).parent.parent
DATA = ROOT.parent / "shared" / "data" / "mental_health_judges"
MAPPING = ROOT / "docs" / "examples" / "mental_health_judges.yaml"


def real_ratings(factory: pytest.TempPathFactory) -> Path:
    """A Parquet file of every rating that the five files give by their mapping; beside it lies how many cells were
    not rated (`not_rated.txt`). Tests only read it."""

    def make(place: Path) -> None:
        shutil.copy(MAPPING, place / MAPPING.name)
        for file in DATA.glob("*.csv"):
            (place / file.name).symlink_to(file)
        imported = read_ratings(place / MAPPING.name, on_bad="unscored")
        rating_frame(imported.ratings).write_parquet(place / "ratings.parquet")
        (place / "not_rated.txt").write_text(str(imported.report.not_rated))

    return made_once(factory, "mental-health", make) / "ratings.parquet"


def write_some_cases(folder: Path, numbers: range) -> None:
    """The five files as they stand, of the conversations with these numbers: few are read quickly."""
    for file in DATA.glob("*.csv"):
        with file.open(encoding="utf-8", newline="") as whole:
            rows = csv.reader(whole)
            titles = next(rows)
            some = [row for row in rows if int(row[0]) in numbers]
        with (folder / file.name).open("w", encoding="utf-8", newline="") as cut:
            csv.writer(cut).writerows([titles, *some])
