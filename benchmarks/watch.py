"""How often does a watch cry wolf, and how soon does it find a drop? `python -m benchmarks watch` simulates streams
of judged cases and writes the tables of docs/watch.md.

Five quantities are watched at once at 5 % over the whole stream, 1 % each. A quiet stream has the mean of the
validation, a stream on the edge lies exactly at every limit: the worst that still may not alarm. A planted drop is
half a grade of five, for clinicians and jury alike, from case 5,001 on; the limit lies a quarter of a grade below
the validated mean.

Patients bring several cases: runs of three or five at once, or single ones again and again out of a pool of 400. A
case then has what its patient has with the probability √r, else its own, so that two cases of a patient have the
correlation r and the mean of all is what it was.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from medjury.in_use.watching._e_process import EProcess

PAGE = Path(__file__).parents[1] / "docs" / "watch.md"
BEGIN, END = "<!-- simulation begins -->", "<!-- simulation ends -->"
STREAMS, CASES, CHANGE, ALPHA = int(os.environ.get("STREAMS", "200")), 10_000, 5_000, 0.05
SHARE, DOUBTFUL, GRADE = 0.1, 0.5, 0.25  # one grade of five, on the scale from 0 to 1
QUANTITIES = ("score", "quality", "disagreement", "coverage", "case_mix")
GRADES = np.arange(5) / 4.0
_MEAN, _LIMIT = 0.62, 0.62 - GRADE / 4
Values = dict[str, np.ndarray[Any, np.dtype[np.float64]]]


class World:
    """Draws for streams by cases; `patients` names the patient of each case, and what they have in common."""

    def __init__(self, seed: int, patients: Any, correlation: float) -> None:
        self.generator = np.random.default_rng([4, seed])
        self.patients, self.correlation = patients, correlation

    def draw(self, one: Callable[[tuple[int, int]], Any]) -> Any:
        own = one((STREAMS, len(self.patients)))
        if not self.correlation:
            return own
        common = one((STREAMS, self.patients.max() + 1))[:, self.patients]
        return np.where(self.generator.random(own.shape) < self.correlation**0.5, common, own)

    def graded(self, mean: float) -> Any:
        """Grades with this mean: a binomial of four trials."""
        return self.draw(lambda shape: self.generator.binomial(4, mean, shape) / 4.0)

    def happens(self, chance: float) -> Any:
        return self.draw(lambda shape: (self.generator.random(shape) < chance).astype(float))


def streams(
    seed: int, *, edge: bool, drop: bool, patients: Any = None, correlation: float = 0.0, above: float = 0.0
) -> Values:
    """The values of every quantity, streams by cases; `above` is how far jury and clinicians are on the good
    side of the edge."""
    world = World(seed, np.arange(CASES) if patients is None else patients, correlation)
    generator, shape = world.generator, (STREAMS, CASES)
    truth = world.graded(_LIMIT + above if edge else _MEAN)
    if drop:
        truth[:, CHANGE:] = world.graded(_MEAN - GRADE / 2)[:, CHANGE:]
    moved = generator.choice([-1.0, 0.0, 1.0], shape, p=[0.15, 0.7, 0.15]) * GRADE
    score = np.clip(truth + moved, 0.0, 1.0)
    seen = truth
    if edge:  # jury and clinicians each have a mean exactly at the limit, and are as far apart as is allowed
        score, seen = truth, world.graded(_LIMIT + above)
    chance = np.where(score <= 0.25, DOUBTFUL, SHARE)
    drawn = generator.random(shape) < chance
    away = world.graded(0.15) if edge else np.abs(score - truth)
    return {
        "score": score,
        "quality": score + drawn / chance * (seen - score),
        "disagreement": drawn * away * SHARE / chance,
        "coverage": world.happens(0.95 if edge else 0.98),
        "case_mix": world.happens(0.10 if edge else 0.05),
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


def first_alarm(quantity: str, values: Any, patients: Any = None) -> Any:
    """The case at which each stream alarms, or none (a case that never comes). Neighbouring cases of a patient
    are one group; a patient who comes back is known, as a watch remembers it."""
    watch, found = process(quantity), np.full(STREAMS, np.inf)
    named = np.arange(values.shape[1]) if patients is None else patients
    starts = np.flatnonzero(np.diff(named, prepend=-1))
    ends = np.append(starts[1:], len(named))
    means = np.add.reduceat(values, starts, axis=1) / (ends - starts)
    known: dict[int, int] = {}
    for group, (start, end) in enumerate(zip(starts, ends, strict=True)):
        evidence = watch.update(means[:, group], known.get(named[start], 0))
        known[named[start]] = watch.generation
        found = np.where((evidence >= len(QUANTITIES) / ALPHA) & np.isinf(found), end, found)
    return found


def alarms(values: Values, patients: Any = None) -> Any:
    """Which quantities alarm in which streams."""
    return np.isfinite([first_alarm(each, values[each], patients) for each in QUANTITIES])


POOL = np.random.default_rng(17).integers(0, 400, CASES)
# Who comes: patients by case, the correlation of two cases of one, and how many grades above the limit all are.
ON_THE_EDGE: dict[str, tuple[Any, float, float]] = {
    "runs of 3, correlation 0.5": (np.arange(CASES) // 3, 0.5, 0.0),
    "runs of 3, correlation 0.63": (np.arange(CASES) // 3, 0.63, 0.0),
    "runs of 5, correlation 0.5": (np.arange(CASES) // 5, 0.5, 0.0),
    "runs of 5, correlation 0.63": (np.arange(CASES) // 5, 0.63, 0.0),
    "runs of 5, correlation 0.63, a tenth of a grade above": (np.arange(CASES) // 5, 0.63, 0.1),
    "400 patients come back, correlation 0.5": (POOL, 0.5, 0.0),
}


def run() -> Iterator[dict[str, Any]]:
    lines = [
        f"{STREAMS} streams of {CASES:,} cases; 5 % over the whole stream for all five together:",
        "",
        "| stream | alarms of " + " | of ".join(QUANTITIES) + " | streams with any alarm |",
        "|---|" + "---|" * (len(QUANTITIES) + 1),
    ]
    for name, edge in (("quiet", False), ("on the edge of every limit", True)):
        found = alarms(streams(1, edge=edge, drop=False))
        share = found.any(axis=0).mean()
        lines.append(f"| {name} | {' | '.join(str(each.sum()) for each in found)} | {100 * share:.1f} % |")
        yield row(f"false alarms, {name}", f"{100 * share:.1f} %", f"<= {100 * ALPHA:g} %", share <= ALPHA)
    lines += ["", "On the edge of every limit, with several cases of a patient:", ""]
    lines += [
        "| who comes | streams with any alarm | with one of `score`, if every case counted by itself |",
        "|---|---|---|",
    ]
    for name, (patients, correlation, grades) in ON_THE_EDGE.items():
        above = GRADE * grades
        values = streams(3, edge=True, drop=False, patients=patients, correlation=correlation, above=above)
        share = alarms(values, patients).any(axis=0).mean()
        singly = np.isfinite(first_alarm("score", values["score"])).mean()
        lines.append(f"| {name} | {100 * share:.1f} % | {100 * singly:.1f} % |")
        yield row(f"false alarms, {name}", f"{100 * share:.1f} %", f"<= {100 * ALPHA:g} %", share <= ALPHA)
    lines += ["", "Half a grade lost from case 5,001 on:", ""]
    lines += ["| watched | found | cases until the alarm: median | 90th percentile |", "|---|---|---|---|"]
    threes = np.arange(CASES) // 3
    # What is known from before patients counted once, and what patients who come again and again allow.
    for name, most, words, patients in (
        ("score", (489, 1000), "", None),
        ("quality", (2022, 3000), "", None),
        ("score", (1000, 2000), ", runs of 3, correlation 0.5", threes),
        ("score", (2000, np.inf), ", 400 patients come back, correlation 0.5", POOL),
    ):
        values = streams(
            2, edge=False, drop=True, patients=patients, correlation=0.5 * (patients is not None)
        )
        first = first_alarm(name, values[name], patients)
        after = np.where(first > CHANGE, first - CHANGE, np.inf)
        middle, late = np.quantile(after, [0.5, 0.9], method="higher")
        shown = [f"{each:,.0f}" if np.isfinite(each) else "not found" for each in (middle, late)]
        lines.append(f"| {name}{words} | {np.isfinite(after).sum()} of {STREAMS} | {' | '.join(shown)} |")
        yield row(
            f"cases until a drop is found, {name}{words}, median and 90th percentile",
            ", ".join(shown),
            f"<= {most[0]}, {most[1]}",
            middle <= most[0] and late <= most[1],
        )
    if PAGE.is_file():
        text = PAGE.read_text(encoding="utf-8")
        start, end = text.index(BEGIN) + len(BEGIN), text.index(END)
        PAGE.write_text(text[:start] + "\n" + "\n".join(lines) + "\n" + text[end:], encoding="utf-8")
    print("\n".join(lines))


def row(name: str, ours: str, target: str, holds: bool) -> dict[str, Any]:
    return {"name": name, "ours": ours, "peer": "", "ratio": "", "target": target, "holds": bool(holds)}
