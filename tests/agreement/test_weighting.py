"""Weights made to fit what is known of everybody: by hand, over many draws, and where that would be wrong."""

from __future__ import annotations

import numpy as np
import pytest

from medjury.analysis.agreement._weighting import by_last_column, by_strata, post_strata
from medjury.statistics import drawn_from, replicates
from medjury.statistics._bootstrap import Read
from medjury.statistics._resample import Floats


def mean(rows: Floats) -> Read:
    return lambda weights: {"mean": weights @ rows[:, 0] / weights.sum(axis=1)}


def answers(seed: int, count: int = 600) -> tuple[Floats, Floats, Floats]:
    """What the jury said of everybody, what a clinician would say, and weights of those who were drawn."""
    generator = np.random.default_rng(seed)
    jury = generator.choice([2.0, 3.0, 4.0, 5.0], count, p=[0.1, 0.2, 0.3, 0.4])
    clinician = jury + generator.normal(0, 0.4, count)
    probability = np.where(jury < 4, 0.5, 0.15)
    return jury, clinician, np.where(generator.random(count) < probability, 1 / probability, 0.0)


def test_a_mean_by_strata_is_that_of_each_stratum_times_its_true_share() -> None:
    jury, clinician, weights = answers(1)
    strata = post_strata(jury, weights, np.arange(600))
    assert strata is not None and strata.codes.max() == 3
    read = weights > 0
    found = replicates(strata.rows(clinician[read, np.newaxis]), by_strata(mean), resamples=0)
    by_hand = sum((jury == each).mean() * clinician[read & (jury == each)].mean() for each in (2, 3, 4, 5))
    assert found.observed["mean"] == pytest.approx(by_hand)


def test_what_the_jury_foretells_no_longer_varies_and_the_interval_knows() -> None:
    plain, fitted, held = [], [], 0
    for seed in range(150):
        jury, clinician, weights = answers(seed)
        read = weights > 0
        strata = post_strata(jury, weights, np.arange(600))
        assert strata is not None
        rows = np.column_stack([clinician, weights])[read]
        plain.append(replicates(rows, by_last_column(mean), resamples=0).observed["mean"])
        made = replicates(strata.rows(clinician[read, np.newaxis]), by_strata(mean), resamples=200, seed=seed)
        found = made.estimate("mean")
        fitted.append(found.value)
        assert found.low is not None and found.high is not None
        held += found.low <= 4.0 <= found.high
    assert np.mean(fitted) == pytest.approx(4.0, abs=0.02)
    assert np.std(fitted) < 0.7 * np.std(plain)
    assert 0.9 <= held / 150 <= 0.99


def test_scores_with_few_readings_share_a_stratum_and_no_score_is_the_lowest() -> None:
    scores = np.r_[[np.nan] * 5, [1.0] * 5, [2.0] * 15, [4.0] * 15, [5.0] * 4, np.full(60, 4.0)]
    weights = np.r_[np.full(44, 104 / 44), np.zeros(60)]
    strata = post_strata(scores, weights, np.arange(104))
    assert strata is not None
    assert [int(strata.codes[place]) for place in (0, 5, 10, 25, 40)] == [0, 0, 1, 2, 2]


def test_answers_of_one_case_count_once() -> None:
    scores, weights = np.repeat([1.0, 2.0], 40), np.tile([2.0, 0.0], 40)
    assert post_strata(scores, weights, np.arange(80)) is not None
    assert post_strata(scores, weights, np.repeat(np.arange(8), 10)) is None


def test_answers_that_cannot_be_all_that_were_drawn_from_are_not_fitted_to() -> None:
    jury, _, weights = answers(1)
    read = weights > 0
    kept = read | (np.arange(600) % 5 == 0)
    assert drawn_from(weights) and not drawn_from(weights[kept])
    assert post_strata(jury[read], weights[read], np.arange(int(read.sum()))) is None
    assert post_strata(jury[kept], weights[kept], np.arange(int(kept.sum()))) is None
    early = np.where(np.arange(600) < 300, weights, 0.0)
    assert drawn_from(early), "a review that stopped early stands for fewer"
