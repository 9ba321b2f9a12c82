"""The arithmetic of capacity: published costs come out, workers are neither too few nor too many."""

from __future__ import annotations

import pytest
from benchmarks._month import MINUTES, Units, arrivals, month
from benchmarks.capacity import _published


def test_the_published_costs_of_a_leaderboard_come_out() -> None:
    assert [row["holds"] for row in _published()] == [True, True, True]


def test_a_worker_is_limited_by_its_places_or_by_its_processor() -> None:
    assert Units(0.001, 20.0, 100).calls_per_second == pytest.approx(5.0)
    assert Units(0.001, 0.01, 100).calls_per_second == pytest.approx(1000.0)


def test_a_month_has_as_many_calls_as_asked_and_quiet_nights() -> None:
    coming = arrivals(3_000_000)
    assert len(coming) == MINUTES and coming.sum() == pytest.approx(3_000_000, rel=0.005)
    days = coming.reshape(30, 24, 60).sum(axis=2)
    assert days[0, 10] > 5 * days[0, 3] and days[0].sum() > 3 * days[5].sum()


@pytest.mark.parametrize("calls", [3_000_000, 300_000_000])
def test_one_worker_fewer_would_be_too_few(calls: int) -> None:
    units = Units(0.002, 22.0, 64)
    made = month(calls, units)
    assert made.waited <= 60
    fewer = Units(0.002, 22.0 * made.workers / max(made.workers - 1, 0.5), 64)  # as slow as one worker fewer
    assert month(calls, fewer).workers > made.workers or made.workers == 1
    assert 0 < made.busy < 1
