"""The interval of a win rate holds the win rate, also where most benchmarks are ties."""

from __future__ import annotations

import polars as pl

from medjury.ranking import rank


def test_resampled_cases_break_ties_and_the_interval_still_holds_the_win_rate() -> None:
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
        for row in rank(table, by="win_rate", ties=ties, resamples=300).rows:
            rate = row.win_rate
            assert rate.value is not None and rate.low is not None and rate.high is not None
            assert 0.0 <= rate.low <= rate.value <= rate.high <= 1.0, (ties, row.system, rate)
