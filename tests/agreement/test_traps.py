"""Each trap in the statistics that cost somebody a wrong table, and the table that does not fall into it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import pearsonr
from sklearn.metrics import cohen_kappa_score
from tests.agreement.rating_rows import compared, likert, long_table

from medjury.analysis.agreement import agreement, compare_rates
from medjury.tables import rating_table


def test_without_a_scale_kappa_still_does_not_take_ranks_of_the_observed_levels() -> None:
    scores = {"human": [1, 1, 2, 5, 5, 2, 1, 5], "judge": [1, 2, 2, 5, 1, 2, 1, 2]}
    table = agreement(long_table(scores), reference="human", raters="judge", resamples=50)
    row = table.find("kappa_quadratic").estimate
    full = cohen_kappa_score(scores["human"], scores["judge"], weights="quadratic", labels=[1, 2, 3, 4, 5])
    assert row.value == pytest.approx(full, abs=1e-12)
    assert "no scale given" in row.method
    assert table.find("gwet_ac1").estimate.reason == "needs the full scale, and none was given"
    assert any("no scale was given for quality" in note for note in table.notes)


def test_icc_3_k_on_z_scores_stands_beside_r_and_absolute_agreement() -> None:
    """A judge two grades too low has an icc_3_k_z of 2r/(1+r), near 1, while absolute agreement is poor."""
    human = [3, 4, 5, 5, 3, 4, 5, 4, 3, 5, 4, 3]
    judge = [1, 2, 3, 3, 1, 2, 3, 2, 1, 3, 2, 2]
    table = compared({"human": human, "judge": judge})
    r = pearsonr(human, judge)[0]
    assert table.find("icc_3_k_z").estimate.value == pytest.approx(2 * r / (1 + r), abs=1e-12)
    assert table.find("pearson").estimate.value == pytest.approx(r)
    assert table.find("icc_3_k_z").estimate.value > 0.95
    assert table.find("icc_2_1").estimate.value < 0.5
    assert any("blind to any offset" in note for note in table.notes)


def test_the_averaging_level_is_stated_and_changes_the_number() -> None:
    generator = np.random.default_rng(1)
    systems = [f"s{place % 8}" for place in range(240)]
    quality = np.array([int(name[1:]) / 2 for name in systems])
    scores = {name: (quality + generator.normal(0, 2, 240)).tolist() for name in ("human", "judge")}
    frame = long_table(scores, systems=systems)
    table = agreement(frame, reference="human", level="both", resamples=200)
    item = table.find("icc_3_k_z", level="item").estimate
    system = table.find("icc_3_k_z", level="system").estimate
    assert item.value < 0.6 < 0.8 < system.value
    assert (item.n, system.n) == (240, 8)
    assert "means of 8 systems" in system.method


def test_resampling_is_by_case_not_by_rating_row() -> None:
    """Ten systems that get the same scores on an item hold one item's worth of information, not ten."""
    single = likert(2, 40, human=0.6, judge=0.6)
    copied = {name: np.repeat(values, 10).tolist() for name, values in single.items()}
    items = [f"item {place // 10}" for place in range(400)]
    systems = [f"s{place % 10}" for place in range(400)]
    alone = compared(single, resamples=2000)
    many = compared(long_table(copied, items=items, systems=systems), resamples=2000)
    narrow, wide = (table.find("kappa_quadratic", level="item").estimate for table in (alone, many))
    assert wide.value == pytest.approx(narrow.value)
    assert wide.high - wide.low == pytest.approx(narrow.high - narrow.low, rel=0.15)
    assert "40 clusters" in wide.method


def test_the_seed_is_an_argument_and_decides_the_interval() -> None:
    frame = long_table(likert(4, 40, human=0.6, judge=0.8))
    same = [compared(frame, resamples=300, seed=7).to_json() for _ in range(2)]
    other = compared(frame, resamples=300, seed=8).to_json()
    assert same[0] == same[1] != other


def test_a_beta_binomial_posterior_shows_counts_both_intervals_and_a_second_prior() -> None:
    compared = compare_rates(0, 79, 0, 9)
    assert compared.flat == pytest.approx(0.889, abs=0.001)
    assert compared.jeffreys == pytest.approx(0.790, abs=0.001)
    assert (compared.errors_1, compared.n_1, compared.errors_2, compared.n_2) == (0, 79, 0, 9)
    assert compared.rate_1.high < 0.05 < 0.3 < compared.rate_2.high


def test_the_ceiling_share_stands_in_every_row() -> None:
    scores = {"human": [5, 5, 5, 5, 5, 5, 5, 4, 5, 1], "judge": [5, 5, 5, 5, 5, 5, 5, 5, 5, 1]}
    table = compared(scores)
    for row in table.rows:
        assert (row.counts.ceiling_reference, row.counts.ceiling_rater) == (0.8, 0.9)
        assert (row.counts.floor_reference, row.counts.floor_rater) == (0.1, 0.1)


def test_scores_round_half_up() -> None:
    """numpy rounds 2.5 to 2: then the jury would miss the human on every item."""
    scores = {"human": [3, 5, 2, 4], "a": [2, 4, 1, 3], "b": [3, 5, 2, 4]}
    table = agreement(
        rating_table(long_table(scores), jury="mean", scale=(1, 5)),
        reference="human",
        raters=["a", "b"],
        resamples=0,
    )
    row = table.find("exact_match", rater="jury").estimate
    assert row.value == 1.0
    assert "4 scores between grades rounded half up" in row.method


def test_between_and_within_system_agreement_stand_apart_beside_the_baseline() -> None:
    """A judge that recognises the system and nothing else: high pooled, nothing within, no better than the mean."""
    generator = np.random.default_rng(6)
    systems = [f"s{place % 5}" for place in range(500)]
    level = np.array([int(name[1:]) for name in systems]) * 0.8
    human = np.clip(np.rint(1 + level + generator.normal(0, 0.7, 500)), 1, 5)
    judge = np.clip(np.rint(1 + level + generator.normal(0, 0.5, 500)), 1, 5)
    items = [f"item {place // 5}" for place in range(500)]
    frame = long_table({"human": human.tolist(), "judge": judge.tolist()}, systems=systems, items=items)
    table = compared(frame, resamples=500)
    find = {row.statistic: row.estimate for row in table.rows}
    assert find["spearman"].value > 0.7
    assert find["spearman_between_systems"].value > 0.9
    assert abs(find["spearman_within_systems"].value) < 0.12
    assert find["spearman_system_mean_baseline"].value > find["spearman"].value
    assert find["spearman_minus_system_baseline"].high < 0
    assert any("between- and within-system" in note for note in table.notes)
