"""Checks of items and candidates, kept beside the results of a suite: a later run or leaderboard shows them too."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from medjury.foundation.errors import MedjuryError
from medjury.foundation.files import write_whole
from medjury.intake.cases import Case
from medjury.suites._baselines import CompletionProbe, ExchangeabilityTest
from medjury.suites._benchmark import Benchmark
from medjury.suites._item import Item
from medjury.suites._leaderboard import MemoryResult, ReachResult
from medjury.suites._library import prompt_of

CHECKS = "checks.json"
INSTRUMENT = "answerable"


def gold_cases(benchmark: Benchmark, items: Sequence[Item]) -> list[Case]:
    """The gold answers of a benchmark as cases for a study with the instrument `answerable`."""
    return [
        Case(item.id, candidate=item.gold[0], texts={"task": prompt_of(benchmark, item)}, system="gold")
        for item in items
        if item.gold
    ]


def keep_answerable(folder: str | Path, benchmark: str, run: str | Path) -> None:
    """Keep what a study with the instrument `answerable` said of a benchmark's items; `run` is its run folder."""
    kept, found = read_checks(folder), _answerable(Path(run))
    others = [each for each in kept["reach"] if each.benchmark != benchmark]
    _write(folder, {**kept, "reach": (*others, ReachResult(benchmark, *found))})


def keep_probe(
    folder: str | Path, candidate: str, benchmark: str, probe: CompletionProbe | ExchangeabilityTest
) -> None:
    """Keep what a probe of memory found of one candidate and benchmark."""
    test = "completion" if isinstance(probe, CompletionProbe) else "order of items"
    made = MemoryResult(candidate, benchmark, test, probe.memorised(), probe.text())
    kept = read_checks(folder)
    same = (candidate, benchmark, test)
    others = [each for each in kept["memory"] if (each.candidate, each.benchmark, each.test) != same]
    _write(folder, {**kept, "memory": (*others, made)})


def read_checks(folder: str | Path) -> dict[str, Any]:
    """What was kept: `reach` and `memory`, as the results of a suite have them."""
    place = Path(folder) / CHECKS
    if not place.is_file():
        return {"reach": (), "memory": ()}
    try:
        told = json.loads(place.read_text(encoding="utf-8"))
        return {
            "reach": tuple(ReachResult(**each) for each in told["reach"]),
            "memory": tuple(MemoryResult(**each) for each in told["memory"]),
        }
    except (OSError, ValueError, TypeError, KeyError):
        raise MedjuryError(f"{place}: cannot be read; remove it and keep the checks again") from None


def _write(folder: str | Path, checks: Mapping[str, Any]) -> None:
    told = {name: [asdict(each) for each in rows] for name, rows in checks.items()}
    write_whole(Path(folder) / CHECKS, json.dumps(told, indent=1, allow_nan=False) + "\n")


def _answerable(run: Path) -> tuple[str, dict[str, float | None]]:
    """Who was asked, and by item 1, 0, or None where there is no score."""
    import polars as pl

    from medjury.tables import open_run

    table = open_run(run)
    judges = [name for name, kind in table.raters.items() if kind == "judge"]
    rater = table.stored_jury or (judges[0] if len(judges) == 1 else "")
    rows = table.everything.filter(pl.col("rater") == rater, pl.col("dimension") == INSTRUMENT)
    if not rater or not rows.height:
        raise MedjuryError(
            f"{run}: holds no word on {INSTRUMENT!r}; run a study with `instrument: {INSTRUMENT}` on gold answers"
        )
    pairs = rows.select("item", "score").iter_rows()
    return ", ".join(judges), {item: _said(score) for item, score in pairs}


def _said(score: float | None) -> float | None:
    """What most judges say; None where they are evenly split, or none said anything."""
    return None if score is None or score == 0.5 else float(score > 0.5)
