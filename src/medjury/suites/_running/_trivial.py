"""Trivial answers, marked like any candidate's: what a benchmark gives to somebody who never read it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from medjury.suites._baselines import baseline_scores
from medjury.suites._item import Loaded
from medjury.suites._leaderboard import BaselineResult
from medjury.suites._marking import JURY
from medjury.suites._running._marks import weight_of
from medjury.suites._running._suite import Suite


@dataclass(frozen=True)
class Trivial:
    """The trivial answers of a suite, and by benchmark the items that they decide: on which an answer is right that
    says nothing about the question. One that is always A is right on some items by luck, which decides none."""

    baselines: tuple[BaselineResult, ...]
    decided: Mapping[str, frozenset[str]]


def trivial_of(suite: Suite) -> Trivial:
    """The trivial answers of every benchmark that is marked without a jury. One that cannot be read is not
    right."""
    found, decided = [], {}
    for chosen in suite.benchmarks:
        metric = chosen.benchmark.metrics[0]
        if metric == JURY:
            continue
        made = baseline_scores(
            chosen.benchmark, Loaded(chosen.items, database=chosen.loaded.database), metric
        )
        decided[chosen.name] = frozenset(item for each in made if each.says_nothing for item in each.right)
        found += [
            BaselineResult(
                chosen.name,
                each.name,
                {item: mark.score or 0.0 for item, mark in each.marks.items()},
                {item: weight_of(metric, mark) for item, mark in each.marks.items()},
            )
            for each in made
        ]
    return Trivial(tuple(found), decided)
