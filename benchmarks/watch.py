"""How often does a watch cry wolf, and how soon does it find a drop? `python -m benchmarks watch` simulates streams
of judged cases and writes the tables of docs/watch.md.

Five quantities are watched at once at 5 % over the whole stream, 1 % each. A quiet stream has the mean of the
validation, a stream on the edge lies exactly at every limit: the worst that still may not alarm. A planted drop is
half a grade of five, for clinicians and jury alike, from case 5,001 on; the limit lies a quarter of a grade below
the validated mean.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from medjury.statistics import EProcess

PAGE = Path(__file__).parents[1] / "docs" / "watch.md"
BEGIN, END = "<!-- simulation begins -->", "<!-- simulation ends -->"
STREAMS, CASES, CHANGE, ALPHA = int(os.environ.get("STREAMS", "200")), 10_000, 5_000, 0.05
SHARE, DOUBTFUL, GRADE = 0.1, 0.5, 0.25  # one grade of five, on the scale from 0 to 1
QUANTITIES = ("score", "quality", "disagreement", "coverage", "case_mix")
GRADES = np.arange(5) / 4.0
_MEAN, _LIMIT = 0.62, 0.62 - GRADE / 4
Values = dict[str, np.ndarray[Any, np.dtype[np.float64]]]


def graded(generator: np.random.Generator, mean: float, shape: tuple[int, int]) -> Any:
    """Grades with this mean: a binomial of four trials."""
    return generator.binomial(4, mean, shape) / 4.0


def streams(seed: int, *, edge: bool, drop: bool) -> Values:
    """The values of every quantity, streams by cases."""
    generator, shape = np.random.default_rng([4, seed]), (STREAMS, CASES)
    truth = graded(generator, _LIMIT if edge else _MEAN, shape)
    if drop:
        truth[:, CHANGE:] = graded(generator, _MEAN - GRADE / 2, (STREAMS, CASES - CHANGE))
    moved = generator.choice([-1.0, 0.0, 1.0], shape, p=[0.15, 0.7, 0.15]) * GRADE
    score = np.clip(truth + moved, 0.0, 1.0)
    seen = truth
    if edge:  # jury and clinicians each have a mean exactly at the limit, and are as far apart as is allowed
        score, seen = truth, graded(generator, _LIMIT, shape)
    chance = np.where(score <= 0.25, DOUBTFUL, SHARE)
    drawn = generator.random(shape) < chance
    away = graded(generator, 0.15, shape) if edge else np.abs(score - truth)
    return {
        "score": score,
        "quality": score + drawn / chance * (seen - score),
        "disagreement": drawn * away * SHARE / chance,
        "coverage": (generator.random(shape) < (0.95 if edge else 0.98)).astype(float),
        "case_mix": (generator.random(shape) < (0.10 if edge else 0.05)).astype(float),
    }


def process(quantity: str) -> EProcess:
    """The watch of one quantity, as `medjury watch` has it with these limits."""
    made = {
        "score": lambda: EProcess(_LIMIT, "below", streams=STREAMS),
        "quality": lambda: EProcess(_LIMIT, "below", low=1 - 1 / SHARE, high=1 / SHARE, streams=STREAMS),
        "disagreement": lambda: EProcess(0.15 * SHARE, "above", streams=STREAMS),
        "coverage": lambda: EProcess(0.95, "below", streams=STREAMS),
        "case_mix": lambda: EProcess(0.10, "above", streams=STREAMS),
    }
    return made[quantity]()


def first_alarm(quantity: str, values: Any) -> Any:
    """The case at which each stream alarms, or none (a case that never comes)."""
    watch, found = process(quantity), np.full(STREAMS, np.inf)
    for place in range(values.shape[1]):
        evidence = watch.update(values[:, place])
        found = np.where((evidence >= len(QUANTITIES) / ALPHA) & np.isinf(found), place + 1, found)
    return found


def run() -> Iterator[dict[str, Any]]:
    lines = [
        f"{STREAMS} streams of {CASES:,} cases; 5 % over the whole stream for all five together:",
        "",
        "| stream | alarms of " + " | of ".join(QUANTITIES) + " | streams with any alarm |",
        "|---|" + "---|" * (len(QUANTITIES) + 1),
    ]
    for name, edge in (("quiet", False), ("on the edge of every limit", True)):
        values = streams(1, edge=edge, drop=False)
        found = np.array([first_alarm(each, values[each]) for each in QUANTITIES])
        each = [f"{np.isfinite(row).sum()}" for row in found]
        share = np.isfinite(found).any(axis=0).mean()
        lines.append(f"| {name} | {' | '.join(each)} | {100 * share:.1f} % |")
        yield row(f"false alarms, {name}", f"{100 * share:.1f} %", f"<= {100 * ALPHA:g} %", share <= ALPHA)
    lines += ["", "Half a grade lost from case 5,001 on:", ""]
    lines += ["| watched | found | cases until the alarm: median | 90th percentile |", "|---|---|---|---|"]
    values = streams(2, edge=False, drop=True)
    for name, most in (("score", 1000), ("quality", 3000)):
        first = first_alarm(name, values[name])
        after = np.where(first > CHANGE, first - CHANGE, np.inf)
        middle, late = np.quantile(after, [0.5, 0.9], method="higher")
        lines.append(f"| {name} | {np.isfinite(after).sum()} of {STREAMS} | {middle:,.0f} | {late:,.0f} |")
        yield row(
            f"cases until a drop is found, {name}, 90th percentile",
            f"{late:,.0f}",
            f"<= {most}",
            late <= most,
        )
    if PAGE.is_file():
        text = PAGE.read_text(encoding="utf-8")
        start, end = text.index(BEGIN) + len(BEGIN), text.index(END)
        PAGE.write_text(text[:start] + "\n" + "\n".join(lines) + "\n" + text[end:], encoding="utf-8")
    print("\n".join(lines))


def row(name: str, ours: str, target: str, holds: bool) -> dict[str, Any]:
    return {"name": name, "ours": ours, "peer": "", "ratio": "", "target": target, "holds": bool(holds)}
