"""Caps hold across runs, a changed study keeps its books, and a changed file is noticed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.loopback import LoopbackServer
from tests.studies.running import manifest_of, run_without_report

from medjury.cli import main
from medjury.foundation.errors import MedjuryError
from medjury.store.ratings import open_store
from medjury.studies import load_study, run_study
from medjury.studies._run.calls import check_store_host
from medjury.studies._run.how import only_run

Write = Callable[..., Path]


def test_failed_calls_count_against_the_cap_of_every_later_run(
    write_study: Write, server: LoopbackServer
) -> None:
    server.endpoint.behaviours = lambda call: "html"
    study = write_study(cases=4, budget={"calls": 3}, max_unscored=1.0)
    for _ in range(3):
        run_without_report(study, "--no-preflight")
    assert len(server.calls) == 3


def test_a_changed_study_does_not_get_a_new_budget_and_keeps_its_cost(
    write_study: Write, server: LoopbackServer
) -> None:
    judge = {"price": {"input": 100.0, "output": 100.0}, "max_tokens": 200}
    study = write_study(cases=4, budget={"calls": 2}, judge=judge)
    assert run_without_report(study, "--no-preflight") == 3
    paid = manifest_of(study)["cost"]
    (study.parent / "humans.csv").write_text("item,system,rater,dimension,score\ncase-1,a,one,accuracy,3\n")
    study = write_study(cases=4, budget={"calls": 2}, judge=judge, humans="humans.csv")
    assert run_without_report(study, "--no-preflight") == 3
    assert len(server.calls) == 2
    assert manifest_of(study)["cost"] == paid > 0 and manifest_of(study)["calls"] == 2


def test_with_a_budget_only_one_process_may_run(
    write_study: Write, server: LoopbackServer, capsys: pytest.CaptureFixture[str]
) -> None:
    study = write_study(budget={"calls": 10})
    folder = study.parent / "runs" / "small"
    folder.mkdir(parents=True)
    with only_run(folder):
        assert run_without_report(study) == 2
    assert "another process is running this study" in capsys.readouterr().err and not server.calls
    assert run_without_report(study) == 0


def test_a_scored_dimension_survives_a_retry_that_fails(write_study: Write, server: LoopbackServer) -> None:
    half = json.dumps(
        {
            "accuracy": {"explanation": "", "score": 3},
            "completeness": {"explanation": "", "score": 4},
            "clarity": {"explanation": "", "score": 99},
        }
    )
    server.endpoint.behaviours = lambda call: f"ok:{half}"
    study = write_study(cases=1, max_unscored=1.0)
    run_without_report(study)
    server.endpoint.behaviours = lambda call: "ok:junk"
    run_without_report(study, "--retry-unscored")
    with open_store(study.parent / "runs" / "small" / "ratings.sqlite") as store:
        assert {row.dimension: row.score for row in store.ratings()} == {
            "accuracy": 3, "completeness": 4, "clarity": None,
        }  # fmt: skip


def test_cases_that_change_under_the_run_fail_it(write_study: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    study_file = write_study(cases=3)
    study = load_study(study_file)
    from medjury.studies._run import run as _run

    planned = _run.plan_study

    def plan_then_change(*arguments: Any) -> Any:
        plan = planned(*arguments)
        text = (study_file.parent / "cases.jsonl").read_text()
        (study_file.parent / "cases.jsonl").write_text(text.replace("Summary 1", "Another summary"))
        return plan

    monkeypatch.setattr(_run, "plan_study", plan_then_change)
    result = run_study(study)
    assert result.status == "failed" and "cases changed" in result.why


def test_a_dry_run_checks_the_clinicians_ratings_too(
    write_study: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    study = write_study(humans="humans.csv")
    (study.parent / "humans.csv").write_text("item,system,rater,dimension,score\ncase-1,a,one,accuracy,9\n")
    assert main(["run", str(study), "--dry-run"]) == 2
    assert "row 2" in capsys.readouterr().err and not (study.parent / "runs").exists()


def test_an_output_that_cannot_be_a_folder_is_told(
    write_study: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    study = write_study(output="cases.jsonl")
    assert run_without_report(study) == 2
    assert "run folder" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("address", "refused"),
    [
        ("postgresql://u@192.0.2.1/db", True),
        ("postgresql://u@db.example.org/db", True),
        ("postgresql:///db?host=db.example.org", True),
        ("postgresql://u@127.0.0.1/db", False),
        ("postgresql://u@localhost/db", False),
        ("postgresql://u@/db?host=/var/run/postgresql", False),
        ("ratings.sqlite", False),
    ],
)
def test_a_store_on_another_machine_must_be_allowed(address: str, refused: bool) -> None:
    if refused:
        with pytest.raises(MedjuryError, match="allow_hosts"):
            check_store_host(address, [])
        check_store_host(address, ["192.0.2.1", "db.example.org"])
    else:
        check_store_host(address, [])


def test_a_second_ctrl_c_ends_at_once_without_a_trace(write_study: Write, server: LoopbackServer) -> None:
    server.endpoint.behaviours = lambda call: "latency:60"
    study = write_study(cases=50, judge={"concurrency": 4})
    command = [sys.executable, "-m", "medjury", "run", str(study), "--quiet"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        deadline = time.monotonic() + 60
        while len(server.calls) < 2 and time.monotonic() < deadline:
            time.sleep(0.02)
        for patience in (
            0.5,
            10,
            10,
        ):  # two that come before the run looks are one to it: then a third is due
            os.kill(run.pid, signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                run.wait(patience)
                break
        _, told = run.communicate(timeout=60)
    assert run.returncode == 130 and told.strip() == "medjury: interrupted"
    assert manifest_of(study)["status"] == "incomplete"
