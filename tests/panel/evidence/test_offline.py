"""The evidence as one file: whole in itself, bounded, and honest about what it left out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.panel.evidence.planted_run import explained, plant_study, small_ratings

from medjury.cli import main
from medjury.foundation.errors import MedjuryError
from medjury.panel._evidence._run import EvidenceRun
from medjury.panel._evidence._serve import write_evidence_file


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return plant_study(
        tmp_path, explained(small_ratings(), "judge-a", "It says “the INR was 3.4 on Monday”.")
    )


def test_every_answer_is_in_the_file_with_its_texts_and_votes(run: Path, tmp_path: Path) -> None:
    out = tmp_path / "evidence.html"
    assert write_evidence_file(run, out).startswith(f"Evidence: {out} (all 16 answers")
    page = out.read_text()
    assert page.count('<details class="case"') == 16
    assert page.count("Warfarin 5 mg daily was stopped after the fall.") == 16
    assert "In this file: all 16 answers." in page


def test_a_link_leads_from_the_words_to_their_place_in_the_same_answer(run: Path, tmp_path: Path) -> None:
    write_evidence_file(run, tmp_path / "evidence.html")
    page = (tmp_path / "evidence.html").read_text()
    links = re.findall(r'<a class="quoted" href="#([^"]+)"', page)
    ids = re.findall(r'id="([^"]+)"', page)
    assert links
    assert set(links) <= set(ids)
    assert len(ids) == len(set(ids))


def test_it_asks_nobody_for_anything(run: Path, tmp_path: Path) -> None:
    write_evidence_file(run, tmp_path / "evidence.html")
    page = (tmp_path / "evidence.html").read_text()
    assert "default-src &#39;none&#39;" in page
    assert "unsafe" not in page
    assert not re.findall(r"(?:src|href)=\"(?!#)", page)
    assert not re.findall(r"url\(|@import|fetch\(|XMLHttpRequest|eval\(", page)


def test_what_is_left_out_is_told(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "evidence.html"
    assert main(["view", str(run), "--file", str(out), "--most", "5"]) == 0
    said = "5 of 16 answers, those with the largest differences; 11 are left out"
    assert said in capsys.readouterr().out
    page = out.read_text()
    assert said in page
    assert page.count('<details class="case"') == 5
    snapshot = EvidenceRun(run).state.snapshot
    largest = sorted(
        (-abs(value), place) for place, value in enumerate(snapshot.difference()) if value == value
    )
    kept = [int(each) for each in re.findall(r'<details class="case" id="answer-(\d+)"', page)]
    assert kept == [place for _, place in largest[:5]]


def test_a_file_that_would_be_too_large_for_a_browser_ends_sooner(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("medjury.panel._evidence._serve._LARGEST", 30_000)
    said = write_evidence_file(run, tmp_path / "evidence.html")
    kept = (tmp_path / "evidence.html").read_text().count('<details class="case"')
    assert 0 < kept < 16
    assert f"{kept} of 16 answers, in the order of their names; {16 - kept} are left out" in said


def test_hidden_texts_are_not_in_the_file(run: Path, tmp_path: Path) -> None:
    out = tmp_path / "evidence.html"
    assert main(["view", str(run), "--file", str(out), "--hide-texts"]) == 0
    page = out.read_text()
    for secret in ("case-0001", "Warfarin", "warfarin", "INR", "because of the notes"):
        assert secret not in page
    assert "case 2" in page


def test_nothing_is_written_into_the_run_folder(run: Path) -> None:
    with pytest.raises(MedjuryError, match="nothing is written into the run folder"):
        write_evidence_file(run, run / "evidence.html")
    with pytest.raises(MedjuryError, match="--most"):
        write_evidence_file(run, run.parent / "evidence.html", most=0)
