"""A win rate over resampled cases has no interval: resampled cases break ties, always towards one half."""

from __future__ import annotations

import polars as pl

from medjury.analysis.ranking import rank


def test_a_win_rate_over_cases_and_its_differences_have_no_interval_and_the_ranks_have_limits() -> None:
    # Two systems that are level on 29 of 30 benchmarks, and a third that is far behind.
    rows = [
        (
            system,
            f"b{bench:02d}",
            f"i{item}",
            float((item + shift) % 20 < hits - (system == "two" and bench == 0)),
        )
        for bench in range(30)
        for system, hits, shift in (("one", 15, 0), ("two", 15, bench), ("three", 4, 7))
        for item in range(20)
    ]
    table = pl.DataFrame(rows, schema=["system", "benchmark", "item", "score"], orient="row")
    for ties in ("half", "win"):
        found = rank(table, by="win_rate", ties=ties, resamples=300)
        for each in (*(row.win_rate for row in found.rows), *(pair.difference for pair in found.pairs.rows)):
            assert each.value is not None and (each.low, each.high) == (None, None)
            assert each.method.startswith("no interval: a win turns on the smallest difference")
        assert [(row.rank_low, row.rank_high) for row in found.rows] == [(1, 2), (1, 2), (3, 3)]
