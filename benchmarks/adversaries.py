"""Planted juries before the gate, 50 seeds each: how many bad ones pass a rule that their defect concerns (at most
5 %), and how many good ones are validated (at least 80 %) in studies of the size that `medjury plan gate
--simulate` asks for. The page on trust tells these sizes. `ADVERSARY_SEEDS` sets another number of seeds, and
`ADVERSARIES` names some of the juries: "constant; random; good"."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.report.adversaries.juries import BAD, GOOD, Planted
from tests.report.adversaries.planned import planned_cases

SEEDS = int(os.environ.get("ADVERSARY_SEEDS", "50"))
MOST_BAD, FEWEST_GOOD = 0.05, 0.80
PAGE = Path(__file__).parents[1] / "docs" / "trusting-a-jury.md"


def run() -> Iterator[dict[str, Any]]:
    """One row per claim: name, ours, peer, ratio, target, holds."""
    print(
        f"{SEEDS} seeds of each jury; bad ones: how often a rule that must fail did not, good ones: VALIDATED"
    )
    for planted in _named(os.environ.get("ADVERSARIES", "")):
        yield from _rows(planted)


def _named(words: str) -> list[Planted]:
    """The juries that a text such as "constant; good" names; all where it names none."""
    known = {planted.name: planted for planted in (*BAD, *GOOD)}
    names = [name for word in words.split(";") if (name := word.strip())] or list(known)
    if unknown := [name for name in names if name not in known]:
        raise SystemExit(f"ADVERSARIES: there is no jury {unknown[0]!r}; there are {'; '.join(known)}.")
    return [known[name] for name in names]


def _rows(planted: Planted) -> Iterator[dict[str, Any]]:
    cases = planned_cases(planted, simulated=True) if planted.good else None
    passed, validated = dict.fromkeys(planted.fails, 0), 0
    for seed in range(SEEDS):
        with tempfile.TemporaryDirectory() as folder:
            verdict = planted.verdict(Path(folder), seed, cases)
        validated += verdict.word == "VALIDATED"
        states = {rule.name: rule.state for rule in verdict.rules}
        for name in planted.fails:
            passed[name] += states[name] != "not met"
    if cases is not None:
        name = f"{planted.name}, {cases:,} cases as planned"
        yield _row(name, "VALIDATED", validated, ">= 80 %", validated >= FEWEST_GOOD * SEEDS)
        told = f"| {planted.name} | nothing: a good jury, {cases:,} cases |" in PAGE.read_text("utf-8")
        yield {
            "name": "  its size on the page on trust",
            "ours": f"{cases:,}",
            "peer": "told" if told else "not told",
            "ratio": "",
            "target": "told",
            "holds": told,
        }
        return
    yield _row(planted.name, "VALIDATED", validated, "none", not validated)
    for name, count in passed.items():
        yield _row(f"  {name}", "passes", count, "<= 5 %", count <= MOST_BAD * SEEDS)


def _row(name: str, what: str, count: int, target: str, holds: bool) -> dict[str, Any]:
    return {
        "name": name,
        "ours": f"{count} of {SEEDS}",
        "peer": what,
        "ratio": f"{100 * count / SEEDS:.0f} %",
        "target": target,
        "holds": holds,
    }
