"""Answers drawn with unequal probabilities: weighted shares and means, beside second implementations."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest

from medjury.analysis.agreement._weighting import by_last_column
from medjury.analysis.calibration._review_queue import inclusion_probabilities, systematic
from medjury.foundation.errors import MedjuryError
from medjury.statistics import (
    difference_mean,
    effective_n,
    proportion,
    weighted_mean,
    weighted_proportion,
)

VALUES = np.array([5.0, 4.0, 4.0, 2.0, 1.0, 5.0, 3.0])
SIZES = np.array([1.0, 1.0, 2.0, 4.0, 5.0, 1.0, 3.0])


def every_draw(probabilities: np.ndarray) -> list[tuple[float, np.ndarray]]:
    """Each sample that a systematic draw can give, with how likely it is: between two breaks of the start nothing
    changes."""
    breaks = np.unique(np.concatenate([[0.0, 1.0], np.cumsum(probabilities) % 1.0]))
    return [(b - a, systematic(probabilities, (a + b) / 2.0)) for a, b in pairwise(breaks) if b - a > 1e-12]


@pytest.mark.parametrize("count", [1, 2, 3, 5, 6])
def test_every_unit_is_drawn_with_exactly_its_probability_and_the_number_is_fixed(count: int) -> None:
    certain = np.array([False] * 6 + [count > 1])
    probabilities = inclusion_probabilities(SIZES, certain, count, floor=0.2)
    draws = every_draw(probabilities)
    assert sum(chance for chance, _ in draws) == pytest.approx(1.0)
    assert {int(drawn.sum()) for _, drawn in draws} == {count}
    assert sum(chance * drawn for chance, drawn in draws) == pytest.approx(probabilities, abs=1e-12)


def test_weighted_totals_are_right_on_average_over_every_possible_draw() -> None:
    probabilities = inclusion_probabilities(SIZES, np.zeros(7, dtype=bool), 3, floor=0.3)
    draws = every_draw(probabilities)
    totals = [(chance, float((VALUES / probabilities)[drawn].sum())) for chance, drawn in draws]
    assert sum(chance * total for chance, total in totals) == pytest.approx(VALUES.sum(), abs=1e-9)
    plain = sum(chance * VALUES[drawn].mean() for chance, drawn in draws)
    assert plain < VALUES.mean() - 0.2, "unweighted, a draw that prefers bad answers finds answers bad"


def test_the_difference_estimator_is_unbiased_over_every_possible_draw_for_a_stated_trust() -> None:
    probabilities = inclusion_probabilities(SIZES, np.zeros(7, dtype=bool), 4, floor=0.3)
    jury = np.array([5.0, 5.0, 3.0, 3.0, 2.0, 4.0, 3.0])
    mean = 0.0
    for chance, drawn in every_draw(probabilities):
        labels = np.where(drawn, VALUES, np.nan)
        found, _ = difference_mean(labels, 1 / probabilities, jury, trust=1.0)
        direct = jury.mean() + np.average((VALUES - jury)[drawn], weights=1 / probabilities[drawn])
        assert found.value == pytest.approx(direct)
        # Hájek's ratio has a bias of order 1/n; the total that it rests on has none.
        mean += chance * (jury.mean() + float(((VALUES - jury) / probabilities)[drawn].sum()) / 7)
    assert mean == pytest.approx(VALUES.mean())


def test_no_probability_is_below_the_floor_and_none_above_one() -> None:
    sizes = np.array([1e-6, 1.0, 1.0, 50.0, 1000.0, 2.0])
    found = inclusion_probabilities(sizes, np.zeros(6, dtype=bool), 3, floor=0.25)
    assert found.sum() == pytest.approx(3.0) and found.max() <= 1.0
    assert found.min() >= 0.25 * 3 / 6 - 1e-12


def test_a_review_that_could_never_read_somebody_is_refused() -> None:
    with pytest.raises(MedjuryError, match="no reading is left for the"):
        inclusion_probabilities(np.ones(4), np.array([True, True, False, False]), 2)
    with pytest.raises(MedjuryError, match="never"):
        inclusion_probabilities(np.array([1.0, 0.0, 1.0]), np.zeros(3, dtype=bool), 1)


def test_a_weighted_mean_is_the_ratio_of_weighted_sums_with_its_linearised_error() -> None:
    generator = np.random.default_rng(3)
    values, weights = generator.normal(size=60), generator.uniform(1, 9, 60)
    cases = np.repeat(np.arange(20), 3)
    found = weighted_mean(values, weights, cases)
    mean = (weights * values).sum() / weights.sum()
    sums = [sum(weights[i] * (values[i] - mean) for i in range(60) if cases[i] == case) for case in range(20)]
    error = np.sqrt(20 / 19 * np.sum(np.square(sums))) / weights.sum()
    from scipy.stats import t

    sizes = np.array([weights[cases == case].sum() for case in range(20)])
    freedom = sizes.sum() ** 2 / (sizes**2).sum() - 1
    assert found.value == pytest.approx(mean)
    assert found.high == pytest.approx(mean + t.ppf(0.975, freedom) * error)


def test_a_mean_of_nothing_is_undefined_with_its_reason() -> None:
    assert (found := weighted_mean([], [])).value is None and found.reason == "there is no answer to count"


def test_a_mean_with_equal_weights_is_statsmodels_clustered_one() -> None:
    linear = pytest.importorskip("statsmodels.api")
    generator = np.random.default_rng(5)
    values, cases = generator.normal(size=40), np.repeat(np.arange(20), 2)
    weights = np.where(cases % 2 == 0, 1.0, 4.0)
    fitted = linear.WLS(values, np.ones(40), weights=weights).fit(
        cov_type="cluster", cov_kwds={"groups": cases, "use_correction": False}
    )
    found = weighted_mean(values, weights, cases)
    half = (found.high - found.low) / 2 if found.low is not None and found.high is not None else 0.0
    from scipy.stats import t

    sizes = np.bincount(cases, weights)
    freedom = effective_n(sizes) - 1
    assert found.value == pytest.approx(float(fitted.params[0]))
    assert half / t.ppf(0.975, freedom) == pytest.approx(float(fitted.bse[0]) * np.sqrt(20 / 19))


@pytest.mark.parametrize(("hits", "n"), [(0, 40), (1, 300), (49, 50), (50, 50)])
def test_at_the_edge_a_weighted_share_of_equal_weights_is_nearly_the_exact_one(hits: int, n: int) -> None:
    ours = weighted_proportion([True] * hits + [False] * (n - hits), np.full(n, 7.0))
    exact = proportion(hits, n)
    assert ours.value == exact.value
    if hits <= 1:
        assert ours.high == pytest.approx(exact.high, abs=0.005)
    else:
        assert ours.low == pytest.approx(exact.low, abs=0.005)


@pytest.mark.parametrize(("hits", "n"), [(5, 60), (25, 50), (10, 200), (180, 200)])
def test_elsewhere_it_lies_inside_the_exact_one_by_less_than_half_an_answer(hits: int, n: int) -> None:
    ours = weighted_proportion([True] * hits + [False] * (n - hits), np.full(n, 7.0))
    exact = proportion(hits, n)
    assert exact.low is not None and exact.high is not None
    assert ours.low == pytest.approx(exact.low, abs=0.75 / n) and ours.high == pytest.approx(
        exact.high, abs=0.75 / n
    )


def test_what_was_never_seen_is_bounded_by_the_heaviest_case() -> None:
    light = weighted_proportion([False] * 100, np.ones(100))
    heavy = weighted_proportion([False] * 100, np.r_[np.ones(90), np.full(10, 20.0)])
    assert light.high == pytest.approx(0.037, abs=0.002)
    # Σw / max w = 290 / 20 = 14.5 answers are what nothing seen rests on.
    assert heavy.high == pytest.approx(proportion(0, 14).high, abs=0.03)


def test_near_zero_the_upper_end_holds_whoever_hides_the_events() -> None:
    """An adversary who puts every event where reading is least likely does not escape more often than promised."""
    generator = np.random.default_rng(8)
    probabilities = np.r_[np.ones(40), np.full(460, 0.1)]
    missed = 0
    for events in (9, 14, 23):
        hits = np.r_[np.zeros(500 - events, dtype=bool), np.ones(events, dtype=bool)]
        for _ in range(400):
            drawn = generator.random(500) < probabilities
            found = weighted_proportion(hits[drawn], 1 / probabilities[drawn])
            missed += found.high < events / 500
    assert missed / 1200 <= 0.035


@pytest.mark.parametrize(("rare", "inverse"), [(40, 13), (40, 8), (120, 13)])
def test_events_among_the_light_cases_do_not_vouch_for_the_heavy_ones(rare: int, inverse: int) -> None:
    """Most answers are read and show some events; the few that are rarely read hide many more of them."""
    generator = np.random.default_rng(11)
    probabilities = np.r_[np.ones(200 - rare), np.full(rare, 1 / inverse)]
    chances = np.r_[np.full(200 - rare, 0.05), np.full(rare, 0.3)]
    held = 0
    for _ in range(600):
        drawn = generator.random(200) < probabilities
        hits = generator.random(200) < chances
        found = weighted_proportion(hits[drawn], 1 / probabilities[drawn])
        assert found.low is not None and found.high is not None
        held += found.low <= chances.mean() <= found.high
    assert held / 600 >= 0.93


def test_a_weighted_statistic_is_that_of_rows_repeated_as_often() -> None:
    rows = np.array([[1.0, 2.0, 3.0], [4.0, 4.0, 1.0], [2.0, 5.0, 2.0]])
    from medjury.analysis.agreement._kappa import kappa_statistics
    from medjury.statistics import evaluate

    read = by_last_column(kappa_statistics((1.0, 2.0, 3.0, 4.0, 5.0), ["quadratic"]))
    weighted = evaluate(rows, read, [[0, 1, 2]])["kappa_quadratic"][0]
    repeated = np.repeat(rows[:, :2], rows[:, 2].astype(int), axis=0)
    plain = evaluate(repeated, kappa_statistics((1.0, 2.0, 3.0, 4.0, 5.0), ["quadratic"]), [list(range(6))])
    assert weighted == pytest.approx(plain["kappa_quadratic"][0])


def test_all_draws_of_two_among_four_give_the_mean_of_all() -> None:
    """The plainest case by hand: equal probabilities are simple random sampling."""
    values = [1.0, 2.0, 4.0, 5.0]
    means = [weighted_mean([values[i], values[j]], [2.0, 2.0]).value for i, j in combinations(range(4), 2)]
    assert np.mean([mean for mean in means if mean is not None]) == pytest.approx(3.0)


@pytest.mark.parametrize("hits", [60, 140])
def test_the_end_towards_the_nearer_edge_is_that_of_the_score_interval_and_the_other_is_not(
    hits: int,
) -> None:
    limits = pytest.importorskip("statsmodels.stats.proportion").proportion_confint(
        hits, 200, method="wilson"
    )
    found = weighted_proportion([True] * hits + [False] * (200 - hits), np.full(200, 3.0))
    assert found.low is not None and found.high is not None
    near = 0 if hits < 100 else 1
    assert (found.low, found.high)[near] == pytest.approx(limits[near], abs=0.002)
    assert found.low <= limits[0] + 0.002 and found.high >= limits[1] - 0.002


def test_a_share_and_the_share_of_all_others_mirror_each_other() -> None:
    generator = np.random.default_rng(2)
    hits, weights = generator.random(80) < 0.3, generator.uniform(1, 9, 80)
    one, other = weighted_proportion(hits, weights), weighted_proportion(~hits, weights)
    assert one.low is not None and one.high is not None
    assert (other.low, other.high) == pytest.approx((1 - one.high, 1 - one.low))
