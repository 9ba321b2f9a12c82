"""FHIR documents that do not hold any more, or not yet: never read as if they did."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.formats import fhir

from medjury.intake.cases import CaseReader, Note, read_cases

FORMATS = [
    {
        "format": "FHIR document that is superseded, replaced, preliminary or cancelled",
        "ending": ".json, .ndjson",
        "read": "the text, with the status in the kind of the note or in the metadata of the case, and counted",
        "refused": "a document entered in error is left out and counted",
        "page": "reading-cases.md",
    }
]


def document(identity: str, text: str = "Text.", **fields: Any) -> dict[str, Any]:
    return fhir.document(identity, text, **{"type": {"text": "Progress note"}, **fields})


def composition(identity: str, status: str) -> dict[str, Any]:
    return {
        "resourceType": "Composition",
        "id": identity,
        "status": status,
        "title": "Letter",
        "subject": {"reference": "Patient/p1"},
        "section": [{"text": {"div": "<div>Text.</div>"}}],
    }


def reader_of(folder: Path, *resources: dict[str, Any], candidate: str | None = "s1") -> CaseReader:
    return fhir.reader_of(
        folder, *resources, mapping={"fhir": {"candidate": candidate}} if candidate else None
    )


@pytest.mark.parametrize(
    ("fields", "mark"),
    [
        ({"status": "superseded"}, "superseded"),
        ({"docStatus": "preliminary"}, "preliminary"),
        ({"docStatus": "cancelled"}, "cancelled"),
        ({"docStatus": "deprecated"}, "deprecated"),
        ({"status": "superseded", "docStatus": "preliminary"}, "superseded, preliminary"),
    ],
)
def test_a_note_that_does_not_hold_says_so(tmp_path: Path, fields: dict[str, str], mark: str) -> None:
    reader = reader_of(tmp_path, document("s1", "Summary."), document("n1", "Old.", **fields), document("n2"))
    (case,) = reader
    assert case.notes == (
        Note("n1", "Old.", None, f"Progress note ({mark})"),
        Note("n2", "Text.", None, "Progress note"),
    )
    assert reader.left_out.parts == {f"{mark} document, kept and marked": 1}


def test_a_note_without_a_kind_has_its_mark_all_the_same(tmp_path: Path) -> None:
    (case,) = reader_of(tmp_path, document("s1"), document("n1", type=None, status="superseded"))
    assert case.notes[0].kind == "(superseded)"


@pytest.mark.parametrize("code", ["replaces", {"coding": [{"code": "replaces"}]}])
@pytest.mark.parametrize("target", ["DocumentReference/n1", "http://ehr.example/fhir/DocumentReference/n1"])
def test_a_note_that_another_replaces_is_marked(tmp_path: Path, target: str, code: object) -> None:
    later = document("n2", "New.", relatesTo=[{"code": code, "target": {"reference": target}}])
    appended = document(
        "n3", relatesTo=[{"code": "appends", "target": {"reference": "DocumentReference/n2"}}]
    )
    reader = reader_of(tmp_path, document("s1"), document("n1", "Old."), later, appended)
    (case,) = reader
    assert [note.kind for note in case.notes] == [
        "Progress note (replaced)",
        "Progress note",
        "Progress note",
    ]
    assert reader.left_out.parts == {"replaced document, kept and marked": 1}


def test_what_an_error_replaces_still_holds(tmp_path: Path) -> None:
    replaces = [{"code": "replaces", "target": {"reference": "DocumentReference/n1"}}]
    wrong = document("n2", status="entered-in-error", relatesTo=replaces)
    (case,) = reader_of(tmp_path, document("s1"), document("n1"), wrong)
    assert case.notes == (Note("n1", "Text.", None, "Progress note"),)


@pytest.mark.parametrize("status", ["current", "final", "amended"])
def test_what_holds_is_not_marked(tmp_path: Path, status: str) -> None:
    field = "status" if status == "current" else "docStatus"
    (case,) = reader_of(tmp_path, document("s1"), document("n1", **{field: status}))
    assert case.notes[0].kind == "Progress note"


def test_a_preliminary_composition_is_marked(tmp_path: Path) -> None:
    (case,) = reader_of(
        tmp_path, document("s1"), composition("n1", "preliminary"), composition("n2", "final")
    )
    assert [note.kind for note in case.notes] == ["(preliminary)", None]


def test_a_judged_document_carries_its_status_as_a_fact(tmp_path: Path) -> None:
    reader = reader_of(tmp_path, document("s1"), document("s2", status="superseded"), candidate=None)
    assert [case.metadata.get("status") for case in reader] == [None, "superseded"]
    assert reader.left_out.parts == {"superseded document, kept and marked": 1}


@pytest.mark.parametrize(
    "wrong",
    [
        document("n1", "Another patient's.", status="entered-in-error"),
        document("n1", "Another patient's.", docStatus="entered-in-error"),
        composition("n1", "entered-in-error"),
    ],
)
@pytest.mark.parametrize("candidate", ["s1", None])
def test_what_was_entered_in_error_is_left_out_and_counted(
    tmp_path: Path, wrong: dict[str, Any], candidate: str | None
) -> None:
    reader = reader_of(tmp_path, document("s1"), wrong, candidate=candidate)
    assert [(case.id, case.notes) for case in reader] == [("s1", ())]
    assert reader.bad == ()
    assert reader.left_out.parts == {"document entered in error, left out": 1}


def test_a_file_of_nothing_but_errors_is_a_bad_row(tmp_path: Path) -> None:
    (bad,) = reader_of(tmp_path, document("s1", status="entered-in-error"), candidate=None).bad
    assert str(bad) == "b.json, row 1, row: the document is marked as entered in error"


def test_an_error_on_a_line_of_an_export_is_left_out_and_counted(tmp_path: Path) -> None:
    lines = [document("d1"), document("d2", status="entered-in-error")]
    file = tmp_path / "DocumentReference.ndjson"
    file.write_text("".join(json.dumps(each) + "\n" for each in lines), encoding="utf-8")
    reader = read_cases(file)
    assert [case.id for case in reader] == ["d1"]
    assert reader.left_out.parts == {"document entered in error, left out": 1}
