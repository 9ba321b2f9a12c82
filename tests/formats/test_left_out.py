"""What the readers of cases left out is told on request, by reason and with counts, without a word of a text."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

from medjury.cli import main
from medjury.intake.cases import LeftOut, RedactedCases, make_redactor, read_cases


def export(folder: Path) -> Path:
    html = base64.b64encode(b"<p>Stop <del>aspirin</del>.</p><img src='x'>").decode()
    documents = [
        {
            "resourceType": "DocumentReference",
            "id": f"d{number}",
            "status": status,
            "content": [{"attachment": {"contentType": "text/html", "data": html}}],
        }
        for number, status in enumerate(["current", "superseded", "entered-in-error", "entered-in-error"])
    ]
    bundle = {"resourceType": "Bundle", "entry": [{"resource": each} for each in documents]}
    (folder / "bundle.json").write_text(json.dumps(bundle), encoding="utf-8")
    return folder / "bundle.json"


def test_cases_check_shows_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cases", "check", str(export(tmp_path))]) == 0
    assert capsys.readouterr().out.splitlines()[-5:] == [
        "left out, or kept with a mark:",
        "  document entered in error, left out: 2",
        "  struck-out passage, left out: 2",
        "  picture, left out: 2",
        "  superseded document, kept and marked: 1",
    ]


def test_rows_are_counted_by_reason_without_names_of_the_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [
        {"id": "1"},
        {"id": ""},
        {"candidate": 4},
        {"id": "2", "texts": {"Mrs Smith": 4}},
        {"id": "3", "notes": ["a", 4, 5]},
    ]
    text = "".join(json.dumps(each) + "\n" for each in lines) + '{"id":\n{"id": "x",\n'
    (tmp_path / "c.jsonl").write_text(text, encoding="utf-8")
    reader = read_cases(tmp_path / "c.jsonl", on_bad="skip")
    assert reader.left_out == LeftOut(
        rows={
            "id: is empty; every case needs one": 2,
            "candidate: is a number, not text": 1,
            "a column: is a number, not text": 1,
            "notes.text: is a number, not text": 2,
            "row: is not valid JSON": 2,
        }
    )
    assert main(["cases", "check", str(tmp_path / "c.jsonl")]) == 2
    shown = capsys.readouterr().out
    assert "problems of rows that cannot be used:\n  id: is empty; every case needs one: 2\n" in shown
    assert "Smith" not in shown


def test_redacted_cases_tell_it_too(tmp_path: Path) -> None:
    reader = read_cases(export(tmp_path))
    redacted = RedactedCases(reader, make_redactor({"presidio": False}, tmp_path))
    assert redacted.left_out == reader.left_out
