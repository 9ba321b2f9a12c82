"""Cases from FHIR documents: inline text only, who wrote it, about whom, and a clear word on the rest."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.formats.fhir import bundle, document, encode

from medjury.intake.cases import Case, Note, read_cases
from medjury.intake.cases._fhir.xhtml import FhirError, text_of


def read(folder: Path, resource: object, mapping: dict[str, Any] | None = None) -> list[Case]:
    (folder / "bundle.json").write_text(json.dumps(resource), encoding="utf-8")
    return list(read_cases(folder / "bundle.json", mapping=mapping))


def problem(folder: Path, resource: object, mapping: dict[str, Any] | None = None) -> str:
    (folder / "bundle.json").write_text(json.dumps(resource), encoding="utf-8")
    (bad,) = read_cases(folder / "bundle.json", mapping=mapping, on_bad="skip").bad
    return str(bad)


def test_a_document_is_a_case(tmp_path: Path) -> None:
    resource = document(
        "d1",
        "Discharged well. ünïcode",
        date="2024-03-12T10:00:00Z",
        type={"coding": [{"code": "18842-5", "display": "Discharge summary"}]},
        author=[{"reference": "Practitioner/7", "display": "Dr Jane Smith"}, {"reference": "#scribe"}],
        contained=[
            {
                "resourceType": "Device",
                "id": "scribe",
                "manufacturer": "Vendor A",
                "deviceName": [{"name": "Scribe 2"}],
            }
        ],
    )
    patient = {"resourceType": "Patient", "id": "p1", "gender": "female", "birthDate": "1950-03-13"}
    (case,) = read(tmp_path, bundle(patient, resource))
    assert case == Case(
        id="d1",
        candidate="Discharged well. ünïcode",
        system="Scribe 2",
        vendor="Vendor A",
        patient="Patient/p1",
        metadata={"date": "2024-03-12T10:00:00Z", "kind": "Discharge summary", "sex": "female", "age": 73},
    )
    assert case.origin is not None
    assert (case.origin.file, case.origin.row) == ("bundle.json", 2)


def test_a_newborn_is_nought_years_old(tmp_path: Path) -> None:
    patient = {"resourceType": "Patient", "id": "p1", "gender": "male", "birthDate": "2024-03-01"}
    (case,) = read(tmp_path, bundle(patient, document("d1", date="2024-03-12")))
    assert case.metadata["age"] == 0


def test_a_persons_name_does_not_become_the_name_of_a_system(tmp_path: Path) -> None:
    author = [{"reference": "Practitioner/7", "display": "Dr Jane Smith"}]
    (case,) = read(tmp_path, document("d1", author=author))
    assert case.system == "Practitioner/7"


def test_a_composition_is_read_from_its_narrative(tmp_path: Path) -> None:
    def section(title: str, div: str, **fields: Any) -> dict[str, Any]:
        return {"title": title, "text": {"status": "generated", "div": div}, **fields}

    resource = {
        "resourceType": "Composition",
        "id": "c1",
        "status": "final",
        "title": "Discharge summary",
        "subject": {"reference": "Patient/p1"},
        "author": [{"reference": "Device/9", "display": "Scribe"}],
        "section": [
            section(
                "Course", "<div><p>Better&nbsp;after <b>furosemide</b> &lt; 40&#160;mg.</p><p>Home.</p></div>"
            ),
            section(
                "Plan",
                "",
                section=[
                    section("Drugs", "<div><ul><li>Aspirin</li><li>Bisoprolol</li></ul></div>"),
                    section(
                        "Laboratory",
                        "<table><tr><th>Na</th><td>140</td></tr><tr><th>K</th><td>4</td></tr></table>",
                    ),
                ],
            ),
            section("Hidden", "<div><script>alert(1)</script><style>p {}</style></div>"),
        ],
    }
    (case,) = read(
        tmp_path, {"resourceType": "Bundle", "type": "document", "entry": [{"resource": resource}]}
    )
    assert case.system == "Scribe"
    assert case.candidate == (
        "Discharge summary\n\nCourse\nBetter after furosemide < 40 mg.\n\nHome.\n\nPlan\n\n"
        "Drugs\n- Aspirin\n- Bisoprolol\n\nLaboratory\nNa | 140 |\nK | 4 |"
    )


def test_html_is_read_as_text_and_another_character_set_is_honoured(tmp_path: Path) -> None:
    html = {"contentType": "text/html; charset=utf-8", "data": encode("<p>Café<br/>au lait</p>")}
    latin = {"contentType": 'text/plain; charset="ISO-8859-1"', "data": encode("Café".encode("latin-1"))}
    cases = read(
        tmp_path,
        bundle(*(document(str(n), content=[{"attachment": each}]) for n, each in enumerate((html, latin)))),
    )
    assert [case.candidate for case in cases] == ["Café\nau lait", "Café"]


@given(st.text("<>!/[]-&;#x pdivCDATA\n\"'="))
def test_any_markup_is_text_or_is_refused(markup: str) -> None:
    try:
        text = text_of(markup)
    except FhirError as error:
        assert str(error) == "the narrative is not valid HTML"
    else:
        assert text == text.strip()


def test_text_in_a_cdata_section_is_not_lost() -> None:
    assert text_of("<div>a <![CDATA[ b < c ]]></div>") == "a b < c"


def test_the_first_attachment_that_is_text_is_taken(tmp_path: Path) -> None:
    scan = {"contentType": "application/pdf", "data": encode(b"%PDF")}
    text = {"contentType": "text/plain", "data": encode("Text.")}
    (case,) = read(tmp_path, document("d1", content=[{"attachment": scan}, {"attachment": text}]))
    assert case.candidate == "Text."


@pytest.mark.parametrize(
    ("attachment", "expected"),
    [
        (
            {"contentType": "text/plain", "url": "https://example.org/d1"},
            "only a link, which is never fetched",
        ),
        (
            {"contentType": "application/pdf", "data": encode("x")},
            "is application/pdf; only plain text and HTML",
        ),
        ({"data": encode("x")}, "of no stated type"),
        ({"contentType": "Jane Smith's note", "data": encode("x")}, "of no stated type"),
        ({"contentType": "text/plain"}, "is empty"),
        ({"contentType": "text/plain", "data": "not base64!"}, "not valid base64"),
        ({"contentType": "text/plain", "data": encode(b"\xff")}, "not valid utf-8"),
        ({"contentType": "text/plain; charset=klingon", "data": encode("x")}, "unknown character set"),
        (
            {"contentType": "text/plain", "data": encode("x"), "hash": encode(b"wrong")},
            "does not match its hash",
        ),
    ],
)
def test_an_attachment_that_cannot_be_read_is_named(
    attachment: dict[str, Any], expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    found = problem(tmp_path, bundle(document("d0"), document("d1", content=[{"attachment": attachment}])))
    assert found.startswith("bundle.json, row 2, row: the attachment")
    assert expected in found


@pytest.mark.parametrize(
    ("resource", "expected"),
    [
        (document("d1", status="entered-in-error"), "entered in error"),
        (document("d1", content=[]), "has no attachment"),
        ({"resourceType": "Composition", "id": "c", "section": []}, "hold no narrative text"),
        (
            {"resourceType": "Patient", "id": "p"},
            "the FHIR Patient holds no DocumentReference and no Composition",
        ),
        (bundle(), "the FHIR Bundle holds no DocumentReference"),
        ({"resourceType": {"Jane": "Smith"}}, "the FHIR resource holds no"),
        (document(""), "is empty; every case needs one"),
    ],
)
def test_a_resource_that_is_no_document_is_named(
    resource: dict[str, Any], expected: str, tmp_path: Path
) -> None:
    assert expected in problem(tmp_path, resource)


def test_what_is_nested_beyond_reason_is_refused_not_cut(tmp_path: Path) -> None:
    section: dict[str, Any] = {"title": "x", "text": {"div": "<p>deep</p>"}}
    nested = bundle(document("d1"))
    for _ in range(30):
        section, nested = {"title": "x", "section": [section]}, bundle(nested)
    composition = {"resourceType": "Composition", "id": "c1", "section": [section]}
    assert "sections are nested too deeply" in problem(tmp_path, composition)
    assert "bundles are nested too deeply" in problem(tmp_path, nested)


class TestRecord:
    """A bundle that holds what is judged together with what it was written from."""

    kinds = {  # noqa: RUF012
        "summary": {"coding": [{"code": "18842-5", "display": "Discharge summary"}]},
        "note": {"text": "Progress note"},
    }

    def bundle(self) -> dict[str, Any]:
        other = {"subject": {"reference": "Patient/p2"}, "type": self.kinds["note"]}
        return bundle(
            document("n1", "Admitted.", type=self.kinds["note"], date="2024-01-01"),
            document("s1", "Summary.", type=self.kinds["summary"]),
            document("g1", "Gold.", description="Clinician's summary"),
            document("n2", "Better.", type=self.kinds["note"]),
            document("n3", "Somebody else.", **other),
        )

    @pytest.mark.parametrize("chosen", ["18842-5", "discharge SUMMARY", "s1"])
    def test_the_other_documents_of_the_patient_are_the_notes(self, chosen: str, tmp_path: Path) -> None:
        mapping = {
            "fhir": {"candidate": chosen, "reference": "Clinician's summary"},
            "constants": {"system": "scribe"},
        }
        (case,) = read(tmp_path, self.bundle(), mapping)
        assert (case.id, case.candidate, case.reference, case.system) == ("s1", "Summary.", "Gold.", "scribe")
        assert case.notes == (
            Note("n1", "Admitted.", "2024-01-01", "Progress note"),
            Note("n2", "Better.", None, "Progress note"),
        )

    def test_a_choice_that_matches_nothing_is_told(self, tmp_path: Path) -> None:
        assert "no document matches" in problem(tmp_path, self.bundle(), {"fhir": {"candidate": "letter"}})

    def test_two_references_are_one_too_many(self, tmp_path: Path) -> None:
        mapping = {"fhir": {"candidate": "s1", "reference": "Progress note"}}
        assert "several documents of the patient match fhir.reference" in problem(
            tmp_path, self.bundle(), mapping
        )

    def test_a_note_that_cannot_be_read_makes_the_case_bad(self, tmp_path: Path) -> None:
        resource = self.bundle()
        resource["entry"][3]["resource"]["content"][0]["attachment"] = {"url": "https://example.org/n2"}
        assert problem(tmp_path, resource, {"fhir": {"candidate": "s1"}}).startswith(
            "bundle.json, row 4, row: the attach"
        )


def test_bulk_export_is_read_line_by_line(tmp_path: Path) -> None:
    lines = [
        document("d1", "One."),
        bundle(document("d2", "Two."), document("d3", "Three.")),
        document("d4", content=[]),
    ]
    file = tmp_path / "export.ndjson"
    file.write_text("".join(json.dumps(each) + "\n" for each in lines), encoding="utf-8")
    reader = read_cases(file, on_bad="skip")
    assert [(case.id, case.origin and case.origin.row) for case in reader] == [
        ("d1", 1),
        ("d2", 2),
        ("d3", 2),
    ]
    assert [each.row for each in reader.bad] == [3]
