"""The main commands before a reader whose terminal has 80 columns: no line is wider, no number has 14 digits."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from tests.cli.in_terminal import in_terminal
from tests.report.planted import planted_frame, write_run

from medjury.cli import main

RUN = "a-run"
IN_A_TERMINAL = (f"agreement {RUN} --statistics kappa_quadratic,offset",)
BY_VARIABLE = (
    f"runs verify {RUN}",
    f"triage {RUN} --dimension accuracy",
    f"rank {RUN}",
    f"estimate {RUN}",
    "instruments list",
    "models list",
    "models prices",
    "bench list",
    "bench tasks",
    "plan kappa --shares 0.2,0.3,0.5 --value 0.6 --width 0.2",
    "look cases.csv",
    "cases check cases.csv",
    "train presets",
    "init --list-recipes",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("eighty")
    frame = planted_frame(cases=30, systems=("alpha", "beta"), dimensions=("accuracy",), seed=3)
    run = write_run(place / RUN, frame, report={"resamples": 50, "seed": 1})
    (run / "audit.jsonl").touch()
    (place / "cases.csv").write_text("id,candidate,context\na,Well.,A note.\n")
    return place


def check(status: int, seen: str) -> None:
    assert status == 0 or "UNKNOWN" in seen, seen  # a written folder has no store that `verify` could compare
    assert seen.strip()
    assert [line for line in seen.splitlines() if len(line) > 80] == []
    assert not re.search(r"\d\.\d{7}", seen)


@pytest.mark.parametrize("words", IN_A_TERMINAL)
def test_no_line_is_wider_than_the_terminal(folder: Path, words: str) -> None:
    check(*in_terminal(*shlex.split(words), folder=folder))


@pytest.mark.parametrize("words", BY_VARIABLE)
def test_no_line_is_wider_than_was_asked_for(
    folder: Path, words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("MEDJURY_WIDTH", "80")
    status = main(shlex.split(words))
    check(status, capsys.readouterr().out)
