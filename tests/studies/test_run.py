"""One study file in, ratings out: complete, resumable, honest about what was never scored."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars
import pytest
from tests.loopback import LoopbackServer
from tests.processes import Command
from tests.studies.running import manifest_of, ratings_of, run_without_report, votes_of

from medjury.cli import main
from medjury.foundation.errors import MedjuryError
from medjury.models import audit_totals
from medjury.store.ratings import open_store, write_ratings
from medjury.store.runs import RunFolder
from medjury.studies import load_study, run_study
from medjury.studies._run import conclude as _conclude

Write = Callable[..., Path]


def behave(server: LoopbackServer, word: str) -> None:
    """From now on the endpoint answers every request in this way."""
    server.endpoint.behaviours = lambda call: word


def test_a_short_study_gives_ratings_and_the_same_command_again_asks_nothing(
    write_study: Write, server: LoopbackServer, capsys: pytest.CaptureFixture[str]
) -> None:
    study = write_study()
    assert len(study.read_text().splitlines()) <= 15
    assert run_without_report(study) == 0
    assert len(server.calls) == 6
    table = ratings_of(study)  # three dimensions and the composite, of the judge and of the jury
    assert table.filter(rater_kind="judge").height == 24 and table.filter(rater_kind="jury").height == 24
    assert table["status"].unique().to_list() == ["scored"]
    assert run_without_report(study) == 0
    assert len(server.calls) == 6
    assert "0 calls made now" in capsys.readouterr().out
    assert manifest_of(study)["status"] == "complete"


@pytest.mark.parametrize("broken", ["ratings.csv", "ratings.parquet", "the log"])
def test_tables_that_cannot_be_written_end_the_run_and_none_is_left_half_done(
    write_study: Write, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], broken: str
) -> None:
    """The second table is written beside the reading of the log: whichever of them fails is told."""

    def write(given: object, path: Path) -> int:
        if Path(path).name == broken:
            raise MedjuryError(f"{broken} cannot be written: no space left")
        return write_ratings(given, path)  # type: ignore[arg-type]

    def totals(path: Path) -> object:
        if broken == "the log":
            raise MedjuryError("the log cannot be read")
        return audit_totals(path)

    study = write_study()
    with monkeypatch.context() as patch:
        patch.setattr(_conclude, "write_ratings", write)
        patch.setattr(_conclude, "audit_totals", totals)
        assert main(["run", str(study), "--quiet"]) != 0
    assert f"{broken} cannot be" in capsys.readouterr().err
    folder = study.parent / "runs" / "small"
    assert manifest_of(study)["status"] == "failed" and not (folder / "report.html").exists()
    names = {each.name for each in folder.iterdir()}
    assert broken not in names and not [name for name in names if "part" in name or "tmp" in name]
    assert run_without_report(study) == 0, "the answers are stored: it goes on"
    assert polars.read_csv(folder / "ratings.csv").height == ratings_of(study).height


def test_a_process_of_its_own_leaves_nothing_open(write_study: Write) -> None:
    """At its end nobody searches for cycles: a store that only such a search would close left files beside it."""
    study = write_study()
    command = [sys.executable, "-m", "medjury", "run", str(study), "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stdout.splitlines()[-1].strip(), done
    names = {each.name for each in (study.parent / "runs" / "small").iterdir()}
    assert "ratings.sqlite" in names
    assert not [name for name in names if name.endswith(("-wal", "-shm", "-journal", ".lock", ".tmp"))]


def test_a_dry_run_tells_calls_tokens_and_price_and_asks_nothing(
    write_study: Write, server: LoopbackServer, capsys: pytest.CaptureFixture[str]
) -> None:
    study = write_study(judge={"price": {"input": 2.0, "output": 8.0}}, repeats=3)
    assert main(["run", str(study), "--dry-run"]) == 0
    out = capsys.readouterr().out
    assert "In all 19 calls expected" in out and "at most 55 calls" in out and "USD" in out
    assert not server.calls and not (study.parent / "runs").exists()


def test_a_study_that_speaks_of_no_danger_says_so_before_the_first_call(
    write_study: Write, server: LoopbackServer, capsys: pytest.CaptureFixture[str]
) -> None:
    study = write_study(dimensions=["clarity"])
    assert main(["run", str(study), "--dry-run"]) == 0
    assert "no danger is claimed" in capsys.readouterr().out
    # A price that nobody knows ends this run before its first call.
    assert run_without_report(write_study(dimensions=["clarity"], budget={"money": 1})) == 2
    told = capsys.readouterr().err
    assert "no danger is claimed" in told and "price" in told and not server.calls
    for claimed in ({"dimensions": ["accuracy"]}, {"gate": {"severe_dimensions": ["clarity"]}}):
        assert main(["run", str(write_study(**({"dimensions": ["clarity"]} | claimed))), "--dry-run"]) == 0
        assert "no danger is claimed" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("gate", "refused"),
    [
        ({"danger": 6}, True),
        ({"danger": 2.5}, True),
        ({"danger": 2}, False),
        ({"danger": 5}, False),
        ({"danger": 0.5}, False),
        ({"danger": 6, "severe_dimensions": []}, False),
    ],
)
def test_a_dangerous_grade_that_is_not_on_the_scale_is_refused(
    write_study: Write, gate: dict[str, Any], refused: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", str(write_study(gate=gate)), "--dry-run"]) == (2 if refused else 0)
    said = f"gate.danger is {gate['danger']:g}, which is not a grade of 'accuracy' (1, 2, 3, 4, 5)"
    assert (said in capsys.readouterr().err) is refused


def test_a_renamed_judge_pays_nothing_and_a_second_one_for_itself_alone(
    write_study: Write, server: LoopbackServer
) -> None:
    run_without_report(write_study())
    study = write_study(judge={"name": "renamed"})
    assert run_without_report(study) == 0
    assert len(server.calls) == 6
    assert set(ratings_of(study).filter(rater_kind="judge")["rater"]) == {"renamed"}
    judges = [
        {"kind": "openai", "name": name, "url": server.url, "model": model}
        for name, model in (("juror", "m"), ("second", "n"))
    ]
    study = write_study(judges=judges)
    assert run_without_report(study) == 0
    assert len(server.calls) == 12
    assert set(ratings_of(study).filter(rater_kind="judge")["rater"]) == {"juror", "second"}


def test_a_budget_of_calls_ends_the_run_incomplete_and_a_larger_one_finishes_it(
    write_study: Write, server: LoopbackServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_without_report(write_study(budget={"calls": 4}), "--no-preflight") == 3
    assert len(server.calls) == 4
    assert capsys.readouterr().out.startswith("INCOMPLETE: the budget was reached")
    study = write_study(budget={"calls": 10})
    assert run_without_report(study, "--no-preflight") == 0
    assert len(server.calls) == 6
    assert ratings_of(study).filter(rater_kind="judge", status="scored").height == 24


def test_a_money_budget_is_not_exceeded(write_study: Write, server: LoopbackServer) -> None:
    price = {"input": 100.0, "output": 100.0}
    study = write_study(cases=30, judge={"price": price, "max_tokens": 200}, budget={"money": 2.0})
    assert run_without_report(study) == 3
    cost = manifest_of(study)["cost"]
    assert isinstance(cost, float) and 0 < cost <= 2.0


def test_too_many_unscored_ratings_fail_the_run_with_the_reasons(
    write_study: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    cases = [
        {
            "id": f"c{n}",
            "candidate": "[[loopback:refusal]]" if n < 2 else "fine",
            "texts": {"context": "note"},
        }
        for n in range(10)
    ]
    assert run_without_report(write_study(cases=cases)) == 1
    assert "FAILED: 20.0 % of the ratings are unscored" in capsys.readouterr().out
    study = write_study(cases=cases, max_unscored=0.25)
    assert run_without_report(study) == 0
    unscored = ratings_of(study).filter(rater_kind="judge", status="unscored")
    assert set(unscored["reason"]) == {"refusal", "missing"} and unscored["score"].null_count() == 8


def test_an_invalid_key_stops_at_once_and_says_what_to_do(
    write_study: Write, server: LoopbackServer, capsys: pytest.CaptureFixture[str]
) -> None:
    behave(server, "401")
    study = write_study(cases=50, judge={"concurrency": 4})
    assert run_without_report(study) == 1
    assert 1 <= len(server.calls) <= load_study(study).workers["juror"] < 50, (
        "those that were at work already"
    )
    assert "key" in capsys.readouterr().err.lower()


def test_a_passing_failure_is_tried_again_by_the_next_run(
    write_study: Write, server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("medjury.models._gate.gate._FIRST_WAIT", 0.01)
    study = write_study(cases=[{"id": "a", "candidate": "x", "texts": {"context": "n"}}], max_unscored=1.0)
    behave(server, "500")
    assert run_without_report(study) == 0
    assert votes_of(study)["reason"].unique().to_list() == ["provider"]
    behave(server, "ok")
    assert run_without_report(study) == 0
    assert votes_of(study)["status"].unique().to_list() == ["scored"]


def test_a_refusal_is_asked_again_only_on_request(write_study: Write, server: LoopbackServer) -> None:
    study = write_study(cases=[{"id": "a", "candidate": "x", "texts": {"context": "n"}}], max_unscored=1.0)
    behave(server, "refusal")
    run_without_report(study)
    asked = len(server.calls)
    run_without_report(study)
    assert len(server.calls) == asked
    behave(server, "ok")
    assert run_without_report(study, "--retry-unscored") == 0
    assert len(server.calls) == asked + 1
    assert votes_of(study)["status"].unique().to_list() == ["scored"]


def test_bad_cases_are_all_reported_and_can_be_left_out(
    write_study: Write, server: LoopbackServer, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        {"id": "good", "candidate": "x", "texts": {"context": "n"}},
        {"candidate": "no id", "texts": {"context": "n"}},
        {"id": "good", "candidate": "twice", "texts": {"context": "n"}},
    ]
    study = write_study(cases=rows)
    assert run_without_report(study) == 2
    message = capsys.readouterr().err
    assert "cases.jsonl" in message and "2" in message and "3" in message and not server.calls
    assert run_without_report(study, "--skip-bad-cases") == 0
    assert manifest_of(study)["cases_skipped"] == 2


def test_no_clinical_text_reaches_the_manifest_or_the_audit_log(write_study: Write) -> None:
    study = write_study(cases=[{"id": "a", "candidate": "SECRET-ONE", "texts": {"context": "SECRET-TWO"}}])
    run_without_report(study)
    for name in ("manifest.json", "audit.jsonl"):
        text = (study.parent / "runs" / "small" / name).read_text()
        assert "SECRET" not in text and text


def test_a_host_that_is_not_allowed_is_refused_before_the_first_call(
    write_study: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    study = write_study(judge={"url": "https://models.example.org/v1"})
    assert run_without_report(study) == 2
    message = capsys.readouterr().err
    assert "models.example.org" in message and "allow_hosts" in message


def test_two_runs_at_once_on_one_store_pay_each_call_once(
    write_study: Write, server: LoopbackServer, tmp_path: Path
) -> None:
    behave(server, "latency:0.05")
    study = write_study(cases=60, judge={"concurrency": 8})
    command = ("run", str(study), "--quiet")
    with Command(*command) as one, Command(*command) as two:
        told = [each.communicate(timeout=120)[1] for each in (one, two)]
        assert (one.returncode, two.returncode) == (0, 0), told
    assert len(server.calls) == 60
    with open_store(tmp_path / "runs" / "small" / "ratings.sqlite") as store:
        assert sum(1 for _ in store.ratings()) == 180


def test_ctrl_c_stores_what_is_in_flight_and_says_incomplete(
    write_study: Write, server: LoopbackServer
) -> None:
    behave(server, "latency:0.2")
    study = write_study(cases=200, judge={"concurrency": 4})
    with Command("run", str(study), "--quiet") as run:
        deadline = time.monotonic() + 60
        while len(server.calls) < 6 and time.monotonic() < deadline:
            time.sleep(0.02)
        os.kill(run.pid, signal.SIGINT)
        out, _ = run.communicate(timeout=60)
    assert run.returncode == 3
    assert out.startswith("INCOMPLETE")
    asked = len(server.calls)
    assert votes_of(study).height == 3 * asked
    behave(server, "ok")
    assert run_without_report(study) == 0
    assert len(server.calls) == 200


def test_a_store_locked_for_a_moment_is_waited_for(
    write_study: Write, server: LoopbackServer, tmp_path: Path
) -> None:
    study = write_study(cases=40, store="ratings.sqlite")
    with open_store(tmp_path / "ratings.sqlite"):
        pass
    blocker = sqlite3.connect(tmp_path / "ratings.sqlite", check_same_thread=False, isolation_level=None)
    blocker.execute("BEGIN IMMEDIATE")  # a store locked for a while is waited for, not an error
    threading.Timer(1.0, lambda: blocker.execute("ROLLBACK")).start()
    assert run_without_report(study) == 0
    assert len(server.calls) == 40
    blocker.close()


def test_what_was_changed_or_put_into_a_run_folder_is_named_and_a_note_decides_nothing(
    write_study: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    """No number is read from a note: `verify` names it, the gate and the report go by the run's own files."""
    study = write_study(report={"resamples": 200})
    assert main(["run", str(study), "--quiet"]) == 0
    folder = load_study(study).output
    assert main(["runs", "verify", str(folder)]) == 0
    capsys.readouterr()
    before = main(["gate", str(folder), "--json"]), capsys.readouterr().out
    for name in ("notes.txt", "records.jsonl"):
        (folder / name).write_text('{"kind": "claims"}\n')
        assert main(["runs", "verify", str(folder)]) == 1
        told = capsys.readouterr().out
        assert f"ALTERED {name}" in told
        if name == "records.jsonl":
            assert "was added after the run" in told
        else:
            assert (main(["gate", str(folder), "--json"]), capsys.readouterr().out) == before
            assert main(["report", str(folder), "--quiet"]) == 0
        (folder / name).unlink()
    table = (folder / "ratings.csv").read_text()
    (folder / "ratings.csv").write_text(table.replace(",scored,", ",scored ,", 1))
    assert main(["runs", "verify", str(folder)]) == 1
    assert "ALTERED ratings.csv" in capsys.readouterr().out


def test_the_last_count_of_a_run_the_reports_and_a_notebook_say_that_composites_are_not_counted(
    write_study: Write,
) -> None:
    file = write_study(cases=2)
    assert main(["run", str(file), "--quiet"]) == 0
    folder = load_study(file).output
    told = RunFolder(folder).manifest.coverage.text()
    assert told.startswith("6 of 6 ratings scored") and "composites are not counted" in told
    result = run_study(load_study(file))
    assert told in result.text() and told in (folder / "report.html").read_text()
    assert (
        result._repr_html_().startswith("<p><strong>COMPLETE</strong></p>") and told in result._repr_html_()
    )
    judged = ratings_of(file).filter(rater_kind="judge")
    assert judged.height == 8 and judged.filter(polars.col("dimension") != "overall").height == 6
