"""`kill -9` at any moment loses nothing, nothing is paid for twice but what was in flight, and the log and the
budget know every request that left.

A run is killed six times (three, where the store is PostgreSQL) with a request in every place, each of them
arrived: then the log has exactly one line for each request that the endpoint saw. It is killed a third as often
more at any moment. The line is written before the request leaves, so a kill between the two leaves a line without a
request, at most one for each place of the process; the other way round, a request without a line, never happens. No
order of writing could make these equal: the log and the network do not change together.
"""

from __future__ import annotations

import json
import random
import time
import urllib.request
from collections import Counter
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest
from tests.postgres import postgres_server, postgres_url  # noqa: F401 - fixtures
from tests.processes import answered, endpoint, finish, kill, lines, start, wait_until

from medjury.cli._main import EXIT_INCOMPLETE
from medjury.models import verify_audit_log
from medjury.store.ratings import open_store

KILLS = {"sqlite": 8, "postgresql": 4}
CASES_PER_KILL = 8
CONCURRENCY = 4
DIMENSIONS = ("accuracy", "completeness", "clarity")


def arrived(log: Path) -> int:
    """How many requests the endpoint saw, answered or not."""
    return len(lines(log.with_name(f"{log.name}.arrived")))


class Accounts:
    """The requests in a run's audit log: announced, and ended."""

    def __init__(self, folder: Path) -> None:
        file = folder / "audit.jsonl"
        whole = [line for line in lines(file) if line.endswith("}")]  # not one that a kill has torn
        entries = [json.loads(line) for line in whole]
        self.sent = sum(each["event"] == "sent" for each in entries)
        self.ended = sum(each["event"] == "call" for each in entries)


@pytest.mark.parametrize("database", KILLS)
def test_a_run_killed_many_times_ends_as_if_never_killed(
    database: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    server = database == "postgresql"
    store = str(request.getfixturevalue("postgres_url") if server else tmp_path / "ratings.sqlite")
    killings = KILLS[database]
    every = CASES_PER_KILL * killings
    ample = every + killings * CONCURRENCY
    cases = [
        {
            "id": f"case-{number}",
            "system": "a",
            "candidate": f"Summary {number}.",
            "texts": {"context": "A note."},
        }
        for number in range(every)
    ]
    (tmp_path / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
    log, folder = tmp_path / "answered.log", tmp_path / "runs" / "killed"
    chance = random.Random(20260101)
    with endpoint(log) as url:
        study = tmp_path / "study.yaml"

        def allow(budget: int) -> None:
            study.write_text(
                "study: killed\ncases: cases.jsonl\ninstrument: note_quality\n"
                f"dimensions: [{', '.join(DIMENSIONS)}]\nstore: {json.dumps(store)}\n"
                f"judges: [{{kind: openai, name: juror, url: '{url}', model: m, concurrency: {CONCURRENCY}}}]\n"
                f"budget: {{calls: {budget}}}\n"
            )

        allow(ample)
        never_seen = exact = 0  # requests that were announced by a process killed before they arrived
        for kills in range(1, killings + 1):
            some = sum(answered(log).values()) + 1 + chance.randrange(7)
            run = start(study, "--no-preflight")
            in_flight = kills % 4 > 0
            if in_flight:  # all its places are taken by requests that have arrived
                hold(run, log, CONCURRENCY, some)
            elif chance.random() < 0.6:  # at any moment while calls are made
                wait_until(lambda some=some: sum(answered(log).values()) >= some, run)  # type: ignore[misc]
                time.sleep(chance.uniform(0, 0.03))
            else:  # while it starts
                time.sleep(chance.uniform(0, 0.5))
            kill(run)
            _let_arrive(url)
            accounts = Accounts(folder)
            unseen = accounts.sent - arrived(log)
            if in_flight:
                assert unseen == never_seen, "the log has a line for every request that left, and no other"
                exact += 1
            assert never_seen <= unseen <= never_seen + CONCURRENCY, "no request left without its line"
            assert accounts.ended <= arrived(log) and accounts.sent - accounts.ended <= kills * CONCURRENCY
            never_seen = unseen
            if in_flight:
                release(log, CONCURRENCY)
            with open_store(store) as opened:
                stored = opened.spent(opened.runs()[0].name).calls if opened.runs() else 0
            lost = sum(answered(log).values()) - stored
            assert lost <= kills * CONCURRENCY, (
                f"{lost} paid answers are not in the store after {kills} kills"
            )
        assert exact == 3 * killings // 4
        cap = accounts.sent + 10
        allow(cap)
        assert finish(study, "--no-preflight") == EXIT_INCOMPLETE, (
            "what killed processes sent is spent: ten more reach the cap"
        )
        accounts = Accounts(folder)
        assert accounts.sent == cap and arrived(log) == cap - never_seen, (
            "the cap is used up and never exceeded"
        )
        allow(ample)
        assert finish(study, "--no-preflight") == 0
        calls = answered(log)
        assert finish(study, "--no-preflight") == 0 and answered(log) == calls, "a finished run asks nothing"
    assert len(calls) == every
    assert sum(calls.values()) - every <= killings * CONCURRENCY
    accounts = Accounts(folder)
    assert arrived(log) == accounts.sent - never_seen and accounts.sent <= ample
    assert json.loads((folder / "manifest.json").read_text())["calls"] == accounts.sent
    assert verify_audit_log(folder / "audit.jsonl") >= accounts.sent + accounts.ended
    with open_store(store) as opened:
        ratings = Counter((row.item, row.dimension) for row in opened.ratings())
        assert all(row.status == "scored" for row in opened.ratings())
    assert ratings == Counter({(case["id"], name): 1 for case in cases for name in DIMENSIONS})


def _let_arrive(url: str) -> None:
    """What a killed process had sent lies before the endpoint still; when it answers us, it has looked at that."""
    for _ in range(3):
        with urllib.request.urlopen(url, timeout=30) as answer:
            answer.read()


def hold(run: BaseProcess, log: Path, places: int, after: int) -> None:
    """Once so many calls are answered, let the endpoint answer nothing more; then a request waits there for every
    place of the run."""
    wait_until(lambda: sum(answered(log).values()) >= after, run)
    held = log.with_name(f"{log.name}.held")
    before = len(lines(held))
    log.with_name(f"{log.name}.hold").touch()
    wait_until(lambda: len(lines(held)) >= before + places, run)


def release(log: Path, places: int) -> None:
    """Let the endpoint go on; what waited there is answered to nobody."""
    before = sum(answered(log).values())
    log.with_name(f"{log.name}.hold").unlink()
    deadline = time.monotonic() + 60
    while sum(answered(log).values()) < before + places:
        assert time.monotonic() < deadline, "the endpoint does not go on"
        time.sleep(0.005)
