"""The before/after table: right numbers, intervals of the change, offsets compared by size."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.metrics import cohen_kappa_score
from tests.calibration.test_cross_fit import SCALE, lenient_judge

from medjury.analysis.calibration._before_after import (
    before_after,
    calibration_curve,
    nearest_grade,
    reliability,
)
from medjury.analysis.calibration._cross_fit import cross_fit
from medjury.foundation.errors import MedjuryError
from medjury.statistics import bootstrap

GRADES = (1, 2, 3, 4, 5)


def test_every_number_of_the_table_by_hand() -> None:
    scores, labels, cases = lenient_judge(60)
    fitted = cross_fit(scores, labels, cases=cases, scale=SCALE)
    after = fitted.out_of_fold.calibrated
    table = before_after(fitted.out_of_fold, grades=GRADES, resamples=400)
    for side, values in (("before", scores), ("after", after)):
        found = {name: getattr(change, side).value for name, change in table.items()}
        rounded = np.floor(values + 0.5)
        fold = fitted.out_of_fold.fold
        rho = [
            spearmanr(values[fold == k], labels[fold == k]).statistic * (fold == k).sum() for k in range(5)
        ]
        assert found["spearman"] == pytest.approx(sum(rho) / len(labels))
        assert found["offset"] == pytest.approx((values - labels).mean())
        assert found["absolute_offset"] == pytest.approx(abs((values - labels).mean()))
        assert found["rmse"] == pytest.approx(np.sqrt(((values - labels) ** 2).mean()))
        assert found["kappa_quadratic"] == pytest.approx(
            cohen_kappa_score(labels, rounded, weights="quadratic", labels=list(GRADES))
        )
    for change in table.values():
        assert change.change.value == pytest.approx(change.after.value - change.before.value)


def test_a_biased_judge_loses_its_offset_and_the_interval_of_the_change_shows_it() -> None:
    scores, labels, cases = lenient_judge(120)
    table = before_after(cross_fit(scores, labels, cases=cases, scale=SCALE).out_of_fold, grades=GRADES)
    assert table["offset"].before.low > 0.5
    assert table["absolute_offset"].after.value < 0.1 * table["absolute_offset"].before.value
    assert table["absolute_offset"].change.high < 0
    assert table["rmse"].change.high < 0
    assert "clusters" in table["rmse"].change.method


def test_a_strict_judge_is_compared_by_the_size_of_its_offset() -> None:
    """From −0.9 to about 0 is an improvement, though the signed offset rises."""
    scores, labels, cases = lenient_judge(60)
    strict = np.clip(6 - scores, 1, 5)
    table = before_after(cross_fit(strict, 6 - labels, cases=cases, scale=SCALE).out_of_fold, grades=GRADES)
    assert table["offset"].change.value > 0
    assert table["absolute_offset"].change.value < 0


def test_the_size_of_an_offset_lies_in_its_interval_which_begins_at_zero_where_the_sign_is_open() -> None:
    scores, labels, cases = lenient_judge(60)
    table = before_after(cross_fit(scores, labels, cases=cases, scale=SCALE).out_of_fold, grades=GRADES)
    before, after = table["absolute_offset"].before, table["absolute_offset"].after
    assert 0 < before.low < before.value < before.high
    assert after.low == 0 <= after.value < after.high


def test_isotonic_may_lower_the_kappa_of_a_single_judge_and_the_table_shows_both() -> None:
    """A noisy judge without offset: shrinking to the mean helps RMSE and costs kappa."""
    generator = np.random.default_rng(8)
    labels = generator.integers(1, 6, size=600).astype(float)
    scores = np.where(generator.random(600) < 0.5, labels, generator.integers(1, 6, size=600))
    table = before_after(
        cross_fit(scores, labels, cases=range(600), scale=SCALE).out_of_fold, grades=GRADES, resamples=500
    )
    assert table["rmse"].change.high < 0
    assert table["kappa_quadratic"].change.high < 0


def test_a_strictly_rising_map_changes_no_rank_though_folds_differ() -> None:
    """Pooled over folds, Spearman would fall: a fold with higher labels is mapped lower, its own being left
    out."""
    generator = np.random.default_rng(9)
    labels = generator.integers(1, 6, size=500).astype(float)
    scores = np.clip(labels + generator.integers(-1, 2, size=500), 1, 5)
    pairs = cross_fit(scores, labels, cases=range(500), scale=SCALE, method="linear").out_of_fold
    table = before_after(pairs, grades=GRADES, resamples=200)
    assert table["spearman"].change.value == pytest.approx(0, abs=1e-12)
    assert spearmanr(pairs.calibrated, labels).statistic < spearmanr(scores, labels).statistic - 0.001


def test_the_same_seed_gives_the_same_intervals() -> None:
    scores, labels, cases = lenient_judge(40)
    pairs = cross_fit(scores, labels, cases=cases, scale=SCALE).out_of_fold
    first, second = (before_after(pairs, grades=GRADES, resamples=300, seed=7) for _ in range(2))
    assert first == second


def test_scores_that_were_never_cross_fitted_are_refused() -> None:
    with pytest.raises(MedjuryError, match="needs out-of-fold scores"):
        before_after(np.ones(3), grades=GRADES)  # type: ignore[arg-type]


def test_scores_round_half_up() -> None:
    assert nearest_grade(np.array([1.5, 2.5, 3.5, 4.49999]), GRADES).tolist() == [2, 3, 4, 4]
    assert nearest_grade(np.array([0.0, 0.49, 0.5, 2.0]), (0, 1, 3)).tolist() == [0, 0, 1, 3]


def test_a_reliability_curve_tells_what_the_reference_said_at_each_score() -> None:
    scores, labels, cases = lenient_judge(60)
    curve = reliability(scores, labels, cases=cases, resamples=200)
    for point in curve.points:
        here = scores == point.score
        assert point.label.value == pytest.approx(labels[here].mean())
        assert point.label.n == here.sum()
        # A bin of a few answers says too little of the clinicians' mean there.
        assert (point.label.low is None) == (point.label.n < 30)
        if point.label.low is not None:
            assert point.label.low <= point.label.value <= point.label.high
    calibrated = cross_fit(scores, labels, cases=cases, scale=SCALE).out_of_fold.calibrated
    assert reliability(calibrated, labels, cases=cases, resamples=0).error < curve.error / 2


def test_each_bin_of_a_reliability_curve_stands_on_its_own_cases() -> None:
    """31 answers of five cases are five cases, though the other bin has forty."""
    scores = np.repeat([4.0, 5.0], [40, 31])
    cases = [*range(40), *(100 + place % 5 for place in range(31))]
    labels = np.where(np.arange(71) % 3 == 0, 3.0, 4.0)
    first, second = (point.label for point in reliability(scores, labels, cases=cases, resamples=200).points)
    assert first.low is not None and "BCa-t" in first.method
    assert (
        second.low is None and second.method == "no interval: 5 clusters are too few, at least 10 are needed"
    )


def test_many_distinct_scores_share_bins_and_no_item_is_lost() -> None:
    generator = np.random.default_rng(0)
    scores = generator.uniform(1, 5, size=300)
    curve = reliability(scores, np.round(scores), cases=range(300), bins=6, resamples=0)
    assert len(curve.points) == 6
    assert sum(point.label.n for point in curve.points) == curve.n == 300
    with pytest.raises(MedjuryError, match="no item has both"):
        reliability([1.0], [np.nan], cases="a")


def test_the_curve_of_every_fold_lies_beside_the_final_one() -> None:
    scores, labels, cases = lenient_judge(60)
    fitted = cross_fit(scores, labels, cases=cases, scale=SCALE)
    curves = calibration_curve(fitted, at=GRADES)
    assert list(curves) == ["final", *(f"without fold {number}" for number in range(1, 6))]
    assert curves["final"] == pytest.approx(fitted.final.predict(GRADES))


def test_few_cases_have_the_intervals_that_hold_for_few_cases_or_none() -> None:
    """Plain BCa held a calibrated RMSE in 75 % of studies of 20 cases, a calibrated kappa in 81 %."""
    fewest = {"rmse": 50, "spearman": 50, "kappa_quadratic": 60}
    for count, told in ((60, "BCa-t"), (20, "BCa-t"), (8, "at least 10 are needed")):
        scores, labels, cases = lenient_judge(count)
        pairs = cross_fit(scores, labels, cases=cases, scale=SCALE, folds=2, minimum=2).out_of_fold
        table = before_after(pairs, grades=GRADES, resamples=300)
        for name, change in table.items():
            for each in (change.before, change.after, change.change):
                if name == "absolute_offset" and count > 8:
                    assert each.low is not None
                elif "the same in all" in each.method:  # a rising map moves no rank
                    assert each.low is None and (name, each.value) == ("spearman", 0.0)
                elif (
                    name in fewest
                    and each is not change.before
                    and count == 20
                    and "least 30" not in each.method
                ):
                    assert each.low is None and f"at least {fewest[name]} are needed" in each.method
                elif name == "rmse" and each.n < 30 and count >= 10:
                    assert each.low is None and "at least 30 are needed" in each.method
                else:
                    assert told in each.method and (each.low is None) == (count == 8), (name, each)


def test_intervals_of_what_hangs_on_the_maps_are_stretched_for_maps_that_share_labels() -> None:
    scores, labels, cases = lenient_judge(80)
    pairs = cross_fit(scores, labels, cases=cases, scale=SCALE).out_of_fold
    found = before_after(pairs, grades=GRADES, resamples=300)
    for name, change in found.items():
        for each in (change.after, change.change):
            assert ("stretched by 1.118 for 5 maps that share labels" in each.method) == (
                name in ("rmse", "kappa_quadratic")
            )
        assert "stretched" not in change.before.method
    rmse, gaps = found["rmse"].after, (pairs.calibrated - pairs.labels)[:, np.newaxis]
    plain = bootstrap(
        gaps,
        lambda rows: lambda weights: {"rmse": np.sqrt(weights @ rows[:, 0] ** 2 / weights.sum(axis=1))},
        clusters=cases,
        resamples=300,
    )["rmse"]
    assert rmse.high - rmse.value == pytest.approx(1.25**0.5 * (plain.high - plain.value), rel=0.15)


@pytest.mark.simulation
def test_intervals_of_few_cases_hold_what_the_same_maps_would_do_to_all() -> None:
    everybody, studies = lenient_judge(6000), 150
    held = dict.fromkeys(("offset", "kappa_quadratic"), 0)
    for study in range(studies):
        drawn = np.random.default_rng(study).choice(len(everybody[0]), 60, replace=False)
        scores, labels = everybody[0][drawn], everybody[1][drawn]
        fitted = cross_fit(scores, labels, cases=range(60), scale=SCALE)
        found = before_after(fitted.out_of_fold, grades=GRADES, resamples=400)
        after = np.concatenate([each.predict(everybody[0]) for each in fitted.calibrators])
        truth = np.tile(everybody[1], len(fitted.calibrators))
        wanted = {
            "offset": (after - truth).mean(),
            "kappa_quadratic": cohen_kappa_score(truth, np.floor(after + 0.5), weights="quadratic"),
        }
        for name in held:
            interval = found[name].after
            held[name] += interval.low - 1e-9 <= wanted[name] <= interval.high + 1e-9
    assert min(held.values()) / studies >= 0.91, held
