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
        frame = rating_frame(imported.ratings)
        frame.write_parquet(place / "ratings.parquet")
        frame.select("item", "system", "rater", "rater_kind", "dimension", "score", "status").write_parquet(
            place / "few-columns.parquet"
        )
        (place / "not_rated.txt").write_text(str(imported.report.not_rated))

    return made_once(factory, "mental-health", make) / "ratings.parquet"


def few_columns(factory: pytest.TempPathFactory) -> Path:
    """The same without what no analysis asks for; where the data are not here, whoever needs it is skipped."""
    if not DATA.is_dir():
        pytest.skip("the mental-health ratings are not on this machine")
    return real_ratings(factory).with_name("few-columns.parquet")


def write_some_cases(folder: Path, numbers: range) -> None:
    """The five files as they stand, of the conversations with these numbers: few are read quickly."""
    for file in DATA.glob("*.csv"):
        with file.open(encoding="utf-8", newline="") as whole:
            rows = csv.reader(whole)
            titles = next(rows)
            some = [row for row in rows if int(row[0]) in numbers]
        with (folder / file.name).open("w", encoding="utf-8", newline="") as cut:
            csv.writer(cut).writerows([titles, *some])
