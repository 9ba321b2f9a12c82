"""Composites and reversed dimensions of many answers at once are what `derive` says of each."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from medjury.analysis.calibration._study_result import derived_values
from medjury.instruments import NotApplicable, Outcome, Score, derive, list_instruments, load_instrument

ANSWERS = 60
WITH_DERIVED = [
    name for name in list_instruments() if (known := load_instrument(name)).composites or known.reversed
]


def _given(name: str, seed: int) -> dict[str, tuple[Any, np.ndarray, np.ndarray]]:
    """Scores, gaps and what does not apply, of answers that each dimension has in an order of its own."""
    draw = np.random.default_rng(seed)
    parts = {}
    for dimension in load_instrument(name).dimensions:
        order = draw.permutation(ANSWERS)[: ANSWERS - 5]
        grid = SimpleNamespace(
            items=np.array([f"case {place}" for place in order]), systems=np.full(len(order), "system")
        )
        values = draw.uniform(dimension.lowest, dimension.highest, len(order))
        values[draw.random(len(order)) < 0.05] = np.nan
        parts[dimension.name] = grid, values, draw.random(len(order)) < 0.08
    return parts


@pytest.mark.parametrize("name", WITH_DERIVED)
def test_all_at_once_is_one_by_one_to_the_last_digit(name: str) -> None:
    instrument, units = load_instrument(name), [(f"case {place}", "system") for place in range(ANSWERS)]
    parts = _given(name, seed=3)
    found = derived_values(instrument, units, parts)
    scored = 0
    for place, unit in enumerate(units):
        outcomes: dict[str, Outcome] = {}
        for dimension, (grid, values, applies_not) in parts.items():
            for item, value, skipped in zip(grid.items, values.tolist(), applies_not.tolist(), strict=True):
                if item == unit[0] and (skipped or value == value):
                    outcomes[dimension] = NotApplicable() if skipped else Score(value)
        for derived, outcome in derive(instrument, outcomes).items():
            value = found[derived][place]
            if isinstance(outcome, Score):
                scored += 1
                assert value == outcome.value, (derived, unit)
            else:
                assert np.isnan(value), (derived, unit)
    assert scored > ANSWERS / 10


def test_there_are_instruments_to_try_it_on() -> None:
    assert len(WITH_DERIVED) > 2
    assert any(
        each.needs_every_part for name in WITH_DERIVED for each in load_instrument(name).composites
    ) or any(load_instrument(name).reversed for name in WITH_DERIVED)
