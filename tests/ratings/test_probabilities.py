"""The probability with which an answer was drawn for its rater travels with the rating, everywhere."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from tests.ratings.samples import drop_later_tables, rating

from medjury.intake import FileError
from medjury.store.ratings import Store, open_store, rating_frame, read_ratings, write_ratings


@pytest.mark.parametrize("wrong", [0.0, -0.1, 1.5, float("nan")])
def test_no_rating_has_a_probability_of_nothing_or_of_more_than_one(wrong: float) -> None:
    with pytest.raises(ValueError, match="not above 0 and at most 1"):
        rating(probability=wrong)


def test_a_store_gives_the_probability_back_exactly(store: Store) -> None:
    drawn = rating(probability=1 / 3)
    store.write_ratings("first", [drawn, rating(key="key-2")])
    assert [each.probability for each in store.ratings("first")] == [1 / 3, None]


def test_a_probability_that_was_corrected_is_a_new_row_and_the_same_one_is_not(store: Store) -> None:
    assert store.write_ratings("first", [rating()]) == 1
    assert store.write_ratings("first", [rating(probability=0.25)]) == 1
    assert store.write_ratings("first", [rating(probability=0.25)]) == 0
    assert [each.probability for each in store.ratings("first")] == [0.25]


def test_a_store_from_before_probabilities_is_brought_up_to_date(tmp_path: Path) -> None:
    with open_store(tmp_path / "old.sqlite") as store:
        store.write_ratings("first", [rating()])
    old = sqlite3.connect(tmp_path / "old.sqlite", isolation_level=None)
    drop_later_tables(old)
    old.execute("ALTER TABLE ratings DROP COLUMN probability")
    old.execute("DELETE FROM schema_version WHERE version >= 5")
    old.close()
    with open_store(tmp_path / "old.sqlite") as store:
        assert list(store.ratings("first")) == [rating()]


@pytest.mark.parametrize("ending", [".parquet", ".csv", ".jsonl"])
def test_every_export_holds_the_probability(tmp_path: Path, ending: str) -> None:
    rows = [rating(probability=0.1), rating(key="key-2", item="second")]
    write_ratings(rows, tmp_path / f"ratings{ending}")
    assert list(read_ratings(tmp_path / f"ratings{ending}").ratings) == rows


def test_a_table_from_before_probabilities_is_read(tmp_path: Path) -> None:
    rating_frame([rating()]).drop("probability").write_csv(tmp_path / "old.csv")
    assert list(read_ratings(tmp_path / "old.csv").ratings) == [rating()]


def clinicians(tmp_path: Path, *cells: str) -> Path:
    lines = [f"{number},ann,accuracy,4,{cell}" for number, cell in enumerate(cells)]
    (tmp_path / "clinicians.csv").write_text(
        "\n".join(["item,rater,dimension,score,probability", *lines]) + "\n"
    )
    return tmp_path / "clinicians.csv"


def test_a_clinicians_file_may_state_the_probability_of_every_row(tmp_path: Path) -> None:
    found = read_ratings(clinicians(tmp_path, "1", "0.05", "")).ratings
    assert [each.probability for each in found] == [1.0, 0.05, None]


@pytest.mark.parametrize("wrong", ["0", "1.2", "often"])
def test_a_probability_that_is_none_is_refused_with_its_row(tmp_path: Path, wrong: str) -> None:
    with pytest.raises(FileError, match=r"row 3.*not above 0 and at most 1"):
        read_ratings(clinicians(tmp_path, "1", wrong))


def test_one_rating_with_two_probabilities_is_refused(tmp_path: Path) -> None:
    path = clinicians(tmp_path, "0.5")
    path.write_text(path.read_text() + "0,ann,accuracy,4,0.2\n")
    with pytest.raises(FileError, match="rated a second time, otherwise"):
        read_ratings(path)
