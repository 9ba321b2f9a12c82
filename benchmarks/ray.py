"""A study on a Ray cluster whose workers and nodes are killed at random: nothing lost, nothing doubled, every
request in the log, the budget kept, memory flat.

The cluster has a head without work and two nodes of one worker each, all on this machine; the
store is a PostgreSQL, the models a loopback server. It needs Ray (`make test-ray` makes such an environment) and
takes a quarter of an hour on an idle machine: `python -m benchmarks ray`. Fewer cases: `MEDJURY_RAY_CASES=2000`.
`python -m benchmarks workers` measures two workers beside one.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

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
CASES = int(os.environ.get("MEDJURY_RAY_CASES", "20000"))
KILLS = int(os.environ.get("MEDJURY_RAY_KILLS", "20"))
CONCURRENCY = 32
LATENCY = 0.02


def run() -> Iterator[dict[str, Any]]:
    seed = int(os.environ.get("MEDJURY_RAY_SEED", "20261116"))
    with tempfile.TemporaryDirectory(prefix="medjury-ray-") as name, local_postgres() as server:
        folder = Path(name)
        with local_cluster() as cluster, endpoint(LATENCY, folder / "answered") as (url, _):
            yield from _killed(folder, cluster, server, url, random.Random(seed))


def _killed(
    folder: Path, cluster: Cluster, server: str, url: str, chance: random.Random
) -> Iterator[dict[str, Any]]:
    """First with a budget that ends at three quarters of the cases, then with one that is ample."""
    store = new_database(server, "killed")
    write_cases(folder / "cases.jsonl", CASES, "Summary {}.")
    log, started = folder / "answered", time.monotonic()
    kills: Counter[str] = Counter()
    looks: dict[int, list[Look]] = {}
    tight, ample = CASES * 3 // 4, CASES + KILLS * CONCURRENCY
    over = []
    for cap, until in ((tight, KILLS * 7 // 10), (ample, KILLS)):
        study = _killed_study(folder, store, url, cap)
        with driver(study, cluster, 2) as run:
            while sum(kills.values()) < until and run.poll() is None:
                _wait(run, log, (sum(kills.values()) + 1) * CASES // (KILLS + 3), cluster, looks)
                time.sleep(chance.uniform(0, 2))
                kills[_kill(cluster, chance)] += 1
                told = f"{_count(log):,} answers, {time.monotonic() - started:.0f} s"
                print(f"  killed {sum(kills.values())}: {told}", flush=True)
            _wait(run, log, 2 * ample, cluster, looks)
            status, output = run.returncode, (run.stdout.read() if run.stdout else "")
        print("  " + "\n  ".join(output.strip().splitlines()[:4]), flush=True)
        found = _accounts(folder / "runs" / "killed", store, log, CASES)
        over.append((max(0, found["announced"] - cap), cap, found["announced"]))
    killed, most = sum(kills.values()), sum(kills.values()) * CONCURRENCY
    seconds, of = f"{time.monotonic() - started:.0f} s", f"of {CASES:,} cases"
    names = f"{kills['worker']} workers, {kills['node']} nodes"
    yield row("workers and nodes killed", names, seconds, killed, f"{KILLS}", killed == KILLS)
    lost, doubled = found["lost"], found["doubled"]
    yield row("cases without a rating", lost, of, lost, "0", lost == 0 and status == 0)
    yield row("ratings that are there twice", doubled, of, doubled, "0", doubled == 0)
    unheard = found["announced"] - found["arrived"]
    arrived, announced = f"{found['arrived']:,} arrived", f"{found['announced']:,} announced"
    missing = max(0, -unheard)
    yield row("requests that the log does not have", missing, arrived, missing, "0", unheard >= 0)
    holds = 0 <= unheard <= most
    yield row("lines of requests killed before they left", unheard, announced, unheard, f"<= {most}", holds)
    again = found["arrived"] - found["asked"]
    asked = f"{found['asked']:,} questions"
    yield row("requests made again after a death", again, asked, again, f"<= {most}", again <= most)
    for calls, cap, announced_then in over:
        yield row(
            f"calls over a budget of {cap:,}", calls, f"{announced_then:,} made", calls, "0", calls == 0
        )
    lines = found["lines"]
    yield row("lines of the log, chained", lines, "verified", lines, "", lines >= found["announced"])
    series = max(looks.values(), key=len)
    early, late = growth(series)
    told, ratio = f"{len(series)} looks, {late:.0f} MB", round(late / early, 2)
    yield row(
        "memory of a worker, last to second quarter", told, f"{early:.0f} MB", ratio, "<= 1.1 x", ratio <= 1.1
    )


def _killed_study(folder: Path, store: str, url: str, cap: int) -> Path:
    """What a call costs at most is 1 by these prices, so that the cap in money is one in calls too."""
    judge = {"kind": "openai", "name": "juror", "url": url, "model": "m", "concurrency": CONCURRENCY}
    judge |= {"max_tokens": 100, "price": {"input": 0.0, "output": 1e4}}
    budget = {"calls": cap, "money": 1.0 * cap}
    return write_study(folder / "killed.yaml", "killed", "cases.jsonl", store, judge, budget=budget)


def _kill(cluster: Cluster, chance: random.Random) -> str:
    if chance.random() < 0.6 and cluster.kill_worker(chance):
        return "worker"
    cluster.kill_node(chance)
    return "node"


def _wait(
    run: subprocess.Popen[str], log: Path, answers: int, cluster: Cluster, looks: dict[int, list[Look]]
) -> None:
    """Until so many answers were given, or the run has ended."""
    while _count(log) < answers and run.poll() is None:
        look_at(cluster, looks)
        time.sleep(0.5)


def _accounts(run: Path, store: str, log: Path, cases: int) -> dict[str, int]:
    from medjury.models import verify_audit_log
    from medjury.store.ratings import open_store

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


def _count(file: Path) -> int:
    if not file.exists():
        return 0
    with file.open("rb") as lines:
        return sum(block.count(b"\n") for block in iter(lambda: lines.read(1 << 20), b""))
