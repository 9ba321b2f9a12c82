"""`medjury compare RUN_A RUN_B`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.report.planted import planted_frame, write_run

from medjury.cli import main


@pytest.fixture
def runs(tmp_path: Path) -> list[str]:
    frames = [planted_frame(cases=30, dimensions=("accuracy",), seed=seed) for seed in (1, 2)]
    return [str(write_run(tmp_path / name, frame)) for name, frame in zip("ab", frames, strict=True)]


def test_text_and_a_page(runs: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", *runs, "--resamples", "200", "--out", str(tmp_path / "page.html")]) == 0
    assert "Changes (B less A" in capsys.readouterr().out
    assert "Two runs compared" in (tmp_path / "page.html").read_text()


def test_json_for_a_program(runs: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", *runs, "--resamples", "200", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["changes"][0]["what"] == "mean score" and found["changes"][0]["n"] == 30


def test_a_missing_run_is_a_clear_error(
    runs: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", runs[0], str(tmp_path / "nowhere")]) == 2
    assert "run the study first" in capsys.readouterr().err
