"""Loaders and metrics speak the same language: every gold answer of a sample is marked as wholly right."""

from __future__ import annotations

import pytest

from medjury.suites import load_benchmark, load_items, sample_file
from medjury.suites._library import list_benchmarks
from medjury.suites._marking._metrics import _ONE_BY_ONE, JURY, METRICS, SIMILARITIES, mark

LEARNED = {"bertscore", "embedding"}  # which need models


def test_the_metrics_that_a_benchmark_may_name_are_those_there_are() -> None:
    assert set(METRICS) == {*_ONE_BY_ONE, *SIMILARITIES, "sql_execution", JURY}


@pytest.mark.parametrize("name", [name for name in list_benchmarks() if load_benchmark(name).gold])
def test_a_gold_answer_gets_the_whole_mark(name: str) -> None:
    benchmark = load_benchmark(name)
    loaded = load_items(benchmark, sample_file(benchmark))
    for metric in set(benchmark.metrics) - LEARNED - {"jury"}:
        for item in loaded.items:
            found = mark(benchmark, item, item.gold[0], metric, database=loaded.database)
            assert found.score == 1, (item.id, metric, found)
