"""Import: strict about every cell, all problems at once, nothing coerced, nothing dropped without a count."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import polars
import pytest
from hypothesis import given
from hypothesis import strategies as st

from medjury.instruments import Reason, load_instrument
from medjury.intake import FileError
from medjury.intake.cases import Case
from medjury.store.ratings import Pseudonyms, Rating, rating_frame, read_ratings
from medjury.store.ratings._import.cell import Codes, GradeRange, read_cell

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a file and returns its path."""

    def write(name: str, text: str, encoding: str = "utf-8") -> Path:
        path = tmp_path / name
        path.write_bytes(text.encode(encoding))
        return path

    return write


def cells(rating: Rating) -> tuple[Any, ...]:
    return rating.item, rating.system, rating.rater, rating.dimension, rating.score


def test_a_long_table_needs_four_columns(write: Write) -> None:
    path = write("r.csv", "item,rater,dimension,score\n1,Lee,accuracy,4\n2,Lee,accuracy,5.0\n")
    imported = read_ratings(path, instrument="note_quality")
    assert [cells(each) for each in imported.ratings] == [
        ("1", "", "Lee", "accuracy", 4.0),
        ("2", "", "Lee", "accuracy", 5.0),
    ]
    first = imported.ratings[0]
    assert (first.rater_kind, first.repeat, first.status, first.cost) == ("clinician", 0, "scored", None)
    instrument = load_instrument("note_quality")
    assert first.instrument == f"note_quality@{instrument.version}"
    assert first.key != imported.ratings[1].key
    assert not imported.report.warnings


@pytest.mark.parametrize("form", ["csv", "semicolon", "tsv", "xlsx", "parquet", "jsonl", "json"])
def test_every_form_of_table_is_read_alike(tmp_path: Path, form: str) -> None:
    rows = [
        {"item": "1", "rater": "Lée", "dimension": "accuracy", "score": 4, "explanation": 'a, "b"\nc; d'},
        {"item": "2", "rater": "Lée", "dimension": "accuracy", "score": None, "explanation": None},
    ]
    frame = polars.DataFrame(rows)
    path = tmp_path / f"r.{'csv' if form == 'semicolon' else form}"
    if form == "csv":
        path.write_bytes(b"\xef\xbb\xbf" + frame.write_csv().encode())  # as Excel writes it
    elif form == "semicolon":
        frame.write_csv(path, separator=";")
    elif form == "tsv":
        frame.write_csv(path, separator="\t")
    elif form == "parquet":
        frame.write_parquet(path)
    elif form == "jsonl":
        frame.write_ndjson(path)
    elif form == "json":
        path.write_text(json.dumps(rows))
    else:
        book = openpyxl.Workbook()
        book.active.append(list(rows[0]))
        for row in rows:
            book.active.append(list(row.values()))
        book.save(path)
    imported = read_ratings(path)
    assert [(*cells(each), each.explanation) for each in imported.ratings] == [
        ("1", "", "Lée", "accuracy", 4.0, 'a, "b"\nc; d')
    ]
    assert imported.report.not_rated == 1


BAD_SCORES = [
    "four", "4,5", "2.5", "0", "6", "-1", "nan", "inf", "1e1", "0x4", "4/5", "true", "４", "4 5", "=4",
]  # fmt: skip


def test_bad_scores_are_all_reported_with_file_row_column_and_value(write: Write) -> None:
    lines = "".join(f'{number},Lee,accuracy,"{score}"\n' for number, score in enumerate(BAD_SCORES))
    path = write("r.csv", f"item,rater,dimension,score\nok,Lee,accuracy,4\n{lines}")
    with pytest.raises(FileError) as caught:
        read_ratings(path, instrument="note_quality")
    assert [(each.file, each.row, each.column, each.value) for each in caught.value.problems] == [
        ("r.csv", number + 3, "score", repr(score)) for number, score in enumerate(BAD_SCORES)
    ]
    assert "r.csv, row 3, column 'score': 'four' is not a number" in str(caught.value)
    assert "r.csv, row 5, column 'score': '2.5' is not on the scale (1, 2, 3, 4, 5)" in str(caught.value)


def test_bad_scores_can_be_kept_as_unscored_and_are_counted(write: Write) -> None:
    path = write(
        "r.csv", "item,rater,dimension,score\n1,Lee,accuracy,four\n2,Lee,accuracy,9\n3,Lee,accuracy,4\n"
    )
    imported = read_ratings(path, instrument="note_quality", on_bad="unscored")
    assert [(each.status, each.score, each.reason) for each in imported.ratings] == [
        ("unscored", None, Reason.PARSE),
        ("unscored", None, Reason.OUT_OF_RANGE),
        ("scored", 4.0, None),
    ]
    assert imported.report.unscored == {Reason.PARSE: 1, Reason.OUT_OF_RANGE: 1}
    assert imported.ratings[0].explanation == "'four' is not a number"


def test_a_spreadsheets_cells_are_taken_for_what_they_are(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.append(["item", "rater", "dimension", "score"])
    for item, score in ((1, 4), (2.0, 3.0), (3, True), (4, "#N/A"), (None, None), (5, " 5 ")):
        row = [item, "Lee", "accuracy", score] if item else []
        book.active.append(row)
    book.save(tmp_path / "r.xlsx")
    with pytest.raises(FileError) as caught:
        read_ratings(tmp_path / "r.xlsx", instrument="note_quality")
    assert [(each.row, each.value) for each in caught.value.problems] == [(4, "True"), (5, "'#N/A'")]
    imported = read_ratings(tmp_path / "r.xlsx", instrument="note_quality", on_bad="unscored")
    assert [(each.item, each.score) for each in imported.ratings if each.score] == [
        ("1", 4), ("2", 3), ("5", 5),
    ]  # fmt: skip


def test_status_and_reason_columns(write: Write) -> None:
    path = write(
        "r.csv",
        "item,rater,rater_kind,dimension,score,status,reason\n1,m,judge,a,4,scored,\n2,m,judge,a,,unscored,timeout\n"
        "3,m,judge,a,,not_applicable,\n",
    )
    imported = read_ratings(path)
    assert [(each.rater_kind, each.status, each.reason) for each in imported.ratings] == [
        ("judge", "scored", None),
        ("judge", "unscored", Reason.TIMEOUT),
        ("judge", "not_applicable", None),
    ]
    path = write(
        "r.csv",
        "item,rater,dimension,score,status,reason\n1,m,a,4,unscored,parse\n2,m,a,,scored,\n3,m,a,,unscored,tired\n"
        "4,m,a,,done,\n",
    )
    with pytest.raises(FileError) as caught:
        read_ratings(path)
    assert [(each.row, each.column) for each in caught.value.problems] == [
        (2, "status"), (3, "status"), (4, "reason"), (5, "status"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (",Lee,accuracy,4,0,clinician", "row 2, column 'item': has a rating, but no item"),
        ("1, ,accuracy,4,0,clinician", "column 'rater': has a rating, but no rater"),
        ("1,Lee,,4,0,clinician", "column 'dimension': has no dimension"),
        ("1,Lee,acuracy,4,0,clinician", "no dimension 'acuracy'; did you mean 'accuracy'?"),
        ("1,Lee,accuracy,4,first,clinician", "repeat 'first' is not a whole number"),
        ("1,Lee,accuracy,4,9999999999,clinician", "is not a whole number"),
        ("1,Lee,accuracy,4,0,doctor", "rater_kind 'doctor'"),
    ],
)
def test_rows_that_say_too_little(write: Write, line: str, message: str) -> None:
    path = write("r.csv", f"item,rater,dimension,score,repeat,rater_kind\n{line}\n")
    with pytest.raises(FileError, match="1 problem") as caught:
        read_ratings(path, instrument="note_quality")
    assert message in str(caught.value)


def test_the_same_rating_twice_is_kept_once_and_two_that_differ_are_refused(write: Write) -> None:
    path = write("r.csv", "item,rater,dimension,score\n1,Lee,a,4\n1,Lee,a,4\n1,Roy,a,3\n")
    imported = read_ratings(path)
    assert (len(imported.ratings), imported.report.duplicates) == (2, 1)
    path = write("r.csv", "item,rater,dimension,score\n1,Lee,a,4\n2,Lee,a,4\n1,Lee,a,5\n")
    with pytest.raises(FileError, match=r"row 4.*second time, with a different score than in r\.csv, row 2"):
        read_ratings(path)


def test_raters_spelled_two_ways_are_named(write: Write) -> None:
    path = write(
        "r.csv",
        'item,rater,dimension,score\n1,Dr Smith,a,4\n2,dr. smith ,a,4\n3,"SMITH, Dr",a,4\n4,r1,a,4\n5,r2,a,4\n',
    )
    (warning, _) = read_ratings(path).report.warnings
    assert warning.startswith(
        "raters 'Dr Smith' (1 x, first in r.csv, row 2) and 'dr. smith' (1 x, first in r.csv, row 3) and "
        "'SMITH, Dr' (1 x, first in r.csv, row 4) look like one person"
    )


def test_the_warning_shows_no_name_that_is_not_kept(write: Write) -> None:
    path = write("r.csv", "item,rater,dimension,score\n1,Dr Smith,a,4\n2,dr. smith,a,4\n")
    (warning, _) = read_ratings(path, pseudonyms=Pseudonyms(b"secret")).report.warnings
    assert "smith" not in warning.casefold()
    assert "first in r.csv, row 3" in warning


def test_a_polars_table_is_read_like_a_file() -> None:
    table = polars.DataFrame(
        {"item": [1, 2], "rater": ["Lee"] * 2, "dimension": ["accuracy"] * 2, "score": [4, 9]}
    )
    with pytest.raises(FileError, match="table, row 2, column 'score': 9 is not on the scale"):
        read_ratings(table, instrument="note_quality")
    imported = read_ratings(table, instrument="note_quality", on_bad="unscored")
    assert [(each.item, each.score) for each in imported.ratings] == [("1", 4.0), ("2", None)]
    assert list(read_ratings(rating_frame(imported.ratings)).ratings) == list(imported.ratings)


def test_without_a_scale_the_reader_is_warned(write: Write) -> None:
    path = write("r.csv", "item,rater,dimension,score\n1,Lee,a,400.5\n")
    imported = read_ratings(path)
    assert imported.ratings[0].score == 400.5
    assert "no scale is known for a" in imported.report.warnings[0]


def test_items_are_checked_against_the_cases(write: Write) -> None:
    cases = [
        Case("001", system="x"), Case("002", system="x"), Case("003", system="x"), Case("003", system="y"),
    ]  # fmt: skip
    path = write("r.csv", "item,rater,dimension,score\n001,Lee,a,4\n2,Lee,a,4\n003,Lee,a,4\n")
    with pytest.raises(FileError) as caught:
        read_ratings(path, cases=cases)
    assert [each.message for each in caught.value.problems] == [
        "item '2' is not the id of a case; did you mean '002'?",
        "item '003' was answered by 2 systems (x, y); a column must say which of them was rated",
    ]
    imported = read_ratings(path, cases=cases, on_unknown="drop")
    assert [cells(each)[:2] for each in imported.ratings] == [("001", "x")], (
        "the only system there is, is meant"
    )
    assert imported.report.unknown_items == 2


def test_an_id_that_means_another_text_is_refused(write: Write) -> None:
    write("one.csv", "item,rater,score,text\n1,Lee,4,the  first\n2,Lee,4,the second\n")
    write("two.csv", "item,rater,score,text\n1,Roy,4,the first\n2,Roy,4,quite another\n")
    mapping = write(
        "m.yaml",
        "content: text\nfixed: {dimension: a}\nscale: [1, 5]\nfiles: [{file: one.csv}, {file: two.csv}]\n",
    )
    with pytest.raises(FileError) as caught:
        read_ratings(mapping)
    assert [str(each) for each in caught.value.problems] == [
        "two.csv, row 3, column 'item': item '2' has another text here than in one.csv, row 3"
    ]
    cases = [Case("1", candidate="the first"), Case("2", candidate="quite another")]
    with pytest.raises(FileError, match=r"one\.csv, row 3.*another text here than in the cases"):
        read_ratings(mapping, cases=cases)


def test_a_hash_made_elsewhere_is_compared_between_files_only(write: Write) -> None:
    path = write("r.csv", "item,rater,dimension,score,content_hash\n1,Lee,a,4,00ff\n1,Roy,a,4,00ff\n")
    assert len(read_ratings(path, cases=[Case("1", candidate="text")]).ratings) == 2
    path = write("r.csv", "item,rater,dimension,score,content_hash\n1,Lee,a,4,00ff\n1,Roy,a,4,11ff\n")
    with pytest.raises(FileError, match=r"another text here than in r\.csv, row 2"):
        read_ratings(path)


def test_a_wide_table_with_labels_codes_and_explanations(write: Write) -> None:
    write("w.csv", "id,who,ACC,USE,why\n1,Lee,Good,99,because\n2,Lee,good,.,\n3,Roy,3,4,\n")
    mapping = write(
        "m.yaml",
        "item: id\nrater: who\ndimensions: {accuracy: ACC, useful: USE}\nexplanation: {accuracy: why}\n"
        "labels: {accuracy: {Good: 4}}\nna: [99]\nblank: ['.']\n"
        "scale: {accuracy: [1, 5], useful: {from: 0, to: 10}}\n"
        "files: [{file: w.csv}]\n",
    )
    with pytest.raises(FileError) as caught:
        read_ratings(mapping)
    assert [str(each) for each in caught.value.problems] == [
        "w.csv, row 3, column 'ACC': 'good' is not a number"
    ]
    imported = read_ratings(mapping, on_bad="unscored")
    assert [
        (each.item, each.dimension, each.score, each.status, each.explanation) for each in imported.ratings
    ] == [
        ("1", "accuracy", 4.0, "scored", "because"),
        ("1", "useful", None, "not_applicable", ""),
        ("2", "accuracy", None, "unscored", "'good' is not a number"),
        ("3", "accuracy", 3.0, "scored", ""),
        ("3", "useful", 4.0, "scored", ""),
    ]
    assert imported.report.not_rated == 1


def test_column_names_that_say_system_rater_and_dimension(write: Write) -> None:
    write("w.csv", "id, alpha/Lee/acc,beta/Lee/acc ,alpha/Roy/acc,alpha/Roy/other\n1,1,2,3,4\n")
    mapping = write(
        "m.yaml",
        'item: id\ncolumns: "{system}/{rater}/{dimension}"\ndimensions: {accuracy: acc}\nscale: [1, 5]\n'
        "files: [{file: w.csv}]\n",
    )
    imported = read_ratings(mapping)
    assert [cells(each) for each in imported.ratings] == [
        ("1", "alpha", "Lee", "accuracy", 1.0),
        ("1", "beta", "Lee", "accuracy", 2.0),
        ("1", "alpha", "Roy", "accuracy", 3.0),
    ]
    assert imported.report.unused_columns == {"w.csv": ["alpha/Roy/other"]}


def test_a_long_table_whose_words_are_renamed(write: Write) -> None:
    path = write("l.csv", "case,doctor,question,answer\n1,Lee,Q1,4\n1,Lee,Q2,3\n1,Lee,Q9,1\n")
    mapping = write(
        "m.yaml",
        "item: case\nrater: doctor\ndimension: question\nscore: answer\n"
        "dimensions: {accuracy: Q1, useful: Q2}\nscale: [1, 5]\n",
    )
    imported = read_ratings(path, mapping=mapping)
    assert [(each.dimension, each.score) for each in imported.ratings] == [("accuracy", 4.0), ("useful", 3.0)]
    assert imported.report.rows_left_out == 1


def test_json_cells_of_judges_and_of_clinicians(write: Write) -> None:
    path = write(
        "j.csv",
        'id,answer\n1,"{""a"": 4, ""why"": ""so"", ""z"": 1}"\n2,no idea\n3,\n4,"{""a"": ""5"", ""b"": 9}"\n',
    )
    text = "item: id\nscore: answer\ncells: json\ndimensions: [a, b]\nexplanation: why\nscale: [1, 5]\n"
    text += "fixed: {rater: r}\n"
    judge = read_ratings(path, mapping=write("m.yaml", f"{text}rater_kind: judge\n"), on_bad="unscored")
    assert [(each.item, each.dimension, each.score, each.reason) for each in judge.ratings] == [
        ("1", "a", 4.0, None), ("1", "b", None, Reason.MISSING),
        ("2", "a", None, Reason.PARSE), ("2", "b", None, Reason.PARSE),
        ("3", "a", None, Reason.EMPTY), ("3", "b", None, Reason.EMPTY),
        ("4", "a", 5.0, None), ("4", "b", None, Reason.OUT_OF_RANGE),
    ]  # fmt: skip
    assert judge.ratings[0].explanation == "so"
    assert judge.report.unused_fields == {"z": 1}
    human = read_ratings(path, mapping=write("m.yaml", text), on_bad="unscored")
    assert [(each.item, each.dimension, each.reason) for each in human.ratings] == [
        ("1", "a", None), ("2", "a", Reason.PARSE), ("2", "b", Reason.PARSE), ("4", "a", None),
        ("4", "b", Reason.OUT_OF_RANGE),
    ]  # fmt: skip
    assert human.report.not_rated == 3
    with pytest.raises(FileError) as caught:
        read_ratings(path, mapping=write("m.yaml", text))
    assert [(each.row, each.column) for each in caught.value.problems] == [(3, "answer"), (5, "answer: b")]


def test_null_is_not_applicable_where_the_instrument_says_so(write: Write) -> None:
    path = write("j.csv", 'item,score\n1,"{""synthesized"": null, ""succinct"": null}"\n')
    text = "cells: json\ndimensions: [synthesized, succinct]\nrater_kind: judge\nfixed: {rater: r}\n"
    mapping = write("m.yaml", f"{text}instrument: pdsqi9\n")
    imported = read_ratings(path, mapping=mapping, on_bad="unscored")
    assert [(each.dimension, each.status) for each in imported.ratings] == [
        ("synthesized", "not_applicable"),
        ("succinct", "unscored"),
    ]


def test_answers_wrapped_in_json(write: Write) -> None:
    path = write(
        "l.csv",
        'id,a\n1,"[{""rating"": 4}]"\n2,"[{""rating"": 4}, {""rating"": 5}]"\n3,"[{""stars"": 4}]"\n4,[\n5,3\n',
    )
    mapping = write("m.yaml", "item: id\ndimensions: [a]\ntake: rating\nscale: [1, 5]\nfixed: {rater: r}\n")
    with pytest.raises(FileError) as caught:
        read_ratings(path, mapping=mapping)
    assert [(each.row, each.message) for each in caught.value.problems] == [
        (3, "holds more than one answer"),
        (4, "has no field 'rating'"),
        (5, "is not JSON"),
    ]
    imported = read_ratings(path, mapping=mapping, on_bad="unscored")
    assert [each.score for each in imported.ratings] == [4.0, None, None, None, 3.0]


def test_seconds_measured_for_a_row_are_shared_by_its_ratings(write: Write) -> None:
    path = write("w.csv", "item,rater,a,b,time\n1,Lee,4,5,30\n2,Lee,4,,30\n")
    mapping = write("m.yaml", "dimensions: [a, b]\nseconds: time\nscale: [1, 5]\n")
    assert [each.seconds for each in read_ratings(path, mapping=mapping).ratings] == [15.0, 15.0, 30.0]
    for odd in ("nan", "-1", "soon"):
        path = write("w.csv", f"item,rater,a,b,time\n1,Lee,4,5,{odd}\n")
        with pytest.raises(FileError, match="is not a number of seconds"):
            read_ratings(path, mapping=mapping)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("a,b\n1,2\n", r"which columns are the item, the rater, the dimension and the score\? It has a, b"),
        ("item,rater,dimension\n1,2,3\n", r"which column is the score\? It has"),
        ("item,rater,dimension,score,score\n1,2,3,4,5\n", "columns 4 and 5 have the same name"),
        ("item,rater,dimension,score\n1,2,a,4,5\n", "row 2: has 5 cells; the header has 4"),
        ('item,rater,dimension,score\n1,"2,a,4\n', "a quotation mark is not closed"),
        ("item,rater,dimension,score\n", "no ratings in it"),
        ("item,rater,dimension,score\n1,2,a,\n", r"no ratings in it.*\n.*not rated"),
    ],
)
def test_files_that_are_not_tables_of_ratings(write: Write, text: str, message: str) -> None:
    with pytest.raises(FileError, match=message):
        read_ratings(write("r.csv", text))


@pytest.mark.parametrize("name", ["r.docx", "missing.csv"])
def test_files_that_cannot_be_read(tmp_path: Path, name: str) -> None:
    with pytest.raises(FileError, match=r"are read from|no such file"):
        read_ratings(tmp_path / name)


NUMBERS = st.integers(1, 5).flatmap(
    lambda n: st.sampled_from([n, float(n), str(n), f"{n}.0", f" {n} ", f"+{n}"])
)


@given(NUMBERS)
def test_a_grade_is_read_however_it_is_written(cell: object) -> None:
    outcome = read_cell(cell, GradeRange(1, 5, (1, 2, 3, 4, 5)), Codes({}, (), ()))
    assert getattr(outcome, "value", None) == float(str(cell))


@given(st.one_of(st.text(), st.floats(), st.booleans(), st.integers(), st.none()))
def test_no_cell_ever_becomes_a_score_off_the_scale(cell: object) -> None:
    outcome = read_cell(cell, GradeRange(1, 5, (1, 2, 3, 4, 5)), Codes({}, (), ()))
    value = getattr(outcome, "value", None)
    if value is not None:
        assert value in (1, 2, 3, 4, 5)
        assert not isinstance(cell, bool)
        assert float(str(cell)) == value
