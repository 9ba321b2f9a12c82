"""Two workers of a Ray cluster beside one where the processor is what limits, and the memory of each over a run.

The judge is the embedded model with one thread in each worker: it computes inside the worker, and nothing is asked
over a wire. One worker and two take turns, and of each the best is taken: what others do on the machine meanwhile
is not ours. How much of a core the workers had is told beside it, and so is what two processes that only multiply
matrices get here beside one: where that is below 1.7, the machine cannot show it. Then two workers judge many cases
against a loopback server, and the memory that each has to itself is looked at all the while.

It needs Ray (`make test-ray` makes such an environment), two cores, and on an idle machine four minutes:
`python -m benchmarks workers`.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import tempfile
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks._endpoint import endpoint
from benchmarks._ray_cluster import (
    Cluster,
    Look,
    driver,
    growth,
    local_cluster,
    local_postgres,
    look_at,
    new_database,
    row,
    write_cases,
    write_study,
)

ON_REQUEST = True
CASES = int(os.environ.get("MEDJURY_WORKERS_CASES", "40"))  # of the embedded model, in each turn
ROUNDS = int(os.environ.get("MEDJURY_WORKERS_ROUNDS", "2"))
MANY = int(os.environ.get("MEDJURY_WORKERS_MANY", "6000"))  # cases over which memory is looked at
AT_LEAST, AT_MOST = 1.7, 1.1
_SECONDS = 4.0  # of multiplying, for what the machine gives


def run() -> Iterator[dict[str, Any]]:
    yield _machine()
    with tempfile.TemporaryDirectory(prefix="medjury-workers-") as name, local_postgres() as server:
        folder = Path(name)
        with local_cluster() as cluster:
            yield from _embedded(folder, cluster, server)
            with endpoint(0.0) as (url, _):
                yield from _memory(folder, cluster, server, url)


# What the machine gives


def _machine() -> dict[str, Any]:
    """Two processes that do nothing but compute, beside one."""
    one, two = _products(1), _products(2)
    told = f"{two:,.0f} / s", f"{one:,.0f} / s"
    ratio = round(two / one, 2)
    return {"name": "the machine: two processes that only compute, beside one", "ours": told[0], "peer": told[1],
            "ratio": f"{ratio} x", "target": "", "holds": None}  # fmt: skip


def _products(processes: int) -> float:
    """Products of matrices a second, of all processes together."""
    os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        pool.map(_multiply, [0.2] * processes, chunksize=1)  # started, and loaded
        return sum(pool.map(_multiply, [_SECONDS] * processes, chunksize=1)) / _SECONDS


def _multiply(seconds: float) -> int:
    import numpy

    matrix = numpy.full((256, 256), 0.5, dtype=numpy.float32)
    done, until = 0, time.monotonic() + seconds
    while time.monotonic() < until:
        matrix @ matrix
        done += 1
    return done


# Two workers beside one


class Turn(NamedTuple):
    """Cases a second while all workers worked, seconds that a case took of their processors, and how much of a core
    each had, from 0 to 1."""

    pace: float
    computed: float
    share: float


def _embedded(folder: Path, cluster: Cluster, server: str) -> Iterator[dict[str, Any]]:
    write_cases(folder / "few.jsonl", CASES, "Summary {}: the patient has no chest pain and no fever.")
    judge = {"kind": "embedded", "name": "juror", "threads": 1, "max_tokens": 60}
    turns: dict[int, list[Turn]] = {1: [], 2: []}
    looks: dict[int, list[Look]] = {}
    for number in range(ROUNDS):
        for workers in (1, 2):
            name = f"scaled{workers}_{number}"
            store = new_database(server, name)
            study = write_study(
                folder / f"{name}.yaml", name, "few.jsonl", store, judge, dimensions=["accuracy"]
            )
            found = _turn(study, cluster, workers, looks)
            turns[workers].append(found)
            print(
                f"  {workers} {'worker' if workers == 1 else 'workers'}: {found.pace:.2f} cases/s, "
                f"{found.computed:.2f} s of CPU a case, {found.share:.0%} of a core each",
                flush=True,
            )
    one, two = (max(turns[workers]) for workers in (1, 2))
    ratio = round(two.pace / one.pace, 2)
    told = f"{two.pace:.2f} cases/s", f"{one.pace:.2f} cases/s"
    yield row("the embedded model, 2 workers beside 1", *told, f"{ratio} x", ">= 1.7 x", ratio >= AT_LEAST)
    yield _flat("memory of a worker with the model", max(looks.values(), key=len))


def _turn(study: Path, cluster: Cluster, workers: int, looks: dict[int, list[Look]]) -> Turn:
    """Counted from when each worker has given its first answer, for that took loading, until one has nothing left
    to do."""
    before = set(looks)
    with driver(study, cluster, workers) as running:
        while running.poll() is None:
            look_at(cluster, looks)
            time.sleep(0.5)
        output = running.stdout.read() if running.stdout else ""
    ended = _ends(study)
    if len(ended) != workers or sum(map(len, ended.values())) < CASES:
        raise RuntimeError(f"{len(ended)} workers of {workers} gave answers\n{output}")
    begin, end = max(map(min, ended.values())), min(map(max, ended.values()))
    cases = sum(begin < at <= end for answers in ended.values() for at in answers)
    shift = time.time() - time.monotonic()
    series = [
        [each for each in found if begin <= each.at + shift <= end]
        for process, found in looks.items()
        if process not in before
    ]
    working = [each for each in series if len(each) > 1]
    seconds = sum(each[-1].computed - each[0].computed for each in working)
    looked = sum(each[-1].at - each[0].at for each in working) or 1.0
    share = seconds / looked
    pace = cases / (end - begin)
    return Turn(pace, share * workers / pace, share)


def _ends(study: Path) -> dict[str, list[float]]:
    """By worker, when each of its answers was there."""
    log = study.parent / "runs" / study.stem / "audit.jsonl"
    ended: dict[str, list[float]] = {}
    for line in log.read_text().splitlines() if log.exists() else ():
        entry = json.loads(line)
        if entry["event"] == "call":
            moment = datetime.fromisoformat(entry["at"]).timestamp()
            ended.setdefault(entry["worker"], []).append(moment)
    return ended


# Memory


def _memory(folder: Path, cluster: Cluster, server: str, url: str) -> Iterator[dict[str, Any]]:
    write_cases(folder / "many.jsonl", MANY, "Summary {}.")
    judge = {"kind": "openai", "name": "juror", "url": url, "model": "m", "concurrency": 32}
    study = write_study(folder / "many.yaml", "many", "many.jsonl", new_database(server, "many"), judge)
    looks: dict[int, list[Look]] = {}
    with driver(study, cluster, 2) as running:
        while running.poll() is None:
            look_at(cluster, looks)
            time.sleep(0.1)
        output = running.stdout.read() if running.stdout else ""
    if running.returncode:
        raise RuntimeError(output)
    for place, series in enumerate(sorted(looks.values(), key=len)[-2:], 1):
        yield _flat(f"memory of worker {place} over {MANY:,} cases", series)


def _flat(name: str, looks: list[Look]) -> dict[str, Any]:
    early, late = growth(looks)
    ratio = round(late / early, 2)
    resident = max(each.resident for each in looks)
    told = f"{len(looks)} looks, {late:.0f} MB", f"{early:.0f} MB, RSS {resident:.0f} MB"
    return row(f"{name}, last to second quarter", *told, f"{ratio} x", "<= 1.1 x", ratio <= AT_MOST)
