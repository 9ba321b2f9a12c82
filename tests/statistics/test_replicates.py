"""Values on resamples: what an estimate, a difference and a p-value are made of."""

from __future__ import annotations

import importlib
import inspect
import os
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats
from tests.statistics.twenty_rows import ROWS, mean, said
from tests.tables.run_folders import refused

from medjury.analysis.agreement import cohen_kappa
from medjury.statistics import RESAMPLES, bootstrap, cluster_codes, replicates, sample, side_by_side
from medjury.statistics._interval import AS_IT_IS, jackknife
from medjury.statistics._resample import _blocks_of_counts, draw, leave_one_out


def means(rows: Any) -> Callable[[Any], dict[str, Any]]:
    return lambda weights: {
        name: weights @ rows[:, place] / weights.sum(axis=-1) for place, name in enumerate("ab")
    }


def test_without_enough_items_or_resamples_there_is_no_interval_and_the_method_says_why() -> None:
    few = replicates(ROWS[:9], mean, resamples=100)
    one = replicates(ROWS, mean, clusters=["a"] * 20, resamples=100)
    assert [
        each.estimate("mean").method
        for each in (
            few,
            one,
            replicates(ROWS, mean, resamples=0),
            replicates(ROWS, mean, resamples=38),
            replicates(ROWS, mean, resamples=39),
            replicates(np.ones((20, 1)), mean, resamples=100),
        )
    ] == [
        "no interval: 9 items are too few, at least 10 are needed",
        "no interval: one cluster cannot be resampled",
        "no interval",
        "no interval: 38 resamples are too few for 95 %",
        "95 % BCa-t bootstrap, 39 resamples of 20 items, seed 0",
        "no interval: the same in all of 100 resamples of 20 items, seed 0",
    ]


def test_what_is_too_few_is_named_clusters_or_their_items() -> None:
    def rmse(rows: Any) -> Callable[[Any], dict[str, Any]]:
        return lambda weights: {"rmse": mean(rows)(weights)["mean"]}

    for clusters, few in (
        (12, "20 items are too few, at least 30"),
        (9, "9 clusters are too few, at least 10"),
    ):
        found = replicates(ROWS, rmse, clusters=[n % clusters for n in range(20)], resamples=100)
        assert found.estimate("rmse").method == f"no interval: {few} are needed"


def test_what_does_not_exist_is_undefined_with_the_reason_that_is_given() -> None:
    found = replicates(ROWS, mean, resamples=50)
    assert [
        said(each)
        for each in (
            found.estimate("nothing"),
            found.estimate("nothing", reason="because"),
            found.difference("mean", "nothing"),
        )
    ] == [
        (
            None,
            None,
            None,
            20,
            "bootstrap, 50 resamples of 20 items, seed 0",
            "nothing does not exist for these data",
        ),
        (None, None, None, 20, "bootstrap, 50 resamples of 20 items, seed 0", "because"),
        (
            None,
            None,
            None,
            20,
            "bootstrap, 50 resamples of 20 items, seed 0",
            "mean or nothing does not exist for these data",
        ),
    ]


def test_a_difference_is_drawn_on_the_same_resamples() -> None:
    table = np.column_stack([np.arange(20.0), np.arange(20.0) * 1.1 + 1])
    found = replicates(table, means, resamples=200)
    assert (
        said(found.difference("b", "a")),
        said(found.difference("b", "a", method="percentile", confidence=0.8)),
    ) == (
        (1.95, 1.661, 2.227, 20, "95 % BCa-t bootstrap, 200 resamples of 20 items, seed 0", ""),
        (1.95, 1.825, 2.114, 20, "80 % percentile bootstrap, 200 resamples of 20 items, seed 0", ""),
    )


def test_the_p_value_is_the_share_of_resamples_below_or_that_of_the_jackknife_where_it_is_larger() -> None:
    values = np.array([0.2, 0.5, -0.1, 0.4, 0.9, 0.3, -0.2, 0.6, 0.1, 0.7])
    found = replicates(np.column_stack([values, np.zeros(10)]), means, resamples=199, seed=1)
    gaps = found.resampled["a"] - found.resampled["b"]
    share = (1 + (gaps <= 0.1).sum()) / 200
    spread = jackknife(found.left_out["a"], found.multiplicity, AS_IT_IS)
    student = stats.t.cdf(-(values.mean() - 0.1) / stats.sem(values), spread[1] if spread else 1)
    assert round(found.p_at_most("a", "b", 0.1) - max(share, student), 9) == 0.0


def test_without_a_jackknife_or_a_spread_the_p_value_is_the_share_alone() -> None:
    plain_one = replicates(
        np.column_stack([np.arange(10.0), np.zeros(10)]), means, resamples=99, jackknife=False
    )
    same = replicates(np.column_stack([np.ones(10), np.zeros(10)]), means, resamples=99)
    assert (
        plain_one.p_at_most("a", "b", 0.0),
        same.p_at_most("a", "b", 1.0),
        same.p_at_most("a", "b", 0.5),
        same.p_at_most("a", "b", 1.0 - 1e-13),
    ) == (0.01, 1.0, 0.01, 1.0)


def test_a_comparison_has_a_two_sided_p_value() -> None:
    table = np.column_stack([np.arange(12.0), np.arange(12.0)[::-1]])
    drawn = replicates(table, means, resamples=99)
    found = drawn.p_value("a", "b")
    gaps = drawn.resampled["a"] - drawn.resampled["b"]
    smaller = min((gaps <= 1e-12).sum(), (gaps >= -1e-12).sum())
    assert found is not None and round(found - min(1.0, 2 * (1 + smaller) / 100), 12) == 0.0


@pytest.mark.parametrize(
    ("rows", "names", "left", "groups", "sums"),
    [
        (np.random.default_rng(0).normal(size=(2500, 1)), None, 1000, 1000, {2497.0, 2498.0}),
        (np.random.default_rng(0).normal(size=(5000, 1)), 2, 1000, 1000, {4994.0, 4996.0}),
        (np.arange(2000.0), None, 2000, 0, {1999.0}),
    ],
)
def test_up_to_two_thousand_patterns_are_left_out_one_by_one_and_more_in_a_thousand_groups(
    rows: np.ndarray, names: int | None, left: int, groups: int, sums: set[float]
) -> None:
    clusters = None if names is None else [place // names for place in range(len(rows))]
    blocks, times, made = leave_one_out(sample(rows, clusters), 0)
    weights = np.concatenate(list(blocks))
    assert (weights.shape, made, len(times), times.sum()) == ((left, len(rows)), groups, left, float(left))
    assert set(weights.sum(axis=1).tolist()) == sums
    assert ((1 - weights).sum(axis=0) == 1).all(), "every row is left out once"


def test_a_sample_knows_distinct_rows_and_how_many_clusters_look_alike() -> None:
    found = sample(
        [[1, 2], [1, 2], [3, np.nan], [3, np.nan], [1, 2], [3, np.nan]], ["a", "a", "b", "b", "c", "d"]
    )
    assert (
        found.rows.tolist()[0],
        found.counts.tolist(),
        sorted(found.multiplicity.tolist()),
        found.n,
        found.clusters,
        found.clustered,
    ) == ([1.0, 2.0], [3.0, 3.0], [1, 1, 1, 1], 6, 4, True)


def test_rows_of_three_axes_and_names_that_do_not_fit_are_refused() -> None:
    assert [
        refused(lambda call=call: call())
        for call in (
            lambda: sample(np.zeros((2, 2, 2))),
            lambda: sample([1, 2], ["a"]),
            lambda: sample([1, 2], ["a", None]),
            lambda: sample([1, 2, 3], ["a", float("nan"), "b"]),
        )
    ] == [
        "The rows to resample form a table of items by columns, not 3 axes.",
        "There are 2 items but 1 cluster names. Give one name per item.",
        "Item 2 has no cluster name. Name the case of every item.",
        "Item 2 has no cluster name. Name the case of every item.",
    ]


# How a report saves processor time: workers for large tasks alone, one draw for many readers.


def test_tasks_on_few_answers_need_no_worker_and_those_on_many_have_them() -> None:
    here = threading.get_ident()
    assert set(side_by_side([threading.get_ident] * 4, answers=360)) == {here}
    workers = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    assert workers < 2 or here not in side_by_side([threading.get_ident] * 4, answers=30_000)


def test_a_seed_draws_the_same_again_whoever_read_the_resamples_before() -> None:
    data = sample(np.arange(24.0), np.arange(24) // 2)
    drawn = [np.concatenate(list(draw(data, 300, seed))) for seed in (1, 1, 2)]
    assert (drawn[0] == drawn[1]).all()
    assert (drawn[0] != drawn[2]).any()
    single = sample(np.arange(24.0))
    (weights,) = draw(single, 300, 1)
    with pytest.raises(ValueError, match="read-only"):
        weights += 1.0


@pytest.mark.parametrize("resamples", [40, 300, 2_000])
@pytest.mark.parametrize("visits, columns, levels, patterns", [(3, 3, 5, 40), (3, 1, 2, 4), (1, 1, 9, 9)])
def test_what_is_kept_of_clusters_is_what_would_be_drawn_anew(
    visits: int, columns: int, levels: int, patterns: int, resamples: int
) -> None:
    """However it lies in memory, into whatever blocks it is cut, and however many clusters look the same."""
    generator = np.random.default_rng(11)
    data = sample(generator.integers(0, levels, (120, columns)), np.repeat(np.arange(120 // visits), visits))
    assert (data.held is None) == (visits == 1)
    assert len(data.multiplicity) == patterns
    kept = np.concatenate(list(draw(data, resamples, 5)))
    anew = [
        data.row_weights(block) for block in _blocks_of_counts(data.multiplicity, resamples, resamples, 5)
    ]
    assert np.array_equal(kept, np.concatenate(anew))


# One number of resamples, wherever nobody says another.


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
