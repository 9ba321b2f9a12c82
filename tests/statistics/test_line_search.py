"""The line search of the mixed model finds what a general optimiser finds."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from medjury.statistics._mixed_model import smallest_between

SHAPES: dict[str, Callable[[float, float], float]] = {
    "a bowl": lambda x, p: (x - p) ** 2,
    "a corner": lambda x, p: abs(x - p),
    "a slope up": lambda x, p: (1 + p) * x,
    "a slope down": lambda x, p: -(1 + p) * x,
    "a wall at one end": lambda x, p: -p * math.log(x + 1e-9) + x,
    "a plain": lambda x, p: p,
}


@pytest.mark.parametrize("shape", SHAPES)
@given(place=st.floats(0.0, 1.0))
def test_it_ends_where_the_general_one_ends(shape: str, place: float) -> None:
    def function(x: float) -> float:
        return SHAPES[shape](x, place)

    expected = minimize_scalar(function, bounds=(0.0, 1.0), method="bounded", options={"xatol": 1e-8})
    found, value = smallest_between(function, 0.0, 1.0, tolerance=1e-8)
    assert value == function(found)
    assert value == pytest.approx(float(expected.fun), abs=1e-7)


def test_it_asks_for_no_more_than_it_needs() -> None:
    asked = []

    def bowl(x: float) -> float:
        asked.append(x)
        return (x - 0.25) ** 2

    assert smallest_between(bowl, 0.0, 1.0, tolerance=1e-8)[0] == pytest.approx(0.25, abs=1e-8)
    assert len(asked) < 15 and all(0.0 < x < 1.0 for x in asked), "the ends are not asked for"
