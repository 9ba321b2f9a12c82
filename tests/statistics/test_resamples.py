"""One number of resamples, wherever nobody says another."""

from __future__ import annotations

import importlib
import inspect

import pytest

from medjury.agreement import cohen_kappa
from medjury.statistics import RESAMPLES, bootstrap


@pytest.mark.parametrize("room", ["statistics", "agreement"])
def test_every_function_resamples_as_often_as_every_other(room: str) -> None:
    module = importlib.import_module(f"medjury.{room}")
    found = {}
    for name in module.__all__:
        public = getattr(module, name)
        if inspect.isfunction(public) and "resamples" in inspect.signature(public).parameters:
            found[name] = inspect.signature(public).parameters["resamples"].default
    # None leaves it to the table, whose number is the same unless a run states another.
    assert found
    assert set(found.values()) <= {RESAMPLES, None}


def test_the_method_says_how_often() -> None:
    def mean(rows):
        return lambda weights: {"mean": weights @ rows[:, 0] / weights.sum(axis=-1)}

    assert f"{RESAMPLES} resamples" in bootstrap(list(range(12)), mean)["mean"].method
    kappa = cohen_kappa([1, 2, 3, 1, 2] * 3, [1, 2, 3, 1, 3] * 3, scale=[1, 2, 3])
    assert f"{RESAMPLES} resamples" in kappa.method
