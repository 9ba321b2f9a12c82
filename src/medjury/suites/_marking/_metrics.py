"""The metrics by their names, and the one function that marks an answer by any of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from medjury.documents import nearest
from medjury.errors import MedjuryError
from medjury.suites._benchmark import Benchmark
from medjury.suites._item import Item
from medjury.suites._mark import Mark
from medjury.suites._marking._exact_match import exact_match

Marker = Callable[[Benchmark, Item, str, Path | None], Mark]


def _on_text(marker: Callable[[Benchmark, Item, str], Mark]) -> Marker:
    return lambda benchmark, item, answer, database: marker(benchmark, item, answer)


METRICS: Mapping[str, Marker] = {"exact_match": _on_text(exact_match)}


def mark(benchmark: Benchmark, item: Item, answer: str, metric: str, *, database: Path | None = None) -> Mark:
    """What `metric` says of an answer to an item: a score from 0 to 1, or none and why."""
    if metric not in METRICS:
        raise MedjuryError(f"There is no metric {metric!r} for benchmarks; {nearest(metric, list(METRICS))}")
    return METRICS[metric](benchmark, item, answer, database)
