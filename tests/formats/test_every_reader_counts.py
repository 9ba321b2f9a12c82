"""Every reader counts what it leaves out: a reader that is added without an entry here fails."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import polars
import pytest
from tests.formats.test_transcript_round_trip import FORMS, _write

from medjury.foundation.errors import MedjuryError
from medjury.intake._files.any_file import READERS
from medjury.intake.cases import read_cases
from medjury.store.ratings import read_ratings
from medjury.studies.inspection import look
from medjury.texts.transcripts import read_transcript
from medjury.texts.transcripts._read import ENDINGS
from medjury.texts.transcripts._recognisers import FORMS as JSON_FORMS

ROWS: list[dict[str, Any]] = [
    {"id": "1", "candidate": "One.", "rater": "a", "dimension": "q", "score": 4, "remark": "x"},
    {"id": "2", "candidate": "Two.", "rater": "a", "dimension": "q", "score": None, "remark": "y"},
]


def text(separator: str) -> Callable[[Path], None]:
    def write(file: Path) -> None:
        cells = io.StringIO()
        names = list(ROWS[0])
        csv.writer(cells, delimiter=separator).writerows(
            [names, *([row[name] for name in names] for row in ROWS)]
        )
        file.write_text(cells.getvalue(), encoding="utf-8")

    return write


def lines(file: Path) -> None:
    file.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")


def whole(file: Path) -> None:
    file.write_text(json.dumps(ROWS), encoding="utf-8")


def workbook(file: Path) -> None:
    book = openpyxl.Workbook()
    for row in [list(ROWS[0]), *(list(row.values()) for row in ROWS)]:
        book.active.append(row)
    book.create_sheet("Other").append(["x"])
    book.save(file)


def document(file: Path) -> None:
    space = "urn:oasis:names:tc:opendocument:xmlns"
    rows = "".join(
        "<t:table-row>" + "".join(f"<t:table-cell><x:p>{'' if cell is None else cell}</x:p></t:table-cell>"
                                  for cell in row) + "</t:table-row>"
        for row in [list(ROWS[0]), *(list(row.values()) for row in ROWS)]
    )  # fmt: skip
    with zipfile.ZipFile(file, "w") as packed:
        packed.writestr(
            "content.xml",
            f'<o:d xmlns:o="{space}:office:1.0" xmlns:t="{space}:table:1.0" xmlns:x="{space}:text:1.0">'
            f'<t:table t:name="A">{rows}</t:table><t:table t:name="B"/></o:d>',
        )


def log(file: Path) -> None:
    with zipfile.ZipFile(file, "w") as packed:
        packed.writestr("header.json", json.dumps({"eval": {"model": "m"}}))
        for row in [*ROWS, {**ROWS[0], "id": "3", "invalidation": {"author": "x"}}]:
            packed.writestr(f"samples/{row['id']}_epoch_1.json", json.dumps(row))


def statistics(file: Path) -> None:
    pyreadstat = pytest.importorskip("pyreadstat", reason="the extra medjury[spss] is not installed")
    pandas = pytest.importorskip("pandas")
    rows = [{**row, "score": float("nan") if row["score"] is None else row["score"]} for row in ROWS]
    frame = pandas.DataFrame(rows).rename(columns=lambda name: name[:8] if file.suffix == ".por" else name)
    {".dta": pyreadstat.write_dta, ".por": pyreadstat.write_por}.get(file.suffix, pyreadstat.write_sav)(
        frame, str(file)
    )


WRITERS: dict[str, Callable[[Path], None]] = {
    ".csv": text(","),
    ".tsv": text("\t"),
    ".jsonl": lines,
    ".ndjson": lines,
    ".json": whole,
    ".parquet": lambda file: polars.DataFrame(ROWS).write_parquet(file),
    ".xlsx": workbook,
    ".ods": document,
    ".eval": log,
    ".sav": statistics,
    ".zsav": statistics,
    ".por": statistics,
    ".dta": statistics,
}
OTHERS = {
    ".xlsx": {"sheet, left out": 1},
    ".ods": {"sheet, left out": 1},
    ".eval": {"sample that was marked as invalid, left out": 1},
}


@pytest.mark.parametrize("ending", READERS)
def test_a_reader_of_cases_counts_columns_and_rows(ending: str, tmp_path: Path) -> None:
    file = tmp_path / f"t{ending}"
    WRITERS[ending](file)
    names = (
        ("ID", "CANDIDAT") if ending == ".por" else ("id", "candidate")
    )  # which has short names in capitals
    reader = read_cases(file, mapping=dict(zip(("id", "candidate"), names, strict=True)))
    assert dict(reader.left_out.parts) == {
        "column that the mapping does not name, left out": 4,
        **OTHERS.get(ending, {}),
    }


@pytest.mark.parametrize("ending", READERS)
def test_a_reader_of_ratings_counts_columns_cells_and_rows(ending: str, tmp_path: Path) -> None:
    file = tmp_path / f"t{ending}"
    WRITERS[ending](file)
    names = (
        {"id": "ID", "rater": "RATER", "score": "SCORE"} if ending == ".por" else {}
    )  # which has capitals only
    mapping = {"item": names.get("id", "id"), "rater": names.get("rater", "rater"), "fixed": {"dimension": "q"},
               "score": names.get("score", "score")}  # fmt: skip
    if ending == ".eval":
        mapping["rows"] = "samples[]"
    report = read_ratings(file, mapping=mapping, on_bad="unscored").report
    # Another field of a fixed name is a column that nothing reads.
    assert report.left_out == {
        "not rated (blank cells)": 1,
        **OTHERS.get(ending, {}),
        "columns not used": report.left_out["columns not used"],
    }
    assert report.left_out["columns not used"] >= 2
    for what, count in report.left_out.items():
        assert what in report.text() and count


SAID = [("Doctor", "Any pain?"), ("Patient", "No."), ("Doctor", "Good.")]
ASIDE: dict[str, tuple[Callable[[str], str], dict[str, int]]] = {
    ".vtt": (lambda said: said.replace("WEBVTT\n", "WEBVTT\n\nNOTE by A\n"), {"blocks of notes and styles": 1}),
    ".srt": (lambda said: f"NOTE checked\n\n{said}", {"blocks of notes and styles": 1}),
    ".ctm": (lambda said: f";; a remark\n{said}", {"lines of a .ctm file that are remarks": 1}),
    ".rttm": (lambda said: f"NON-SPEECH call 1 0 1 <NA> <NA> noise <NA>\n{said}",
              {"lines of an .rttm file that name no speaker": 1}),
    ".csv": (lambda said: said.replace("speaker,text", "speaker,text,is_final") + "Doctor,Goo,false\r\n",
             {"interim results": 1}),
    ".json": (lambda said: said[:-1] + ', {"text": "Goo", "is_final": false}]', {"interim results": 1}),
    ".txt": (lambda said: said, {}),  # every line of a text is said by somebody
}  # fmt: skip


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_reader_of_transcripts_counts_what_is_said_by_nobody(ending: str, tmp_path: Path) -> None:
    change, counts = ASIDE[ending]
    form = {".json": "list of turns", ".rttm": "CTM and RTTM"}.get(ending) or next(
        name for name, (file, _) in FORMS.items() if file.endswith(ending)
    )
    file = tmp_path / FORMS[form][0]
    _write(form, SAID, file)
    changed = file.with_suffix(ending)
    changed.write_text(change(changed.read_text(encoding="utf-8")), encoding="utf-8")
    found = read_transcript(changed)
    assert [(turn.speaker, turn.text) for turn in found.turns][:3] == SAID
    assert found.left_out == counts
    assert look(changed).lost == counts
    assert all(f"{count} {what} left out" in " ".join(found.notes) for what, count in counts.items())


@pytest.mark.parametrize("form", JSON_FORMS)
def test_what_is_no_part_of_a_recognisers_list_is_refused(form: str, tmp_path: Path) -> None:
    """A word in a list of objects is somebody's word: it is read or the file is refused."""
    content = json.loads(
        next(each for each in map(_as_json, FORMS) if "Doctor" in each and _form_of(each, tmp_path) == form)
    )
    lists = [each for each in _lists(content) if each and all(isinstance(part, dict) for part in each)]
    assert lists
    lists[0].append("stray words")
    (tmp_path / "t.json").write_text(json.dumps(content), encoding="utf-8")
    try:
        found = read_transcript(tmp_path / "t.json")
    except MedjuryError as error:
        assert "t.json" in str(error)
    else:
        assert "stray words" in [turn.text for turn in found.turns]


def _as_json(form: str) -> str:
    return FORMS[form][1](SAID) if FORMS[form][0].endswith(".json") else ""


def _form_of(content: str, folder: Path) -> str:
    (folder / "t.json").write_text(content, encoding="utf-8")
    return read_transcript(folder / "t.json").form


def _lists(value: Any) -> list[list[Any]]:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [
        *([value] if isinstance(value, list) else []),
        *(found for each in inner for found in _lists(each)),
    ]
