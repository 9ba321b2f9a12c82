"""The library as a list to read, or as data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from medjury.suites._benchmark import Benchmark
from medjury.suites._library._read import list_benchmarks, load_benchmark
from medjury.suites._taxonomy import read_taxonomy

SUITE = "medhelm"


def library(*, extras: bool = False) -> tuple[Benchmark, ...]:
    """The benchmarks of MedHELM, by category as in the paper; with `extras` the others too."""
    order = [category.name for category in read_taxonomy().categories]
    found = sorted(
        (load_benchmark(name) for name in list_benchmarks()), key=lambda each: order.index(each.category)
    )
    return tuple(each for each in found if each.suite == SUITE or extras)


def listed(benchmarks: Sequence[Benchmark]) -> list[dict[str, Any]]:
    """One object to a benchmark."""
    return [
        {
            "name": each.name,
            "title": each.title,
            "suite": each.suite,
            "category": each.category,
            "subcategory": each.subcategory,
            "access": each.access,
            "curation": each.curation,
            "metric": each.metrics[0],
            "open": each.open,
        }
        for each in benchmarks
    ]


def listing_text(benchmarks: Sequence[Benchmark]) -> str:
    """One line to a benchmark, by category."""
    lines: list[str] = []
    for category in dict.fromkeys(each.category for each in benchmarks):
        lines.append(category)
        for each in benchmarks:
            if each.category == category:
                kind = "open" if each.open else "closed"
                lines.append(
                    f"  {each.name:22} {each.access:8} {each.curation:13} {kind:7} {each.metrics[0]:15} "
                    f"{each.subcategory}"
                )
    return "\n".join(lines)
