"""`medjury run` without its report, which takes longer to draw than a small run takes; and what the run left."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import polars
from tests.loopback import Call, LoopbackServer
from tests.processes import kill, start, wait_until

from medjury.cli import main


def run_without_report(study: Path, *flags: str) -> int:
    """The exit status of `medjury run STUDY --quiet`, with all that it says but of the report."""
    with patch("medjury.cli.run.print_report", return_value=None):
        return main(["run", str(study), "--quiet", *flags])


def ratings_of(study: Path) -> polars.DataFrame:
    """All rows of the run of a study called `small`, as `write_study` writes it."""
    return polars.read_parquet(study.parent / "runs" / "small" / "ratings.parquet")


def votes_of(study: Path) -> polars.DataFrame:
    """The judges' own rows, case by case, without the composite that follows from them."""
    rows = ratings_of(study).filter(polars.col("dimension") != "overall", rater_kind="judge")
    return rows.sort("item", maintain_order=True)


def records_of(study: Path) -> list[dict[str, Any]]:
    """How each rating came about, case by case."""
    lines = (study.parent / "runs" / "small" / "records.jsonl").read_text(encoding="utf-8").splitlines()
    return sorted(map(json.loads, lines), key=lambda each: (each["item"], each["repeat"]))


def manifest_of(study: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((study.parent / "runs" / "small" / "manifest.json").read_text())
    return found


def killed_at(study: Path, server: LoopbackServer, waits: Callable[[Call], bool]) -> None:
    """A run is killed while the endpoint has a request for which `waits` holds, and has not answered it."""
    reached, answers = threading.Event(), server.endpoint.behaviours

    def hang(call: Call) -> str | None:
        if waits(call):
            reached.set()
            return "latency:60"
        return answers(call) if callable(answers) else None

    server.endpoint.behaviours = hang
    killed = start(study)
    wait_until(reached.is_set, killed)
    kill(killed)
    server.endpoint.behaviours = answers


def step_of(call: Call) -> str:
    """Which step of which way of judging a request is, by the form of its answer."""
    names = call.schema["properties"] if call.schema else {}
    steps = {"statement": "turn", "speaker": "question", "text": "writer"}
    return next((word for name, word in steps.items() if name in names), "grades")


def disagree(call: Call) -> str:
    """Raters who disagree, so that there is something to talk about; otherwise as the schema says."""
    if step_of(call) == "grades" and "You are low_scorer," in call.prompt:
        names = ("accuracy", "completeness", "clarity")
        return "ok:" + json.dumps({name: {"explanation": "poor", "score": 1} for name in names})
    return "ok"
