"""The evidence browser of a run of 10,000 cases, 3 judges, 4 dimensions, notes of about 6,000 characters.

It is served on this machine in a process of its own, and asked for pages of every kind, each at other addresses.
Told are the 95th percentile of the time to a page's last byte, the time until the first page can be served, and the
memory of the server with all texts in it.
"""

from __future__ import annotations

import http.client
import json
import resource
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

CASES, DIMENSIONS, RATED = 10_000, 4, 1_000
REQUESTS = 60
ROOT = Path(__file__).parent.parent
WORDS = [
    "patient", "denies", "chest", "pain", "fever", "cough", "weight", "stable", "blood", "pressure", "pulse",
    "regular", "abdomen", "soft", "heparin", "warfarin", "metformin", "insulin", "creatinine", "potassium",
    "sodium", "follow", "haemoglobin", "discharge", "up", "clinic", "weeks", "mg", "daily", "twice",
]  # fmt: skip


def run() -> Iterator[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        _alone("plant", folder)
        found = json.loads(_alone("measure", folder).splitlines()[-1])
    for kind, seconds in found["pages"].items():
        yield {
            "name": f"{kind}, p95 of {REQUESTS} requests",
            "ours": f"{1000 * seconds['p95']:.0f} ms",
            "peer": f"median {1000 * seconds['median']:.0f} ms",
            "ratio": f"{seconds['p95'] / seconds['median']:.1f} x",
            "target": "shown",
            "holds": None,
        }
    told = {"name": f"{CASES:,} cases opened and checked", "target": "", "holds": None, "ratio": ""}
    yield told | {"ours": f"{found['opened']:.1f} s", "peer": f"index and queues {found['warm']:.1f} s more"}
    told = {"name": "memory of the server", "target": "", "holds": None, "ratio": ""}
    yield told | {"ours": f"{found['memory']:.0f} MB", "peer": f"texts {found['texts']:.0f} MB in their file"}


def _alone(what: str, folder: str) -> str:
    """Do it in a process of its own, whose memory is then its own too."""
    command = [sys.executable, "-m", "benchmarks.view", what, folder]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return done.stdout


def _measure(folder: Path) -> dict[str, Any]:
    from medjury.panel._evidence._run import EvidenceRun

    began = time.perf_counter()
    run = EvidenceRun(folder / "run")
    assert not run.state.texts.why_not, run.state.texts.why_not
    opened = time.perf_counter() - began
    run.warm_up()
    warm = time.perf_counter() - began - opened
    pages = _pages(run)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    texts = (folder / "cases.jsonl").stat().st_size / 1e6
    return {"opened": opened, "warm": warm, "pages": pages, "memory": memory, "texts": texts}


def _plant(folder: Path) -> None:
    """A study of long notes with a finished run."""
    from tests.panel.evidence.planted_run import plant_study
    from tests.report.planted import planted_frame

    ratings = planted_frame(
        cases=CASES,
        dimensions=[f"dimension-{number}" for number in range(DIMENSIONS)],
        rated_cases=RATED,
        unscored=0.01,
        explanation="The summary leaves out “follow up clinic weeks” that the notes name twice. " * 3,
    )
    draw = Random(7)
    texts = {
        f"case-{number:04d}": {
            "notes": [
                {"id": f"n{note}", "text": " ".join(draw.choices(WORDS, k=330)), "date": "2025-01-02"}
                for note in range(3)
            ],
            "candidate": " ".join(draw.choices(WORDS, k=120)),
        }
        for number in range(CASES)
    }
    plant_study(folder, ratings, texts=texts, report={})


def _pages(run: Any) -> dict[str, dict[str, float]]:
    import uvicorn

    from medjury.panel._evidence._serve import OneTimeLink, view_app

    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        port = bound.getsockname()[1]
        door = OneTimeLink(port)
        app = view_app(run, door, hosts=frozenset({"127.0.0.1"}))
        server = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="off"))
        thread = threading.Thread(target=lambda: server.run(sockets=[bound]), daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.02)
        browser = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        browser.request("GET", f"/open/{door.token}")
        answer = browser.getresponse()
        answer.read()
        kept = {"Cookie": (answer.getheader("Set-Cookie") or "").partition(";")[0]}
        found = {kind: _timed(browser, kept, paths) for kind, paths in _paths(run).items()}
        server.should_exit = True
        thread.join(timeout=30)
    return found


def _paths(run: Any) -> Mapping[str, Sequence[str]]:
    draw = Random(11)
    state = run.state
    places = [draw.randrange(CASES) for _ in range(REQUESTS)]
    pages = [draw.randrange(1, CASES // 50) for _ in range(REQUESTS)]
    pairs = [draw.sample(WORDS, 2) for _ in range(REQUESTS)]
    names = [f"dimension-{draw.randrange(DIMENSIONS)}" for _ in range(REQUESTS)]
    return {
        "first page": ["/"] * REQUESTS,
        "list, any of 200 pages": [f"/cases?page={page}" for page in pages],
        "list by largest difference": [f"/cases?sort=difference&dimension={name}" for name in names],
        "triage queue": [f"/cases?show=queue&dimension={name}&page={pages[0]}" for name in names],
        "dangerous answers": [f"/cases?show=dangerous&dimension={name}" for name in names],
        "without a score, by reason": [f"/cases?show=unscored&reason=parse&dimension={name}" for name in names],
        "search for two words": [f"/cases?q={one}+{two}" for one, two in pairs],
        "case": [state.address(place) for place in places],
        "case within a list": [f"{state.address(place)}?sort=difference" for place in places],
    }  # fmt: skip


def _timed(
    browser: http.client.HTTPConnection, kept: Mapping[str, str], paths: Sequence[str]
) -> dict[str, float]:
    spent = []
    for path in paths:
        began = time.perf_counter()
        browser.request("GET", path, headers=dict(kept))
        answer = browser.getresponse()
        answer.read()
        spent.append(time.perf_counter() - began)
        assert answer.status == 200, (path, answer.status)
    spent.sort()
    return {"median": spent[len(spent) // 2], "p95": spent[int(0.95 * (len(spent) - 1))]}


if __name__ == "__main__":
    if sys.argv[1] == "plant":
        _plant(Path(sys.argv[2]))
    else:
        print(json.dumps(_measure(Path(sys.argv[2]))))
