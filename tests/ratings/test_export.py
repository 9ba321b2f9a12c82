"""Export and back: exact, whatever the text; and harmless in a spreadsheet."""

from __future__ import annotations

import csv
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import polars
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.ratings.samples import rating, ratings_of, unscored

from medjury.foundation.errors import MedjuryError
from medjury.instruments import Reason
from medjury.store.ratings import Rating, rating_frame, read_ratings, write_ratings
from medjury.store.ratings._export import guard_frame

TEXTS = st.text(st.characters(codec=None), max_size=30) | st.sampled_from(
    [
        "=1+1", "'=1+1", "''", "'", "-5", "+5.5", "@x", "\tx", "\rx", "-x", "a\r\nb", '"', ",", ";", "\x00",
        "\ud800", "＝1",
    ]
)  # fmt: skip
RATINGS = st.builds(
    rating, explanation=TEXTS, rater=TEXTS.map("r{}".format), system=TEXTS,
    score=st.floats(allow_nan=False, allow_infinity=False), cost=st.none() | st.floats(0, 1e9),
    tokens_in=st.none() | st.integers(0, 2**60), item=st.integers(0, 10**9).map("item-{}".format),
)  # fmt: skip


@given(st.lists(RATINGS, max_size=5))
def test_a_table_holds_ratings_exactly(ratings: list[Rating]) -> None:
    assert ratings_of(rating_frame(ratings)) == ratings


@settings(deadline=None, max_examples=60)
@given(ratings=st.lists(RATINGS, min_size=1, max_size=5, unique_by=lambda each: each.item))
def test_a_file_holds_ratings_exactly(
    tmp_path_factory: pytest.TempPathFactory, ratings: list[Rating]
) -> None:
    folder = tmp_path_factory.mktemp("export")
    for ending in ("csv", "parquet", "jsonl"):
        path = folder / f"r.{ending}"
        assert write_ratings(ratings, path) == len(ratings)
        assert list(read_ratings(path).ratings) == ratings, ending


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl"])
def test_every_status_survives(tmp_path: Path, ending: str) -> None:
    ratings = [unscored(reason, item=reason.value, key=reason.value) for reason in Reason]
    ratings.append(rating(item="na", key="na", score=None, status="not_applicable", rater_kind="clinician"))
    write_ratings(ratings, tmp_path / f"r.{ending}")
    assert list(read_ratings(tmp_path / f"r.{ending}").ratings) == ratings


def test_text_cannot_become_a_formula(tmp_path: Path) -> None:
    risky = ["=HYPERLINK(1)", "+1+1", "-2+3", "@SUM(1)", "\t=1", "\r=1", "＝1"]
    harmless = ["-5", "+5.5", "plain", "a=b", ""]
    rows = [
        rating(item=f"case-{number}", key=str(number), explanation=text)
        for number, text in enumerate(risky + harmless)
    ]
    write_ratings(rows, tmp_path / "r.csv")
    with (tmp_path / "r.csv").open(encoding="utf-8", newline="") as file:
        written = [row["explanation"] for row in csv.DictReader(file)]
    assert written == [f"'{text}" for text in risky] + harmless
    write_ratings(rows, tmp_path / "r.parquet")
    assert polars.read_parquet(tmp_path / "r.parquet")["explanation"].to_list() == risky + harmless


CELLS = (
    st.none()
    | st.text(max_size=4)
    | st.sampled_from(["=1", "-5", "+5.5", "-x", "'", "@x", "\tx", "＝1", "a=b", ""])
)


@pytest.mark.parametrize("name", ["^note$", "^.*$", "*", "^(score|x)$", "a", "", "literal"])
def test_no_name_of_a_column_lets_a_formula_pass(name: str) -> None:
    frame = polars.DataFrame({"item": ["=1"], name: ["=HYPERLINK(1)"], "note": ["x"]})
    assert guard_frame(frame).rows() == [("'=1", "'=HYPERLINK(1)", "x")]


def test_a_table_that_is_wrongly_said_to_be_sorted_is_guarded_all_the_same() -> None:
    for descending in (False, True):
        said = polars.Series("note", ["b", "=1", "c"]).set_sorted(descending=descending)
        assert guard_frame(polars.DataFrame([said]))["note"].to_list() == ["b", "'=1", "c"]


@given(st.lists(st.tuples(CELLS, CELLS, CELLS), max_size=8))
def test_every_risky_cell_of_any_column_is_guarded_and_no_other(rows: list[tuple[str | None, ...]]) -> None:
    kinds = dict.fromkeys(("a", "b", "c"), polars.String)
    frame = polars.DataFrame(rows, schema=kinds, orient="row").with_columns(polars.lit(1).alias("number"))

    def guarded(text: str | None) -> str | None:
        number = text is not None and re.fullmatch(r"[+-]?[0-9]+(\.[0-9]+)?", text)
        return f"'{text}" if text and text[0] in "'=+-@\t\r＝＋－＠" and not number else text

    # polars knows of the others that they are sorted
    for each in (frame, frame.sort("a"), frame.sort("b", descending=True)):
        made = guard_frame(each)
        assert made.columns == frame.columns and made.select(*kinds).rows() == [
            tuple(map(guarded, row)) for row in each.select(*kinds).rows()
        ]


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl"])
def test_ratings_come_one_by_one_as_a_table_as_tables_or_from_parquet(tmp_path: Path, ending: str) -> None:
    rows = [rating(item=f"case-{number:05}", key=str(number)) for number in range(5_001)]
    frame = rating_frame(rows)
    write_ratings(rows, tmp_path / "source.parquet")
    sources = {
        "ratings": iter(rows), "table": frame, "tables": frame.iter_slices(1_000),
        "file": tmp_path / "source.parquet",
    }  # fmt: skip
    for name, source in sources.items():
        assert write_ratings(source, tmp_path / f"{name}.{ending}") == len(rows)  # type: ignore[arg-type]
    first, *others = (tmp_path / f"{name}.{ending}" for name in sources)
    assert list(read_ratings(first).ratings) == rows
    for other in others:
        if ending == "parquet":
            assert polars.read_parquet(other).equals(polars.read_parquet(first))
        else:
            assert other.read_bytes() == first.read_bytes()


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl"])
def test_no_ratings_make_an_empty_file_with_its_header(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"r.{ending}"
    assert write_ratings([], path) == 0
    if ending == "csv":
        assert path.read_text().startswith("item,system,rater,")
    elif ending == "parquet":
        assert polars.read_parquet(path).columns[:3] == ["item", "system", "rater"]


def test_a_half_written_file_never_has_the_name(tmp_path: Path) -> None:
    def broken() -> object:
        yield rating()
        raise RuntimeError("the disk is gone")

    for ending in ("csv", "parquet", "jsonl"):
        with pytest.raises(RuntimeError, match="the disk is gone"):
            write_ratings(broken(), tmp_path / f"r.{ending}")  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl"])
def test_two_may_write_the_same_file_at_once(tmp_path: Path, ending: str) -> None:
    rows = [rating(item=f"case-{number:05}", key=str(number)) for number in range(3_000)]
    with ThreadPoolExecutor(4) as pool:
        written = [pool.submit(write_ratings, rows, tmp_path / f"r.{ending}") for _ in range(8)]
    assert [each.result() for each in written] == [3_000] * 8
    assert [file.name for file in tmp_path.iterdir()] == [f"r.{ending}"]
    assert len(read_ratings(tmp_path / f"r.{ending}").ratings) == 3_000


def test_what_cannot_be_written_or_read(tmp_path: Path) -> None:
    with pytest.raises(MedjuryError, match=r"written as \.parquet, \.csv, \.jsonl"):
        write_ratings([], tmp_path / "r.xlsx")
    with pytest.raises(MedjuryError, match="cannot be written"):
        write_ratings([], tmp_path / "no folder" / "r.csv")
    with pytest.raises(MedjuryError, match="not a Parquet file"):
        write_ratings(tmp_path / "r.csv", tmp_path / "r.parquet")


def test_a_table_of_another_shape_is_not_cut_down_to_ratings(tmp_path: Path) -> None:
    table = rating_frame([rating()])
    for other in (table.with_columns(calibrated=polars.lit(1.0)), table.drop("cost")):
        with pytest.raises(MedjuryError, match="Tables of another shape"):
            write_ratings(other, tmp_path / "r.csv")


def test_own_tables_are_checked_too(tmp_path: Path) -> None:
    rows = [rating(score=9.0), replace(rating(), item="case-2", key="k2", score=5.0)]
    write_ratings([replace(row, instrument="") for row in rows], tmp_path / "r.csv")
    with pytest.raises(MedjuryError, match=r"row 2, column 'score': 9\.0 is not on the scale"):
        read_ratings(tmp_path / "r.csv", instrument="note_quality")
    imported = read_ratings(tmp_path / "r.csv", instrument="note_quality", on_bad="unscored")
    assert [(each.score, each.reason) for each in imported.ratings] == [
        (None, Reason.OUT_OF_RANGE),
        (5.0, None),
    ]
