"""The metrics by their names, and the one function that marks an answer by any of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from medjury.documents import nearest
from medjury.errors import MedjuryError
from medjury.suites._benchmark import Benchmark
from medjury.suites._item import Item
from medjury.suites._mark import Mark
from medjury.suites._marking._codes import code_f1
from medjury.suites._marking._error_sentence import error_flag, error_sentence
from medjury.suites._marking._exact_match import exact_match
from medjury.suites._marking._medcalc import medcalc
from medjury.suites._marking._sql import sql_execution
from medjury.suites._marking._yes_no import yes_no_maybe

Marker = Callable[[Benchmark, Item, str, Path | None], Mark]


def _on_text(marker: Callable[[Benchmark, Item, str], Mark]) -> Marker:
    return lambda benchmark, item, answer, database: marker(benchmark, item, answer)


METRICS: Mapping[str, Marker] = {
    "exact_match": _on_text(exact_match),
    "yes_no_maybe": _on_text(yes_no_maybe),
    "code_f1": _on_text(code_f1),
    "error_flag": _on_text(error_flag),
    "error_sentence": _on_text(error_sentence),
    "medcalc": _on_text(medcalc),
    "sql_execution": sql_execution,
}


def mark(benchmark: Benchmark, item: Item, answer: str, metric: str, *, database: Path | None = None) -> Mark:
    """What `metric` says of an answer to an item: a score from 0 to 1, or none and why."""
    if metric not in METRICS:
        raise MedjuryError(f"There is no metric {metric!r} for benchmarks; {nearest(metric, list(METRICS))}")
    return METRICS[metric](benchmark, item, answer, database)
