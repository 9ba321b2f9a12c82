"""`medjury look FILE`: every kind of file is named, and the mapping it proposes is one that reads the file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.tables.run_folders import rows_of, run_folder

from medjury.cli import main
from medjury.store.ratings import read_ratings
from medjury.studies.inspection import look, recognise

LONG = "item,rater,dimension,score\n1,Ada,accuracy,4\n1,Sam,accuracy,5\n2,Ada,accuracy,\n"
FILES: dict[str, tuple[str, Any, str, str]] = {
    "long": ("t.csv", LONG, "ratings", "long table of ratings under our own column names"),
    "long by other names": ("t.csv", "case_id,reviewer,criterion,rating\n1,Ada,accuracy,4\n", "ratings",
                            "long table of ratings"),
    "wide": ("t.csv", "case_id,reviewer,accuracy,clarity,remark\n1,Ada,4,5,good\n2,Ada,3,2,fair\n", "ratings",
             "wide table of ratings"),
    "REDCap": ("t.csv", "record_id,redcap_event_name,reviewer,q_acc,review_complete\n17,one,ALEE,4,2\n", "ratings",
               "REDCap export"),
    "Label Studio": ("t.csv", 'case_id,annotator,annotation_id,accuracy,lead_time\n1,ada,7,"[{""rating"": 4}]",3\n',
                     "ratings", "Label Studio export"),
    "Google Forms": ("t.csv", "Timestamp,Your name,Case 1 [Accuracy],Case 1 [Clarity],Case 2 [Accuracy],"
                              "Case 2 [Clarity]\n2024/01/01,Ada,4,5,3,2\n", "ratings",
                     "survey: a row for each rater, a column for each item and question"),
    "Qualtrics": ("t.csv", 'RecipientEmail,Q1_1,Q1_2,Q2_1,Q2_2\nMail,a,b,c,d\n"{""ImportId"":""m""}",'
                           '"{""ImportId"":""1""}","{""ImportId"":""2""}","{""ImportId"":""3""}",'
                           '"{""ImportId"":""4""}"\nada@example.org,4,5,3,2\n', "ratings", "Qualtrics survey"),
    "Inspect": ("t.json", {"eval": {"model": "m"}, "samples": [
        {"id": 1, "epoch": 1, "scores": {"q": {"value": 4}}}]}, "ratings", "Inspect: log"),
    "HELM": ("t.json", [{"instance_id": "id1", "stats": [{"name": {"name": "acc"}, "mean": 1.0}]}], "ratings",
             "HELM: statistics of instances"),
    "promptfoo": ("t.json", {"results": {"results": [
        {"testIdx": 0, "provider": {"id": "m"}, "namedScores": {"safe": 1}}]}}, "ratings", "promptfoo: results"),
    "DeepEval": ("t.json", {"testRunData": {"testCases": [{"name": "c", "metricsData": [
        {"name": "Correctness", "score": 0.5, "reason": "why", "evaluationModel": "m"}]}]}}, "ratings",
        "DeepEval: test run"),
    "lm-eval": ("t.jsonl", '{"doc_id": 0, "doc": {}, "resps": [], "acc": 1.0}\n', "ratings", "lm-eval: samples"),
    "LangSmith": ("t.jsonl", '{"id": "r1", "feedback_stats": {"accuracy": {"avg": 4}}}\n', "ratings",
                  "LangSmith: runs"),
    "MLflow": ("t.json", {"columns": ["case", "correctness/v1/score"], "data": [["c1", 4]]}, "ratings",
               "MLflow: table of results"),
    "cases": ("t.jsonl", '{"id": "1", "candidate": "The summary.", "notes": [{"id": "n", "text": "Note."}]}\n',
              "cases", "cases"),
    "table of cases": ("t.csv", "id,candidate,reference\n1,The summary.,Gold.\n", "cases", "table of cases"),
    "FHIR": ("t.json", {"resourceType": "Bundle", "type": "collection", "entry": []}, "cases", "FHIR (Bundle)"),
    "turns": ("t.csv", "speaker,text\nDoctor,Any pain?\nPatient,No.\n", "transcript",
              "transcript (table of turns)"),
    "WebVTT": ("t.vtt", "WEBVTT\n\n00:00.000 --> 00:02.000\n<v Doctor>Any pain?</v>\n", "transcript", "transcript"),
    "recogniser": ("t.json", {"segments": [{"text": "Any pain?", "start": 0, "end": 1, "speaker": "A"}]},
                   "transcript", "transcript"),
    "study": ("t.yaml", "cases: cases.jsonl\njudges: []\n", "study", "study file"),
    "picture": ("t.png", "no table", "unknown", "file of a kind that is not known here"),
}  # fmt: skip
READABLE = [name for name, each in FILES.items() if each[2] == "ratings"]


def written(folder: Path, name: str) -> Path:
    file, content, _, _ = FILES[name]
    (folder / file).write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return folder / file


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_named_by_what_it_is(name: str, tmp_path: Path) -> None:
    kind = recognise(written(tmp_path, name))
    assert (kind.family, kind.name) == FILES[name][2:]


@pytest.mark.parametrize("name", READABLE)
def test_the_proposed_mapping_reads_the_file(name: str, tmp_path: Path) -> None:
    import yaml

    file = written(tmp_path, name)
    found = look(file)
    assert found.problem == ""
    mapping = tmp_path / "mapping.yaml"
    mapping.write_text(found.mapping_text() or "{}\n", encoding="utf-8")
    assert yaml.safe_load(mapping.read_text()) == found.kind.mapping
    ratings = read_ratings(file, mapping=mapping).ratings
    assert ratings and f"{sum(each.score is not None for each in ratings)} scores of" in found.read


def test_what_is_lost_is_counted(tmp_path: Path) -> None:
    found = look(written(tmp_path, "wide"))
    assert found.lost == {"columns not used": 1}
    assert "columns not used: remark" in found.notes
    assert look(written(tmp_path, "long")).lost == {"not rated (blank cells)": 1}


def test_what_it_answers_and_what_is_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["look", str(written(tmp_path, "long"))]) == 0
    told = capsys.readouterr().out
    assert "t.csv: long table of ratings under our own column names" in told
    assert "Columns: item, rater, dimension, score" in told
    assert "  1 | Ada | accuracy | 4" in told
    assert (
        "Read so: 2 scores of 1 items by 2 raters on 1 dimensions; all raters are read as clinicians" in told
    )
    assert "How well do the raters agree? yes: medjury agreement" in told
    assert "May the judges be trusted? missing: judges' scores of the same items" in told
    assert "Which system is better? missing: scores of a second system" in told


def test_the_same_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["look", "--json", str(written(tmp_path, "REDCap"))]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["family"], found["kind"]) == ("ratings", "REDCap export")
    columns = {"item": "record_id", "rater": "reviewer", "dimensions": {"q_acc": "q_acc"}}
    assert found["mapping"] == {**columns, "scale": [1, 5]}
    assert found["guessed"] == [{
        "question": "Which scale are the grades on? They run from 4 to 4.", "default": "1 to 5",
        "answers": {"1 to 5": "--scale 1 5"}}]  # fmt: skip
    assert found["counts"]["grades"] == {"4": 1}
    assert found["samples"] == [["17", "one", "ALEE", "4", "2"]]


def test_a_transcript_shows_who_speaks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["look", str(written(tmp_path, "WebVTT"))]) == 0
    told = capsys.readouterr().out
    assert "t.vtt: transcript (WebVTT)" in told
    assert "  Doctor: 1 turn, first “Any pain?”" in told
    assert "missing: the other transcript of the same call" in told


def test_a_transcript_that_is_refused_says_why(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "t.rttm").write_text("SPEAKER t 1 0.0 1.0 <NA> <NA> A <NA> <NA>\n")
    assert main(["look", str(tmp_path / "t.rttm")]) == 2
    assert "It cannot be read yet: t.rttm: says who speaks but not what" in capsys.readouterr().out


def test_what_is_not_known_says_what_to_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["look", str(written(tmp_path, "picture"))]) == 2
    assert "docs/file-formats.md" in capsys.readouterr().out
    assert main(["look", str(tmp_path / "absent.csv")]) == 2
    assert "there is no such file or folder" in capsys.readouterr().err


def test_a_store_is_asked_as_a_table_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = str(tmp_path / "s.sqlite")
    assert main(["runs", "ratings", "import", str(written(tmp_path, "long")), "--store", store]) == 0
    capsys.readouterr()
    assert main(["look", store]) == 0
    told = capsys.readouterr().out
    assert "s.sqlite: store of ratings (SQLite)" in told
    assert "Read so: 2 scores of 1 items by 2 raters" in told
    assert "How well do the raters agree? yes: medjury agreement" in told


def test_a_run_folder_is_known(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = run_folder(tmp_path / "run", rows_of({"clinician a": [4, 5], "judge b": [3, None]}))
    assert main(["look", str(folder)]) == 0
    told = capsys.readouterr().out
    assert "run: run folder" in told
    assert "Read so: 3 scores of 2 items by 2 raters on 1 dimensions" in told
    assert "  ratings without a score: 1" in told
    assert "May this jury be trusted, and for what? yes: medjury report" in told


COMMANDS = {
    "ratings": (["runs", "ratings", "import", "FILE", "--out", "out.csv"], "turns"),
    "validate": (["validate", "FILE", "FILE"], "turns"),
    "cases": (["cases", "check", "FILE"], "REDCap"),
    "transcripts": (["transcripts", "FILE", "FILE", "--out", "out"], "REDCap"),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_that_cannot_read_a_file_says_what_it_looks_like(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words, name = COMMANDS[command]
    file = written(tmp_path, name)
    assert main([word.replace("FILE", str(file)) for word in words]) == 2
    told = capsys.readouterr().err
    assert f"t.csv looks like a {FILES[name][3]}. `medjury look {file}` shows" in told


def test_bad_rows_are_told_by_themselves(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "t.csv").write_text(LONG.replace(",5", ",five"))
    assert (
        main(["runs", "ratings", "import", str(tmp_path / "t.csv"), "--out", str(tmp_path / "out.csv")]) == 2
    )
    assert "medjury look" not in capsys.readouterr().err


def test_one_epoch_is_no_repeat(tmp_path: Path) -> None:
    assert look(written(tmp_path, "Inspect")).facts.repeats == 0


def test_the_keys_of_a_peer_with_something_else_in_them_are_no_results(tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text('[{"instance_id": 1, "stats": [{"name": 3}]}]')
    assert recognise(tmp_path / "t.json").name != "HELM: statistics of instances"


def test_columns_of_people_are_raters_unless_somebody_says_that_they_are_dimensions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "t.csv").write_text("item,Ada,Sam\n1,4,5\n2,3,3\n")
    assert main(["look", str(tmp_path / "t.csv")]) == 0
    told = capsys.readouterr().out
    assert "Guessed: Are the columns Ada, Sam raters or dimensions? Taken: raters\n" in told
    assert "  dimensions: --map dimensions=Ada,Sam\n" in told and "  raters: Ada (2), Sam (2)\n" in told
    assert main(["look", str(tmp_path / "t.csv"), "--map", "dimensions=Ada,Sam"]) == 0
    assert "  raters: t (4)\n  dimensions: Ada (2), Sam (2)\n" in capsys.readouterr().out


def test_a_bulk_export_is_shown_joined_as_the_reader_gives_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files: dict[str, list[dict[str, Any]]] = {
        "DocumentReference": [{"id": "d1", "status": "current", "type": {"text": "Progress note"},
                               "subject": {"reference": "Patient/p1"}, "date": "2024-03-01",
                               "context": {"encounter": [{"reference": "Encounter/e1"}]},
                               "content": [{"attachment": {"contentType": "text/plain", "url": "Binary/b1"}}]}],
        "Binary": [{"id": "b1", "contentType": "text/plain", "data": "Q291Z2gu"},
                   {"id": "b2", "contentType": "text/plain", "data": "Q291Z2gu"}],
        "Patient": [{"id": "p1", "gender": "female", "birthDate": "1950-01-01"}],
        "Encounter": [{"id": "e1", "class": {"code": "AMB"}}],
        "Observation": [{"id": "o1", "status": "final", "category": [{"coding": [{"code": "laboratory"}]}],
                         "code": {"text": "CRP"}, "valueQuantity": {"value": 12, "unit": "mg/L"},
                         "subject": {"reference": "Patient/p1"}}],
        "Condition": [{"id": "c1"}],
    }  # fmt: skip
    for kind, resources in files.items():
        lines = [json.dumps({"resourceType": kind, **each}) + "\n" for each in resources]
        (tmp_path / f"{kind}.ndjson").write_text("".join(lines), encoding="utf-8")
    found = look(tmp_path)
    assert (found.kind.family, found.kind.name) == ("cases", "FHIR bulk export, joined")
    row = dict(zip(found.columns, found.samples[0], strict=True))
    labs = row.pop("labs")
    assert row == {"id": "d1", "patient": "Patient/p1", "candidate": "Cough.", "date": "2024-03-01",
                   "kind": "Progress note", "encounter": "Encounter/e1", "encounter_class": "AMB", "sex": "female",
                   "age": "74"}  # fmt: skip
    assert labs.startswith('{"name": "CRP", "value": "12"')
    assert found.lost == {"Condition resource, left out": 1, "Binary that no document names, left out": 1}
    assert main(["look", str(tmp_path)]) == 0
    assert "  d1 | Patient/p1 | Cough. | " in capsys.readouterr().out


def test_one_file_of_a_bulk_export_is_sent_to_its_folder(tmp_path: Path) -> None:
    document = {"resourceType": "DocumentReference", "id": "d1", "status": "current",
                "content": [{"attachment": {"contentType": "text/plain", "url": "Binary/b1"}}]}  # fmt: skip
    (tmp_path / "DocumentReference.ndjson").write_text(json.dumps(document) + "\n")
    assert "read the whole folder of an export" in look(tmp_path / "DocumentReference.ndjson").problem
