"""What FHIR documents carry their text in, and how they point at it: read in full, or refused with the reason."""

from __future__ import annotations

import hashlib
import importlib.util
from pathlib import Path
from typing import Any

import pytest
from tests.formats.fhir import attached, document, encode, reader_of

from medjury.intake.cases import CaseReader

FORMATS = [
    {
        "format": "FHIR DocumentReference, Composition, Bundle (STU3, R4, R5)",
        "ending": ".json, .ndjson",
        "read": "inline text, HTML, RTF and C-CDA; a Binary of the same bundle, by relative or absolute url or "
        "urn:uuid",
        "refused": "a PDF, a link to elsewhere, data that do not match their hash (SHA-1, SHA-256; hex, base64) or "
        "size; a section without text is left out and counted",
        "page": "reading-cases.md",
    },
    {
        "format": "FHIR DiagnosticReport",
        "ending": ".json, .ndjson",
        "read": "the presentedForm, as a document; one that repeats a DocumentReference is left out and counted",
        "refused": "a form that is a PDF; a report without a form is left out and counted",
        "page": "reading-cases.md",
    },
    {
        "format": "RTF inside a FHIR document",
        "ending": ".json, .ndjson",
        "read": "the text, with `medjury[rtf]`; footnotes, headers, comments, text boxes and pictures are left out "
        "and counted",
        "refused": "without that extra; a cut file; struck-out, deleted or hidden text; signs of a set that is not "
        "stated",
        "page": "reading-cases.md",
    },
    {
        "format": "C-CDA inside a FHIR document",
        "ending": ".json, .ndjson",
        "read": "the title and the narrative of every section; coded entries are left out and counted",
        "refused": "XML that is no ClinicalDocument, declares entities or holds a scan instead of text",
        "page": "reading-cases.md",
    },
]


def report(identity: str, *forms: object, **fields: Any) -> dict[str, Any]:
    return {
        "resourceType": "DiagnosticReport",
        "id": identity,
        "status": "final",
        "code": {"coding": [{"code": "36643-5", "display": "Chest X-ray"}]},
        "subject": {"reference": "Patient/p1"},
        "effectiveDateTime": "2024-03-12",
        "presentedForm": list(forms),
        **fields,
    }


def only_text(reader: CaseReader) -> str | None:
    (case,) = reader
    return case.candidate


def refusal(reader: CaseReader) -> str:
    (bad,) = reader.bad
    return str(bad)


class TestHash:
    sha1, sha256 = hashlib.sha1(b"Text."), hashlib.sha256(b"Text.")

    @pytest.mark.parametrize(
        "stated",
        [
            encode(sha1.digest()),
            sha1.hexdigest(),
            sha1.hexdigest().upper(),
            encode(sha1.hexdigest()),
            encode(sha256.digest()),
            sha256.hexdigest(),
        ],
    )
    def test_a_right_hash_is_accepted_however_it_is_written(self, tmp_path: Path, stated: str) -> None:
        assert (
            only_text(reader_of(tmp_path, document(attachment={**attached("Text."), "hash": stated})))
            == "Text."
        )

    @pytest.mark.parametrize(
        "stated", [hashlib.sha1(b"Test.").hexdigest(), encode(hashlib.sha1(b"Test.").digest())]
    )
    def test_a_wrong_hash_is_refused(self, tmp_path: Path, stated: str) -> None:
        reader = reader_of(tmp_path, document(attachment={**attached("Text."), "hash": stated}))
        assert refusal(reader) == (
            "b.json, row 1, row: the attachment does not match its hash; it was damaged or changed: export it again"
        )

    def test_damage_is_told_though_another_attachment_can_be_read(self, tmp_path: Path) -> None:
        damaged = {**attached("Text."), "hash": hashlib.sha1(b"Test.").hexdigest()}
        contents = [{"attachment": each} for each in (damaged, attached("An older text."))]
        reader = reader_of(tmp_path, document(content=contents))
        assert "the attachment does not match its hash" in refusal(reader)

    @pytest.mark.parametrize("stated", [5, 8, None, "5"])
    def test_a_right_size_is_accepted_of_the_text_or_of_its_base64(
        self, tmp_path: Path, stated: object
    ) -> None:
        assert (
            only_text(reader_of(tmp_path, document(attachment={**attached("Text."), "size": stated})))
            == "Text."
        )

    @pytest.mark.parametrize("stated", [4, 900, "6", 0])
    def test_a_wrong_size_is_refused(self, tmp_path: Path, stated: object) -> None:
        reader = reader_of(tmp_path, document(attachment={**attached("Text."), "size": stated}))
        assert refusal(reader) == (
            f"b.json, row 1, row: the attachment has 5 bytes, not the {stated} that it states; it was cut or "
            "changed: export it again"
        )

    def test_the_hash_of_a_linked_binary_is_checked_too(self, tmp_path: Path) -> None:
        binary = {
            "resourceType": "Binary",
            "id": "b1",
            "contentType": "text/plain",
            "data": encode("Changed."),
        }
        linked = {"url": "Binary/b1", "hash": self.sha1.hexdigest()}
        assert "does not match its hash" in refusal(reader_of(tmp_path, document(attachment=linked), binary))


class TestLinks:
    binary = {"resourceType": "Binary", "id": "b1", "contentType": "text/plain", "data": encode("Linked.")}  # noqa: RUF012
    base = "https://ehr.example/fhir"
    identity = "urn:uuid:0c3151bd-1cbf-4d64-b04d-cd9187a4c6e0"

    @pytest.mark.parametrize(
        ("full", "url"),
        [
            ("", "Binary/b1"),
            ("", "Binary/b1/_history/2"),
            ("", f"{base}/Binary/b1"),
            (f"{base}/Binary/b1", f"{base}/Binary/b1"),
            (f"{base}/Binary/b1", "Binary/b1"),
            (f"{base}/Binary/b1", f"{base}/Binary/b1/_history/1"),
            (identity, identity),
            (identity, identity.upper().replace("URN:UUID", "urn:uuid")),
            (identity, "Binary/b1"),
        ],
    )
    def test_a_binary_is_found_by_every_way_to_name_it(self, tmp_path: Path, full: str, url: str) -> None:
        entry = (f"{self.base}/DocumentReference/d1", document(attachment={"url": url}))
        assert only_text(reader_of(tmp_path, entry, (full, self.binary))) == "Linked."

    def test_a_relative_link_means_the_server_of_the_document(self, tmp_path: Path) -> None:
        other = {**self.binary, "data": encode("Of another hospital.")}
        entries = [
            ("https://other.example/fhir/Binary/b1", other),
            (f"{self.base}/Binary/b1", self.binary),
            (f"{self.base}/DocumentReference/d1", document(attachment={"url": "Binary/b1"})),
        ]
        assert only_text(reader_of(tmp_path, *entries)) == "Linked."

    @pytest.mark.parametrize("url", ["https://other.example/fhir/Binary/b1", "Binary/b2", "urn:uuid:1", "b1"])
    def test_a_link_to_elsewhere_is_refused(self, tmp_path: Path, url: str) -> None:
        reader = reader_of(
            tmp_path, document(attachment={"url": url}), (f"{self.base}/Binary/b1", self.binary)
        )
        assert refusal(reader) == (
            "b.json, row 1, row: the attachment is only a link, which is never fetched; put the text inline, or "
            "read the whole folder of an export, with its Binary files"
        )

    def test_a_binary_of_stu3_is_read(self, tmp_path: Path) -> None:
        binary = {
            "resourceType": "Binary",
            "id": "b1",
            "contentType": "text/html",
            "content": encode("<p>Old.</p>"),
        }
        assert only_text(reader_of(tmp_path, document(attachment={"url": "Binary/b1"}), binary)) == "Old."

    def test_a_document_of_stu3_keeps_its_date_and_class(self, tmp_path: Path) -> None:
        old = document(indexed="2017-01-02T03:04:05Z", **{"class": {"text": "Letter"}})
        (case,) = reader_of(tmp_path, old, mapping={"fhir": {"candidate": "letter"}})
        assert case.metadata["date"] == "2017-01-02T03:04:05Z"

    def test_the_character_set_of_the_binary_counts(self, tmp_path: Path) -> None:
        kind = "text/plain; charset=iso-8859-1"
        binary = {**self.binary, "contentType": kind, "data": encode("Café".encode("latin-1"))}
        linked = {"contentType": "text/plain", "url": "Binary/b1"}
        assert only_text(reader_of(tmp_path, document(attachment=linked), binary)) == "Café"

    def test_one_patient_is_one_however_they_are_named(self, tmp_path: Path) -> None:
        patient = (f"{self.base}/Patient/p1", {"resourceType": "Patient", "id": "p1", "gender": "female"})
        names = ["Patient/p1", f"{self.base}/Patient/p1", "Patient/p1/_history/3"]
        entries = [
            (f"{self.base}/DocumentReference/d{number}", document(f"d{number}", subject={"reference": name}))
            for number, name in enumerate(names)
        ]
        (case,) = reader_of(tmp_path, patient, *entries, mapping={"fhir": {"candidate": "d0"}})
        assert (case.patient, [note.id for note in case.notes]) == ("Patient/p1", ["d1", "d2"])
        assert case.metadata["sex"] == "female"

    def test_two_patients_of_one_id_stay_two(self, tmp_path: Path) -> None:
        hospitals = (self.base, "https://other.example/fhir")
        entries: list[object] = []
        for number, (base, sex) in enumerate(zip(hospitals, ("female", "male"), strict=True)):
            entries.append((f"{base}/Patient/p1", {"resourceType": "Patient", "id": "p1", "gender": sex}))
            entries.append((f"{base}/DocumentReference/d{number}", document(f"d{number}")))
        reader = reader_of(tmp_path, *entries)
        assert [(case.patient, case.metadata["sex"]) for case in reader] == [
            (f"{self.base}/Patient/p1", "female"),
            ("https://other.example/fhir/Patient/p1", "male"),
        ]
        (case,) = reader_of(tmp_path, *entries, mapping={"fhir": {"candidate": "d0"}})
        assert case.notes == ()

    def test_what_nothing_reads_is_counted(self, tmp_path: Path) -> None:
        reader = reader_of(tmp_path, document(), self.binary, {"resourceType": "Condition", "id": "c"})
        assert only_text(reader) == "Text."
        assert reader.left_out.parts == {
            "Condition resource, left out": 1,
            "Binary that no document names, left out": 1,
        }

    def test_further_attachments_are_counted(self, tmp_path: Path) -> None:
        scan = {"contentType": "application/pdf", "data": encode(b"%PDF")}
        contents = [{"attachment": each} for each in (scan, attached("One."), attached("Two."))]
        reader = reader_of(tmp_path, document(content=contents))
        assert only_text(reader) == "One."
        assert reader.left_out.parts == {"further attachment of a document, left out": 2}

    def test_sections_without_text_are_counted(self, tmp_path: Path) -> None:
        coded = {"title": "Allergies", "entry": [{"reference": "AllergyIntolerance/a1"}]}
        told = {"title": "Course", "text": {"div": "<div>Well.</div>"}}
        inner = {"title": "Results", "section": [coded, told]}
        composition = {
            "resourceType": "Composition", "id": "c1", "title": "Summary", "subject": {"reference": "Patient/p1"},
            "section": [coded, told, inner],
        }  # fmt: skip
        reader = reader_of(tmp_path, composition)
        assert only_text(reader) == "Summary\n\nCourse\nWell.\n\nResults\n\nCourse\nWell."
        assert reader.left_out.parts == {"section of a document without text, left out": 2}


class TestReports:
    def test_a_presented_form_is_a_document(self, tmp_path: Path) -> None:
        (case,) = reader_of(tmp_path, report("r1", attached("No pneumonia.")))
        assert (case.id, case.candidate, case.patient) == ("r1", "No pneumonia.", "Patient/p1")
        assert case.metadata == {"date": "2024-03-12", "kind": "Chest X-ray"}

    def test_a_report_is_a_note_of_the_judged_document(self, tmp_path: Path) -> None:
        preliminary = report("r1", attached("No pneumonia."), status="preliminary")
        (case,) = reader_of(tmp_path, document(), preliminary, mapping={"fhir": {"candidate": "d1"}})
        (note,) = case.notes
        assert (note.id, note.text, note.kind) == ("r1", "No pneumonia.", "Chest X-ray (preliminary)")

    @pytest.mark.parametrize("chosen", [None, "d1"])
    def test_a_report_with_the_text_of_a_document_is_not_read_twice(
        self, tmp_path: Path, chosen: str | None
    ) -> None:
        mapping = {"fhir": {"candidate": chosen}} if chosen else None
        reader = reader_of(tmp_path, report("r1", attached("Text.")), document(), mapping=mapping)
        assert [(case.id, case.notes) for case in reader] == [("d1", ())]
        assert reader.left_out.parts == {"report with the text of a document, left out": 1}

    def test_a_judged_report_does_not_find_its_own_text_among_the_notes(self, tmp_path: Path) -> None:
        reader = reader_of(
            tmp_path, report("r1", attached("Text.")), document(), mapping={"fhir": {"candidate": "36643-5"}}
        )
        assert [(case.id, case.notes) for case in reader] == [("r1", ())]

    def test_two_reports_of_the_same_words_are_two(self, tmp_path: Path) -> None:
        later = report("r2", attached("Normal."), effectiveDateTime="2024-04-12")
        twin = document(attachment=attached("Normal."))
        assert [case.id for case in reader_of(tmp_path, report("r1", attached("Normal.")), later)] == [
            "r1",
            "r2",
        ]
        assert [case.id for case in reader_of(tmp_path, report("r1", attached("Normal.")), later, twin)] == [
            "r2",
            "d1",
        ]

    def test_a_report_of_bare_results_is_left_out_and_counted(self, tmp_path: Path) -> None:
        reader = reader_of(tmp_path, document(), report("r1"))
        assert [case.id for case in reader] == ["d1"]
        assert reader.left_out.parts == {"DiagnosticReport resource, left out": 1}

    def test_a_scanned_form_is_refused(self, tmp_path: Path) -> None:
        scan = {"contentType": "application/pdf", "data": encode(b"%PDF")}
        assert refusal(reader_of(tmp_path, report("r1", scan))) == (
            "b.json, row 1, row: the attachment is application/pdf; only plain text and HTML, RTF and C-CDA can be "
            "read"
        )


CDA = """<?xml version="1.0" encoding="UTF-8"?>
<ClinicalDocument xmlns="urn:hl7-org:v3" xmlns:sdtc="urn:hl7-org:sdtc">
  <title>Discharge summary</title>
  <component><structuredBody>
    <component><section><title>Course</title>
      <text><paragraph>Better after <content styleCode="Bold">furosemide</content> &lt; 40 mg.</paragraph>
        <paragraph>Stop <content styleCode="xStrikethrough Strikethrough">aspirin</content>
          <content revised="delete">warfarin</content> <content revised="insert">apixaban</content>.</paragraph>
        <renderMultiMedia referencedObject="m1"/></text>
      <entry><observation><text>coded</text></observation></entry>
    </section></component>
    <component><section><title>Drugs</title>
      <text><list><item>Bisoprolol</item><item>Ramipril<br/>5 mg</item></list>
        <table><tbody><tr><th>Na</th><td>140</td></tr></tbody></table></text>
      <component><section><title>Allergies</title><text>None  known.</text></section></component>
    </section></component>
  </structuredBody></component>
</ClinicalDocument>
"""


class TestClinicalDocument:
    @pytest.mark.parametrize(
        "kind", ["text/xml", "application/xml", "application/hl7-cda+xml; charset=UTF-8"]
    )
    def test_the_narrative_is_read(self, tmp_path: Path, kind: str) -> None:
        reader = reader_of(tmp_path, document(attachment={"contentType": kind, "data": encode(CDA)}))
        assert only_text(reader) == (
            "Discharge summary\n\nCourse\nBetter after furosemide < 40 mg.\n\nStop apixaban.\n\n"
            "Drugs\n- Bisoprolol\n- Ramipril\n5 mg\n\nNa | 140 |\n\nAllergies\nNone known."
        )
        assert reader.left_out.parts == {
            "struck-out passage, left out": 2,
            "picture, left out": 1,
            "coded entry of a C-CDA, left out": 1,
        }

    @pytest.mark.parametrize(
        ("xml", "why"),
        [
            (
                '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><ClinicalDocument xmlns="urn:hl7-org:v3">&b;'
                "</ClinicalDocument>",
                "declares a document type or entities, which are never read",
            ),
            (
                '<!DOCTYPE x SYSTEM "file:///etc/passwd"><ClinicalDocument xmlns="urn:hl7-org:v3"/>',
                "declares a document type or entities, which are never read",
            ),
            ("<ClinicalDocument xmlns='urn:hl7-org:v3'>", "is not valid XML (line 1)"),
            ("<note>Text.</note>", "is XML, but no C-CDA"),
            (
                "<ClinicalDocument xmlns='urn:hl7-org:v3'><title>T</title></ClinicalDocument>",
                "holds no narrative",
            ),
            (
                "<ClinicalDocument xmlns='urn:hl7-org:v3'><component><nonXMLBody><text mediaType='application/pdf' "
                "representation='B64'>JVBERg==</text></nonXMLBody></component></ClinicalDocument>",
                "holds a scan or another file instead of text",
            ),
        ],
    )
    def test_what_is_no_narrative_is_refused(self, tmp_path: Path, xml: str, why: str) -> None:
        attachment = {"contentType": "text/xml", "data": encode(xml)}
        found = refusal(reader_of(tmp_path, document(attachment=attachment)))
        assert found.startswith("b.json, row 1, row: the attachment ")
        assert why in found


RTF = r"{\rtf1\ansi\ansicpg1252{\fonttbl\f0 Arial;}\f0 Caf\'e9 au lait.\par Stop {\b aspirin}.\par}"


class TestRichText:
    def test_without_the_extra_it_is_refused_with_the_cure(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(__import__("sys").modules, "striprtf", None)
        monkeypatch.setitem(__import__("sys").modules, "striprtf.striprtf", None)
        reader = reader_of(tmp_path, document(attachment={"contentType": "text/rtf", "data": encode(RTF)}))
        assert refusal(reader) == (
            'b.json, row 1, row: the attachment is RTF, which needs an extra: pip install "medjury[rtf]"'
        )

    @pytest.mark.skipif(
        importlib.util.find_spec("striprtf") is None, reason="the extra `rtf` is not installed"
    )
    @pytest.mark.parametrize("kind", ["application/rtf", "text/rtf"])
    def test_with_the_extra_it_is_read(self, tmp_path: Path, kind: str) -> None:
        reader = reader_of(tmp_path, document(attachment={"contentType": kind, "data": encode(RTF)}))
        assert (only_text(reader) or "").strip() == "Café au lait.\nStop aspirin."

    @pytest.mark.parametrize("word", [r"\strike ", r"\striked1 ", r"\deleted ", r"\v "])
    def test_withdrawn_text_is_refused_because_it_would_be_read_as_live(
        self, tmp_path: Path, word: str
    ) -> None:
        data = encode(RTF.replace(r"\b ", word))
        found = refusal(reader_of(tmp_path, document(attachment={"contentType": "text/rtf", "data": data})))
        assert "holds struck-out, deleted or hidden text" in found

    def test_what_is_no_rtf_is_refused(self, tmp_path: Path) -> None:
        attachment = {"contentType": "text/rtf", "data": encode("Plain.")}
        assert "is not RTF" in refusal(reader_of(tmp_path, document(attachment=attachment)))


MALFORMED: list[object] = [
    None,
    3,
    "x",
    [],
    [3, None],
    {},
    {"coding": 3},
    [{"code": 4}],
    {"reference": 4},
    [[]],
]


@pytest.mark.parametrize(
    "field",
    [
        "relatesTo",
        "context",
        "encounter",
        "performer",
        "presentedForm",
        "status",
        "docStatus",
        "effectivePeriod",
    ],
)
@pytest.mark.parametrize("value", MALFORMED)
def test_no_malformed_field_of_a_document_brings_the_reader_down(
    tmp_path: Path, field: str, value: object
) -> None:
    other = report("r1", attached("Report."), **{field: value})
    reader = reader_of(tmp_path, document("d0"), document(**{field: value}), other)
    assert "d0" in [case.id for case in reader]


@pytest.mark.parametrize(
    "field",
    [
        "category",
        "code",
        "subject",
        "component",
        "referenceRange",
        "interpretation",
        "valueQuantity",
        "status",
    ],
)
@pytest.mark.parametrize("value", MALFORMED)
def test_no_malformed_observation_brings_the_reader_down(tmp_path: Path, field: str, value: object) -> None:
    observation = {
        "resourceType": "Observation",
        "category": [{"text": "laboratory"}],
        "code": {"text": "Sodium"},
        "subject": {"reference": "Patient/p1"},
        "valueQuantity": {"value": 140},
    }
    (case,) = reader_of(tmp_path, document("d0"), {**observation, field: value})
    assert case.id == "d0"
