"""Judges in process and learned metrics on a real Ray cluster: loaded and scored where their GPUs and CPUs are.

Needs Ray and torch (`make test-ray`). Of GPUs only the count is made up: Ray places by it. A stand-in
runs the judges in process, all but one.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars
import pytest
from tests.folder_of_weights import TRACED, write_weights
from tests.processes import endpoint, lines

pytest.importorskip("ray")

from medjury.store.ratings import open_store
from medjury.studies import load_study, run_study
from medjury.studies._cluster import crew

Write = Callable[..., Path]
CASES = 48


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where every process of the cluster writes down what it scores."""
    file = tmp_path_factory.mktemp("trace") / "scored.log"
    before = dict(os.environ)
    own = [str(TRACED), os.environ.get("PYTHONPATH", "src")]
    os.environ |= {"PYTHONPATH": os.pathsep.join(own), "MEDJURY_TRACE": str(file)}
    yield file
    os.environ.clear()
    os.environ |= before


@pytest.fixture(scope="module")
def cluster(trace: Path) -> Iterator[Any]:
    """A head without work, a node without a GPU and one that has one."""
    os.environ.update({"RAY_USAGE_STATS_ENABLED": "0", "RAY_health_check_period_ms": "1000"})
    from ray.cluster_utils import Cluster

    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    made.parted = [made.add_node(num_cpus=2), made.add_node(num_cpus=2, num_gpus=1)]
    yield made
    made.shutdown()


@pytest.fixture(autouse=True)
def fresh(trace: Path) -> None:
    for file in trace.parent.iterdir():
        file.unlink()


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("torch", reason="learned metrics and judges by transformers need the `neural` extra")
    from tests.tuning.training.tiny_model import write_tiny_model

    return write_tiny_model(tmp_path_factory.mktemp("model") / "tiny")


def nodes(cluster: Any) -> tuple[int, int]:
    """The processes that start workers: on the node without a GPU, and on the one that has one."""
    plain, with_gpu = (node.all_processes["raylet"][0].process.pid for node in cluster.parted)
    return plain, with_gpu


def cases(count: int = CASES) -> list[dict[str, Any]]:
    return [
        {"id": f"c{n}", "system": "a", "candidate": f"The patient is well, {n}.", "texts": {"context": "Note."},
         **({} if n == 1 else {"reference": f"The patient has been well since {n}."})}
        for n in range(count)
    ]  # fmt: skip


def start(study: Path, cluster: Any, *words: str) -> subprocess.Popen[str]:
    command = [
        sys.executable,
        "-m",
        "medjury",
        "run",
        str(study),
        "--engine",
        "ray",
        "--quiet",
        "--no-preflight",
    ]
    return subprocess.Popen(
        [*command, "--address", cluster.address, "--workers", "2", *words],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def finished(running: subprocess.Popen[str]) -> tuple[int, str]:
    output, told = running.communicate(timeout=300)
    return running.returncode, output + told


def scored(trace: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in lines(trace)]


def metric_rows(folder: Path) -> list[tuple[Any, ...]]:
    rows = polars.read_parquet(folder / "ratings.parquet").filter(rater_kind="metric")
    wanted = rows.select("item", "rater", "dimension", "status", "reason", "explanation", "key", "score")
    return sorted(
        (*each[:-1], None if each[-1] is None else round(each[-1], 5)) for each in wanted.iter_rows()
    )


def test_a_metric_is_scored_where_its_gpus_and_cpus_are_as_it_would_be_here(
    cluster: Any, write_study: Write, postgres_url: str, tmp_path: Path, trace: Path, tiny: Path
) -> None:
    with endpoint(tmp_path / "answered.log") as url:
        metrics = ["wer", {"sbert": str(tiny), "gpus": 1}, {"rouge_l": None, "cpus": 0.5}]
        settings = {"cases": cases(), "judge": {"url": url}, "metrics": metrics}
        study = write_study(store=postgres_url, **settings)
        running = start(study, cluster)
        status, told = finished(running)
        assert status == 0, told
        there = scored(trace)
        trace.unlink()
        alone = write_study(store="alone.sqlite", output="alone", **settings)
        command = [sys.executable, "-m", "medjury", "run", str(alone), "--quiet", "--no-preflight"]
        assert subprocess.run(command, check=False, stdout=subprocess.PIPE).returncode == 0
    plain, with_gpu = nodes(cluster)
    places = {
        name: {each["parent"] for each in there if each["metric"] == name} for name in ("sbert", "rouge_l")
    }
    assert places["sbert"] == {with_gpu} and places["rouge_l"] <= {plain, with_gpu}
    seen = {name: {each["gpus"] for each in there if each["metric"] == name} for name in ("sbert", "rouge_l")}
    assert seen == {"sbert": {"0"}, "rouge_l": {""}}, "who asked for no GPU sees none, even where one is"
    assert {each["process"] for each in there if each["metric"] == "wer"} == {running.pid}, "as the run ends"
    assert sum(each["pairs"] for each in there if each["metric"] == "sbert") == CASES
    mine = metric_rows(tmp_path / "runs" / "small")
    assert mine == metric_rows(tmp_path / "alone")
    assert Counter(each[1] for each in mine)["sbert"] >= 3 * CASES
    unscored = [each for each in mine if each[:3] == ("c1", "sbert", "clarity")]
    assert unscored[0][3:6] == ("unscored", "input", "the reference has no words")
    manifest = json.loads((tmp_path / "runs" / "small" / "manifest.json").read_text())
    assert manifest["units"] == {"planned": 3 * CASES, "done": 3 * CASES}
    assert manifest["coverage"]["ratings"] == 3 * CASES, "coverage counts what judges were asked"


def test_a_killed_workers_metric_is_taken_over_and_nothing_is_lost_or_doubled(
    cluster: Any, write_study: Write, postgres_url: str, tmp_path: Path, trace: Path
) -> None:
    trace.with_name(f"{trace.name}.slow").write_text("0.5")
    with endpoint(tmp_path / "answered.log") as url:
        settings = {"cases": cases(), "judge": {"url": url}, "metrics": [{"wer": None, "cpus": 1}]}
        study = write_study(store=postgres_url, **settings)
        running = start(study, cluster, "--workers", "1")
        deadline = time.monotonic() + 240
        while len(scored(trace)) < 4:
            assert running.poll() is None and time.monotonic() < deadline, finished(running)
            time.sleep(0.02)
        victim = scored(trace)[-1]["process"]
        os.kill(victim, signal.SIGKILL)
        status, told = finished(running)
        assert status == 0, told
        done = scored(trace)
        trace.with_name(f"{trace.name}.slow").unlink()
        alone = write_study(store="alone.sqlite", output="alone", **settings)
        command = [sys.executable, "-m", "medjury", "run", str(alone), "--quiet", "--no-preflight"]
        assert subprocess.run(command, check=False, stdout=subprocess.PIPE).returncode == 0
    assert metric_rows(tmp_path / "runs" / "small") == metric_rows(tmp_path / "alone")
    with open_store(postgres_url) as store:
        stored = Counter((row.item, row.dimension) for row in store.ratings() if row.rater == "wer")
        rows = store.outside_transactions(_count_rows)
    assert set(stored.values()) == {1} and len(stored) == rows, "no row was written twice"
    after = [each for each in done if each["process"] != victim]
    assert len({each["process"] for each in after}) == 1, "another has taken its place"
    pairs, under_way = sum(each["pairs"] for each in done), 2 * CASES // 8  # two shares of six cases
    assert CASES <= pairs <= CASES + under_way, "what was stored is not scored again"
    assert sum(each["pairs"] for each in after) < CASES


def _count_rows(cursor: Any, _: str) -> int:
    cursor.execute("SELECT count(*) FROM ratings WHERE rater = 'wer'")
    return int(cursor.fetchone()[0])


def loads(folder: Path) -> list[tuple[int, int]]:
    """The processes that loaded a model by the stand-in, with their parents."""
    found = [line.split() for line in lines(folder / "loads.log")]
    return [(int(process), int(parent)) for process, parent in found]


def test_a_judge_in_process_is_loaded_on_its_worker_and_never_here(
    cluster: Any, write_study: Write, postgres_url: str, tmp_path: Path
) -> None:
    weights = write_weights(tmp_path / "judge", window=4000)
    with endpoint(tmp_path / "answered.log") as url:
        judges = [
            {"kind": "openai", "name": "paid", "url": url, "model": "m"},
            {"kind": "transformers", "name": "local", "weights": "judge", "gpus": 1},
        ]
        study = write_study(cases=cases(12), store=postgres_url, judges=judges)
        assert finished(start(study, cluster, "--dry-run"))[0] == 0
        assert loads(weights) == [], "a plan loads nothing"
        status, told = finished(start(study, cluster))
        assert status == 0, told
    assert {parent for _, parent in loads(weights)} == {nodes(cluster)[1]}
    assert len(loads(weights)) == 1, "the worker that has proven that it loads does the work"
    with open_store(postgres_url) as store:
        rated = Counter(row.rater for row in store.ratings() if row.status == "scored")
    assert rated == {"paid": 36, "local": 36}


def test_a_judge_that_cannot_be_loaded_on_its_worker_ends_the_run_before_anything_is_paid(
    cluster: Any, write_study: Write, postgres_url: str, tmp_path: Path
) -> None:
    weights = write_weights(tmp_path / "judge", window=4000)
    (weights / "broken").touch()
    log = tmp_path / "answered.log"
    with endpoint(log) as url:
        judges = [
            {"kind": "openai", "name": "paid", "url": url, "model": "m"},
            {"kind": "transformers", "name": "local", "weights": "judge", "gpus": 1},
        ]
        study = write_study(cases=cases(12), store=postgres_url, judges=judges)
        status, told = finished(start(study, cluster))
        assert status == 2 and "cannot be loaded" in told
        assert not lines(log) and not lines(log.with_name(f"{log.name}.arrived")), "nobody was asked"
        assert {parent for _, parent in loads(weights)} == {nodes(cluster)[1]}


def test_judges_that_need_the_same_gpu_are_proven_and_asked_one_after_another(
    cluster: Any, write_study: Write, postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crew, "_PLACE_SECONDS", 5.0)
    judges = []
    for name in ("first", "second"):
        write_weights(tmp_path / name, window=4000)
        judges.append({"kind": "transformers", "name": name, "weights": name, "gpus": 1})
    study = write_study(cases=cases(6), store=postgres_url, judges=judges)
    result = run_study(load_study(study), cluster=(cluster.address, 2))
    assert result.status == "complete", result.why
    with open_store(postgres_url) as store:
        assert Counter(row.rater for row in store.ratings()) == {"first": 18, "second": 18}
    assert {len(loads(tmp_path / name)) for name in ("first", "second")} == {1, 2}, "the first gave way"


def test_a_model_by_transformers_judges_on_a_worker(
    cluster: Any, write_study: Write, postgres_url: str, tmp_path: Path, tiny: Path
) -> None:
    judge = {"kind": "transformers", "name": "local", "weights": str(tiny), "max_tokens": 8, "reasks": 0,
             "cpus": 1}  # fmt: skip
    study = write_study(cases=cases(4), store=postgres_url, judges=[judge], max_unscored=1)
    status, told = finished(start(study, cluster, "--keep-going"))
    assert status == 0, told
    with open_store(postgres_url) as store:
        rows = list(store.ratings())
    assert {(row.rater, row.status, row.reason) for row in rows} == {("local", "unscored", "truncated")}
    assert {row.model_answered for row in rows} == {"tiny"} and len(rows) == 12
