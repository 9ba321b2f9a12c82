"""`medjury run` as a user types it, all in: reading the cases, 6,000 calls of one case each, run folder, report.

The endpoint is a loopback server in a process of its own, without latency, and its share of the processor is told
beside ours: on a machine with few cores it takes a good part of the clock. Calls a second by the clock are told and
held to nothing, since the machine may be busy; CPU is this command's own. With `--before FOLDER` (a checkout of
an older state) the older state runs the same study in turn, and calls per second of CPU are compared, the best of
five turns each: one turn differs from the next by some hundredths.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks._endpoint import ROOT, endpoint

CALLS, CHARACTERS, CONCURRENCY, ROUNDS = 6_000, 5_000, 64, 5
# How many times as many calls as before a second of CPU is to be enough for.
MORE = 2.0


def run(before: Path | None = None) -> Iterator[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as name, endpoint() as (url, server):
        folder = Path(name)
        _write_study(folder, url)
        rounds = [
            (
                _measure(ROOT, folder, server),
                None if before is None else _measure(before.resolve(), folder, server),
            )
            for _ in range(1 + ROUNDS)
        ][1:]  # the first turn compiles
    now = min((each for each, _ in rounds), key=lambda each: each["cpu"])
    then = min((each for _, each in rounds if each is not None), key=lambda each: each["cpu"], default=None)
    yield _row("calls per second of CPU, all in", now, then, "cpu")
    yield _row("calls per second by the clock, all in", now, then, "wall")
    share = now["server"] / (now["server"] + now["cpu"])
    yield {
        "name": "CPU of the loopback endpoint beside it, per call",
        "ours": f"{1000 * now['server'] / CALLS:.2f} ms",
        "peer": f"ours {1000 * now['cpu'] / CALLS:.2f} ms",
        "ratio": f"{100 * share:.0f} % of both",
        "target": "told",
        "holds": None,
    }


def _row(name: str, now: dict[str, float], then: dict[str, float] | None, what: str) -> dict[str, Any]:
    more = None if then is None else then[what] / now[what]
    judged = what == "cpu" and more is not None
    return {
        "name": name,
        "ours": f"{CALLS / now[what]:,.0f} / s",
        "peer": "before: give --before FOLDER" if then is None else f"before: {CALLS / then[what]:,.0f} / s",
        "ratio": "" if more is None else f"{more:.2f} x",
        "target": f">= {MORE:g} x" if what == "cpu" else "told",
        "holds": more is not None and more >= MORE if judged else None,
    }


def _write_study(folder: Path, url: str) -> None:
    text = "The patient reports no chest pain and no fever. " * 200
    with (folder / "cases.jsonl").open("w", encoding="utf-8") as file:
        for number in range(CALLS):
            case = {"id": f"case-{number}", "candidate": f"Summary {number}: no chest pain.", "system": "model-a",
                    "context": f"{number} {text[:CHARACTERS]}"}  # fmt: skip
            file.write(json.dumps(case) + "\n")
    judge = f"{{kind: openai, name: juror, url: '{url}', model: m, concurrency: {CONCURRENCY}}}"
    (folder / "study.yaml").write_text(
        f"study: calls\ncases: ../cases.jsonl\ninstrument: note_quality\njudges:\n  - {judge}\n",
        encoding="utf-8",
    )


def _measure(code: Path, folder: Path, server: int) -> dict[str, float]:
    """The run in a folder of its own, by the code of one checkout."""
    place = folder / f"{time.time_ns()}"
    place.mkdir()
    shutil.copy(folder / "study.yaml", place)
    command = [sys.executable, "-m", "medjury", "run", "study.yaml"]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment |= {
        "PYTHONPATH": str(code / "src"),
        "PYTHONPYCACHEPREFIX": str(folder / f"compiled-{code.name}"),
    }
    before, start, served = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter(), _cpu_of(server)
    done = subprocess.run(
        command,
        cwd=place,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    output = place / "runs" / "calls"
    log = (output / "audit.jsonl").read_bytes() if done.returncode == 0 else b""
    if log.count(b'"reply":') < CALLS or not (output / "report.html").is_file():
        raise RuntimeError(f"the run did not end well:\n{done.stdout}\n{done.stderr}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"wall": wall, "cpu": cpu, "server": _cpu_of(server) - served}


def _cpu_of(process: int) -> float:
    """Seconds that a living process has computed, as Linux tells them."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    for row in run(Path(sys.argv[1]) if len(sys.argv) > 1 else None):
        print(row)
