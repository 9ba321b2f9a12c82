"""Trivial answers, marked like any candidate's: what a benchmark gives to somebody who never read it."""

from __future__ import annotations

from medjury.suites._baselines import trivial_answers
from medjury.suites._leaderboard import BaselineResult
from medjury.suites._marking import JURY
from medjury.suites._running._marks import marked, weight_of
from medjury.suites._running._suite import Chosen, Suite


def baselines_of(suite: Suite) -> tuple[BaselineResult, ...]:
    """The trivial answers of every benchmark that is marked without a jury. One that cannot be read is not
    right."""
    found = []
    for chosen in suite.benchmarks:
        metric = chosen.benchmark.metrics[0]
        if metric == JURY:
            continue
        for name, answers in trivial_answers(chosen.benchmark, chosen.items).items():
            made = marked(chosen, chosen.items, [answers[item.id] for item in chosen.items], metric)
            marks = {item.id: each for item, each in zip(chosen.items, made, strict=True)}
            found.append(
                BaselineResult(
                    chosen.name,
                    name,
                    {item: each.score or 0.0 for item, each in marks.items()},
                    {item: weight_of(metric, each) for item, each in marks.items()},
                )
            )
    return tuple(found)


def decided_items(baselines: tuple[BaselineResult, ...], chosen: Chosen) -> set[str]:
    """The items on which one of the trivial answers is right."""
    own = [each for each in baselines if each.benchmark == chosen.name]
    return {item for each in own for item, score in each.scores.items() if score >= 1.0}
