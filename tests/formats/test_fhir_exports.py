"""The folder of a FHIR bulk export: a file for every kind of resource, joined again by reference."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from tests.formats import fhir

from medjury.intake import FileError
from medjury.intake.cases import CaseReader, Note, read_cases
from medjury.judging._labs import labs_of

FORMATS = [
    {
        "format": "FHIR bulk export",
        "ending": "a folder of .ndjson files",
        "read": "documents with their Binary, Patient and Encounter, and laboratory Observations as `labs`, joined "
        "by reference",
        "refused": "packed files; a judged document without a patient; .json files of cases beside the export",
        "page": "reading-cases.md",
    },
    {
        "format": "FHIR Observation (laboratory)",
        "ending": ".json, .ndjson",
        "read": "name, value, unit, date, flag and range, for documents of the same patient and visit",
        "refused": "entered in error, cancelled, without a value or not of the laboratory: left out and counted",
        "page": "reading-cases.md",
    },
]


def document(identity: str, text: str, patient: str = "Patient/p1", **fields: Any) -> dict[str, Any]:
    subject = {"reference": patient} if patient else {}
    return fhir.document(identity, text, **{"type": {"text": "Progress note"}, "subject": subject, **fields})


def linked(identity: str, url: str, **fields: Any) -> dict[str, Any]:
    return document(
        identity, "", content=[{"attachment": {"contentType": "text/plain", "url": url}}], **fields
    )


def binary(identity: str, text: str) -> dict[str, Any]:
    return {"resourceType": "Binary", "id": identity, **fhir.attached(text)}


def patient(identity: str, sex: str) -> dict[str, Any]:
    return {"resourceType": "Patient", "id": identity, "gender": sex, "birthDate": "1950-01-01"}


def laboratory(name: str, value: object, **fields: Any) -> dict[str, Any]:
    return {
        "resourceType": "Observation",
        "status": "final",
        "category": [{"coding": [{"code": "laboratory"}]}],
        "code": {"text": name},
        "subject": {"reference": "Patient/p1"},
        "effectiveDateTime": "2024-03-11",
        "valueQuantity": {"value": value, "unit": "mmol/L"},
        **fields,
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "export"
    folder.mkdir()
    return folder


def write(folder: Path, **files: list[dict[str, Any]]) -> None:
    for name, resources in files.items():
        lines = "".join(json.dumps(each) + "\n" for each in resources)
        (folder / f"{name.replace('__', '.')}.ndjson").write_text(lines, encoding="utf-8")


def chosen(folder: Path, candidate: str = "summary") -> CaseReader:
    return read_cases(folder, mapping={"fhir": {"candidate": candidate}}, on_bad="skip")


def test_files_are_joined_by_reference(folder: Path) -> None:
    summary = {"type": {"text": "Summary"}, "date": "2024-03-12"}
    visit = {"context": {"encounter": [{"reference": "Encounter/e1"}]}}
    write(
        folder,
        Binary=[binary("b9", "Nobody's."), binary("b1", "Admitted."), binary("b2", "Went home.")],
        DocumentReference__000=[
            linked("n1", "Binary/b1", date="2024-03-10"),
            document("x1", "Somebody else.", "Patient/p2"),
        ],
        DocumentReference__001=[
            linked("s1", "https://ehr.example/fhir/Binary/b2", **summary, **visit),
            document("x2", "Their summary.", "https://ehr.example/fhir/Patient/p2", **summary),
            document("x3", "Third.", "Patient/p3"),
        ],
        Encounter=[{"resourceType": "Encounter", "id": "e1", "class": {"code": "IMP"}}],
        Patient=[patient("p1", "female"), patient("p2", "male")],
        Condition=[{"resourceType": "Condition", "id": "c1"}],
    )
    reader = chosen(folder)
    first, second = reader
    assert (first.id, first.candidate, first.patient) == ("s1", "Went home.", "Patient/p1")
    assert first.notes == (Note("n1", "Admitted.", "2024-03-10", "Progress note"),)
    assert first.metadata == {
        "date": "2024-03-12",
        "kind": "Summary",
        "encounter": "Encounter/e1",
        "encounter_class": "IMP",
        "sex": "female",
        "age": 74,
    }
    assert (second.id, second.patient, [note.text for note in second.notes]) == (
        "x2",
        "Patient/p2",
        ["Somebody else."],
    )
    assert first.origin is not None
    assert (first.origin.file, first.origin.row) == ("DocumentReference.001.ndjson", 1)
    assert reader.left_out.parts == {
        "document of a patient without a judged document, left out": 1,
        "Binary that no document names, left out": 1,
        "Condition resource, left out": 1,
    }


def test_without_a_choice_every_document_is_a_case(folder: Path) -> None:
    write(
        folder,
        DocumentReference=[document("d1", "One."), linked("d2", "Binary/b1"), document("d3", "Three.", "")],
        Binary=[binary("b1", "Two.")],
    )
    reader = read_cases(folder)
    assert [(case.id, case.candidate, case.patient) for case in reader] == [
        ("d1", "One.", "Patient/p1"),
        ("d2", "Two.", "Patient/p1"),
        ("d3", "Three.", None),
    ]
    assert list(reader) == list(reader)


def test_bad_lines_are_named_by_file_and_line(folder: Path) -> None:
    write(folder, DocumentReference=[document("d1", "One."), linked("d2", "Binary/b7")], Binary=[])
    with (folder / "DocumentReference.ndjson").open("a", encoding="utf-8") as file:
        file.write('\n{"resourceType": \n[]\n{"id": "c1"}\n{"resourceType": "Bundle", "entry": []}\n')
    reader = read_cases(folder, on_bad="skip")
    assert [case.id for case in reader] == ["d1"]
    assert sorted((each.row, each.problem.split(";")[0]) for each in reader.bad) == [
        (2, "the attachment is only a link, which is never fetched"),
        (4, "is not valid JSON (column 17)"),
        (5, "is not a FHIR resource"),
        (6, "is not a FHIR resource"),
        (7, "is a Bundle inside an export"),
    ]


def test_a_judged_document_without_a_patient_is_refused(folder: Path) -> None:
    write(folder, DocumentReference=[document("s1", "Mine.", ""), document("n1", "Somebody's.", "")])
    (bad,) = chosen(folder, "s1").bad
    assert str(bad) == (
        "DocumentReference.ndjson, row 1, row: the document names no patient (subject), so its notes cannot be "
        "found in the export"
    )


def test_patients_of_two_servers_are_not_taken_for_one(folder: Path) -> None:
    write(
        folder,
        DocumentReference=[
            document("d1", "One.", "https://one.example/fhir/Patient/p1"),
            document("d2", "Two.", "https://two.example/fhir/Patient/p1"),
        ],
    )
    (bad,) = chosen(folder, "d1").bad
    assert str(bad).startswith("DocumentReference.ndjson, row 2, row: names a patient of another server")


def test_a_choice_that_no_patient_has_is_told(folder: Path) -> None:
    write(folder, DocumentReference=[document("d1", "One."), document("d2", "Two.", "Patient/p2")])
    (bad,) = chosen(folder).bad
    assert "no document matches what the mapping names as fhir.candidate" in str(bad)


def test_packed_files_and_other_cases_beside_the_export_are_refused(folder: Path) -> None:
    write(folder, DocumentReference=[document("d1", "One.")])
    (folder / "export.json").write_text('{"transactionTime": "2024-01-01", "output": []}', encoding="utf-8")
    assert [case.id for case in read_cases(folder)] == ["d1"]  # the list of its files belongs to an export
    (folder / "Binary.ndjson.gz").write_bytes(gzip.compress(b"{}\n"))
    with pytest.raises(FileError, match=r"Binary\.ndjson\.gz: is packed; unpack it \(gunzip\)"):
        list(read_cases(folder))
    (folder / "Binary.ndjson.gz").unlink()
    (folder / "case.json").write_text('{"id": "c1"}', encoding="utf-8")
    with pytest.raises(
        FileError, match=r"holds an export \(\.ndjson\) and case\.json; put them in folders of their own"
    ):
        list(read_cases(folder))


def test_other_files_in_a_folder_are_counted(tmp_path: Path, folder: Path) -> None:
    write(folder, DocumentReference=[document("d1", "One.")])
    (folder / "README.md").write_text("x", encoding="utf-8")
    assert read_cases(folder).left_out.parts == {"file of another kind, left out": 1}
    (tmp_path / "c1.json").write_text('{"candidate": "a"}', encoding="utf-8")
    (tmp_path / "c2.csv").write_text("id\n1\n", encoding="utf-8")
    assert read_cases(tmp_path).left_out.parts == {"file of another kind, left out": 1}


class TestLaboratory:
    def labs(self, folder: Path, *observations: dict[str, Any], **fields: Any) -> list[str]:
        write(folder, DocumentReference=[document("d1", "One.", **fields)], Observation=list(observations))
        (case,) = read_cases(folder)
        found, *unread = labs_of(case)
        assert unread == [0, ""]
        return [each.line() for each in found]

    def test_values_become_the_labs_of_the_patients_documents(self, folder: Path) -> None:
        high = {"coding": [{"code": "H", "display": "High"}]}
        ranges = [{"low": {"value": 3.5}, "high": {"value": 5.1}}]
        assert self.labs(
            folder,
            laboratory("Potassium", 5.4, interpretation=[high], referenceRange=ranges),
            laboratory("CRP", 5, valueQuantity={"comparator": "<", "value": 5, "unit": "mg/L"}),
            laboratory("Culture", None, valueQuantity=None, valueString="No growth"),
            laboratory("Rapid test", None, valueQuantity=None, valueCodeableConcept={"text": "Negative"}),
            laboratory("Sodium", 140, status="preliminary"),
            laboratory("Sodium", 120, subject={"reference": "Patient/p2"}),
        ) == [
            "2024-03-11 Potassium 5.4 mmol/L H (range 3.5-5.1)",
            "2024-03-11 CRP <5 mg/L",
            "2024-03-11 Culture No growth",
            "2024-03-11 Rapid test Negative",
            "2024-03-11 Sodium 140 mmol/L preliminary",
        ]

    def test_values_of_another_visit_stay_out(self, folder: Path) -> None:
        visit = {"encounter": {"reference": "Encounter/e1"}}
        other = {"encounter": {"reference": "Encounter/e2"}}
        observations = [laboratory("A", 1, **visit), laboratory("B", 2, **other), laboratory("C", 3)]
        found = self.labs(folder, *observations, context={"encounter": [{"reference": "Encounter/e1"}]})
        assert found == ["2024-03-11 A 1 mmol/L", "2024-03-11 C 3 mmol/L"]
        assert read_cases(folder).left_out.parts == {"laboratory value of no judged document, left out": 1}

    def test_components_are_values_of_their_own(self, folder: Path) -> None:
        parts = [
            {"code": {"text": "Neutrophils"}, "valueQuantity": {"value": 4, "unit": "10*9/L"}},
            {"code": {"text": "Lymphocytes"}, "valueQuantity": {"value": 2, "unit": "10*9/L"}},
        ]
        found = self.labs(folder, laboratory("Differential", None, valueQuantity=None, component=parts))
        assert found == ["2024-03-11 Neutrophils 4 10*9/L", "2024-03-11 Lymphocytes 2 10*9/L"]

    def test_every_interpretation_is_kept(self, folder: Path) -> None:
        given = [{"coding": [{"code": "HH"}, {"code": "critical"}]}, {"text": "delta"}]
        assert self.labs(folder, laboratory("Potassium", 6.8, interpretation=given)) == [
            "2024-03-11 Potassium 6.8 mmol/L HH delta"
        ]

    def test_parts_of_a_result_that_cannot_be_read_are_counted(self, folder: Path) -> None:
        ratio = {"numerator": {"value": 1}, "denominator": {"value": 128}}
        parts = [
            {"code": {"text": "IgG"}, "valueQuantity": {"value": 4, "unit": "g/L"}},
            {"code": {"text": "Titre"}, "valueRatio": ratio},
            {"code": {"text": "Comment"}, "dataAbsentReason": {"text": "not done"}},
        ]
        observations = [
            laboratory("Serology", None, valueQuantity=None, component=parts),
            laboratory("Panel", None, valueQuantity=None, valueRatio=ratio, component=parts[:1]),
        ]
        assert self.labs(folder, *observations) == ["2024-03-11 IgG 4 g/L"] * 2
        assert read_cases(folder).left_out.parts == {
            "laboratory result without a value that can be read, left out": 3
        }

    def test_what_is_no_value_is_left_out_and_counted(self, folder: Path) -> None:
        vital = [{"coding": [{"code": "vital-signs"}]}]
        observations = [
            laboratory("A", 1, status="entered-in-error"),
            laboratory("B", 1, status="cancelled"),
            laboratory("C", None, valueQuantity=None, dataAbsentReason={"text": "haemolysed"}),
            laboratory("Pulse", 60, category=vital),
            laboratory("Pulse", 60, category=vital, status="entered-in-error"),
        ]
        assert self.labs(folder, *observations) == []
        assert read_cases(folder).left_out.parts == {
            "laboratory value entered in error or cancelled, left out": 2,
            "laboratory result without a value that can be read, left out": 1,
            "Observation that is not a laboratory value, left out": 2,
        }


def inside(identity: str, text: str) -> dict[str, Any]:
    """A document that holds its patient itself, under a name that every other document may use too."""
    patient = {"resourceType": "Patient", "id": "p", "name": [{"text": identity}]}
    return document(identity, text, patient="#p", contained=[patient])


def test_patients_inside_documents_are_not_one_patient(folder: Path) -> None:
    write(folder, DocumentReference=[inside("d1", "About Ada."), inside("d2", "About Sam.")])
    reader = read_cases(folder, mapping={"fhir": {"candidate": "d1"}})
    assert [(each.id, each.patient, each.notes) for each in reader] == [("d1", "DocumentReference/d1#p", ())]
    assert reader.left_out.parts == {"document of a patient without a judged document, left out": 1}


def test_patients_inside_documents_of_a_bundle_are_not_one_patient(tmp_path: Path) -> None:
    entries = [{"resource": inside("d1", "About Ada.")}, {"resource": inside("d2", "About Sam.")}]
    (tmp_path / "b.json").write_text(json.dumps({"resourceType": "Bundle", "entry": entries}))
    reader = read_cases(tmp_path / "b.json", mapping={"fhir": {"candidate": "d1"}})
    assert [(each.id, each.notes) for each in reader] == [("d1", ())]


def test_a_value_that_stands_twice_is_told(folder: Path) -> None:
    write(folder, DocumentReference=[document("d1", "A")], Observation=[laboratory("K", 4, id="o")] * 2)
    bad = read_cases(folder, on_bad="skip").bad
    assert [(each.file, each.row, each.problem) for each in bad] == [
        ("Observation.ndjson", 2, "an earlier line holds an Observation of the same id")
    ]


def test_the_manifest_of_an_export_is_held_against_its_files(folder: Path) -> None:
    write(folder, DocumentReference=[document("d1", "A")])
    stated = {"output": [{"type": "DocumentReference", "url": "https://x/1/DocumentReference.ndjson", "count": 2},
                         {"type": "Patient", "url": "https://x/1/Patient.ndjson", "count": 1}],
              "error": [{"url": "https://x/e"}], "deleted": [{"url": "https://x/d"}]}  # fmt: skip
    (folder / "manifest.json").write_text(json.dumps(stated))
    reader = read_cases(folder, on_bad="skip")
    assert reader.bad[0].problem.startswith(
        "states 2 resources in DocumentReference.ndjson, which has 1; a part is"
    )
    assert reader.left_out.parts == {
        "file that the export's manifest names and that is not in the folder under that name": 1,
        "file of errors that the export's manifest names, not read": 1,
        "file of deleted resources that the export's manifest names, not read": 1,
    }
