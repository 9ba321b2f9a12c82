"""One candidate on one benchmark: its score with an interval, how many items stand behind it, and what is
missing."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from medjury.statistics import (
    Estimate,
    Floats,
    Read,
    bootstrap,
    counted_share,
    flat,
    undefined,
)
from medjury.suites._baselines import above_baseline, beats, right_or_wrong
from medjury.suites._leaderboard._results import AnswerResult, BaselineResult, ItemResult, Results

# A cell that lacks a larger share of its items is compared with nobody.
MOST_MISSING = 0.05
Beats = Literal["yes", "no", "not shown", ""]
_WORDS: Mapping[str, Beats] = {"beats it": "yes", "does not beat it": "no", "cannot be told": "not shown"}


@dataclass(frozen=True, slots=True)
class Cell:
    """`score` counts what the candidate left unanswered as not right; `among_answers` leaves that out. With items
    missing the score lies between `worst` and `best`, whatever they would have been. `compared` is the score on the
    items that all comparable candidates have: ranks rest on it. `above_baseline` is the score less that of the best
    trivial answer, on the same items."""

    benchmark: str
    candidate: str
    items: int
    scored: int
    unanswered: Mapping[str, int]
    missing: Mapping[str, int]
    score: Estimate
    among_answers: float | None
    best: float | None
    worst: float | None
    compared: float | None
    baseline: str
    baseline_score: float | None
    above_baseline: Estimate
    others: Mapping[str, tuple[float, int]]

    @property
    def complete(self) -> bool:
        return not self.missing

    @property
    def comparable(self) -> bool:
        return self.score.defined and sum(self.missing.values()) <= MOST_MISSING * self.items

    @property
    def beats_baseline(self) -> Beats:
        """Whether the candidate does better than the best trivial answer: "yes" only where the interval of the
        difference lies above 0; "" where there is none to beat."""
        return "" if self.above_baseline.value is None else _WORDS[beats(self.above_baseline)]

    def as_dict(self) -> dict[str, Any]:
        names = (
            "benchmark", "candidate", "score", "complete", "best", "worst", "compared", "among_answers", "items",
            "scored", "unanswered", "missing", "baseline", "baseline_score", "above_baseline", "beats_baseline",
        )  # fmt: skip
        others = {name: {"mean": mean, "n": n} for name, (mean, n) in self.others.items()}
        return {**flat(self, *names), "others": others, "method": self.score.method}


def counted_score(answer: AnswerResult) -> float | None:
    """What an answer counts: its score; nothing right, where the candidate left it unanswered; None where
    missing."""
    return 0.0 if answer.state == "unanswered" else answer.score


def cells_of(
    results: Results,
    *,
    leave_out_decided: bool = False,
    confidence: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> dict[tuple[str, str], Cell]:
    """Every cell by (candidate, benchmark). `leave_out_decided` leaves out items on which a trivial answer is
    right."""
    given = results.by_item()
    how: dict[str, Any] = {"confidence": confidence, "resamples": resamples, "seed": seed}
    found: dict[tuple[str, str], Cell] = {}
    for benchmark in results.benchmarks:
        items = results.items_of(benchmark.name, leave_out_decided=leave_out_decided)
        trivial = best_baseline(
            [each for each in results.baselines if each.benchmark == benchmark.name],
            [each.item for each in items],
        )
        made = {
            candidate.name: _cell(
                benchmark.name,
                candidate.name,
                items,
                given.get((candidate.name, benchmark.name), {}),
                trivial,
                how,
            )
            for candidate in results.candidates
        }
        found |= {(name, benchmark.name): each for name, each in _compared(made, items, given).items()}
    return found


def best_baseline(baselines: Sequence[BaselineResult], items: Sequence[str]) -> BaselineResult | None:
    """The trivial answer that does best on these items."""
    known = [each for each in baselines if items and all(item in each.scores for item in items)]
    return max(known, key=lambda each: each.mean(items), default=None)


def _cell(
    benchmark: str,
    candidate: str,
    items: Sequence[ItemResult],
    given: Mapping[str, AnswerResult],
    baseline: BaselineResult | None,
    how: Mapping[str, Any],
) -> Cell:
    absent = AnswerResult(benchmark, "", candidate, "missing", reason="not asked")
    answers = [given.get(each.item, absent) for each in items]
    known = [place for place, each in enumerate(answers) if each.state != "missing"]
    values = np.array([counted_score(answers[place]) for place in known], dtype=np.float64)
    weights = np.array([answers[place].weight for place in known], dtype=np.float64)
    own = [items[place] for place in known]
    clusters = [f"patient {each.patient}" if each.patient else f"item {each.item}" for each in own]
    total, lost = float(values @ weights), float(len(items) - len(known))
    # What a missing answer would weigh in a micro average is not known, so that nothing bounds it but the scale.
    if lost and (weights != 1.0).any():
        lost = math.inf
    right = [each for each in answers if each.score is not None]
    above = undefined("no baseline", 0, "")
    if baseline is not None and known:
        trivial = np.array(
            [(baseline.scores[each.item], baseline.weights.get(each.item, 1.0)) for each in own]
        )
        above = above_baseline(np.column_stack([values, weights]), trivial, clusters, **how)
    return Cell(
        benchmark,
        candidate,
        len(items),
        len(right),
        dict(Counter(each.reason for each in answers if each.state == "unanswered")),
        dict(Counter(each.reason for each in answers if each.state == "missing")),
        mean_estimate(values, weights, clusters, **how),
        _mean_of(right),
        (1.0 if math.isinf(lost) else (total + lost) / (weights.sum() + lost)) if items else None,
        total / (weights.sum() + lost) if items else None,
        None,
        "" if baseline is None else baseline.name,
        None if baseline is None else baseline.mean([each.item for each in items]),
        above,
        _others(answers),
    )


def mean_estimate(
    values: Floats, weights: Floats, clusters: Sequence[str], *, confidence: float, resamples: int, seed: int
) -> Estimate:
    """The mean with an interval that holds where all items go one way: of right or wrong, `counted_share`; of
    anything between, the bootstrap over patients (items, where none is known)."""
    if not len(values):
        return undefined("no item has a score", 0, "")
    rows = np.column_stack([values, weights])
    if right_or_wrong(rows):
        return counted_share(values, clusters, confidence=confidence)
    made = bootstrap(rows, _mean, clusters=clusters, resamples=resamples, confidence=confidence, seed=seed)
    return made["mean"]


def _mean(rows: Floats) -> Read:
    return lambda drawn: {"mean": drawn @ (rows[:, 0] * rows[:, 1]) / (drawn @ rows[:, 1])}


def _mean_of(answers: Sequence[AnswerResult]) -> float | None:
    """The mean of what the answers count, by their weights."""
    counts = [(each.weight, count) for each in answers if (count := counted_score(each)) is not None]
    total = sum(weight for weight, _ in counts)
    return sum(weight * count for weight, count in counts) / total if total else None


def _compared(
    cells: Mapping[str, Cell],
    items: Sequence[ItemResult],
    given: Mapping[tuple[str, str], Mapping[str, AnswerResult]],
) -> dict[str, Cell]:
    """The cells with the score on the items that all comparable candidates have."""
    shared = shared_items(list(cells.values()), items, given)
    found = {}
    for name, cell in cells.items():
        if cell.comparable and shared:
            own = given[name, cell.benchmark]
            cell = replace(cell, compared=_mean_of([own[item] for item in shared]))
        found[name] = cell
    return found


def shared_items(
    cells: Sequence[Cell],
    items: Sequence[ItemResult],
    given: Mapping[tuple[str, str], Mapping[str, AnswerResult]],
) -> list[str]:
    """The items of a benchmark that every comparable candidate has."""
    those = [given.get((cell.candidate, cell.benchmark), {}) for cell in cells if cell.comparable]
    return [
        each.item
        for each in items
        if those and all(each.item in own and own[each.item].state != "missing" for own in those)
    ]


def _others(answers: Sequence[AnswerResult]) -> dict[str, tuple[float, int]]:
    found: dict[str, list[float]] = {}
    for answer in answers:
        for name, value in answer.others.items():
            found.setdefault(name, []).append(value)
    return {name: (float(np.mean(values)), len(values)) for name, values in found.items()}
