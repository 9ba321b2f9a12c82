"""Ids as spreadsheets keep them: what is shown is what is read, and what Excel made of it is refused."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from tests.formats.readable import reads

from medjury.foundation.errors import MedjuryError
from medjury.intake import FileError
from medjury.intake.cases import read_cases
from medjury.store.ratings import read_ratings
from medjury.tables import rating_table, read_plain_table
from medjury.tables._panel import open_panel

HEADER = ["item", "rater", "dimension", "score"]


def workbook(folder: Path, *rows: list[Any], shown: str = "General") -> Path:
    book = openpyxl.Workbook()
    for row in (HEADER, *rows):
        book.active.append(row)
    for cell in book.active["A"][1:]:
        if not isinstance(cell.value, date):
            cell.number_format = shown
    for cell in book.active["D"][1:]:
        cell.number_format = "00"
    book.save(folder / "ids.xlsx")
    return folder / "ids.xlsx"


@pytest.mark.parametrize(("value", "shown"), [(date(2024, 3, 1), "a date"), (True, "TRUE")])
def test_an_id_that_excel_changed_is_refused(tmp_path: Path, value: Any, shown: str) -> None:
    file = workbook(tmp_path, ["case-1", "Ada", "accuracy", 4], [value, "Ada", "accuracy", 5])
    with pytest.raises(FileError, match=f"row 3, column 'item': .*is {shown}, not an id.*as text"):
        read_ratings(file)
    with pytest.raises(MedjuryError, match=f"row 3, column 'item': .*is {shown}, not an id.*as text"):
        rating_table(file)


def test_a_wide_table_for_validate_is_held_to_the_same(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in (["item", "Ada", "Sam"], ["case-1", 4, 5], [date(2024, 3, 1), 2, 3]):
        book.active.append(row)
    book.save(tmp_path / "wide.xlsx")
    with pytest.raises(MedjuryError, match="column 'item': 2024-03-01 00:00:00 is a date or TRUE, not an id"):
        open_panel(tmp_path / "wide.xlsx", "clinician", named={"item": "item"})


def test_a_score_whose_format_adds_signs_is_still_a_score(tmp_path: Path) -> None:
    file = workbook(tmp_path, ["case-1", "Ada", "accuracy", 4])
    book = openpyxl.load_workbook(file)
    book.active["D2"].number_format = '0" points"'
    book.save(file)
    assert [each.score for each in read_ratings(file).ratings] == [4]
    frame = read_plain_table(file)
    assert frame is not None and frame["score"].to_list() == ["4"]


@reads(
    "Ratings",
    "ids in spreadsheets",
    ".xlsx, .ods",
    "7 that the sheet shows as 007 is `007`",
    "an id that became a date or TRUE, or is shown with other signs",
)
def test_leading_zeros_that_excel_shows_are_read(tmp_path: Path) -> None:
    file = workbook(tmp_path, [7, "Ada", "accuracy", 4], [12, "Ada", "accuracy", 5], shown="000")
    found = read_ratings(file)
    assert [(each.item, each.score) for each in found.ratings] == [("007", 4), ("012", 5)]
    frame = read_plain_table(file)
    assert frame is not None and frame["item"].to_list() == ["007", "012"]


def test_a_number_that_is_shown_as_one_stays_as_it_is(tmp_path: Path) -> None:
    file = workbook(tmp_path, [7, "Ada", "accuracy", 4], [12.0, "Ada", "accuracy", 5], shown="0")
    assert [each.item for each in read_ratings(file).ratings] == ["7", "12"]


def test_a_number_whose_format_adds_signs_is_refused_as_an_id(tmp_path: Path) -> None:
    file = workbook(tmp_path, [7, "Ada", "accuracy", 4], shown='"P-"000')
    with pytest.raises(FileError, match=r"row 2, column 'item': .*as text"):
        read_ratings(file)


def test_an_id_of_more_digits_than_a_spreadsheet_keeps_is_refused(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(["item", "rater", "accuracy"])
    sheet.append([1234567890123456789, "ann", 3])
    book.save(tmp_path / "i.xlsx")
    mapping = {"item": "item", "rater": "rater", "dimensions": ["accuracy"]}
    with pytest.raises(FileError, match="more than 15 digits, which a spreadsheet rounds"):
        read_ratings(tmp_path / "i.xlsx", mapping=mapping)


@pytest.mark.parametrize(
    ("identity", "words"),
    [
        ("1.20E+16", "a number of many digits, which a spreadsheet rounds"),
        ("c\u200b1", "an invisible character"),
        ("c\x001", "an invisible character"),
        ('"c\n1"', "an invisible character"),
    ],
)
def test_an_id_that_is_not_what_it_seems_is_refused(identity: str, words: str, tmp_path: Path) -> None:
    """Two items that look the same, or one that was two, would change every number."""
    (tmp_path / "t.csv").write_text(f"item,rater,dimension,score\n{identity},a,q,4\n", encoding="utf-8")
    with pytest.raises(FileError, match=f"row 2, column 'item': .*{words}"):
        read_ratings(tmp_path / "t.csv")
    (tmp_path / "c.csv").write_text(f"id,candidate\n{identity},Text.\n", encoding="utf-8")
    assert read_cases(tmp_path / "c.csv", on_bad="skip").skipped == 1
