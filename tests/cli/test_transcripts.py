"""`medjury transcripts`: two transcripts become a study, and the study a report."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.loopback import LoopbackServer

from medjury.cli import main

GOLD = """[00:00] Doctor: Any pain?
[00:02] Patient: No, no pain at all.
[00:04] Doctor: How long have you had the cough?
[00:06] Patient: About six weeks.
[00:08] Doctor: Allergies?
[00:10] Patient: Penicillin, I think.
[00:12] Doctor: Right.
[00:14] Patient: Thank you, bye."""
HEARD = ["no pain at all", "about two weeks", "penicillin i think", "mumbling something else"]


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    gold, heard = tmp_path / "call 7.txt", tmp_path / "recogniser.json"
    gold.write_text(GOLD, encoding="utf-8")
    heard.write_text(json.dumps(HEARD), encoding="utf-8")
    return [str(gold), str(heard)]


def cases(folder: Path) -> dict[str, dict[str, object]]:
    lines = (folder / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    return {case["id"]: case for case in map(json.loads, lines)}


def test_a_study_is_written_with_context(
    files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "study"
    assert main(["transcripts", *files, "--out", str(folder)]) == 0
    found = cases(folder)
    assert list(found) == ["call-7-0", "call-7-1", "call-7-3"]  # the pair without an error is left out
    assert found["call-7-1"]["texts"] == {
        "context": "Doctor: Any pain?\nPatient: No, no pain at all.\nDoctor: How long have you had the cough?"
    }
    assert found["call-7-1"]["candidate"] == "about two weeks" and found["call-7-1"]["system"] == "recogniser"
    assert found["call-7-3"]["candidate"] == "[nothing was recognised]"
    printed = capsys.readouterr().out
    assert (
        "1 of 4 pairs are word for word the same" in printed and "1 segments have no counterpart" in printed
    )
    assert main(["run", str(folder / "study.yaml"), "--dry-run", "--no-preflight"]) == 0


def test_with_judges_the_report_is_finished(
    files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "study"
    with LoopbackServer() as server:
        judges = tmp_path / "judges.yaml"
        judges.write_text(f"judges:\n  - {{kind: openai, name: juror, url: '{server.base_url}', model: m}}\n")
        words = [
            "--out",
            str(folder),
            "--judges",
            str(judges),
            "--quiet",
            "--keep-perfect",
            "--call",
            "seven",
        ]
        assert main(["transcripts", *files, *words]) == 0
    assert "COMPLETE" in capsys.readouterr().out
    assert (folder / "runs" / "seven" / "report.html").is_file()
    assert len(cases(folder)) == 4


def test_bands_are_drawn_from(files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "study"
    assert main(["transcripts", *files, "--out", str(folder), "--bands", "1", "--per-band", "1"]) == 0
    assert len(cases(folder)) == 2
    assert "0 to 1" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("judges", "complaint"),
    [
        ("jury: {quorum: 1}", "needs `judges:`"),
        ("judges: [embedded]\ninstrument: note_quality", "line 2: instrument: is written by this command"),
        ("judges: [", "not valid YAML"),
    ],
)
def test_a_judges_file_that_cannot_be_used(
    files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], judges: str, complaint: str
) -> None:
    file = tmp_path / "judges.yaml"
    file.write_text(judges)
    assert main(["transcripts", *files, "--out", str(tmp_path / "study"), "--judges", str(file)]) == 2
    assert complaint in capsys.readouterr().err
    assert not (tmp_path / "study").exists()


def test_nothing_to_judge(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    same = tmp_path / "same.json"
    same.write_text('["yes"]')
    assert main(["transcripts", str(same), str(same), "--out", str(tmp_path / "study")]) == 2
    assert "no pair differs" in capsys.readouterr().err
