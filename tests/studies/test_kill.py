"""`kill -9` at any moment loses nothing, and nothing is paid for twice but what was in flight."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.postgres import postgres_server, postgres_url  # noqa: F401 - fixtures

from medjury.ratings import open_store

ROOT = Path(__file__).parent.parent.parent
KILLS = 30
CASES = 500
CONCURRENCY = 4
DIMENSIONS = ("accuracy", "completeness", "clarity")


@contextmanager
def endpoint(log: Path) -> Iterator[str]:
    """A model endpoint in a process of its own, which writes down every request it answered."""
    command = [sys.executable, "-m", "tests.loopback", "--port", "0", "--latency", "0.05", "--log", str(log)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().strip()
        finally:
            server.kill()


def answered(log: Path) -> Counter[str]:
    """How often each request (by the hash of its body) was answered with success."""
    lines = log.read_text().splitlines() if log.exists() else []
    return Counter(line.split()[0] for line in lines)


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return str(tmp_path / "ratings.sqlite")
    return str(request.getfixturevalue("postgres_url"))


def test_a_run_killed_thirty_times_ends_as_if_never_killed(store: str, tmp_path: Path) -> None:
    cases = [
        {
            "id": f"case-{number}",
            "system": "a",
            "candidate": f"Summary {number}.",
            "texts": {"context": "A note."},
        }
        for number in range(CASES)
    ]
    (tmp_path / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
    log = tmp_path / "answered.log"
    chance = random.Random(20260101)
    with endpoint(log) as url:
        study = tmp_path / "study.yaml"
        study.write_text(
            "study: killed\ncases: cases.jsonl\ninstrument: note_quality\n"
            f"dimensions: [{', '.join(DIMENSIONS)}]\nstore: {json.dumps(store)}\n"
            f"judges: [{{kind: openai, name: juror, url: '{url}', model: m, concurrency: {CONCURRENCY}}}]\n"
        )
        command = [sys.executable, "-m", "medjury", "run", str(study), "--quiet", "--no-preflight"]
        kills = 0
        while kills < KILLS:
            before = sum(answered(log).values())
            with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as run:
                if chance.random() < 0.8:  # most kills fall while calls are made, some while it starts
                    _wait_for_calls(run, log, before + chance.randrange(14))
                    time.sleep(chance.uniform(0, 0.05))
                else:
                    time.sleep(chance.uniform(0, 0.8))
                run.send_signal(signal.SIGKILL)
                assert run.wait() == -signal.SIGKILL, (
                    "the run ended before it could be killed; give it more cases"
                )
            kills += 1
            with open_store(store) as opened:
                stored = opened.spent(opened.runs()[0].name).calls if opened.runs() else 0
            lost = sum(answered(log).values()) - stored
            assert lost <= kills * CONCURRENCY, (
                f"{lost} paid answers are not in the store after {kills} kills"
            )
        finished = subprocess.run(command, capture_output=True, text=True, check=False)
        assert finished.returncode == 0, finished.stderr
        calls = answered(log)
        again = subprocess.run(command, capture_output=True, text=True, check=False)
        assert again.returncode == 0 and answered(log) == calls, "a finished run asks nothing"
    assert len(calls) == CASES
    assert sum(calls.values()) - CASES <= KILLS * CONCURRENCY
    with open_store(store) as opened:
        ratings = Counter((row.item, row.dimension) for row in opened.ratings())
        assert all(row.status == "scored" for row in opened.ratings())
    assert ratings == Counter({(case["id"], name): 1 for case in cases for name in DIMENSIONS})


def _wait_for_calls(run: subprocess.Popen[bytes], log: Path, before: int) -> None:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and run.poll() is None:
        if sum(answered(log).values()) > before:
            return
        time.sleep(0.01)
