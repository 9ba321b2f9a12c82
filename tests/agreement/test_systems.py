"""Between and within systems, and the baseline that knows only the system, against plain loops."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kendalltau, pearsonr, rankdata, spearmanr

from medjury.analysis.agreement._pair_statistics import Settings
from medjury.analysis.agreement._systems import (
    between_and_within,
    fold_of_clusters,
    of_system_means,
    system_rows,
    tied_ranks,
)
from medjury.statistics import evaluate


def rows_of(seed: int, items: int = 30, systems: int = 4, levels: int = 5) -> np.ndarray:
    """Every system answers every item; systems differ and items differ."""
    generator = np.random.default_rng(seed)
    system = np.tile(np.arange(systems), items)
    case = np.repeat(np.arange(items), systems)
    quality = system * 0.6 + generator.normal(0, 0.7, items)[case]
    scores = [
        np.clip(np.rint(2 + quality + generator.normal(0, 0.8, len(case))), 1, levels) for _ in range(2)
    ]
    return system_rows(np.column_stack(scores), system, case, seed)


def slow(rows: np.ndarray) -> dict[str, float]:
    x, y, system, fold = rows.T
    systems = np.unique(system)
    means = np.array([[x[system == s].mean(), y[system == s].mean()] for s in systems])
    inside = [(len(x[system == s]), x[system == s], y[system == s]) for s in systems]
    weight = np.array([n for n, _, _ in inside])
    guess = np.array([x[(system == s) & (fold != f)].mean() for s, f in zip(system, fold, strict=True)])
    return {
        "pearson_between_systems": pearsonr(*means.T)[0],
        "spearman_between_systems": spearmanr(*means.T)[0],
        "kendall_tau_b_between_systems": kendalltau(*means.T)[0],
        "pearson_within_systems": np.average([pearsonr(a, b)[0] for _, a, b in inside], weights=weight),
        "spearman_within_systems": np.average([spearmanr(a, b)[0] for _, a, b in inside], weights=weight),
        "pearson_system_mean_baseline": pearsonr(guess, x)[0],
        "spearman_system_mean_baseline": spearmanr(guess, x)[0],
    }


def test_many_systems_give_the_same_as_the_plain_loop() -> None:
    """Above 64 groups the sums go through sparse matrices."""
    rows = rows_of(5, items=12, systems=70, levels=60)
    found = evaluate(rows, between_and_within(Settings()), np.arange(len(rows))[np.newaxis])
    for name, value in slow(rows).items():
        assert found[name][0] == pytest.approx(value, abs=1e-9), name


@pytest.mark.parametrize("seed", range(4))
def test_every_value_equals_the_plain_loop_on_data_and_on_resamples(seed: int) -> None:
    rows = rows_of(seed)
    generator = np.random.default_rng(seed)
    cases = np.arange(30)
    drawn = [generator.choice(cases, 30) for _ in range(5)]
    indices = np.array(
        [np.arange(120), *(np.concatenate([np.arange(4) + 4 * case for case in some]) for some in drawn)]
    )
    whole = evaluate(rows, between_and_within(Settings()), indices[:1])
    assert {name: each[0] for name, each in whole.items() if name in slow(rows)} == pytest.approx(slow(rows))
    found = evaluate(rows, between_and_within(Settings()), indices)
    for place, index in enumerate(indices):
        for name, value in slow(rows[index]).items():
            # Between systems there is no interval, and resamples are not asked.
            assert (name in found) != name.endswith("_between_systems")
            assert name not in found or found[name][place] == pytest.approx(value, abs=1e-9), name


def test_the_baseline_sees_no_score_it_predicts() -> None:
    """Pure noise: a baseline that saw the item's own score would correlate with it."""
    generator = np.random.default_rng(0)
    values = []
    for seed in range(40):
        case, system = np.repeat(np.arange(20), 3), np.tile(np.arange(3), 20)
        rows = system_rows(generator.normal(0, 1, (60, 2)), system, case, seed)
        found = evaluate(rows, between_and_within(Settings()), np.arange(60)[np.newaxis])
        values.append(float(found["pearson_system_mean_baseline"][0]))
    assert np.mean(values) < 0.03


def test_folds_keep_a_case_together() -> None:
    cases = np.repeat([f"case {each}" for each in range(11)], 4)
    folds = fold_of_clusters(cases, seed=3)
    assert set(folds) == {0, 1, 2, 3, 4}
    assert all(len(set(folds[cases == case])) == 1 for case in cases)


def test_the_level_system_treats_means_as_points() -> None:
    rows = rows_of(1)
    found = evaluate(rows, of_system_means, np.arange(len(rows))[np.newaxis])
    x, y, system = rows[:, 0], rows[:, 1], rows[:, 2]
    means = np.array([[x[system == s].mean(), y[system == s].mean()] for s in range(4)])
    gap = means[:, 1] - means[:, 0]
    r = pearsonr(*means.T)[0]
    assert found["of means offset"][0] == pytest.approx(gap.mean())
    assert found["of means rmse"][0] == pytest.approx(np.sqrt((gap**2).mean()))
    assert found["of means icc_3_k_z"][0] == pytest.approx(2 * r / (1 + r))


def test_ranks_share_ties_and_stand_for_as_many_items_as_they_count() -> None:
    values = np.array([[2.0, 1.0, 2.0, 3.0]])
    assert tied_ranks(values, np.ones((1, 4)))[0] + 0.5 == pytest.approx(rankdata(values[0]))
    counts = np.array([[2.0, 1.0, 3.0, 1.0]])
    expanded = rankdata(np.repeat(values[0], counts[0].astype(int)))
    assert tied_ranks(values, counts)[0] + 0.5 == pytest.approx(
        [expanded[0], expanded[2], expanded[3], expanded[6]]
    )
