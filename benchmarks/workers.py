"""Two workers of a Ray cluster beside one where the processor is what limits, and the memory of each over a run.

The judge is the embedded model with one thread in each worker: it computes inside the worker, and nothing is asked
over a wire. One worker and two take turns, and of each the best is taken: what others do on the machine meanwhile
is not ours. How much of a core the workers had is told beside it, and so is what two processes that only multiply
matrices get here beside one, before and after: where that is below 1.7, the machine has no two cores to give, and
nothing is compared. Then two workers judge many cases against a loopback server, and the memory that each has to
itself is looked at all the while.

It needs Ray (`make test-ray` makes such an environment) and two cores: `python -m benchmarks workers`. It ends
within three minutes, whatever else the machine does: turns are repeated while there is time for them, and what
there was no time for is named. `MEDJURY_WORKERS_SECONDS` gives it more; `MEDJURY_WORKERS_CASES`,
`MEDJURY_WORKERS_ROUNDS` and `MEDJURY_WORKERS_MANY` are its sizes.
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
SECONDS = int(os.environ.get("MEDJURY_WORKERS_SECONDS", "170"))  # for everything
CASES = int(os.environ.get("MEDJURY_WORKERS_CASES", "16"))  # of the embedded model, in each turn
ROUNDS = int(os.environ.get("MEDJURY_WORKERS_ROUNDS", "2"))
MANY = int(os.environ.get("MEDJURY_WORKERS_MANY", "2000"))  # cases over which memory is looked at
AT_LEAST, AT_MOST = 1.7, 1.1
_SECONDS = 2.0  # of multiplying, for what the machine gives
_FOR_MEMORY = 45.0  # seconds that are kept for it
_TO_END = 8.0  # for the cluster and the database
_FEWEST_LOOKS = 8


class TooSlowError(Exception):
    """There was no time for a turn."""


def run() -> Iterator[dict[str, Any]]:
    until = time.monotonic() + SECONDS - _TO_END
    with tempfile.TemporaryDirectory(prefix="medjury-workers-") as name, local_postgres() as server:
        folder = Path(name)
        with local_cluster() as cluster:
            yield from _embedded(folder, cluster, server, until - _FOR_MEMORY)
            with endpoint(0.0) as (url, _):
                yield from _memory(folder, cluster, server, url, until)


# What the machine gives


def _machine() -> float:
    """How many times as much two processes that do nothing but compute get done as one."""
    return _products(2) / _products(1)


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


def _embedded(folder: Path, cluster: Cluster, server: str, until: float) -> Iterator[dict[str, Any]]:
    write_cases(folder / "few.jsonl", CASES, "Summary {}: the patient has no chest pain and no fever.")
    judge = {"kind": "embedded", "name": "juror", "threads": 1, "max_tokens": 60}
    turns: dict[int, list[Turn]] = {1: [], 2: []}
    looks: dict[int, list[Look]] = {}
    gives = [_machine()]
    for number in range(ROUNDS):
        begun = time.monotonic()
        for workers in (1, 2):
            name = f"scaled{workers}_{number}"
            store = new_database(server, name)
            study = write_study(
                folder / f"{name}.yaml", name, "few.jsonl", store, judge, dimensions=["accuracy"]
            )
            try:
                found = _turn(study, cluster, workers, looks, until)
            except TooSlowError:
                print(f"  {workers} {_workers(workers)}: not done in time, with {_load()}", flush=True)
                break
            turns[workers].append(found)
            print(
                f"  {workers} {_workers(workers)}: {found.pace:.2f} cases/s, "
                f"{found.computed:.2f} s of CPU a case, {found.share:.0%} of a core each",
                flush=True,
            )
        if 2 * time.monotonic() - begun > until:  # another round like this one would not end in time
            break
    gives.append(_machine())
    told = " and ".join(f"{each:.2f} x" for each in gives)
    print(f"  the machine: two processes that only compute get {told} what one gets; {_load()}", flush=True)
    yield _compared(turns, min(gives))
    yield _flat("memory of a worker with the model", max(looks.values(), key=len, default=[]))


def _compared(turns: dict[int, list[Turn]], gives: float) -> dict[str, Any]:
    name = "the embedded model, 2 workers beside 1"
    if not all(turns.values()):
        return _unknown(name, "no time for it", ">= 1.7 x")
    one, two = (max(turns[workers]) for workers in (1, 2))
    ratio = round(two.pace / one.pace, 2)
    told = f"{two.pace:.2f} cases/s", f"{one.pace:.2f} cases/s"
    shown = row(name, *told, f"{ratio} x", ">= 1.7 x", ratio >= AT_LEAST)
    if gives < AT_LEAST and not shown["holds"]:
        shown |= {"peer": f"machine gives {gives:.2f} x", "holds": None}
    return shown


def _unknown(name: str, why: str, target: str) -> dict[str, Any]:
    return {"name": name, "ours": "not measured", "peer": why, "ratio": "", "target": target, "holds": None}


def _workers(number: int) -> str:
    return "worker" if number == 1 else "workers"


def _load() -> str:
    return f"{os.getloadavg()[0]:.1f} processes waiting on {os.cpu_count()} cores"


def _turn(study: Path, cluster: Cluster, workers: int, looks: dict[int, list[Look]], until: float) -> Turn:
    """Counted from when each worker has given its first answer, for that took loading, until one has nothing left
    to do."""
    before = set(looks)
    with driver(study, cluster, workers) as running:
        while running.poll() is None:
            look_at(cluster, looks)
            time.sleep(0.5)
            if time.monotonic() > until:
                raise TooSlowError
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


def _memory(folder: Path, cluster: Cluster, server: str, url: str, until: float) -> Iterator[dict[str, Any]]:
    """Where the time is up, what was seen until then is told: the memory of a run that goes on is as good."""
    write_cases(folder / "many.jsonl", MANY, "Summary {}.")
    judge = {"kind": "openai", "name": "juror", "url": url, "model": "m", "concurrency": 32}
    study = write_study(folder / "many.yaml", "many", "many.jsonl", new_database(server, "many"), judge)
    looks: dict[int, list[Look]] = {}
    with driver(study, cluster, 2) as running:
        while running.poll() is None:
            look_at(cluster, looks)
            time.sleep(0.1)
            if time.monotonic() > until:
                print(f"  the run over {MANY:,} cases was not done in time, with {_load()}", flush=True)
                break
        done = running.poll() is not None
        output = running.stdout.read() if done and running.stdout else ""
    if done and running.returncode:
        raise RuntimeError(output)
    over = f"over {MANY:,} cases" if done else "until time was up"
    for place, series in enumerate((sorted(looks.values(), key=len) or [[]])[-2:], 1):
        yield _flat(f"memory of worker {place} {over}", series)


def _flat(name: str, looks: list[Look]) -> dict[str, Any]:
    if len(looks) < _FEWEST_LOOKS:
        return _unknown(f"{name}, last to second quarter", f"{len(looks)} looks", "<= 1.1 x")
    early, late = growth(looks)
    ratio = round(late / early, 2)
    resident = max(each.resident for each in looks)
    told = f"{len(looks)} looks, {late:.0f} MB", f"{early:.0f} MB, RSS {resident:.0f} MB"
    return row(f"{name}, last to second quarter", *told, f"{ratio} x", "<= 1.1 x", ratio <= AT_MOST)
