"""A benchmark that is nobody's, for marking answers to made-up items."""

from __future__ import annotations

from pathlib import Path

from medjury.suites._benchmark import Benchmark

SHARED = Path(__file__).parents[4] / "shared" / "data" / "benchmarks"


def benchmark(*metrics: str, **options: object) -> Benchmark:
    return Benchmark.model_construct(
        name="made-up", title="Made up", version="1", category="", subcategory="", description="", context="",
        prompt="{question}", metrics=metrics, open=False, gold="", access="public", curation="new",
        loader="table", source="", licence="", citation="", options=options,
    )  # fmt: skip
