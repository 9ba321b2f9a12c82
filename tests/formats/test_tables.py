"""Tables as programs write them: encodings, separators, sheets, headers, packed files, each read whole."""

from __future__ import annotations

import gzip
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import openpyxl
import pandas
import pyreadstat
import pytest
from tests.formats.readable import reads

from medjury.foundation.errors import MedjuryError
from medjury.foundation.limits import FileLimitError
from medjury.intake import FileError
from medjury.store.ratings import ImportedRatings, read_ratings
from medjury.tables import rating_table, read_plain_table
from medjury.tables._panel import open_panel

HEADER = ["item", "rater", "dimension", "score"]
ROWS = [["case-1", "Müller, Ada", "accuracy", "4"], ["007", "Sam; Roy", "accuracy", "5"]]
READ = [("case-1", "Müller, Ada", 4.0), ("007", "Sam; Roy", 5.0)]


def text(separator: str, line: str = "\n", start: str = "") -> str:
    lines = [separator.join(HEADER), *(separator.join([row[0], f'"{row[1]}"', *row[2:]]) for row in ROWS)]
    return start + line.join(lines) + line


def read(found: ImportedRatings) -> list[tuple[str, str, float | None]]:
    return [(each.item, each.rater, each.score) for each in found.ratings]


TEXTS = {
    "UTF-8": ("t.csv", text(",").encode()),
    "UTF-8 with its mark": ("t.csv", text(",").encode("utf-8-sig")),
    "UTF-16 as Excel writes Unicode text": ("t.csv", text("\t").encode("utf-16")),
    "UTF-16 without its mark": ("t.csv", text(",").encode("utf-16-le")),
    "UTF-16, the other way round": ("t.csv", text(",").encode("utf-16-be")),
    "semicolons": ("t.csv", text(";", "\r\n").encode()),
    "bars": ("t.csv", text("|").encode()),
    "tabs": ("t.tsv", text("\t").encode()),
    "sep=; on the first line": ("t.csv", text(";", "\r\n", "sep=;\r\n").encode()),
    "sep=| after the mark of UTF-8": ("t.csv", text("|", "\n", "sep=|\n").encode("utf-8-sig")),
    "packed": ("t.csv.gz", gzip.compress(text(",").encode())),
    "packed UTF-16": ("t.csv.gz", gzip.compress(text(";").encode("utf-16"))),
    "packed JSON Lines": ("t.jsonl.gz", gzip.compress(
        b'{"item": "case-1", "rater": "M\\u00fcller, Ada", "dimension": "accuracy", "score": 4}\n'
        b'{"item": "007", "rater": "Sam; Roy", "dimension": "accuracy", "score": 5}\n')),
}  # fmt: skip


@reads(
    "Ratings",
    "text with commas, semicolons, tabs or bars",
    ".csv, .tsv",
    "UTF-8 and UTF-16, `sep=;` on the first line, packed as .gz",
    "other encodings, until `encoding` names them",
)
@pytest.mark.parametrize("form", TEXTS)
def test_a_table_of_text_is_read_whole(form: str, tmp_path: Path) -> None:
    name, content = TEXTS[form]
    (tmp_path / name).write_bytes(content)
    assert read(read_ratings(tmp_path / name)) == READ
    if name != "t.jsonl.gz":
        frame = read_plain_table(tmp_path / name)
        assert frame is not None and frame.rows() == [tuple(row) for row in ROWS]
        rows = rating_table(tmp_path / name).rows
        assert sorted(zip(rows["item"], rows["rater"], rows["score"], strict=True)) == sorted(READ)


def test_a_separator_within_quotation_marks_is_none(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(
        'item,rater,"how; well; was; it; said",dimension,score\n1,Ada,x,accuracy,4\n'
    )
    assert read(read_ratings(tmp_path / "t.csv")) == [("1", "Ada", 4.0)]


def test_a_header_may_run_over_lines_within_quotation_marks(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('"rated\n(a, b, c)";item;rater;dimension;score\nx;1;Ada;accuracy;4\n')
    assert read(read_ratings(tmp_path / "t.csv")) == [("1", "Ada", 4.0)]


def test_another_encoding_is_refused_with_its_cure_and_read_when_named(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(text(",").encode("cp1252"))
    with pytest.raises(FileError, match=r"not valid UTF-8; .*`encoding: cp1252`"):
        read_ratings(tmp_path / "t.csv")
    (tmp_path / "m.yaml").write_text("encoding: cp1252\n")
    assert read(read_ratings(tmp_path / "t.csv", mapping=tmp_path / "m.yaml")) == READ


def test_what_is_not_packed_as_its_name_says_is_refused(tmp_path: Path) -> None:
    (tmp_path / "t.csv.gz").write_text(text(","))
    with pytest.raises(FileError, match=r"t\.csv\.gz: not a gzip file"):
        read_ratings(tmp_path / "t.csv.gz")


def workbook(path: Path, **sheets: list[list[Any]]) -> Path:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        page = book.create_sheet(name)
        for row in rows:
            page.append(row)
    book.save(path)
    return path


_ODS = '<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body><office:spreadsheet>{}</office:spreadsheet></office:body></office:document-content>'  # noqa: E501


def _cell(value: Any) -> str:
    if isinstance(value, tuple):  # a number and how it is shown
        number, shown = value
        start = f'<table:table-cell office:value-type="float" office:value="{number}">'
        return f"{start}<text:p>{shown}</text:p></table:table-cell>"
    if value is None:
        return '<table:table-cell table:number-columns-repeated="1"/>'
    if value is True:
        return '<table:table-cell office:value-type="boolean" office:boolean-value="true"/>'
    if isinstance(value, int):
        return _cell((value, value))
    return f'<table:table-cell office:value-type="string"><text:p>{value}</text:p></table:table-cell>'


def open_document(path: Path, **sheets: list[list[Any]]) -> Path:
    pages = []
    for name, rows in sheets.items():
        lines = "".join(
            f"<table:table-row>{''.join(map(_cell, row))}<table:table-cell "
            'table:number-columns-repeated="16000"/></table:table-row>'
            for row in rows
        )
        empty = '<table:table-row table:number-rows-repeated="1048000"><table:table-cell/></table:table-row>'
        pages.append(f'<table:table table:name="{name}">{lines}{empty}</table:table>')
    with ZipFile(path, "w") as packed:
        packed.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        packed.writestr("content.xml", _ODS.format("".join(pages)))
    return path


SHEETS: dict[str, Callable[..., Path]] = {"t.xlsx": workbook, "t.ods": open_document}


@reads(
    "Ratings",
    "spreadsheets",
    ".xlsx, .ods",
    "the first sheet, which is told, or the one that `sheet` names",
    "formulas without a stored result; damaged and encrypted files",
)
@pytest.mark.parametrize("name", SHEETS)
def test_the_first_sheet_is_read_and_told_and_another_when_named(name: str, tmp_path: Path) -> None:
    ours = [HEADER, ["case-1", "Ada", "accuracy", 4], ["case-2", "Ada", "accuracy", 5]]
    theirs = [HEADER, ["case-9", "Ada", "accuracy", 1]]
    file = SHEETS[name](tmp_path / name, Ratings=ours, Older=theirs)
    found = read_ratings(file)
    assert read(found) == [("case-1", "Ada", 4.0), ("case-2", "Ada", 5.0)]
    assert f"{name}: the sheet 'Ratings' was read; name another with `sheet`" in found.report.text()
    (tmp_path / "m.yaml").write_text("sheet: Older\n")
    assert read(read_ratings(file, mapping=tmp_path / "m.yaml")) == [("case-9", "Ada", 1.0)]
    (tmp_path / "m.yaml").write_text("sheet: Oldest\n")
    with pytest.raises(FileError, match="there is no sheet 'Oldest'; its sheets are Ratings, Older"):
        read_ratings(file, mapping=tmp_path / "m.yaml")


@pytest.mark.parametrize("name", SHEETS)
def test_where_the_first_sheet_is_no_table_the_others_are_named(name: str, tmp_path: Path) -> None:
    file = SHEETS[name](tmp_path / name, Readme=[["About"], ["x"]], Ratings=[HEADER])
    with pytest.raises(FileError, match=r"which columns are the item.*`sheet` in the mapping \(Ratings\)"):
        read_ratings(file)


def test_an_open_document_keeps_zeros_and_refuses_changed_ids(tmp_path: Path) -> None:
    file = open_document(tmp_path / "t.ods", A=[HEADER, [(7, "007"), "Ada", "accuracy", 4]])
    assert read(read_ratings(file)) == [("007", "Ada", 4.0)]
    frame = read_plain_table(file)
    assert frame is not None and frame.rows() == [("007", "Ada", "accuracy", "4")]
    file = open_document(tmp_path / "t.ods", A=[HEADER, [True, "Ada", "accuracy", 4]])
    with pytest.raises(FileError, match="row 2, column 'item': True is TRUE, not an id"):
        read_ratings(file)


def test_what_is_no_open_document_is_refused(tmp_path: Path) -> None:
    (tmp_path / "t.ods").write_text("item,rater\n")
    with pytest.raises(
        FileError, match=r"t\.ods: is not an \.ods spreadsheet, or it is damaged or encrypted"
    ):
        read_ratings(tmp_path / "t.ods")


TWO_ROWS = "item,rater,Case quality,,Safety,\n,,accuracy,clarity,harm,warnings\n1,Ada,4,5,1,2\n"


@reads(
    "Ratings",
    "two header rows",
    "any table",
    "`header_rows: 2` joins their words",
    "a second header row read as scores",
)
def test_two_header_rows_are_one_name(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(TWO_ROWS)
    (tmp_path / "m.yaml").write_text(
        "header_rows: 2\nscale: [1, 5]\n"
        "dimensions: {accuracy: Case quality accuracy, clarity: Case quality clarity, harm: Safety harm}\n"
    )
    found = read_ratings(tmp_path / "t.csv", mapping=tmp_path / "m.yaml")
    assert [(each.item, each.dimension, each.score) for each in found.ratings] == [
        ("1", "accuracy", 4), ("1", "clarity", 5), ("1", "harm", 1),
    ]  # fmt: skip
    assert found.report.unused_columns == {"t.csv": ["Safety warnings"]}


def test_two_header_rows_are_never_scores(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("item,rater,Case quality\n1,Ada,accuracy\n1,Ada,4\n")
    (tmp_path / "m.yaml").write_text("dimensions: {quality: Case quality}\nscale: [1, 5]\n")
    with pytest.raises(FileError, match="row 2, column 'Case quality': 'accuracy' is not a number"):
        read_ratings(tmp_path / "t.csv", mapping=tmp_path / "m.yaml")


FORMS = """\
Timestamp,Your name,Case 12 [Accuracy],Case 12 [Clarity],Case 13 [Accuracy],Case 13 [Clarity]
2024/03/01,Ada,4,5,3,
2024/03/02,Sam,2,,1,1
"""


@reads(
    "Ratings",
    "Google Forms, Microsoft Forms",
    ".csv, .xlsx",
    "a row for each rater, a column for each item and question (`columns` with `{item}`)",
    "",
    described="importing-ratings.md#one-row-per-rater-google-forms-qualtrics-microsoft-forms",
)
def test_a_row_for_each_rater_and_a_column_for_each_item_and_question(tmp_path: Path) -> None:
    (tmp_path / "forms.csv").write_text(FORMS)
    (tmp_path / "m.yaml").write_text(
        "rater: Your name\ncolumns: 'Case {item} [{dimension}]'\nscale: [1, 5]\n"
        "dimensions: {accuracy: Accuracy, clarity: Clarity}\n"
    )
    found = read_ratings(tmp_path / "forms.csv", mapping=tmp_path / "m.yaml")
    assert [(each.item, each.rater, each.dimension, each.score) for each in found.ratings] == [
        ("12", "Ada", "accuracy", 4), ("12", "Ada", "clarity", 5), ("13", "Ada", "accuracy", 3),
        ("12", "Sam", "accuracy", 2), ("13", "Sam", "accuracy", 1), ("13", "Sam", "clarity", 1),
    ]  # fmt: skip
    assert (found.report.not_rated, found.report.unused_columns) == (2, {"forms.csv": ["Timestamp"]})


QUALTRICS = """\
StartDate,Status,RecipientEmail,Q1_1,Q1_2,Q2_1,Q2_2
Start Date,Response Type,Recipient Email,Case 1 - Accuracy,Case 1 - Clarity,Case 2 - Accuracy,Case 2 - Clarity
"{""ImportId"":""startDate""}","{""ImportId"":""status""}","{""ImportId"":""recipientEmail""}","{""ImportId"":""QID1_1""}","{""ImportId"":""QID1_2""}","{""ImportId"":""QID2_1""}","{""ImportId"":""QID2_2""}"
2024-03-01,0,ada@example.org,4,5,3,2
2024-03-02,1,test@example.org,1,1,1,1
"""


@reads(
    "Ratings",
    "Qualtrics",
    ".csv, .xlsx",
    "its questions and marks below the names are left out, and told",
    "",
    described="importing-ratings.md#one-row-per-rater-google-forms-qualtrics-microsoft-forms",
)
def test_qualtrics_is_read_below_its_three_header_rows(tmp_path: Path) -> None:
    (tmp_path / "q.csv").write_text(QUALTRICS)
    (tmp_path / "m.yaml").write_text(
        "rater: RecipientEmail\ncolumns: 'Q{item}_{dimension}'\nscale: [1, 5]\n"
        "dimensions: {accuracy: '1', clarity: '2'}\nonly: {Status: 0}\n"
    )
    found = read_ratings(tmp_path / "q.csv", mapping=tmp_path / "m.yaml")
    assert [(each.item, each.dimension, each.score) for each in found.ratings] == [
        ("1", "accuracy", 4), ("1", "clarity", 5), ("2", "accuracy", 3), ("2", "clarity", 2),
    ]  # fmt: skip
    assert found.report.rows_left_out == 1, "a preview of the survey is no answer"
    assert "rows 2 and 3 hold the questions and marks of Qualtrics" in found.report.text()


def test_a_pattern_takes_no_column_that_has_another_part(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("rater_id,7_accuracy\n3,4\n")
    (tmp_path / "m.yaml").write_text("rater: rater_id\ncolumns: '{item}_{dimension}'\nscale: [1, 5]\n")
    found = read_ratings(tmp_path / "t.csv", mapping=tmp_path / "m.yaml")
    assert [(each.item, each.rater, each.dimension) for each in found.ratings] == [("7", "3", "accuracy")]


@pytest.mark.parametrize("name", ["t.sav", "t.zsav", "t.por", "t.dta"])
def test_without_pyreadstat_its_files_are_refused_with_the_way_to_get_it(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyreadstat", None)
    (tmp_path / name).write_bytes(b"$FL2")
    with pytest.raises(
        MedjuryError, match=r'need pyreadstat; install it with: pip install "medjury\[spss\]"'
    ):
        read_ratings(tmp_path / name)
    with pytest.raises(MedjuryError, match="need pyreadstat"):
        read_plain_table(tmp_path / name)


@reads(
    "Ratings",
    "SPSS, Stata",
    ".sav, .zsav, .por, .dta",
    "codes, not their labels, with the extra `medjury[spss]`",
    "codes that the file declares as missing, until the mapping names them; without the extra",
)
@pytest.mark.parametrize("name", ["t.sav", "t.dta"])
def test_spss_and_stata_are_read_as_codes(name: str, tmp_path: Path) -> None:
    frame = pandas.DataFrame({"item": ["007", "case-2"], "rater": "Ada", "accuracy": [4.0, -9.0]})
    write = pyreadstat.write_sav if name == "t.sav" else pyreadstat.write_dta
    write(frame, str(tmp_path / name), variable_value_labels={"accuracy": {4: "good"}})
    (tmp_path / "m.yaml").write_text("dimensions: [accuracy]\nscale: [1, 5]\nna: [-9]\n")
    found = read_ratings(tmp_path / name, mapping=tmp_path / "m.yaml")
    assert [(each.item, each.score, each.status) for each in found.ratings] == [
        ("007", 4, "scored"), ("case-2", None, "not_applicable"),
    ]  # fmt: skip
    assert "read as codes, not as their labels: accuracy" in found.report.text()


@pytest.mark.parametrize("name", ["t.sav", "t.dta"])
def test_a_code_declared_as_missing_is_a_score_on_no_way_in(name: str, tmp_path: Path) -> None:
    frame = pandas.DataFrame(
        {"item": ["1", "2"], "rater": "Ada", "dimension": "accuracy", "score": [4.0, 3.0]}
    )
    if name == "t.sav":
        declared = {"score": [{"lo": 3, "hi": 3}]}
        pyreadstat.write_sav(frame, str(tmp_path / name), missing_ranges=declared)
    else:
        frame["score"] = [4, "a"]
        pyreadstat.write_dta(frame, str(tmp_path / name), missing_user_values={"score": ["a"]})
    with pytest.raises(MedjuryError, match=r"row 3, column 'score': (3|a) is a code that the file declares"):
        open_panel(tmp_path / name, "clinician", named={})


def test_the_first_line_says_the_separator_in_a_named_encoding_too(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(text("|", "\n", "sep=|\n").encode("utf-8-sig"))
    (tmp_path / "m.yaml").write_text("encoding: utf-8\n")
    assert read(read_ratings(tmp_path / "t.csv", mapping=tmp_path / "m.yaml")) == READ


def test_an_open_document_that_swells_is_refused(tmp_path: Path) -> None:
    file = open_document(tmp_path / "t.ods", A=[HEADER, ["1", "Ada", "accuracy", 4]])
    with ZipFile(file) as packed:
        content = packed.read("content.xml").decode()
    many = content.replace("<table:table-row>", '<table:table-row table:number-rows-repeated="99999999">')
    with ZipFile(file, "w") as packed:
        packed.writestr("content.xml", many)
    with pytest.raises(FileLimitError, match=r"t\.ods: has 99,999,999 rows; at most 2,000,000 rows"):
        read_ratings(file)


def test_where_a_row_is_a_rater_it_says_nothing_of_one_case(tmp_path: Path) -> None:
    (tmp_path / "forms.csv").write_text(FORMS)
    (tmp_path / "m.yaml").write_text(
        "rater: Your name\ncolumns: 'Case {item} [{dimension}]'\ncontent: Timestamp\n"
    )
    with pytest.raises(FileError, match="a row is about several items, so `content` cannot be one column"):
        read_ratings(tmp_path / "forms.csv", mapping=tmp_path / "m.yaml")
    (tmp_path / "m.yaml").write_text("rater: Your name\ncolumns: 'Case {item} [{dimension}]'\n")
    with pytest.raises(FileError, match="so the label 'severe' cannot be one column"):
        read_ratings(tmp_path / "forms.csv", mapping=tmp_path / "m.yaml", labels={"severe": "Timestamp"})


@pytest.mark.parametrize("name", SHEETS)
def test_a_table_for_validate_tells_its_sheet_too(name: str, tmp_path: Path) -> None:
    file = SHEETS[name](
        tmp_path / name, Scores=[["item", "Ada", "Sam"], ["1", 4, 5]], Older=[["item", "Ada"]]
    )
    reported = open_panel(file, "clinician", named={"item": "item"}).reported
    assert any(
        "the sheet 'Scores' was read; name another with `sheet` in the mapping (Older)" in each
        for each in reported
    )


def test_a_column_name_that_can_be_read_in_two_ways_is_refused_with_both(tmp_path: Path) -> None:
    (tmp_path / "wide.csv").write_text("rater,case_1_accuracy,case_1_overall_quality\nann,4,5\n")
    (tmp_path / "m.yaml").write_text("columns: '{item}_{dimension}'\nscale: [1, 5]\n")
    with pytest.raises(FileError) as refused:
        read_ratings(tmp_path / "wide.csv", mapping=tmp_path / "m.yaml")
    assert (
        "the column 'case_1_accuracy' can be read in 2 ways by '{item}_{dimension}': item 'case' and dimension "
        "'1_accuracy', or item 'case_1' and dimension 'accuracy'. List the dimensions in the mapping"
    ) in str(refused.value)
    (tmp_path / "m.yaml").write_text(
        "columns: '{item}_{dimension}'\nscale: [1, 5]\ndimensions: {accuracy: accuracy, overall: overall_quality}\n"
    )
    found = read_ratings(tmp_path / "wide.csv", mapping=tmp_path / "m.yaml")
    assert [(each.item, each.dimension, each.score) for each in found.ratings] == [
        ("case_1", "accuracy", 4.0),
        ("case_1", "overall", 5.0),
    ]
