"""One number of resamples, wherever nobody says another."""

from __future__ import annotations

import importlib
import inspect

import numpy as np
import pytest

from medjury.analysis.agreement import cohen_kappa
from medjury.statistics import RESAMPLES, bootstrap, cluster_codes


@pytest.mark.parametrize("room", ["statistics", "analysis.agreement"])
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


@pytest.mark.parametrize("kind", [str, object])
def test_clusters_are_numbered_as_they_first_appear(kind: type) -> None:
    for names, codes in ((["b", "a", "c"], [0, 1, 2]), (["b", "a", "b", ""], [0, 1, 0, 2]), ([], [])):
        found = cluster_codes(np.array(names, dtype=kind), len(names))
        assert found.tolist() == codes and found.dtype == np.int64
