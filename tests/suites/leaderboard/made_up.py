"""Results that nobody ran: every candidate is right on a stated number of items of every benchmark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from medjury.suites._leaderboard._results import (
    AnswerResult,
    BaselineResult,
    BenchmarkResult,
    CandidateResult,
    ItemResult,
    Results,
)

CATEGORIES = (
    "Clinical Decision Support",
    "Clinical Note Generation",
    "Patient Communication and Education",
    "Medical Research Assistance",
    "Administration and Workflow",
)


def results_of(
    right: Mapping[str, Sequence[int]],
    *,
    items: int = 20,
    benchmarks: Sequence[str] = (),
    baseline: int | None = None,
    **others: Any,
) -> Results:
    """`right` has, for each candidate, on how many items of each benchmark it is right: on the first so many."""
    count = len(next(iter(right.values())))
    names = list(benchmarks) or [f"bench_{number:02d}" for number in range(count)]
    return Results(
        others.pop("suite", "made up"),
        tuple(
            BenchmarkResult(
                name,
                name.replace("_", " ").title(),
                CATEGORIES[place % 5],
                metric="exact_match",
                metrics=("exact_match",),
            )
            for place, name in enumerate(names)
        ),
        tuple(CandidateResult(name) for name in right),
        tuple(
            ItemResult(
                name, f"i{item}", f"Question {item}", ("A",), decided=baseline is not None and item < baseline
            )
            for name in names
            for item in range(items)
        ),
        tuple(
            AnswerResult(
                name,
                f"i{item}",
                candidate,
                "scored",
                1.0 if item < hits[place] else 0.0,
                answer="A" if item < hits[place] else "B",
                read="A" if item < hits[place] else "B",
            )
            for candidate, hits in right.items()
            for place, name in enumerate(names)
            for item in range(items)
        ),
        tuple(
            BaselineResult(name, "always A", {f"i{item}": float(item < baseline) for item in range(items)})
            for name in names
            if baseline is not None
        ),
        **others,
    )
