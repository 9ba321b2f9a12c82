"""Reading cases: the same cases from every form of file, streaming, every bad row reported at once."""

from __future__ import annotations

import csv
import datetime
import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import polars
import pytest
from hypothesis import given
from hypothesis import strategies as st

from medjury.intake import FileError
from medjury.intake.cases import Case, Note, case_to_row, cases_from_frame, read_cases, read_rows, write_cases

ROWS: list[dict[str, Any]] = [
    {"id": "1", "system": "a", "candidate": "First, with a comma.", "question": "Why?", "age": "54"},
    {
        "id": "1",
        "system": "b",
        "candidate": 'Second "quoted"\nover two lines.',
        "question": "Why?",
        "age": "54",
    },
    {"id": "2", "system": "a", "candidate": "כרגיל, ¿verdad? 😀", "question": "How?", "age": "7"},
]


def write_jsonl(file: Path, rows: list[dict[str, Any]]) -> None:
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def write_csv(file: Path, rows: list[dict[str, Any]]) -> None:
    with file.open("w", encoding="utf-8", newline="") as out:
        writer = csv.DictWriter(out, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def write_parquet(file: Path, rows: list[dict[str, Any]]) -> None:
    polars.DataFrame(rows, strict=False).write_parquet(file)


def write_xlsx(file: Path, rows: list[dict[str, Any]]) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.append(list(rows[0]))
    for row in rows:
        sheet.append(list(row.values()))
    book.save(file)


def write_json(file: Path, rows: list[dict[str, Any]]) -> None:
    file.write_text(json.dumps(rows), encoding="utf-8")


WRITERS: dict[str, Callable[[Path, list[dict[str, Any]]], None]] = {
    "jsonl": write_jsonl,
    "ndjson": write_jsonl,
    "csv": write_csv,
    "parquet": write_parquet,
    "xlsx": write_xlsx,
    "json": write_json,
}


def refusal(path: Path, **options: Any) -> str:
    with pytest.raises(FileError) as error:
        list(read_cases(path, **options))
    return str(error.value)


@pytest.mark.parametrize("form", WRITERS)
def test_the_same_cases_come_from_every_form(form: str, tmp_path: Path) -> None:
    file = tmp_path / f"cases.{form}"
    WRITERS[form](file, ROWS)
    cases = list(read_cases(file))
    assert [(case.id, case.system, case.candidate) for case in cases] == [
        (row["id"], row["system"], row["candidate"]) for row in ROWS
    ]
    assert [case.texts["question"] for case in cases] == ["Why?", "Why?", "How?"]
    assert [case.metadata["age"] for case in cases] == ["54", "54", "7"]
    first = {"csv": 2, "xlsx": 2}.get(form, 1)
    assert [case.origin.row for case in cases if case.origin] == [first, first + 1, first + 2]


@pytest.mark.parametrize("form", WRITERS)
def test_cases_can_be_read_again_and_again(form: str, tmp_path: Path) -> None:
    file = tmp_path / f"cases.{form}"
    WRITERS[form](file, ROWS)
    reader = read_cases(file)
    assert list(reader) == list(reader)
    assert (reader.count, reader.skipped, reader.bad) == (3, 0, ())
    assert reader.summary.systems == {"a": 2, "b": 1}
    assert reader.summary.inputs == {"candidate": 3, "question": 3, "age": 3}


@pytest.mark.parametrize("form", WRITERS)
def test_all_bad_rows_are_refused_at_once_or_skipped_and_counted(form: str, tmp_path: Path) -> None:
    rows = [
        ROWS[0],
        {**ROWS[0], "candidate": "Same id and system."},
        {**ROWS[1], "id": ""},
        {**ROWS[1], "id": "\t3\n4"},
        ROWS[2],
    ]
    file = tmp_path / f"cases.{form}"
    WRITERS[form](file, rows)
    first = 2 if form in ("csv", "xlsx") else 1
    message = refusal(file)
    assert f"cases.{form}: 3 of 5 rows cannot be used:" in message
    assert f"row {first + 1}, id: an earlier row has the same id and the same system" in message
    assert f"row {first + 2}, id: is empty; every case needs one" in message
    assert f"row {first + 3}, id: holds a line break or a tab" in message
    assert "--skip-bad-cases" in message
    reader = read_cases(file, on_bad="skip")
    assert [case.id for case in reader] == ["1", "2"]
    assert (reader.count, reader.skipped, len(reader.bad)) == (2, 3, 3)


def test_a_file_that_goes_bad_after_it_was_checked_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "cases.jsonl"
    write_jsonl(file, ROWS)
    reader = read_cases(file)
    assert reader.count == 3
    write_jsonl(file, [ROWS[0], {"id": ""}])
    with pytest.raises(FileError, match="has changed since it was checked"):
        list(reader)


def test_many_bad_rows_are_all_counted_and_some_listed(tmp_path: Path) -> None:
    file = tmp_path / "cases.jsonl"
    write_jsonl(file, [{"id": "", "candidate": 1}] * 1500)
    message = refusal(file)
    assert "1,500 of 1,500 rows" in message
    assert message.count("\n  cases.jsonl, row") == 20
    assert "... and 2,980 more" in message
    summary = read_cases(file, on_bad="skip").summary
    assert (summary.skipped, summary.problems, len(summary.bad)) == (1500, 3000, 1000)


@pytest.mark.parametrize("on_bad", ["refuse", "skip"])
def test_a_file_without_a_usable_case_is_no_study(tmp_path: Path, on_bad: Any) -> None:
    file = tmp_path / "cases.jsonl"
    file.write_text("\n\n", encoding="utf-8")
    assert "holds no case that can be used" in refusal(file, on_bad=on_bad)
    (tmp_path / "cases.csv").write_text("id,candidate\n", encoding="utf-8")
    assert "holds no case" in refusal(tmp_path / "cases.csv", on_bad=on_bad)


class TestFiles:
    def test_a_missing_file_and_an_unknown_form_say_what_to_do(self, tmp_path: Path) -> None:
        assert "there is no such file or folder" in refusal(tmp_path / "none.csv")
        (tmp_path / "cases.xls").write_bytes(b"x")
        assert "tables are read from .csv" in refusal(tmp_path / "cases.xls")
        with pytest.raises(FileError, match="use 'refuse' or 'skip'"):
            read_cases(tmp_path, on_bad="ignore")  # type: ignore[arg-type]

    @pytest.mark.parametrize("form", ["parquet", "xlsx"])
    def test_a_damaged_file_is_named(self, form: str, tmp_path: Path) -> None:
        file = tmp_path / f"cases.{form}"
        file.write_bytes(b"PK\x03\x04 not really")
        assert "damaged" in refusal(file)


class TestJsonLines:
    def write(self, folder: Path, content: bytes) -> Path:
        file = folder / "cases.jsonl"
        file.write_bytes(content)
        return file

    def test_a_byte_order_mark_and_blank_lines_are_no_matter(self, tmp_path: Path) -> None:
        file = self.write(tmp_path, b'\xef\xbb\xbf{"id": "1"}\r\n\r\n{"id": "2"}')
        assert [(case.id, case.origin and case.origin.row) for case in read_cases(file)] == [
            ("1", 1),
            ("2", 3),
        ]

    @pytest.mark.parametrize(
        ("line", "problem"),
        [
            (b'{"id": "1"', "is not valid JSON"),
            (b'{"id": "1", "candidate": "\xff"}', "is not valid UTF-8"),
            (b'{"id": "1", "candidate": NaN}', "holds NaN or Infinity"),
            (b'{"id": "1", "id": "2"}', "has a field twice"),
            (b'[{"id": "1"}]', "is a list, not an object"),
            (b'"text"', "is not an object with the fields of a case"),
            (b'{"id": "1", "candidate": "a\\ud800"}', "half of a surrogate pair"),
            (b'{"id": "1", "candidate": "a\\u0000"}', "NUL"),
            (b'{"a":' * 100_000, "nested deeper than 100 levels"),
        ],
    )
    def test_a_bad_line_is_named_and_the_rest_is_read(
        self, line: bytes, problem: str, tmp_path: Path
    ) -> None:
        file = self.write(tmp_path, b'{"id": "0"}\n' + line + b'\n{"id": "9"}\n')
        reader = read_cases(file, on_bad="skip")
        assert [case.id for case in reader] == ["0", "9"]
        assert [(each.row, problem in each.problem) for each in reader.bad] == [(2, True)]

    def test_a_line_separator_inside_a_text_is_no_line_end(self, tmp_path: Path) -> None:
        file = self.write(tmp_path, '{"id": "1", "candidate": "a\u2028b\x85c"}\n'.encode())
        assert next(iter(read_cases(file))).candidate == "a\u2028b\x85c"

    def test_a_mapped_column_that_no_row_has_is_a_wrong_mapping(self, tmp_path: Path) -> None:
        file = self.write(tmp_path, b'{"id": "1", "text": "x"}\n{"id": "2", "answer": null}\n')
        assert "names 'summary', which no row has" in refusal(file, mapping={"candidate": "summary"})
        assert [case.candidate for case in read_cases(file, mapping={"candidate": "answer"})] == [None, None]


class TestCsv:
    def write(self, folder: Path, content: str | bytes, name: str = "cases.csv") -> Path:
        file = folder / name
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return file

    def test_ragged_rows_are_named(self, tmp_path: Path) -> None:
        file = self.write(tmp_path, "id,candidate\n1,a\n2\n3,b,c\n\n,\n ,,\n4,d\n")
        reader = read_cases(file, on_bad="skip")
        assert [str(each) for each in reader.bad] == [
            "cases.csv, row 3, row: has 1 cells; the header has 2",
            "cases.csv, row 4, row: has 3 cells; the header has 2",
        ]
        assert [case.id for case in reader] == ["1", "4"]

    @pytest.mark.parametrize(
        ("content", "problem"),
        [
            ("", "the file is empty"),
            ("\n1,a\n", "the first row must name the columns"),
            ("id,candidate,candidate\n1,a,b\n", "columns 2 and 3 have the same name"),
            ("candidate\nx\n", "has no column 'id'"),
            ('id,candidate\n1,"a"b\n', "cannot be read beyond row 1"),
            ('id,candidate\n1,a\n2,"never closed\n3,b\n', "cannot be read beyond row 2"),
        ],
    )
    def test_a_file_that_cannot_be_read_to_its_end_is_refused_even_when_skipping(
        self, content: str, problem: str, tmp_path: Path
    ) -> None:
        file = self.write(tmp_path, content)
        assert problem in refusal(file)
        assert problem in refusal(file, on_bad="skip")

    def test_utf16_that_breaks_off_is_refused(self, tmp_path: Path) -> None:
        file = self.write(tmp_path, "id,candidate\n1,abc\n".encode("utf-16")[:-1])
        assert "not valid UTF-16" in refusal(file)

    def test_a_mapped_column_must_be_there(self, tmp_path: Path) -> None:
        file = self.write(tmp_path, "pid,ai_summary,x\n1,a,b\n")
        assert "no such column; did you mean 'ai_summary'?" in refusal(
            file, mapping={"id": "pid", "candidate": "ai_sumary"}
        )

    def test_a_file_without_a_header_does_not_spill_its_first_patient(self, tmp_path: Path) -> None:
        file = self.write(tmp_path, "77,Jane Smith,chest pain\n78,John Jones,cough\n")
        for mapping in (None, {"candidate": "summary"}, {"id": "pid", "texts": {"q": "question"}}):
            message = refusal(file, mapping=mapping)
            assert not {"Jane", "Smith", "chest"} & set(message.replace(",", " ").split())


class TestParquet:
    def test_nested_columns_are_notes_and_texts(self, tmp_path: Path) -> None:
        file = tmp_path / "cases.parquet"
        row = {
            "id": 1,
            "notes": [{"id": "a", "text": "A.", "date": datetime.date(2024, 1, 2)}],
            "texts": {"question": "Q?", "plan": None},
            "metadata": {"age": 3},
        }
        polars.DataFrame([row]).write_parquet(file)
        case = next(iter(read_cases(file)))
        assert case.notes == (Note("a", "A.", "2024-01-02"),)
        assert (dict(case.texts), dict(case.metadata)) == ({"question": "Q?"}, {"age": 3})

    def test_every_row_is_read_once_across_slices(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("medjury.intake._files.parquet._SLICE_BYTES", 20_000)
        file = tmp_path / "cases.parquet"
        for count in (255, 256, 257, 1000):
            polars.DataFrame({"id": range(count), "candidate": ["x" * 100] * count}).write_parquet(file)
            assert [case.id for case in read_cases(file)] == [str(number) for number in range(count)]

    def test_a_name_with_the_signs_of_a_pattern_is_a_name(self, tmp_path: Path) -> None:
        write_parquet(tmp_path / "cases[1]*.parquet", ROWS)
        assert read_cases(tmp_path / "cases[1]*.parquet").count == 3


class TestExcel:
    def book(self, folder: Path, *rows: tuple[object, ...]) -> Path:
        book = openpyxl.Workbook()
        sheet = book.active
        assert sheet is not None
        for row in rows:
            sheet.append(row)
        other = book.create_sheet("other")
        other.append(("id", "candidate"))
        other.append((9, "Other."))
        book.save(folder / "cases.xlsx")
        return folder / "cases.xlsx"

    def test_numbers_dates_and_empty_rows_are_read_as_a_person_would(self, tmp_path: Path) -> None:
        file = self.book(
            tmp_path,
            ("id", "candidate", None, "seen", "age"),
            (12, "A.", None, datetime.datetime(2024, 1, 2), 54),
            (None, None, None, None, None),
            (13.0, "B.", None, None, None),
        )
        first, second = read_cases(file)
        assert (first.id, second.id) == ("12", "13")
        assert dict(first.metadata) == {"seen": "2024-01-02T00:00:00", "age": 54}
        assert second.origin is not None
        assert second.origin.row == 4

    def test_spreadsheet_errors_and_stray_cells_are_named(self, tmp_path: Path) -> None:
        file = self.book(tmp_path, ("id", "candidate"), (1, "#N/A"), (2, "x", "stray"), (3, "ok"))
        reader = read_cases(file, on_bad="skip")
        assert [str(each) for each in reader.bad] == [
            "cases.xlsx, row 2, row: holds a spreadsheet error in candidate",
            "cases.xlsx, row 3, row: has 3 cells; the header has 2",
        ]


class TestFolder:
    def test_each_file_is_a_case_or_a_list_of_them(self, tmp_path: Path) -> None:
        (tmp_path / "b.json").write_text('{"candidate": "B."}', encoding="utf-8")
        (tmp_path / "a.json").write_text('[{"id": "1"}, {"id": "2"}]', encoding="utf-8")
        (tmp_path / ".hidden.json").write_text("{", encoding="utf-8")
        (tmp_path / "README.txt").write_text("x", encoding="utf-8")
        assert [case.id for case in read_cases(tmp_path)] == ["1", "2", "b"]

    def test_bad_files_are_named(self, tmp_path: Path) -> None:
        (tmp_path / "a.json").write_text("{", encoding="utf-8")
        (tmp_path / "b.json").write_text('[{"id": "1"}, 3]', encoding="utf-8")
        (tmp_path / "c.json").write_bytes(b'{"id": "\xff"}')
        assert [str(each).partition(", row: ")[0] for each in read_cases(tmp_path, on_bad="skip").bad] == [
            "a.json, row 1",
            "b.json, row 2",
            "c.json, row 1",
        ]

    def test_a_folder_without_json_says_so(self, tmp_path: Path) -> None:
        assert "has no .json file" in refusal(tmp_path)


class TestFrame:
    def test_a_frame_gives_the_same_cases_as_its_file(self, tmp_path: Path) -> None:
        write_parquet(tmp_path / "cases.parquet", ROWS)
        frame = polars.DataFrame(ROWS)
        assert list(cases_from_frame(frame)) == list(read_cases(tmp_path / "cases.parquet"))


# A text has something to see in it; a name is also free of lines and tabs, of blanks at its ends and of blanks that
# cannot be seen, is no number as a spreadsheet rounds it (1.20E+16), and not too long.
seen = ("L", "M", "N", "P", "S")


def around(
    characters: st.SearchStrategy[str], one: st.SearchStrategy[str], longest: int | None = None
) -> st.SearchStrategy[str]:
    some = st.text(characters, max_size=longest)
    return st.tuples(some, one, some).map("".join)


texts = around(
    st.characters(codec="utf-8", exclude_characters="\x00"), st.characters(codec="utf-8", categories=seen)
)
names = around(
    st.characters(codec="utf-8", exclude_characters="\x00\r\n\t\u200b\u2060\ufeff+"),
    st.characters(codec="utf-8", categories=seen, exclude_characters="+"),
    longest=200,
).map(str.strip)
notes = st.builds(Note, names, texts, st.none() | names, st.none() | names)
facts = names | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.booleans()
made_cases = st.builds(
    Case,
    id=names,
    candidate=st.none() | texts,
    reference=st.none() | texts,
    texts=st.dictionaries(texts, texts, max_size=2),
    notes=st.lists(notes, max_size=2, unique_by=lambda note: note.id).map(tuple),
    system=st.just("") | names,
    vendor=st.just("") | names,
    patient=st.none() | names,
    metadata=st.dictionaries(texts, facts, max_size=2),
)


@given(st.lists(made_cases, min_size=1, max_size=4, unique_by=lambda case: (case.id, case.system)))
def test_what_is_written_is_read_back(tmp_path_factory: pytest.TempPathFactory, cases: list[Case]) -> None:
    file = tmp_path_factory.mktemp("cases") / "cases.jsonl"
    assert write_cases(cases, file) == len(cases)
    assert list(read_cases(file)) == cases
    assert [path.name for path in file.parent.iterdir()] == ["cases.jsonl"]


def test_a_case_that_no_file_should_hold_is_still_written(tmp_path: Path) -> None:
    case = Case("1", candidate="half \ud800 a pair")
    write_cases([case], tmp_path / "cases.jsonl")
    assert json.loads((tmp_path / "cases.jsonl").read_text(encoding="utf-8")) == case_to_row(case)


def test_writing_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    def cases() -> Any:
        yield Case("1")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_cases(cases(), tmp_path / "cases.jsonl")
    assert not list(tmp_path.iterdir())
    with pytest.raises(FileError, match="cannot be written"):
        write_cases([Case("1")], tmp_path / "no" / "folder" / "cases.jsonl")


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_memory_does_not_grow_with_the_file(form: str, tmp_path: Path) -> None:
    """Peak memory of a full pass: a reader that kept the cases would need ten times as much for ten times
    the rows. Three hundred bytes of text a row against sixteen bytes remembered."""

    def peak(count: int) -> int:
        file = tmp_path / f"{count}.{form}"
        WRITERS[form](file, [{"id": str(number), "candidate": "text " * 60} for number in range(count)])
        reader = read_cases(file)
        tracemalloc.start()
        try:
            assert reader.count == count
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(100)  # first use imports
    small, large = peak(200), peak(2_000)
    assert large - small < 2_000 * 100


def test_empty_cells_behind_the_last_column_are_no_cells(tmp_path: Path) -> None:
    file = tmp_path / "cases.csv"
    file.write_text("id,candidate\n1,good,,\n2,bad,x,\n", encoding="utf-8")
    reader = read_cases(file, on_bad="skip")
    assert [case.id for case in reader] == ["1"]
    assert [each.problem for each in reader.bad] == ["has 4 cells; the header has 2"]


def test_rows_can_be_read_for_something_else_than_cases(tmp_path: Path) -> None:
    file = tmp_path / "table.csv"
    file.write_text("name,score\na,1\n\nb\n", encoding="utf-8")
    rows = [row for row in read_rows(file) if not row.is_remark]
    assert [(row.origin.row, dict(row.values), row.problem) for row in rows] == [
        (2, {"name": "a", "score": "1"}, ""),
        (4, {}, "has 1 cells; the header has 2"),
    ]
