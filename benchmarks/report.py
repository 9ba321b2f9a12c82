"""The report of a large run: 3,000 cases, 10 systems, 3 judges, 4 dimensions, two clinicians on every tenth case.

Time is that of `write_page` in a process of its own, figures and saved tables included.

Then `report`, `compare` and `audit` of 360 answers, as a user types them: their processor time now and, with
`--before FOLDER` (a checkout of an older state), that of the older state on the same files in the same run.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks._answers import CASES as STUDY_CASES
from benchmarks._answers import SYSTEM_VENDORS, cpu_seconds, write_study

CASES, SYSTEMS, DIMENSIONS = 3_000, 10, 4
MEGABYTES = 5.0
# What a command may take of the processor time that it took before: as much, and what a busy machine adds.
SHARE = 1.05
ROOT = Path(__file__).parent.parent


def run(before: Path | None = None) -> Iterator[dict[str, Any]]:
    yield from _large()
    yield from _commands(before)


def _large() -> Iterator[dict[str, Any]]:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.report", "measure"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    found = json.loads(done.stdout.splitlines()[-1])
    rows = f"{found['ratings']:,} ratings, {found['memory']:.0f} MB of memory"
    yield {
        "name": f"report of {CASES:,} cases x {SYSTEMS} systems x {DIMENSIONS} dimensions, time",
        "ours": f"{found['wall']:.1f} s ({found['cpu']:.1f} s CPU)",
        "peer": rows,
        "ratio": "",
        "target": "shown",
        "holds": None,
    }
    yield {
        "name": "the same report, size of the page",
        "ours": f"{found['size']:.2f} MB",
        "peer": "one self-contained file",
        "ratio": f"{found['size'] / MEGABYTES:.2f} of what is allowed",
        "target": f"< {MEGABYTES:g} MB",
        "holds": found["size"] < MEGABYTES,
    }


def _commands(before: Path | None) -> Iterator[dict[str, Any]]:
    answers = STUDY_CASES * len(SYSTEM_VENDORS)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for name, command in write_study(place / "study").items():
            checkouts = {ROOT: place / "compiled"}
            if before is not None:
                checkouts[before.resolve()] = place / "compiled before"
            now, *others = cpu_seconds(checkouts, command)
            then = others[0] if others else None
            yield {
                "name": f"{name} of {answers} answers, processor time",
                "ours": f"{now:.1f} s CPU",
                "peer": "before: give --before FOLDER" if then is None else f"before: {then:.1f} s CPU",
                "ratio": "" if then is None else f"{now / then:.2f}",
                "target": f"<= {SHARE:g} of before",
                "holds": None if then is None else now / then <= SHARE,
            }


def _measure(rated: int) -> dict[str, float]:
    from tests.report.planted import planted_frame, write_run

    from medjury.report import write_page

    ratings = planted_frame(
        cases=CASES,
        systems=[f"system-{number}" for number in range(SYSTEMS)],
        dimensions=[f"dimension-{number}" for number in range(DIMENSIONS)],
        rated_cases=rated,
        unscored=0.01,
        explanation="The summary leaves out the anticoagulant that the notes name twice. " * 4,
    )
    with tempfile.TemporaryDirectory() as folder:
        run = write_run(Path(folder), ratings, report={})
        wall, cpu = time.perf_counter(), time.process_time()
        page = write_page(run)
        return {
            "wall": time.perf_counter() - wall,
            "cpu": time.process_time() - cpu,
            "size": page.stat().st_size / 1e6,
            "ratings": ratings.height,
            "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        }


if __name__ == "__main__":
    print(json.dumps(_measure(int(sys.argv[2]) if len(sys.argv) > 2 else CASES // 10)))
