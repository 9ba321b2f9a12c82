"""Tables of cases as other programs write them: encodings, separators, sheets, ids, nested JSON."""

from __future__ import annotations

import gzip
import json
from datetime import date, datetime
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from medjury.intake import FileError
from medjury.intake.cases import Case, CaseReader, Note, read_cases

FORMATS = [
    {
        "format": "table of cases",
        "ending": ".csv, .tsv, .csv.gz",
        "read": "comma, semicolon, tab or bar; a first line `sep=;`; UTF-8, UTF-16 or the mapping's `encoding`",
        "refused": "bytes that are not of the encoding, too many or too few cells, a quotation without end",
        "page": "reading-cases.md",
    },
    {
        "format": "workbook of cases",
        "ending": ".xlsx, .ods",
        "read": "the first sheet or the one named `sheet` (others are counted); ids as they are shown (007)",
        "refused": "ids that are dates or TRUE, that have more than 15 digits or that a format dresses up; "
        "formulas without a result",
        "page": "reading-cases.md",
    },
    {
        "format": "cases in JSON",
        "ending": ".json, .jsonl, .json.gz, .jsonl.gz",
        "read": "a case, a list, a line each; rows deep inside (`rows: results.results[]`), JSON inside cells, "
        "`notes` as {id: text}",
        "refused": "a path that leads nowhere, JSON that is broken, keys that appear twice",
        "page": "reading-cases.md",
    },
]


def read(path: Path, **mapping: Any) -> list[Case]:
    return list(read_cases(path, mapping=mapping or None))


def refusal(path: Path, **mapping: Any) -> str:
    with pytest.raises(FileError) as error:
        read(path, **mapping)
    return str(error.value)


def pairs(cases: list[Case]) -> list[tuple[str, str | None]]:
    return [(case.id, case.candidate) for case in cases]


class TestText:
    def test_another_encoding_is_named(self, tmp_path: Path) -> None:
        file = tmp_path / "c.csv"
        file.write_bytes("id,candidate\n1,Größe – gut\n".encode("cp1252"))
        assert pairs(read(file, encoding="cp1252")) == [("1", "Größe – gut")]
        assert (
            "row 2, candidate: is not valid UTF-8; save the file as UTF-8, or name its encoding in the mapping "
            in (refusal(file))
        )

    def test_an_encoding_that_the_file_is_not_in_is_refused(self, tmp_path: Path) -> None:
        file = tmp_path / "c.csv"
        file.write_bytes(b"id,candidate\n1,a\n2,\x81\n")
        assert "c.csv, row 3, row: is not valid cp1252; save it as 'CSV UTF-8', or name its encoding" in (
            refusal(file, encoding="cp1252")
        )
        assert "encoding: there is no encoding 'klingon'; try utf-8 or cp1252" in refusal(
            file, encoding="klingon"
        )
        assert "encoding: there is no encoding 'base64'" in refusal(file, encoding="base64")

    def test_an_encoding_holds_for_json_too(self, tmp_path: Path) -> None:
        line = json.dumps({"id": "1", "candidate": "Größe"}, ensure_ascii=False)
        (tmp_path / "c.jsonl").write_bytes(f"{line}\n".encode("cp1252"))
        (tmp_path / "c.json").write_bytes(line.encode("utf-16"))
        assert pairs(read(tmp_path / "c.jsonl", encoding="cp1252")) == [("1", "Größe")]
        assert pairs(read(tmp_path / "c.json")) == [("1", "Größe")]

    @pytest.mark.parametrize("mark", ["sep=;\n", "SEP=;\r\n", '"sep=;"\n'])
    def test_the_separator_that_excel_states_is_no_row(self, tmp_path: Path, mark: str) -> None:
        (tmp_path / "c.csv").write_text(
            mark + "id;candidate, free text\n1;a, b\n", encoding="utf-8", newline=""
        )
        (case,) = read(tmp_path / "c.csv", candidate="candidate, free text")
        assert (case.candidate, case.origin and case.origin.row) == ("a, b", 2)

    def test_a_header_with_many_commas_is_separated_where_its_id_is(self, tmp_path: Path) -> None:
        (tmp_path / "c.csv").write_text("pid;answer, in, full, words\n1;a, b\n", encoding="utf-8")
        assert pairs(read(tmp_path / "c.csv", id="pid", candidate="answer, in, full, words")) == [
            ("1", "a, b")
        ]

    @pytest.mark.parametrize("name", ["c.csv", "c.tsv", "c.jsonl", "c.ndjson", "c.json"])
    def test_packed_files_are_read(self, tmp_path: Path, name: str) -> None:
        texts = {
            "c.csv": "id,candidate\n1,Größe\n",
            "c.tsv": "id\tcandidate\n1\tGröße\n",
            "c.json": '{"candidate": "Größe", "id": "1"}',
        }
        (tmp_path / f"{name}.gz").write_bytes(gzip.compress(texts.get(name, texts["c.json"]).encode()))
        assert pairs(read(tmp_path / f"{name}.gz")) == [("1", "Größe")]

    def test_a_line_without_end_is_not_unpacked(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("medjury.intake._files.text.LONGEST_LINE", 1_000)
        for name in ("c.csv.gz", "c.jsonl.gz"):
            (tmp_path / name).write_bytes(gzip.compress(b"id,candidate\n" + b"x" * 5_000))
            assert "unpacks to a line of more than 1,000 characters" in refusal(tmp_path / name)

    def test_empty_rows_and_unnamed_columns_are_counted(self, tmp_path: Path) -> None:
        (tmp_path / "c.csv").write_text("id,ai,gp,ward\n1,a,x,y\n,,,\n2,b,x,y\n\n", encoding="utf-8")
        reader = read_cases(tmp_path / "c.csv", mapping={"candidate": "ai"})
        assert reader.count == 2
        assert reader.left_out.parts == {
            "empty row, left out": 2,
            "column that the mapping does not name, left out": 2,
        }


class TestWorkbook:
    def workbook(
        self, file: Path, *rows: list[Any], form: str = "General", extra: tuple[str, ...] = ()
    ) -> Path:
        book = openpyxl.Workbook()
        sheet = book.active
        assert sheet is not None
        sheet.title = "Cases"
        for row in rows:
            sheet.append(row)
        for cell in sheet["A"][1:]:
            if not isinstance(cell.value, date):
                cell.number_format = form
        for name in extra:
            book.create_sheet(name).append(["Read me"])
        book.save(file)
        return file

    def reader(self, file: Path, **mapping: Any) -> CaseReader:
        return read_cases(file, mapping=mapping or None, on_bad="skip")

    def test_other_sheets_are_counted(self, tmp_path: Path) -> None:
        file = self.workbook(tmp_path / "c.xlsx", ["id", "candidate"], ["1", "a"], extra=("Notes", "Lists"))
        reader = self.reader(file)
        assert reader.count == 1
        assert reader.left_out.parts == {"sheet, left out": 2}

    def test_a_sheet_is_named_and_the_message_says_so(self, tmp_path: Path) -> None:
        book = openpyxl.Workbook()
        book.active.title = "Read me"
        book.active.append(["This file holds cases"])
        cases = book.create_sheet("Cases")
        cases.append(["id", "candidate"])
        cases.append(["1", "a"])
        book.save(tmp_path / "c.xlsx")
        assert pairs(read(tmp_path / "c.xlsx", sheet="Cases")) == [("1", "a")]
        assert refusal(tmp_path / "c.xlsx") == (
            "c.xlsx: has no column 'id'; say in a mapping which column names the case (id: ...). c.xlsx: the sheet "
            "'Read me' was read; name another with `sheet` in the mapping (Cases)"
        )
        assert "there is no sheet 'Fälle'; its sheets are Read me, Cases" in refusal(
            tmp_path / "c.xlsx", sheet="Fälle"
        )

    @pytest.mark.parametrize(
        ("value", "kind"), [(date(2024, 3, 1), "a date"), (datetime(2024, 3, 1, 8), "a date"), (True, "TRUE")]
    )
    @pytest.mark.parametrize("field", ["id", "patient"])
    def test_an_id_that_excel_changed_is_refused(
        self, tmp_path: Path, value: Any, kind: str, field: str
    ) -> None:
        header = [field, "id" if field == "patient" else "candidate"]
        file = self.workbook(tmp_path / "c.xlsx", header, [value, "x"])
        (bad,) = self.reader(file).bad
        assert str(bad) == (
            f"c.xlsx, row 2, {field}: is {kind}, not an id: format the column as text and enter it again"
        )

    def test_leading_zeros_that_excel_shows_are_read_and_told(self, tmp_path: Path) -> None:
        file = self.workbook(tmp_path / "c.xlsx", ["id", "candidate"], [7, "a"], [1234, "b"], form="000")
        reader = self.reader(file)
        assert pairs(list(reader)) == [("007", "a"), ("1234", "b")]
        assert reader.left_out.parts == {"id that the sheet shows with leading zeros, read as it is shown": 1}

    def test_a_formula_without_a_result_is_refused(self, tmp_path: Path) -> None:
        file = self.workbook(tmp_path / "c.xlsx", ["id", "candidate"], ["1", '=CONCAT("a", "b")'], ["2", "x"])
        reader = self.reader(file)
        assert [case.id for case in reader] == ["2"]
        assert (
            "holds a formula whose result is not stored in candidate; open the file in a spreadsheet program"
            in (str(reader.bad[0]))
        )


class TestJson:
    def test_rows_deep_inside_a_document(self, tmp_path: Path) -> None:
        (tmp_path / "log.json").write_text(
            json.dumps(
                {
                    "config": {"provider": "openai:x"},
                    "results": {
                        "results": [
                            {"vars": {"case": "c1"}, "response": {"output": [{"text": "One."}]}},
                            {"vars": {"case": "c2"}, "response": {"output": [{"text": "Two."}]}},
                        ]
                    },
                }
            ),
            encoding="utf-8",
        )
        cases = read(
            tmp_path / "log.json",
            rows="results.results[]",
            id="vars.case",
            candidate="response.output[0].text",
            system="config.provider",
        )
        assert [(case.id, case.candidate, case.system) for case in cases] == [
            ("c1", "One.", "openai:x"),
            ("c2", "Two.", "openai:x"),
        ]
        assert [case.origin.row for case in cases if case.origin] == [1, 2]

    def test_rows_inside_every_line(self, tmp_path: Path) -> None:
        lines = [{"model": "a", "answers": [{"id": "1", "candidate": "x"}]}, {"model": "b", "answers": []}]
        (tmp_path / "c.jsonl").write_text(
            "".join(json.dumps(each) + "\n" for each in lines), encoding="utf-8"
        )
        reader = read_cases(
            tmp_path / "c.jsonl", mapping={"rows": "[].answers[]", "system": "model"}, on_bad="skip"
        )
        assert [(case.id, case.system, case.candidate) for case in reader] == [("1", "a", "x")]
        assert "row 2, row: `rows: [].answers[]` finds nothing" in str(reader.bad[0])

    @pytest.mark.parametrize("as_text", [False, True])
    def test_notes_by_id(self, tmp_path: Path, as_text: bool) -> None:
        notes: Any = {"n1": "Admitted.", "n2": {"text": "Home.", "date": "2024-03-12"}}
        row = {"id": "1", "notes": json.dumps(notes) if as_text else notes}
        (tmp_path / "c.jsonl").write_text(json.dumps(row), encoding="utf-8")
        (case,) = read(tmp_path / "c.jsonl")
        assert case.notes == (Note("n1", "Admitted."), Note("n2", "Home.", "2024-03-12"))
