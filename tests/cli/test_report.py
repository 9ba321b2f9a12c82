"""`medjury report`, and the report at the end of `medjury run`: from the study file's gate to the page."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.loopback import LoopbackServer
from tests.report.planted import planted_frame, write_run
from tests.studies.conftest import server, written  # noqa: F401 - a fixture
from tests.studies.running import manifest_of, run_without_report

from medjury.cli import main
from medjury.validation import validate


@pytest.fixture
def study(tmp_path: Path, server: LoopbackServer) -> Callable[..., Path]:  # noqa: F811
    return lambda **settings: written(tmp_path, server.url, dimensions=["accuracy"], **settings)


def test_the_gate_is_recorded_before_the_run_with_every_rule(study: Callable[..., Path]) -> None:
    file = study(gate={"floor": 0.6, "development_cases": ["case-1", "case-0"]})
    run_without_report(file)
    gate = manifest_of(file)["gate"]
    assert gate["floor"] == 0.6 and gate["margin"] == 0.1
    assert gate["development_cases"] == ["case-0", "case-1"]
    assert gate["stated_at"] <= manifest_of(file)["started_at"] and gate["earlier"] == []
    assert manifest_of(file)["instrument"]["dimensions"][0]["grades"] == [1, 2, 3, 4, 5]


def test_resuming_keeps_the_moment_and_changing_the_rules_is_remembered(study: Callable[..., Path]) -> None:
    file = study(gate={"floor": 0.6})
    run_without_report(file)
    first = manifest_of(file)["gate"]
    run_without_report(file)
    assert manifest_of(file)["gate"] == first
    run_without_report(study(gate={"floor": 0.1}))
    changed = manifest_of(file)["gate"]
    assert [each["floor"] for each in changed["earlier"]] == [0.6]
    rule = validate(file.parent / "runs" / "small").verdicts[0].rule("registered")
    assert rule.state == "fails" and rule.cap == "NOT VALIDATED"


def test_development_cases_may_stand_in_a_file(study: Callable[..., Path], tmp_path: Path) -> None:
    (tmp_path / "used.txt").write_text("case-3\n\ncase-4\n")
    file = study(gate={"development_cases": "used.txt"})
    run_without_report(file)
    assert manifest_of(file)["gate"]["development_cases"] == ["case-3", "case-4"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"gate": {"flor": 0.4}}, "gate.flor: no such setting"),
        ({"gate": {"margin": 0}}, "gate.margin"),
        ({"gate": {"statistic": "pearson"}}, "gate.statistic"),
        ({"gate": {"severe_dimensions": ["safety"]}}, "severe_dimensions names 'safety'"),
        ({"gate": {"development_cases": "absent.txt"}}, "one case id per line"),
        ({"report": {"cases_shown": -1}}, "report.cases_shown"),
    ],
)
def test_a_wrong_gate_is_refused_before_any_call(
    study: Callable[..., Path], settings: dict[str, Any], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", str(study(**settings)), "--quiet"]) == 2
    assert message in capsys.readouterr().err


def test_the_command_writes_page_figures_and_tables(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_run(tmp_path, planted_frame(cases=40, dimensions=("accuracy",)))
    (folder / "audit.jsonl").touch()
    assert (
        main(["report", str(folder), "--cases", "2", "--cost-per-hour", "120", "--minutes-per-case", "4"])
        == 0
    )
    assert "report.html" in capsys.readouterr().out
    assert {file.suffix for file in (folder / "figures").iterdir()} == {".svg"}
    page = (folder / "report.html").read_text()
    assert "One clinician&#x27;s evaluation costs 8.00 USD" in page
    assert page.count("<summary>case-") == 2


def test_an_altered_folder_is_reported_and_the_command_fails(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_run(tmp_path, planted_frame(cases=20, dimensions=("accuracy",)))
    (folder / "ratings.csv").write_text("changed")
    assert main(["report", str(folder)]) == 1
    assert "ALTERED ratings.csv" in capsys.readouterr().out
    page = (folder / "report.html").read_text()
    assert "was changed after the run" in page and "audit.jsonl" in page
