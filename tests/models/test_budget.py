"""The caps hold, whatever is asked at the same time and in whatever order it settles."""

from __future__ import annotations

import asyncio
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from medjury.instruments import Reason
from medjury.models import Budget, ModelError


@given(
    money=st.floats(0.5, 20),
    calls=st.integers(1, 30),
    worst=st.lists(st.floats(0.01, 3), min_size=1, max_size=40),
    seed=st.integers(0, 1000),
)
def test_no_order_of_settling_exceeds_a_cap(money: float, calls: int, worst: list[float], seed: int) -> None:
    chance = random.Random(seed)
    budget = Budget(money=money, calls=calls)
    refused = 0

    async def call(most: float) -> None:
        nonlocal refused
        try:
            reservation = await budget.reserve(most)
        except ModelError:
            refused += 1
            return
        for _ in range(chance.randrange(4)):
            await asyncio.sleep(0)
        budget.settle(reservation, cost=most * chance.random())

    async def run() -> None:
        await asyncio.gather(*(call(each) for each in worst))

    asyncio.run(run())
    assert budget.spent_money <= money * (1 + 1e-9) and budget.spent_calls <= calls
    assert budget.spent_calls + refused == len(worst), "nobody waits for ever"


async def test_what_earlier_runs_spent_counts() -> None:
    budget = Budget(money=10, calls=5, spent_money=9.5, spent_calls=1)
    with pytest.raises(ModelError, match=r"9\.5 of 10 in money is spent; 1 of 5 calls") as caught:
        await budget.reserve(0.6)
    assert caught.value.reason is Reason.OVER_BUDGET
    await budget.reserve(0.4)
