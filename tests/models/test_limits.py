"""Pacing: how many calls at a time an endpoint bears, and how many a minute it allows."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.models.samples import HandClock

from medjury.models._gate.limits import AdaptiveConcurrency, Bucket


async def take_all(places: AdaptiveConcurrency) -> list[int]:
    return [await places.acquire() for _ in range(places.limit - places.in_flight)]


async def test_it_doubles_until_the_first_complaint_then_halves_and_creeps() -> None:
    places = AdaptiveConcurrency()
    seen = [places.limit]
    for _ in range(3):
        for started in await take_all(places):
            places.release(started, good=True)
            places.in_flight += 1  # the next call takes the place at once: the endpoint stays busy
        places.in_flight = 0
        seen.append(places.limit)
    assert seen == [8, 16, 32, 64]
    held = await take_all(places)
    places.release(held.pop(), overloaded=True)
    assert places.limit == 32
    for started in held:
        places.release(started, good=True)
    assert places.limit == 32, "calls sent before the cut say nothing about the new limit"


async def test_where_most_of_a_round_is_refused_it_falls_to_what_was_not() -> None:
    places = AdaptiveConcurrency(64)
    held = await take_all(places)
    for started in held[:60]:
        places.release(started, overloaded=True)
    for started in held[60:]:
        places.release(started, good=True)
    assert places.limit == 4


async def test_a_stated_limit_is_the_most_it_ever_allows() -> None:
    places = AdaptiveConcurrency(4)
    for _ in range(5):
        for started in await take_all(places):
            places.release(started, good=True)
    assert places.limit == 4


async def test_waiting_calls_go_first_come_first_served_and_may_be_cancelled() -> None:
    places = AdaptiveConcurrency(1)
    held = await places.acquire()
    order: list[int] = []

    async def wait(number: int) -> None:
        started = await places.acquire()
        order.append(number)
        places.release(started)

    tasks = [asyncio.create_task(wait(number)) for number in range(4)]
    await asyncio.sleep(0)
    tasks[1].cancel()
    places.release(held)
    await asyncio.gather(*tasks, return_exceptions=True)
    assert order == [0, 2, 3] and places.in_flight == 0


@given(st.lists(st.floats(1, 500), min_size=5, max_size=60), st.floats(60, 60_000))
def test_a_bucket_never_lets_more_through_than_its_rate(amounts: list[float], per_minute: float) -> None:
    async def run() -> float:
        clock = HandClock()
        bucket = Bucket(per_minute, clock, clock.sleep)
        for amount in amounts:
            await bucket.take(amount)
        return clock() - 1000

    seconds = asyncio.run(run())
    burst = max(1.0, per_minute / 60)
    assert sum(amounts[:-1]) <= burst + seconds * per_minute / 60 + 1e-6


async def test_what_was_not_used_goes_back() -> None:
    clock = HandClock()
    bucket = Bucket(60.0, clock, clock.sleep)
    await bucket.take(1)
    bucket.give_back(1)
    await bucket.take(1)
    assert clock() == pytest.approx(1000)
