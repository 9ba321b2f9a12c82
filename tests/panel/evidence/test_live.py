"""While a run goes on its answers can be read as they come, from its store; when it has ended, from its folder."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.panel.evidence.planted_run import Reader, plant_study, small_ratings
from tests.ratings.samples import ratings_of

from medjury.foundation.errors import MedjuryError
from medjury.panel._evidence._run import EvidenceRun
from medjury.store.ratings import StoredRecord, open_store
from medjury.store.runs import RunFolder


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run that has begun: its manifest says so, and its store is still empty."""
    folder = plant_study(tmp_path, small_ratings())
    shutil.copy(folder / "manifest.json", tmp_path / "ended.json")
    shutil.move(folder / "ratings.parquet", tmp_path / "ended.parquet")
    RunFolder(folder).manifest.replaced(status="running", finished_at="", files={}).write(folder)
    return folder


def judge(run: Path, answers: int) -> None:
    """Put the judges' votes on the first answers into the store, as a run does."""
    manifest = RunFolder(run).manifest
    votes = [
        replace(each, key=f"{each.item} {each.system} {each.rater}")
        for each in ratings_of(small_ratings())
        if each.rater_kind != "jury"
    ]
    wanted = sorted({(each.item, each.system) for each in votes})[:answers]
    with open_store(run / "ratings.sqlite") as store:
        store.put_run(manifest.run, manifest.content())
        store.write_ratings(manifest.run, [each for each in votes if (each.item, each.system) in wanted])


def until(holds: Callable[[], bool]) -> None:
    """Wait for what the server does behind the reader's back, a minute at most."""
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.05)


def test_a_run_without_a_rating_yet_is_told(run: Path) -> None:
    with pytest.raises(MedjuryError, match="no ratings yet"):
        EvidenceRun(run)


def test_answers_appear_as_they_are_judged(run: Path) -> None:
    judge(run, 3)
    reader = Reader(EvidenceRun(run))
    page = reader.text("/cases")
    assert "3 of 16 answers judged so far" in page
    assert "<span>3 answers" in page
    assert "Warfarin" in reader.text("/case/case-0000/alpha")
    judge(run, 10)
    until(lambda: reader.get("/so-far").json()["words"] == "10 of 16 answers judged so far")
    assert "<span>10 answers" in reader.text("/cases")


def test_a_jury_is_formed_of_the_votes_there_are(run: Path) -> None:
    judge(run, 3)
    page = Reader(EvidenceRun(run)).text("/case/case-0000/alpha")
    assert "mean of its judges" in page


def test_steps_can_be_read_before_the_run_has_ended(run: Path) -> None:
    manifest = RunFolder(run).manifest
    vote = next(each for each in ratings_of(small_ratings()) if each.rater == "judge-a")
    vote = replace(vote, key=f"{vote.item} {vote.system} {vote.rater}")
    outcome = {"status": "scored", "score": 4.0, "explanation": "drawn once"}
    body = {"kind": "repeats", "n": 1, "draws": [{"draw": 1, "outcomes": {"accuracy": outcome}}]}
    record = StoredRecord(vote.key, vote.item, vote.system, vote.rater, 0, json.dumps(body), vote.created_at)
    with open_store(run / "ratings.sqlite") as store:
        store.put_run(manifest.run, manifest.content())
        store.write_ratings(manifest.run, [vote], [record])
    page = Reader(EvidenceRun(run)).text(f"/case/{vote.item}/{vote.system}")
    assert "Repeats of judge-a:" in page
    assert "drawn once" in page


def test_when_the_run_ends_its_folder_is_read(run: Path) -> None:
    judge(run, 3)
    reader = Reader(EvidenceRun(run))
    assert "3 of 16" in reader.text("/")
    shutil.move(run.parent / "ended.parquet", run / "ratings.parquet")
    shutil.copy(run.parent / "ended.json", run / "manifest.json")
    until(lambda: reader.get("/so-far").json()["going_on"] is False)
    page = reader.text("/cases")
    assert "so far" not in page
    assert "<span>16 answers" in page


def test_a_manifest_that_is_being_written_costs_nobody_the_page(run: Path) -> None:
    judge(run, 3)
    reader = Reader(EvidenceRun(run))
    whole = (run / "manifest.json").read_text()
    (run / "manifest.json").write_text(whole[: len(whole) // 2])
    judged = time.monotonic()
    while time.monotonic() - judged < 1.5:
        assert reader.get("/cases").status_code == 200
    (run / "manifest.json").write_text(whole)
    assert json.loads(whole)["status"] == "running"
    assert "3 of 16" in reader.text("/cases")
