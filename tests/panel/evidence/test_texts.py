"""The texts that are shown are those that were judged, or none; nothing is written, and what is hidden stays so."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from tests.panel.evidence.planted_run import (
    ANSWER,
    NOTE,
    STUDY,
    Reader,
    every_page,
    explained,
    plant_study,
    small_ratings,
)
from tests.report.planted import record_lines

from medjury.cli import main
from medjury.foundation.errors import MedjuryError
from medjury.panel._evidence._run import EvidenceRun


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return plant_study(tmp_path, small_ratings())


def test_a_case_shows_its_source_its_answer_and_every_vote(run: Path) -> None:
    page = Reader(EvidenceRun(run)).text("/case/case-0001/alpha")
    assert "Note n1 · 2025-01-02" in page
    assert "Warfarin 5 mg daily was stopped after the fall." in page
    assert "The patient takes warfarin." in page
    for rater in ("clinician-1", "clinician-2", "jury", "judge-a", "judge-b", "judge-c"):
        assert f'<th scope="row">{rater} ' in page
    assert "because of the notes" in page


def test_cases_that_changed_since_the_run_are_not_shown(run: Path) -> None:
    file = run.parent / "cases.jsonl"
    file.write_text(file.read_text().replace("Warfarin", "Apixaban"))
    reader = Reader(EvidenceRun(run))
    page = reader.text("/case/case-0001/alpha")
    assert "is not what this run judged" in page
    assert "Apixaban" not in page
    assert "Warfarin" not in page
    assert "judge-a" in page
    assert "is not what this run judged" in reader.text("/")
    assert "There is no such answer" in reader.text("/cases?q=apixaban")


def test_one_changed_sign_in_one_case_is_enough(run: Path) -> None:
    file = run.parent / "cases.jsonl"
    lines = file.read_text().splitlines()
    lines[-1] = lines[-1].replace("Blood was taken.", "Blood was  taken.")
    file.write_text("\n".join(lines) + "\n")
    assert "the hash of its content" in EvidenceRun(run).state.texts.why_not


def test_a_missing_study_file_is_told_and_the_cases_can_be_named(run: Path, tmp_path: Path) -> None:
    (run.parent / "study.yaml").unlink()
    assert "--cases FILE" in EvidenceRun(run).state.texts.why_not
    named = EvidenceRun(run, cases=run.parent / "cases.jsonl")
    assert ANSWER in Reader(named).text("/case/case-0001/alpha")


def test_a_named_file_that_was_not_judged_is_refused(run: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.jsonl"
    other.write_text('{"id": "case-0001", "system": "alpha", "candidate": "something else"}\n')
    with pytest.raises(MedjuryError, match="is not what this run judged"):
        EvidenceRun(run, cases=other)


def test_texts_are_redacted_where_the_run_redacted_them(tmp_path: Path) -> None:
    from medjury.intake.cases import RedactedCases, Redactor, read_cases
    from medjury.studies import HashedCases

    note = {"notes": [{"id": "n1", "text": "Call Jane Roe at jane.roe@example.org."}]}
    study = STUDY + "redact:\n  names: [Jane Roe]\n"
    plant_study(tmp_path, small_ratings(), texts={"case-0001": note}, study=study)
    cases = HashedCases(RedactedCases(read_cases(tmp_path / "cases.jsonl"), Redactor(names=["Jane Roe"])))
    for _ in cases:
        pass
    run = plant_study(
        tmp_path, small_ratings(), texts={"case-0001": note}, study=study, data_hash=cases.hash, redacted=True
    )
    page = Reader(EvidenceRun(run)).text("/case/case-0001/alpha")
    assert "[NAME-1]" in page
    assert "Jane" not in page
    assert "example.org" not in page


def test_nothing_is_written_into_the_run_folder(run: Path) -> None:
    def seen() -> dict[str, tuple[int, int, bytes]]:
        return {
            str(each.relative_to(run.parent)): (
                each.stat().st_mtime_ns,
                each.stat().st_mode,
                each.read_bytes(),
            )
            for each in sorted(run.parent.rglob("*"))
            if each.is_file()
        }

    before = seen()
    reader = Reader(EvidenceRun(run))
    for path in every_page(reader.run):
        reader.text(path)
    reader.run.warm_up()
    assert seen() == before


@pytest.mark.parametrize("stated", [True, False])
def test_hidden_texts_are_nowhere(tmp_path: Path, stated: bool) -> None:
    ratings = explained(small_ratings(), "judge-a", "She quotes “the INR was 3.4 on Monday” here.")
    drawn = {"accuracy": {"status": "scored", "score": 4.0, "explanation": "Warfarin was drawn"}}
    records = record_lines("repeats", [{"n": 1, "draws": [{"draw": 1, "outcomes": drawn}]}] * 8)
    records += records.replace('"system": ""', '"system": "beta"')
    report = {"report": {"hide_texts": True}} if stated else {}
    run = plant_study(
        tmp_path, ratings, records=records.replace('"system": ""', '"system": "alpha"'), **report
    )
    (run / "tables").mkdir()
    (run / "tables" / "cases-worth-reading.csv").write_text("case,dimension\ncase-0001 · alpha,Accuracy\n")
    opened = EvidenceRun(run, hide_texts=None if stated else True)
    reader = Reader(opened)
    pages = [reader.text(path) for path in every_page(opened) if "/text/" not in path]
    assert [page for page in pages if "1 draws" in page], "what came of each step, in counts alone"
    for secret in ("case-0001", "Warfarin", "warfarin", "INR", "because of the notes", "n1 "):
        assert not [page for page in pages if secret in page], secret
    for path in ("/numbers/cases-worth-reading", "/number/cases-worth-reading/1"):
        assert reader.get(path).status_code == 404  # a table may name cases
    assert "case 2" in pages[1]
    assert opened.state.address(0) == "/case/case~201/alpha"
    assert reader.get("/case/case-0001/alpha").status_code == 404
    assert reader.get("/cases?q=warfarin").text.count('class="answer"') == 0


def test_search_finds_ids_texts_and_explanations(tmp_path: Path) -> None:
    note = {"notes": [{"id": "n1", "text": "Known naïve Grüße to lisinopril."}]}
    ratings = explained(small_ratings(), "judge-b", "An omission of the creatinine.", "case-0003")
    reader = Reader(EvidenceRun(plant_study(tmp_path, ratings, texts={"case-0002": note})))

    def found(words: str) -> list[str]:
        page = reader.get("/cases", params={"q": words}).text
        return [f"case-000{number}" for number in range(8) if f">case-000{number}</a>" in page]

    assert found("LISINOP") == ["case-0002"]
    assert found("grusse") == []
    assert found("gruße naive") == ["case-0002"]
    assert found("creatinine omission") == ["case-0003"]
    assert found("creatinine lisinopril") == []
    assert found("0005") == ["case-0005"]
    assert found('"; DROP -- * NEAR(') == []
    assert len(found("warfarin")) == 8  # every answer names it
    assert found("monday") == [f"case-000{number}" for number in (0, 1, 3, 4, 5, 6, 7)]


def test_the_words_of_a_search_are_in_no_file(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty = tmp_path / "temporary"
    empty.mkdir()
    monkeypatch.setenv("TMPDIR", str(empty))
    monkeypatch.setenv("SQLITE_TMPDIR", str(empty))
    reader = Reader(EvidenceRun(run))
    reader.text("/cases?q=warfarin")
    assert list(empty.iterdir()) == []


def test_the_command_refuses_what_is_no_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["view", str(tmp_path)]) == 2
    assert "not a finished run folder" in capsys.readouterr().err


def test_an_answer_that_is_in_no_file_of_cases_says_so(tmp_path: Path) -> None:
    run = plant_study(tmp_path, small_ratings())
    file = run.parent / "cases.jsonl"
    kept = [line for line in file.read_text().splitlines() if json.loads(line)["system"] == "alpha"]
    file.write_text("\n".join(kept) + "\n")
    from medjury.intake.cases import read_cases
    from medjury.studies import HashedCases

    cases = HashedCases(read_cases(file))
    assert sum(1 for _ in cases) == 8
    manifest = json.loads((run / "manifest.json").read_text())
    manifest["data_hash"] = cases.hash
    (run / "manifest.json").write_text(json.dumps(manifest))
    page = Reader(EvidenceRun(run)).text("/case/case-0001/beta")
    assert NOTE.splitlines()[0] in page
    assert "There is no answer." in page


def test_only_its_owner_may_read_the_file(run: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.html"
    assert main(["view", str(run), "--file", str(out)]) == 0
    assert os.stat(out).st_mode & 0o077 == 0  # noqa: PTH116 - the mode as it is
