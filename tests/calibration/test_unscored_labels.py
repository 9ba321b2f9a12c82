"""A jury that fails on bad answers must not make the mean look good: labelled answers without its score count."""

from __future__ import annotations

import numpy as np
import pytest

from medjury.calibration._prediction_powered import estimate_difference, estimate_mean

TRUTH = 4.0


def answers(seed: int, fails_on_bad: float) -> tuple[np.ndarray, np.ndarray]:
    """400 answers, 100 of them labelled at random; the jury fails on this share of the bad ones."""
    generator = np.random.default_rng(seed)
    quality = np.clip(np.rint(generator.normal(TRUTH, 1.0, 400)), 1, 7)
    jury = quality - 0.5 + generator.normal(0, 0.6, 400)
    jury[(quality <= 3) & (generator.random(400) < fails_on_bad)] = np.nan
    labels = quality.astype(float)
    labels[generator.permutation(400)[100:]] = np.nan
    return labels, jury


@pytest.mark.parametrize("fails_on_bad", [0.0, 0.5, 0.9])
def test_the_mean_is_covered_however_the_jury_fails(fails_on_bad: float) -> None:
    """300 studies: 95 % shows as 92 % or more."""
    covered, error, labels_alone = 0, [], 0
    for seed in range(300):
        labels, jury = answers(seed, fails_on_bad)
        found = estimate_mean(labels, jury, cases=range(400), labels_random=True)
        covered += found.power_tuned.low <= TRUTH <= found.power_tuned.high
        labels_alone += found.classical.low <= TRUTH <= found.classical.high
        error.append(found.power_tuned.value - TRUTH)
    assert covered / 300 >= 0.92
    assert labels_alone / 300 >= 0.92
    assert abs(np.mean(error)) < 0.03


def test_every_label_counts_and_the_reader_is_told_that_the_jury_fails_on_bad_answers() -> None:
    labels, jury = answers(1, 0.9)
    found = estimate_mean(labels, jury, cases=range(400), labels_random=True)
    assert found.n_labelled == 100
    assert found.classical.value == pytest.approx(np.nanmean(labels))
    assert found.n_unscored == int(np.isnan(jury).sum())
    assert any("it fails on other answers than it scores" in warning for warning in found.warnings)


def test_a_jury_that_fails_anywhere_is_seldom_accused() -> None:
    """At a level of 5 %, up to 11 of 100 studies in 99 runs of 100."""
    accused = 0
    for seed in range(100):
        labels, jury = answers(seed, 0.0)
        jury[np.random.default_rng(1000 + seed).random(400) < 0.2] = np.nan
        found = estimate_mean(labels, jury, cases=range(400), labels_random=True)
        accused += any("it fails on other answers" in warning for warning in found.warnings)
    assert accused <= 11


def test_a_difference_of_systems_counts_labels_without_a_score_too() -> None:
    labels, jury = answers(4, 0.9)
    systems = ["a", "b"] * 200
    found = estimate_difference(
        labels, jury, systems=systems, first="a", second="b", cases=[f"c{place // 2}" for place in range(400)]
    )
    wanted = np.nanmean(labels[::2]) - np.nanmean(labels[1::2])
    assert found.classical.value == pytest.approx(wanted)
