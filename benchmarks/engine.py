"""The whole path of a call (render, look up, call, read, store) beside bare aiohttp, against one loopback server.

CPU is this process's own; the server runs in another. Both sides are measured in turn, several times, and of each
the least is taken: what other work on the machine adds is not theirs. Memory is the peak of a process that judges
2,000 and 100,000 cases without latency.
"""

from __future__ import annotations

import asyncio
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks._endpoint import endpoint

CALLS = 2_000
CONCURRENCY = 64
LATENCY = 0.2
ROUNDS = 4
CHARACTERS = 6_000
ROOT = Path(__file__).parent.parent


def run() -> Iterator[dict[str, Any]]:
    with endpoint(LATENCY) as (url, _):
        rounds = [(_measure("bare", url, CALLS), _measure("ours", url, CALLS)) for _ in range(ROUNDS)]
    bare, ours = (
        {name: min(each[name] for each in side) for name in ("cpu", "wall")}
        for side in zip(*rounds, strict=True)
    )
    ideal = CALLS * LATENCY / CONCURRENCY
    per_call = {name: 1000 * value["cpu"] / CALLS for name, value in (("bare", bare), ("ours", ours))}
    ratio = per_call["ours"] / per_call["bare"]
    yield _row("CPU per call against bare aiohttp", f"{per_call['ours']:.2f} ms", f"{per_call['bare']:.2f} ms",
               ratio, "<= 3.0 x", 3.0)  # fmt: skip
    yield _row(f"wall time at {LATENCY * 1000:.0f} ms latency against N*L/C", f"{ours['wall']:.2f} s",
               f"ideal {ideal:.2f} s", ours["wall"] / ideal, "<= 1.10 x", 1.10)  # fmt: skip
    with endpoint() as (url, _):
        small = _measure("ours", url, 2_000)["memory"]
        large = _measure("ours", url, 100_000)["memory"]
    yield _row("peak memory, 100,000 against 2,000 cases", f"{large:.0f} MB", f"{small:.0f} MB",
               large / small, "<= 1.2 x", 1.2)  # fmt: skip


def _row(name: str, ours: str, peer: str, value: float, target: str, limit: float) -> dict[str, Any]:
    return {"name": name, "ours": ours, "peer": peer, "ratio": f"{value:.2f} x", "target": target,
            "holds": value <= limit}  # fmt: skip


def _measure(what: str, url: str, calls: int) -> dict[str, float]:
    """Each measurement in a process of its own, so that none inherits another's memory."""
    command = [sys.executable, "-m", "benchmarks.engine", what, url, str(calls)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)
    result: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return result


def _judge(url: str, calls: int) -> tuple[float, float]:
    """Wall and CPU seconds of the engine alone; reading cases and writing the run folder are not calls, nor is
    loading the HTTP library, which both sides have done before the clock starts."""
    import aiohttp  # noqa: F401

    from medjury.instruments import TRANSIENT, load_instrument
    from medjury.intake.cases import Case
    from medjury.judging import Judge, Progress, judge_all, run_async
    from medjury.models import AuditLog, Gate, Limits, make_model
    from medjury.store.ratings import StoreDesk, open_store

    model = make_model("openai", name="juror", url=url, model="m")
    judge = Judge(model, load_instrument("note_quality"))
    text = "The patient reports no chest pain and no fever. " * 200
    rubric = sum(
        len(message.content)
        for message in judge.request(judge.units(_case(Case, 0, text[:100]), 0)[0]).messages
    )
    text = text[: max(100, CHARACTERS - rubric)]
    progress = Progress(planned=calls)
    times: list[float] = []

    async def work(folder: str) -> None:
        with open_store(Path(folder) / "ratings.sqlite") as store:
            async with StoreDesk(store, "bench") as desk:
                gate = Gate(
                    cache=desk,
                    audit=AuditLog(Path(folder) / "audit.jsonl"),
                    limits={"juror": Limits(concurrency=CONCURRENCY)},
                )
                wall, cpu = time.perf_counter(), time.process_time()
                await judge_all(
                    (_case(Case, number, text) for number in range(calls)),
                    [judge],
                    repeats=1,
                    gate=gate,
                    ledger=desk,
                    run="bench",
                    retry=TRANSIENT,
                    workers={"juror": CONCURRENCY * 2},
                    progress=progress,
                    stop=asyncio.Event(),
                )
                times.extend((time.perf_counter() - wall, time.process_time() - cpu))
                await model.close()

    with tempfile.TemporaryDirectory() as folder:
        run_async(work(folder))
    assert progress.judged == calls and not progress.unscored
    return times[0], times[1]


def _case(kind: Any, number: int, text: str) -> Any:
    return kind(f"case-{number}", f"Summary {number}: no chest pain.", texts={"context": f"{number} {text}"})


def _bare(url: str, calls: int) -> tuple[float, float]:
    """The same bodies, posted with aiohttp and nothing else."""
    import aiohttp

    from medjury.instruments import load_instrument, output_schema
    from medjury.judging import run_async

    schema = output_schema(load_instrument("note_quality"))
    times: list[float] = []

    async def work() -> None:
        numbers = iter(range(calls))
        connector = aiohttp.TCPConnector(limit=0)
        async with aiohttp.ClientSession(connector=connector) as session:

            async def post() -> None:
                for number in numbers:
                    body = {
                        "model": "m",
                        "messages": [{"role": "user", "content": f"{number} " + "x" * CHARACTERS}],
                        "response_format": {
                            "type": "json_schema",
                            "json_schema": {"name": "answer", "schema": schema, "strict": True},
                        },
                    }
                    async with session.post(f"{url}/chat/completions", json=body) as response:
                        await response.json()

            wall, cpu = time.perf_counter(), time.process_time()
            await asyncio.gather(*(post() for _ in range(CONCURRENCY)))
            times.extend((time.perf_counter() - wall, time.process_time() - cpu))

    run_async(work())
    return times[0], times[1]


if __name__ == "__main__":
    wall, cpu = (_judge if sys.argv[1] == "ours" else _bare)(sys.argv[2], int(sys.argv[3]))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"wall": wall, "cpu": cpu, "memory": memory}))
