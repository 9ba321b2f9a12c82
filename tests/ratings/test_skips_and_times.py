"""What an instrument skips is not applicable on import, and only times that were measured count."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from medjury.foundation.errors import MedjuryError
from medjury.instruments import load_instrument
from medjury.judging._jury_rows import Following
from medjury.store.ratings import ImportedRatings, Rating, rating_blocks, read_ratings

PDSQI = load_instrument("pdsqi9")
NAMES = [each.name for each in PDSQI.dimensions]


def wide(folder: Path, *answers: Mapping[str, object], extra: str = "") -> Path:
    """A column for each dimension of PDSQI-9; each answer has the best grade but for what it says."""
    lines = [",".join(["item", "rater", *NAMES, *([extra] if extra else [])])]
    for number, said in enumerate(answers):
        scores = [str(said.get(each.name, max(each.values))) for each in PDSQI.dimensions]
        more = [str(said.get(extra, ""))] if extra else []
        lines.append(",".join([f"case-{number}", "Ada", *scores, *more]))
    (folder / "wide.csv").write_text("\n".join(lines) + "\n")
    columns = "".join(f"  {name}: {name}\n" for name in NAMES)
    (folder / "wide.yaml").write_text(f"dimensions:\n{columns}")
    return folder / "wide.csv"


def read(file: Path, **settings: object) -> ImportedRatings:
    return read_ratings(file, mapping=file.with_suffix(".yaml"), instrument=PDSQI, **settings)  # type: ignore[arg-type]


def one(found: ImportedRatings, item: str, dimension: str) -> Rating | None:
    return next((each for each in found.ratings if (each.item, each.dimension) == (item, dimension)), None)


def test_what_is_skipped_is_not_applicable_and_no_gap(tmp_path: Path) -> None:
    file = wide(tmp_path, {"abstraction": 0, "synthesized": ""}, {"synthesized": ""})
    found = read(file)
    skipped = one(found, "case-0", "synthesized")
    assert skipped is not None and skipped.status == "not_applicable" and skipped.seconds is None
    assert one(found, "case-1", "synthesized") is None, "an empty cell elsewhere is still not rated"
    assert (found.report.not_applicable, found.report.not_rated) == (1, 1)


def test_composites_are_formed_where_a_part_is_skipped(tmp_path: Path) -> None:
    names = [each.name for each in PDSQI.composites]
    assert names
    file = wide(tmp_path, {"abstraction": 0, "synthesized": ""})
    blocks = Following(lambda _: [], PDSQI).blocks(rating_blocks(read(file).ratings))
    rows = [row for block in blocks for row in block.ratings()]
    made = {row.dimension: row for row in rows if row.dimension in names}
    assert all(made[name].status == "scored" for name in names)
    assert all(row.seconds is None for row in rows), "nobody measured how long a composite took"


def test_a_score_where_the_instrument_skips_is_a_bad_one(tmp_path: Path) -> None:
    file = wide(tmp_path, {"abstraction": 0, "synthesized": 4})
    with pytest.raises(MedjuryError) as refused:
        read(file)
    assert "wide.csv, row 2, column 'synthesized'" in str(refused.value)
    assert "is a score where abstraction is 0, which the instrument skips: leave it empty" in str(
        refused.value
    )
    kept = one(read(file, on_bad="unscored"), "case-0", "synthesized")
    assert kept is not None and (kept.status, kept.score) == ("unscored", None)


def test_a_dimension_that_nobody_was_asked_about_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "long.csv").write_text("item,rater,dimension,score\ncase-0,Ada,abstraction,0\n")
    found = read_ratings(tmp_path / "long.csv", instrument=PDSQI)
    assert [each.dimension for each in found.ratings] == ["abstraction"]


@pytest.mark.parametrize(("unit", "seconds"), [("seconds", 90.0), ("minutes", 5400.0)])
def test_a_time_is_shared_by_the_ratings_of_its_row_in_its_unit(
    tmp_path: Path, unit: str, seconds: float
) -> None:
    found = read(wide(tmp_path, {unit: 90}, extra=unit))
    assert sum(each.seconds or 0 for each in found.ratings) == pytest.approx(seconds)


def test_a_time_of_0_was_not_measured(tmp_path: Path) -> None:
    found = read(wide(tmp_path, {"seconds": 0}, extra="seconds"))
    assert {each.seconds for each in found.ratings} == {None}
    assert "the time of 1 answers is 0: it counts as not measured" in found.report.text()


def test_minutes_passed_as_seconds_are_noticed(tmp_path: Path) -> None:
    few = [{"seconds": number} for number in (4, 6, 7, 9, 12)]
    assert (
        "median of 7 seconds for an answer: are they minutes?"
        in read(wide(tmp_path, *few, extra="seconds")).report.text()
    )
    for others in (
        [{"seconds": 10 * each["seconds"]} for each in few],
        [{"seconds": each["seconds"] + 0.5} for each in few],
    ):
        assert "minutes" not in read(wide(tmp_path, *others, extra="seconds")).report.text()
    minutes = [{"minutes": each["seconds"]} for each in few]
    assert "minutes" not in read(wide(tmp_path, *minutes, extra="minutes")).report.text()


def test_a_column_that_differs_within_a_rater_describes_no_rater(tmp_path: Path) -> None:
    lines = ["item,rater,dimension,score,specialty,years", "case-0,Ada,abstraction,1,renal,7"]
    lines.append("case-1,Ada,abstraction,1,cardiac,7")
    (tmp_path / "long.csv").write_text("\n".join(lines) + "\n")
    found = read_ratings(tmp_path / "long.csv", instrument=PDSQI)
    assert found.profiles == {"Ada": {"years": "7"}}
    assert "the column specialty differs between rows of one rater" in found.report.text()
