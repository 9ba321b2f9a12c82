"""Batch jobs: the same keys and the same failure rules at half the price, and nothing is ever paid for twice."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.loopback import Call, LoopbackServer
from tests.studies.running import ratings_of, run_without_report

from medjury.models import audit_totals, verify_audit_log
from medjury.store.runs import files
from medjury.studies import RunResult, check_study, load_study, run_study
from medjury.studies._run.how import Stopper

Write = Callable[..., Path]
PRICE = {"input": 1.0, "output": 4.0, "batch": 0.5}


@pytest.fixture(autouse=True)
def quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEDJURY_BATCH_POLL_SECONDS", "0.02")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    monkeypatch.setattr("medjury.models._batch_queue.LINGER_SECONDS", 0.05)
    monkeypatch.setattr("medjury.models._gate.gate._FIRST_WAIT", 0.01)


@pytest.fixture(params=["openai", "anthropic"])
def study(request: pytest.FixtureRequest, write_study: Write, server: LoopbackServer) -> Callable[..., Path]:
    if request.param == "anthropic":
        pytest.importorskip("anthropic")

    def write(**settings: Any) -> Path:
        judge = {
            "kind": request.param,
            "mode": "batch",
            "batch_size": 6,  # a job leaves as soon as it is full, however slow the machine
            "price": PRICE,
            **settings.pop("judge", {}),
        }
        judge["url"] = server.base_url if request.param == "openai" else server.url
        return write_study(judge=judge, **settings)

    return write


def ran(file: Path, **how: Any) -> RunResult:
    return run_study(load_study(file), preflight=False, **how)


def ratings(file: Path) -> pl.DataFrame:
    """Those of the judge, without the composite that follows from them."""
    return ratings_of(file).filter(
        pl.col("rater_kind") == "judge", pl.col("dimension").is_in(["accuracy", "completeness", "clarity"])
    )


def log(file: Path) -> Path:
    return file.parent / "runs" / "small" / "audit.jsonl"


def open_calls(file: Path) -> int:
    with sqlite3.connect(file.parent / "runs" / "small" / files.STORE) as store:
        return int(store.execute("SELECT count(*) FROM batch_calls").fetchone()[0])


def paid_once(server: LoopbackServer, calls: int) -> None:
    paid = server.endpoint.jobs.paid
    assert len(paid) == calls and set(paid.values()) == {1}, paid


def test_a_study_in_one_job_costs_half_and_asks_nothing_again(study: Write, server: LoopbackServer) -> None:
    [plain] = check_study(load_study(study(judge={"mode": "call"}))).judges
    file = study()
    [planned] = check_study(load_study(file)).judges
    assert planned.money is not None and plain.money == pytest.approx(2 * planned.money)
    server.endpoint.jobs.looks = 2
    result = ran(file)
    assert result.status == "complete" and result.calls == 6 and len(server.endpoint.jobs.jobs) == 1
    assert (ratings(file)["status"] == "scored").all() and open_calls(file) == 0
    replies = [call for call in server.calls if call.path.endswith(("/completions", "/messages"))]
    tokens = [(len(call.body) // 4) for call in replies]
    assert result.money is not None and 0 < result.money < 0.75 * sum(tokens) / 1e6
    totals = audit_totals(log(file))
    assert (totals.calls, totals.unended, totals.perhaps) == (6, 0, 0.0)
    assert totals.money == pytest.approx(result.money) and verify_audit_log(log(file)) == 12
    assert ran(file).calls == 0
    assert ran(study(judge={"mode": "call"})).calls == 0, "how it was asked is no part of a key"
    paid_once(server, 6)


def test_the_end_is_not_waited_for_and_another_run_fetches_it(
    study: Write, server: LoopbackServer, capsys: pytest.CaptureFixture[str]
) -> None:
    file, jobs = study(), server.endpoint.jobs
    jobs.held = True
    assert run_without_report(file, "--no-wait", "--no-preflight") == 3
    told = capsys.readouterr()
    assert "6 calls wait in 1 batch job (batch-0)" in told.out and f"medjury run {file}" in told.err
    assert audit_totals(log(file)).unended == 6 and ran(file, wait=False).status == "incomplete"
    jobs.held = False
    result = ran(file)
    assert (result.status, result.calls, len(jobs.jobs)) == ("complete", 0, 1)
    totals = audit_totals(log(file))
    assert (totals.calls, totals.unended, totals.perhaps) == (6, 0, 0.0)
    assert totals.money == pytest.approx(result.money or 0.0) and totals.money > 0
    assert open_calls(file) == 0
    paid_once(server, 6)


def test_results_out_of_order_and_twice_reach_their_own_cases(study: Write, server: LoopbackServer) -> None:
    server.endpoint.behaviours = lambda call: by_case(call)
    server.endpoint.jobs.reverse = server.endpoint.jobs.twice = True
    file = study()
    assert ran(file).status == "complete"
    for item, score in ratings(file).select("item", "score").rows():
        assert score == 1 + int(item.removeprefix("case-")) % 5
    paid_once(server, 6)


def by_case(call: Call) -> str:
    number = int(call.prompt.split("Summary ")[1].split(".")[0])
    names = ("accuracy", "completeness", "clarity")
    parts = ", ".join(f'"{name}": {{"explanation": "why", "score": {1 + number % 5}}}' for name in names)
    return f"ok:{{{parts}}}"


def test_a_failed_line_is_unscored_with_its_reason_and_the_others_count(
    study: Write, server: LoopbackServer
) -> None:
    server.endpoint.behaviours = lambda call: (
        "400:The prompt is odd."
        if "Summary 1." in call.prompt
        else "refusal"
        if "Summary 2." in call.prompt
        else "ok"
    )
    file = study(max_unscored=1.0)
    assert ran(file).status == "complete"
    found = {
        item: (status, reason)
        for item, status, reason in ratings(file).select("item", "status", "reason").rows()
    }
    assert found["case-1"] == ("unscored", "provider") and found["case-2"] == ("unscored", "refusal")
    assert [status for item, (status, _) in found.items() if item not in ("case-1", "case-2")] == [
        "scored"
    ] * 4


def test_what_expired_is_asked_in_the_next_job_and_what_was_answered_is_not(
    study: Write, server: LoopbackServer
) -> None:
    jobs = server.endpoint.jobs
    jobs.expires_after = 4
    file = study()
    assert ran(file).status == "complete"
    assert [len(job["calls"]) for job in jobs.jobs.values()] == [6, 2]
    paid_once(server, 6)


def test_what_a_line_breaks_on_is_tried_again(study: Write, server: LoopbackServer) -> None:
    seen: list[str] = []

    def once(call: Call) -> str:
        seen.append(call.prompt)
        return "500" if "Summary 3." in call.prompt and seen.count(call.prompt) == 1 else "ok"

    server.endpoint.behaviours = once
    file = study()
    assert ran(file).status == "complete" and len(server.endpoint.jobs.jobs) == 2
    paid_once(server, 6)


def test_a_submission_nobody_confirmed_is_found_at_the_provider(study: Write, server: LoopbackServer) -> None:
    server.endpoint.jobs.loses = 1
    file = study()
    assert ran(file).status == "complete" and len(server.endpoint.jobs.jobs) == 1
    paid_once(server, 6)


def test_a_process_that_dies_between_submission_and_its_name_pays_once(
    study: Write, server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = study()

    async def dies(self: Any, job: str, provider_id: str) -> None:
        raise RuntimeError("killed")

    with monkeypatch.context() as patched:
        patched.setattr("medjury.store.ratings.StoreDesk.submitted", dies)
        with pytest.raises(RuntimeError, match="killed"):
            ran(file)
    assert open_calls(file) == 6 and len(server.endpoint.jobs.jobs) == 1
    assert ran(file).status == "complete" and len(server.endpoint.jobs.jobs) == 1
    totals = audit_totals(log(file))
    assert (totals.calls, totals.unended) == (6, 0)
    paid_once(server, 6)


@pytest.mark.parametrize(
    ("study", "moment"),
    [("openai", "its name is on the way"), ("anthropic", "it is worked on")],
    indirect=["study"],
)
def test_a_run_that_is_killed_between_upload_and_fetch_pays_once(
    study: Write, server: LoopbackServer, moment: str
) -> None:
    """`kill -9` of a process of its own, once the job is at the provider: another process fetches its results."""
    file, jobs = study(), server.endpoint.jobs
    jobs.held, jobs.silent = True, moment == "its name is on the way"
    command = [sys.executable, "-m", "medjury", "run", str(file), "--quiet", "--no-preflight"]
    with subprocess.Popen(command) as run:
        while not (jobs.polls if moment == "it is worked on" else jobs.jobs):
            assert run.poll() is None, "the run ended before it could be killed"
            time.sleep(0.005)
        run.kill()
    assert run.returncode == -signal.SIGKILL and not jobs.paid
    assert open_calls(file) == 6 and audit_totals(log(file)).unended == 6
    jobs.held = jobs.silent = False
    result = ran(file)
    assert (result.status, result.calls, len(jobs.jobs)) == ("complete", 0, 1)
    paid_once(server, 6)
    rows = ratings(file)
    assert rows.height == rows.unique(["item", "dimension"]).height == 18
    totals = audit_totals(log(file))
    assert (totals.calls, totals.unended, totals.perhaps) == (6, 0, 0.0) and verify_audit_log(log(file)) > 0
    assert open_calls(file) == 0


def test_an_intent_that_never_arrived_is_asked_anew_and_counted_as_not_sent(
    study: Write, server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = study()

    async def dies(self: Any, job: str, calls: Any) -> str:
        raise RuntimeError("killed")

    with monkeypatch.context() as patched:
        for name in ("_openai.openai.OpenAIBatches", "_anthropic.AnthropicBatches"):
            patched.setattr(f"medjury.models.{name}.submit", dies)
        with pytest.raises(RuntimeError, match="killed"):
            ran(file)
    assert open_calls(file) == 6 and not server.endpoint.jobs.jobs
    assert ran(file).status == "complete" and len(server.endpoint.jobs.jobs) == 1
    totals = audit_totals(log(file))
    assert (totals.calls, totals.unended, totals.perhaps) == (6, 0, 0.0)
    paid_once(server, 6)


def test_a_submission_that_is_refused_is_tried_again(study: Write, server: LoopbackServer) -> None:
    server.endpoint.jobs.refuses = 1
    file = study()
    assert ran(file).status == "complete" and open_calls(file) == 0
    paid_once(server, 6)


def test_a_lost_result_is_asked_for_again_and_told(study: Write, server: LoopbackServer) -> None:
    lost: list[str] = []

    def losing(key: str) -> bool:
        lost[:] = lost or [key]
        return key == lost[0] and len(server.endpoint.jobs.jobs) == 1

    server.endpoint.jobs.losing = losing
    file = study()
    assert ran(file).status == "complete" and len(server.endpoint.jobs.jobs) == 2
    assert audit_totals(log(file)).calls == 7


def test_the_budget_holds_for_what_waits_in_a_job(study: Write, server: LoopbackServer) -> None:
    file = study(budget={"calls": 4})
    result = ran(file)
    assert result.status == "incomplete" and "budget" in result.why
    paid_once(server, 4)
    server.endpoint.jobs.held = True
    more = study(budget={"calls": 5})
    assert ran(more, wait=False).status == "incomplete"
    last = ran(study(budget={"calls": 6}), wait=False)
    assert last.status == "incomplete" and len(server.endpoint.jobs.jobs) == 3
    server.endpoint.jobs.held = False
    assert ran(study(budget={"calls": 6})).status == "complete"
    paid_once(server, 6)


def test_one_dimension_at_a_time_goes_in_one_job_too(study: Write, server: LoopbackServer) -> None:
    file = study(judge={"per_dimension": True}, cases=2)
    assert ran(file).status == "complete" and len(server.endpoint.jobs.jobs) == 1
    paid_once(server, 6)


def test_a_job_that_failed_as_a_whole_ends_the_run_and_is_no_rating(
    write_study: Write, server: LoopbackServer
) -> None:
    server.endpoint.jobs.fails = "the model does not take batch jobs"
    file = write_study(judge={"mode": "batch", "batch_size": 50, "url": server.base_url})
    result = ran(file)
    assert result.status == "failed" and "does not take batch jobs" in result.why
    assert ratings(file).is_empty() and open_calls(file) == 0
    server.endpoint.jobs.fails = ""
    assert ran(file).status == "complete"
    paid_once(server, 6)


def test_a_job_that_is_refused_ends_the_run_and_is_no_rating(study: Write, server: LoopbackServer) -> None:
    server.endpoint.jobs.refuses, server.endpoint.jobs.refusal = 99, 413
    file = study()
    result = ran(file)
    assert result.status == "failed" and "`batch_size`" in result.why and not server.endpoint.jobs.jobs
    assert ratings(file).is_empty() and open_calls(file) == 0


def test_a_run_that_is_stopped_hands_nothing_more_over_and_keeps_no_failure(
    study: Write, server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped while calls still gather."""
    monkeypatch.setattr("medjury.models._batch_queue.LINGER_SECONDS", 0.5)
    file, stopper = study(judge={"batch_size": 50}), Stopper()
    threading.Timer(0.25, stopper).start()
    result = ran(file, stopper=stopper)
    assert result.status == "incomplete" and not server.endpoint.jobs.jobs
    assert ratings(file).is_empty() and audit_totals(log(file)).calls == 0
    monkeypatch.setattr("medjury.models._batch_queue.LINGER_SECONDS", 0.05)
    assert ran(file).status == "complete"
    paid_once(server, 6)


def test_what_the_endpoint_does_not_take_is_left_out_of_the_next_job(
    write_study: Write, server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A job leaves as soon as it is full, however slow the machine."""
    monkeypatch.setattr("medjury.models._batch_queue.LINGER_SECONDS", 60.0)
    server.endpoint.rejects = ("temperature",)
    file = write_study(judge={"mode": "batch", "batch_size": 6, "url": server.base_url})
    assert ran(file).status == "complete" and len(server.endpoint.jobs.jobs) == 2
    paid_once(server, 6)
