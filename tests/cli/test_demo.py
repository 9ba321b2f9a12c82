"""`medjury demo`: what a new user sees first."""

from __future__ import annotations

import filecmp
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from recipes._recording import write_recipe_files
from recipes.demo import OVERLOOKED, make, name_of
from tests.recipes.offline import run_demonstration

import medjury.cli.demo
import medjury.studies
from medjury.cli import main
from medjury.cli._main import EXIT_INTERRUPTED
from medjury.models import weights_file
from medjury.studies import Demonstration

DEMO = Path(medjury.studies.__file__).parent / "demo"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("first") / "demo"
    shutil.copytree(run_demonstration(tmp_path_factory), folder)
    study = folder / "study.yaml"  # pages that are made again need not be exact
    study.write_text(study.read_text().replace("resamples: 1000", "resamples: 200"))
    return folder


def test_the_good_jury_finds_most_planted_errors_and_misses_those_planted_to_be_missed(folder: Path) -> None:
    words = Demonstration(folder).planted_errors()
    planted, found, without, alarms = map(int, re.findall(r"(?:Of|found|graded) (\d+)", words))
    assert found > 0.8 * planted and alarms < 0.1 * without
    missed = words.partition("It missed: ")[2].partition(". Of")[0].split(", ")
    assert {f"{name_of(number)} (summariser-b)" for number in OVERLOOKED} <= set(missed)
    assert len(missed) == planted - found


def test_its_page_says_auxiliary_and_shows_calibration_and_triage(folder: Path) -> None:
    page = (folder / "runs" / "demonstration" / "report.html").read_text(encoding="utf-8")
    assert "AUXILIARY" in page and "VALIDATED</h1>" not in page
    assert "made-up-clinician-1" in page
    note = page.index("Made-up cases and clinicians: this shows how a report looks.")
    assert note < page.index('class="word"'), "the study file's note is read before the verdict"
    assert 'id="calibration"' in page and 'id="triage"' in page


def test_it_ends_with_the_page_to_open(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(["demo", "--folder", str(folder), "--no-live", "--quiet"]) == 0
    )  # again: nothing is asked twice
    last = capsys.readouterr().out.strip().splitlines()[-1]
    assert last.strip() == f"a good jury: {(folder / 'runs/demonstration/report.html').resolve()}"


def test_without_the_embedded_model_the_live_part_is_left_out_and_says_why(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MEDJURY_MODELS", str(tmp_path))
    monkeypatch.setattr(
        "medjury.cli.demo.run_file", lambda *_, **__: 0
    )  # the good jury's page is there already
    assert main(["demo", "--folder", str(folder), "--quiet"]) == 0
    assert "The live part is left out: the embedded model's weights are not here" in capsys.readouterr().out


def test_ctrl_c_while_a_page_is_made_names_what_there_is(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stopped(*_: object, **__: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("medjury.cli.demo.run_file", stopped)
    assert main(["demo", "--folder", str(folder), "--quiet"]) == EXIT_INTERRUPTED
    said = capsys.readouterr().out.strip().splitlines()
    assert said[-1].strip() == f"a good jury: {(folder / 'runs/demonstration/report.html').resolve()}"
    assert "Stopped. `medjury demo` goes on from here." in said


def live_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The good jury's page is there already and need not be made again."""
    run = medjury.cli.demo.run_file

    def rest(file: str, **settings: Any) -> int:
        return run(file, **settings) if Path(file).name == "live.yaml" else 0

    monkeypatch.setattr("medjury.cli.demo.run_file", rest)


@pytest.mark.skipif(not weights_file().exists(), reason="the embedded model's weights are not here")
def test_on_a_slow_machine_the_live_part_is_stopped_and_nothing_has_failed(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    place = shutil.copytree(folder, tmp_path / "demo")
    monkeypatch.setattr("medjury.cli.demo.LIVE_SECONDS", 0.6)
    live_alone(monkeypatch)
    assert main(["demo", "--folder", str(place), "--quiet"]) == 0
    said = capsys.readouterr().out
    assert "The live part was stopped: this machine is slow just now." in said
    assert f"  a good jury: {(place / 'runs/demonstration/report.html').resolve()}" in said.splitlines()
    live = (place / "runs/live/report.html").resolve()
    assert live.exists() == (said.splitlines()[-1] == f"  the small model: {live}")


def test_the_clock_stops_a_live_part_that_has_not_begun_to_ask(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def slow(file: str, **_: object) -> int:
        if Path(file).name == "live.yaml":
            time.sleep(60)
            raise AssertionError("nobody stopped it")
        return 0

    monkeypatch.setattr("medjury.cli.demo.LIVE_SECONDS", 0.3)
    monkeypatch.setattr("medjury.cli.demo.run_file", slow)
    monkeypatch.setattr("medjury.studies.Demonstration.why_not_live", staticmethod(lambda: ""))
    began = time.monotonic()
    assert main(["demo", "--folder", str(folder), "--quiet"]) == 0
    said = capsys.readouterr().out
    assert "this machine is slow just now. `medjury demo` goes on from here." in said
    assert time.monotonic() - began < 50, "it was stopped after it had waited, not while it did"


@pytest.mark.skipif(not weights_file().exists(), reason="the embedded model's weights are not here")
def test_ctrl_c_in_the_live_part_ends_with_the_page_of_the_good_jury(folder: Path) -> None:
    command = [sys.executable, "-u", "-m", "medjury", "demo", "--folder", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        before = []
        for line in process.stdout:
            before.append(line)
            if line.startswith("It is far too small"):
                break
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=120)
    assert process.returncode not in (0, -signal.SIGINT), "it says that it was stopped"
    assert f"a good jury: {(folder / 'runs/demonstration/report.html').resolve()}" in rest


def test_the_demonstration_is_made_by_its_generator(tmp_path: Path) -> None:
    made = write_recipe_files(make(), tmp_path / "demo")
    assert sorted(file.name for file in made.iterdir()) == sorted(file.name for file in DEMO.iterdir())
    for file in made.iterdir():
        assert filecmp.cmp(file, DEMO / file.name, shallow=False), (
            f"{file.name}: run `python -m recipes demo`"
        )
