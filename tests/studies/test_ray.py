"""A study on a real Ray cluster of two nodes; needs Ray (`make test-ray`)."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.processes import endpoint, lines

pytest.importorskip("ray")

from medjury.models import audit_totals
from medjury.store.ratings import open_store

CASES = 80
SECRET = "Zacharias Quint"


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """A head without work, and two nodes of one worker each."""
    os.environ.update({"RAY_USAGE_STATS_ENABLED": "0", "RAY_health_check_period_ms": "1000"})
    from ray.cluster_utils import Cluster

    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    for _ in range(2):
        made.add_node(num_cpus=1)
    yield made
    made.shutdown()


def run(study: Path, cluster: Any, *words: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "medjury", "run", str(study), "--engine", "ray", "--quiet", *words]
    return subprocess.Popen(
        [*command, "--address", cluster.address, "--workers", "2"], stdout=subprocess.PIPE, text=True
    )


def workers(cluster: Any) -> list[int]:
    """The processes of this cluster's workers."""
    nodes = {node.all_processes["raylet"][0].process.pid for node in cluster.worker_nodes}
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((place / "stat").read_text().rpartition(")")[2].split()[1])
            if parent in nodes and (place / "cmdline").read_bytes().startswith(b"ray::Worker"):
                found.append(int(place.name))
        except OSError:
            continue
    return found


def rows(store: str) -> list[tuple[Any, ...]]:
    with open_store(store) as opened:
        return sorted(
            (row.item, row.rater, row.dimension, row.score, row.explanation, row.key, row.calls)
            for row in opened.ratings()
        )


def test_a_study_on_a_cluster_ends_as_if_no_worker_had_died(
    cluster: Any, write_study: Callable[..., Path], postgres_url: str, tmp_path: Path
) -> None:
    log = tmp_path / "answered.log"
    cases = [
        {"id": f"c{n}", "system": "a", "candidate": f"{SECRET} {n}.", "texts": {"context": f"Note {n}."}}
        for n in range(CASES)
    ]
    with endpoint(log) as url:
        judge = {"url": url, "concurrency": 4}
        study = write_study(cases=cases, store=postgres_url, judge=judge, budget={"calls": CASES + 10})
        with run(study, cluster, "--no-preflight", "--json") as running:
            deadline = time.monotonic() + 240
            while len(lines(log)) < CASES // 4:
                assert running.poll() is None and time.monotonic() < deadline
                time.sleep(0.02)
            os.kill(workers(cluster)[0], signal.SIGKILL)
            told = json.loads(running.communicate(timeout=240)[0])
        assert told["status"] == "complete"
        folder = tmp_path / "runs" / "small"
        arrived = len(lines(log.with_name(f"{log.name}.arrived")))
        assert told["calls"] == audit_totals(folder / "audit.jsonl").calls >= arrived >= CASES
        assert json.loads((folder / "manifest.json").read_text())["units"] == {
            "planned": CASES,
            "done": CASES,
        }
        alone = write_study(cases=cases, store="alone.sqlite", judge=judge, output="alone")
        command = [sys.executable, "-m", "medjury", "run", str(alone), "--quiet", "--no-preflight"]
        assert subprocess.run(command, check=False).returncode == 0
    assert rows(postgres_url) == rows(str(tmp_path / "alone.sqlite"))
    logs = Path(cluster.head_node.get_session_dir_path()) / "logs"
    said = b"".join(file.read_bytes() for file in logs.rglob("*") if file.is_file())
    assert len(said) > 1000 and SECRET.encode() not in said, "Ray has seen no text of a case"


def test_a_judge_that_needs_a_gpu_is_asked_where_one_is(
    cluster: Any, write_study: Callable[..., Path], postgres_url: str, tmp_path: Path
) -> None:
    with endpoint(tmp_path / "answered.log") as url:
        judges = [
            {"kind": "openai", "name": name, "url": url, "model": name, **more}
            for name, more in (("plain", {}), ("local", {"gpus": 1, "cpus": 0.5}))
        ]
        study = write_study(cases=6, store=postgres_url, judges=judges)
        with run(study, cluster, "--no-preflight") as running:
            assert running.wait(timeout=240) == 2, "no node has a GPU"
        node = cluster.add_node(num_cpus=1, num_gpus=1)
        try:
            with run(study, cluster, "--no-preflight") as running:
                assert running.wait(timeout=240) == 0
        finally:
            cluster.remove_node(node)
    log = map(json.loads, lines(tmp_path / "runs" / "small" / "audit.jsonl"))
    asked: dict[str, set[str]] = {}
    for entry in log:
        if entry["event"] == "sent":
            asked.setdefault(entry["rater"], set()).add(entry["worker"])
    assert len(asked["local"]) == 1 and not asked["local"] & asked["plain"], "it has a worker of its own"


def test_ctrl_c_keeps_what_was_answered(
    cluster: Any, write_study: Callable[..., Path], postgres_url: str, tmp_path: Path
) -> None:
    log = tmp_path / "answered.log"
    with endpoint(log) as url:
        judge = {"url": url, "concurrency": 2}
        study = write_study(cases=300, store=postgres_url, judge=judge)
        with run(study, cluster, "--no-preflight") as running:
            while len(lines(log)) < 20:
                assert running.poll() is None
                time.sleep(0.02)
            running.send_signal(signal.SIGINT)
            output = running.communicate(timeout=240)[0]
    assert "INCOMPLETE" in output
    with open_store(postgres_url) as store:
        stored = {row.item for row in store.ratings()}
    totals = audit_totals(tmp_path / "runs" / "small" / "audit.jsonl")
    assert len(stored) == len(lines(log)) == totals.calls < 300 and totals.unended == 0


def test_no_cluster_is_said_in_words(
    write_study: Callable[..., Path], postgres_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    from medjury.cli import main

    words = [
        "run",
        str(write_study(store=postgres_url)),
        "--engine",
        "ray",
        "--quiet",
        "--address",
        "nowhere",
    ]
    assert main(words) == 2
    assert "no Ray cluster can be reached at nowhere" in capsys.readouterr().err
