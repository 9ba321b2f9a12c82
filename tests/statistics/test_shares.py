"""Shares of counts and tests on counts, against R."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from tests.agreement.reference_values import reference
from tests.statistics.twenty_rows import said

from medjury.foundation.errors import MedjuryError
from medjury.statistics import (
    Estimate,
    binomial_test,
    clustered_proportion,
    counted_share,
    error_rate,
    fisher_test,
    mcnemar,
    paired_rate_difference,
    proportion,
    weighted_proportion,
)
from medjury.statistics._shares import difference_of

R = reference("binomial_tests_and_intervals")


@pytest.mark.parametrize("case", R["cases"], ids=lambda case: f"{case['k']} of {case['n']}")
def test_intervals_and_tests_equal_those_of_r(case: dict[str, object]) -> None:
    k, n = case["k"], case["n"]
    named = {"clopper_pearson": "clopper_pearson", "wilson": "wilson", "jeffreys": "jeffreys"}
    for interval, key in {**named, "flat_prior": "flat_prior_equal_tailed"}.items():
        estimate = proportion(k, n, interval=interval)
        assert (estimate.low, estimate.high) == pytest.approx(tuple(case[key]), abs=1e-9)
        assert estimate.value == pytest.approx(case["estimate"], abs=1e-12)
    assert binomial_test(k, n) == pytest.approx(case["p_two_sided_vs_half"], abs=1e-9)
    assert binomial_test(k, n, alternative="less") == pytest.approx(case["p_less_half"], abs=1e-9)


def test_mcnemar_uses_only_the_items_on_which_one_side_is_right() -> None:
    (_, only_first), (only_second, _) = R["mcnemar"]["table"]
    found = mcnemar(only_first, only_second)
    assert found.exact == pytest.approx(R["mcnemar"]["exact_binom"], abs=1e-9)
    assert found.chi_square == pytest.approx(R["mcnemar"]["chisq_nocc"], abs=1e-9)
    assert found.chi_square_corrected == pytest.approx(R["mcnemar"]["chisq_cc"], abs=1e-9)
    assert mcnemar(0, 0).exact == 1.0


def test_fisher_p_value_equals_that_of_r() -> None:
    table = tuple(tuple(row) for row in R["fisher"]["table"])
    assert fisher_test(table)[0] == pytest.approx(R["fisher"]["p"], abs=1e-9)


def test_fisher_odds_ratio_solves_its_equation_where_r_stops_searching_early() -> None:
    """R's fisher.test looks for the ratio with uniroot's default tolerance of 1e-4, so only three digits of its
    10.2955 are right. Under the ratio, the expected first cell must be the observed 18."""
    from scipy.stats import nchypergeom_fisher

    found = fisher_test(((18, 9), (2, 11)))[1]
    assert found.value == pytest.approx(R["fisher"]["or_cond_mle"], rel=1e-3)
    assert (found.low, found.high) == pytest.approx(tuple(R["fisher"]["ci"]), rel=1e-3)
    assert nchypergeom_fisher.mean(40, 20, 27, found.value) == pytest.approx(18, abs=1e-9)


def test_an_empty_margin_or_cell_gives_no_ratio_and_says_why() -> None:
    assert "empty" in fisher_test(((0, 0), (3, 4)))[1].reason
    assert "infinite" in fisher_test(((5, 0), (0, 5)))[1].reason


def test_no_cases_is_undefined_and_impossible_counts_are_refused() -> None:
    assert proportion(0, 0).reason == "no cases to count"
    with pytest.raises(MedjuryError, match="4 out of 3"):
        proportion(4, 3)


@given(st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_every_interval_holds_the_share_and_stays_within_zero_and_one(counts: tuple[int, int]) -> None:
    k, n = counts
    for interval in ("clopper_pearson", "wilson"):
        estimate = proportion(k, n, interval=interval)
        assert 0 <= estimate.low <= k / n <= estimate.high <= 1


# A share of counted answers of which neither end is a promise: how often its interval holds.


GROUPS = np.arange(60) // 6


@settings(max_examples=60, deadline=None)
@given(st.lists(st.booleans(), min_size=4, max_size=40), st.integers(1, 8), st.sampled_from([0.8, 0.95]))
def test_what_holds_of_the_hits_holds_of_the_others_and_no_end_is_wider_than_the_exact_one(
    hits: list[bool], together: int, confidence: float
) -> None:
    clusters = [place // together for place in range(len(hits))]
    found, mirrored = (
        counted_share(each, clusters, confidence=confidence) for each in (hits, [not hit for hit in hits])
    )
    exact = clustered_proportion(hits, clusters, confidence=confidence)
    assert (found.value, found.n, found.reason) == (exact.value, exact.n, exact.reason)
    if found.low is not None:
        assert (found.low, found.high) == pytest.approx((1 - mirrored.high, 1 - mirrored.low))
        assert exact.low - 1e-12 <= found.low <= found.value <= found.high <= exact.high + 1e-12


def test_one_answer_to_a_case_is_wilsons_interval() -> None:
    hits = np.arange(30) < 4
    wilson = proportion(4, 30, interval="wilson")
    assert counted_share(hits) == wilson
    assert counted_share(hits, [f"case {place}" for place in range(30)]) == wilson


def test_no_event_counts_every_case_once() -> None:
    found = counted_share([False] * 60, GROUPS)
    assert (found.value, found.low, found.high) == (0.0, 0.0, proportion(0, 10).high)
    assert "each of 10 clusters counts once" in found.method


def test_several_answers_to_a_case_by_hand() -> None:
    """Jeffreys' lower end by the variance between cases; Wilson's upper end by Korn and Graubard's number."""
    hits = np.random.default_rng(3).random(60) < np.where(GROUPS % 3 == 0, 0.7, 0.1)
    share, by_case = hits.mean(), np.bincount(GROUPS, hits)
    between = 10 / 9 * ((by_case - 6 * share) ** 2).sum() / 60**2
    student = (stats.t.ppf(0.975, 59) / stats.t.ppf(0.975, 9)) ** 2
    seen = 60 / 59 * share * (1 - share) / between * student
    found = counted_share(hits, GROUPS)
    assert found.low == pytest.approx(stats.beta.ppf(0.025, share * seen + 0.5, (1 - share) * seen + 0.5))
    few = min((by_case > 0).sum(), (by_case < 6).sum())
    effect = max(between * 59 / (share * (1 - share)), 1 + 5 * min(1, 3 / few))
    worth, z = 60 / effect * student, stats.norm.ppf(0.975)
    root = np.sqrt(share * (1 - share) / worth + z**2 / (4 * worth**2))
    assert found.high == pytest.approx((share + z**2 / (2 * worth) + z * root) / (1 + z**2 / worth))
    assert f"are worth {worth:.1f}" in found.method


@pytest.mark.parametrize(
    ("share", "rate", "n"),
    [
        *(
            (counted_share, *case)
            for case in [(0.02, 20), (0.05, 50), (0.1, 20), (0.3, 20), (0.6, 50), (0.95, 200)]
        ),
        *(
            (error_rate, *case)
            for case in [(0.02, 50), (0.05, 20), (0.1, 20), (0.1, 50), (0.2, 20), (0.4, 200)]
        ),
    ],
)
def test_it_holds_in_92_to_98_5_percent_of_all_studies_that_can_happen(
    share: Callable[..., Estimate], rate: float, n: int
) -> None:
    """Every count, as often as it comes; Clopper and Pearson's interval would hold in up to 99.9 %."""
    held = sum(
        stats.binom.pmf(events, n, rate)
        for events in range(n + 1)
        if (found := share(np.arange(n) < events)).low <= rate <= found.high
    )
    assert 0.92 <= held <= 0.985


@pytest.mark.parametrize(("rate", "answers"), [(0.05, 4), (0.3, 8), (0.9, 4)])
def test_it_holds_where_answers_of_a_case_go_together(rate: float, answers: int) -> None:
    """600 studies of 20 cases; a true 95 % shows as 93 to 97 %."""
    generator, held = np.random.default_rng(11), 0
    clusters = np.repeat(np.arange(20), answers)
    for _ in range(600):
        of_case = generator.beta(1.5 * rate, 1.5 * (1 - rate), 20)
        found = counted_share(generator.random(len(clusters)) < of_case[clusters], clusters)
        held += found.low <= rate <= found.high
    assert 0.92 <= held / 600 <= 0.99


# A share of answers that come several to a case: against a second implementation, and in simulated studies.


def clustered(
    seed: int, rate: float, together: float, cases: int, answers: int
) -> tuple[np.ndarray, np.ndarray]:
    """Events of a beta-binomial: answers of one case correlate by `together`."""
    generator = np.random.default_rng(seed)
    room = 1 / together - 1
    of_case = generator.beta(rate * room, (1 - rate) * room, cases)
    clusters = np.repeat(np.arange(cases), answers)
    return generator.random(cases * answers) < of_case[clusters], clusters


def test_it_is_a_clopper_pearson_interval_of_the_effective_sample() -> None:
    """The variance from the cluster-robust covariance of a regression on nothing but a constant."""
    models = pytest.importorskip("statsmodels.api")
    hits, clusters = clustered(1, 0.3, 0.4, 60, 5)
    fit = models.OLS(hits.astype(float), np.ones(300)).fit(cov_type="cluster", cov_kwds={"groups": clusters})
    share = hits.mean()
    effect = fit.cov_params()[0, 0] / (share * (1 - share) / 299)
    assert effect > 1.5
    worth = 300 / effect * (stats.t.ppf(0.975, 299) / stats.t.ppf(0.975, 59)) ** 2
    found = clustered_proportion(hits, clusters)
    assert found.value == pytest.approx(share)
    assert found.low == pytest.approx(stats.beta.ppf(0.025, share * worth, (1 - share) * worth + 1))
    assert found.high == pytest.approx(stats.beta.ppf(0.975, share * worth + 1, (1 - share) * worth))


def test_without_clusters_it_is_clopper_pearson() -> None:
    hits = np.arange(30) < 4
    exact = proportion(4, 30)
    for found in (clustered_proportion(hits), clustered_proportion(hits, np.arange(30))):
        assert (found.low, found.high) == (exact.low, exact.high)


def test_with_no_event_each_case_counts_once_and_the_method_says_so() -> None:
    found = clustered_proportion(np.zeros(60), np.repeat(np.arange(10), 6))
    assert (found.value, found.low, found.high) == (0.0, 0.0, proportion(0, 10).high)
    assert "no event, so each of 10 clusters counts once" in found.method
    assert clustered_proportion(np.ones(60), np.repeat(np.arange(10), 6)).low == proportion(10, 10).low


@pytest.mark.parametrize(("most", "others"), [(20, 9), (10, 20), (5, 9)])
@pytest.mark.parametrize("rate", [0.1, 0.3, 0.5])
def test_a_patient_with_most_of_the_answers_is_worth_no_more_than_one(
    rate: float, most: int, others: int
) -> None:
    """All answers of a patient go one way. Every study that can happen, each as often as it does: the interval
    holds the rate in 95 % of them, where counting each patient once held it in 70 %."""
    patients = np.repeat(np.arange(others + 1), [most, *[1] * others])
    held = 0.0
    for first in (0, 1):
        for events in range(others + 1):
            hits = np.array([first] * most + [1] * events + [0] * (others - events))
            found = clustered_proportion(hits, patients)
            chance = (rate if first else 1 - rate) * stats.binom.pmf(events, others, rate)
            held += chance * (found.low <= rate <= found.high)
    assert held >= 0.95


@pytest.mark.parametrize(
    ("rate", "together"),
    # The others with `make test-simulations`.
    [
        pytest.param(rate, together, marks=[pytest.mark.simulation] * ((rate, together) != (0.15, 0.5)))
        for rate in (0.05, 0.15, 0.4)
        for together in (0.1, 0.5, 0.9)
    ],
)
def test_it_covers_with_six_answers_to_a_case_where_the_plain_interval_does_not(
    rate: float, together: float
) -> None:
    """600 studies of 25 cases: 95 % shows as 93.2 % or more. At rare events it is wider than it need be."""
    hidden, plain, missed = 0, 0, 0
    for seed in range(600):
        hits, clusters = clustered(seed, rate, together, 25, 6)
        found, naive = clustered_proportion(hits, clusters), proportion(int(hits.sum()), len(hits))
        hidden += found.low <= rate <= found.high
        plain += naive.low <= rate <= naive.high
        missed += found.high < rate
    assert hidden / 600 >= 0.932
    # The end that a promise of safety rests on.
    assert missed / 600 <= 0.035
    if together == 0.5:
        assert plain / 600 < 0.9


# A rate of which the upper end is the promise.


@settings(max_examples=60, deadline=None)
@given(st.lists(st.booleans(), min_size=2, max_size=40), st.integers(1, 8), st.sampled_from([0.8, 0.95]))
def test_the_upper_end_is_the_exact_one_to_the_last_digit_and_the_lower_end_is_never_lower(
    errors: list[bool], together: int, confidence: float
) -> None:
    clusters = [place // together for place in range(len(errors))]
    found, exact = (
        each(errors, clusters, confidence=confidence) for each in (error_rate, clustered_proportion)
    )
    assert (found.value, found.high, found.n, found.reason) == (
        exact.value,
        exact.high,
        exact.n,
        exact.reason,
    )
    if found.low is not None:
        assert exact.low <= found.low <= found.value
        assert (found.low == 0.0) == (not any(errors))


def test_where_every_answer_has_a_case_of_its_own_the_lower_end_is_jeffreys() -> None:
    errors = np.arange(30) < 4
    for found in (
        error_rate(errors),
        error_rate(errors, np.arange(30)),
        error_rate(errors, weights=[2.0] * 30),
    ):
        assert found.low == pytest.approx(proportion(4, 30, interval="jeffreys").low)
    assert error_rate(errors).method == "95 %: lower end Jeffreys', upper end exact (Clopper-Pearson)"


def test_several_answers_to_a_case_count_for_what_their_variance_tells() -> None:
    """The variance from the cluster-robust covariance of a regression on nothing but a constant."""
    models = pytest.importorskip("statsmodels.api")
    errors = np.random.default_rng(3).random(60) < np.where(GROUPS % 3 == 0, 0.7, 0.1)
    fit = models.OLS(errors.astype(float), np.ones(60)).fit(cov_type="cluster", cov_kwds={"groups": GROUPS})
    share = errors.mean()
    worth = 60 / (fit.cov_params()[0, 0] / (share * (1 - share) / 59))
    assert worth < 40
    found = error_rate(errors, GROUPS)
    assert found.low == pytest.approx(stats.beta.ppf(0.025, share * worth + 0.5, (1 - share) * worth + 0.5))
    assert found.method.startswith(
        "95 %: lower end Jeffreys', upper end exact (Clopper-Pearson): 60 answers of 10 clusters are worth "
    )


def test_with_weights_the_upper_end_is_that_of_the_weighted_share() -> None:
    errors, weights = GROUPS % 4 == 1, np.where(np.arange(60) % 2, 5.0, 1.0)
    found, usual = error_rate(errors, GROUPS, weights=weights), weighted_proportion(errors, weights, GROUPS)
    assert (found.value, found.high) == (usual.value, usual.high)
    assert 0 < found.low < found.value
    assert found.method.startswith(
        "95 %: lower end Jeffreys', upper end beta, weighted by 1/probability: 60 "
    )


def test_at_the_edges() -> None:
    none, all_of_them = (error_rate([each] * 60, GROUPS) for each in (False, True))
    assert (none.value, none.low, none.high) == (0.0, 0.0, proportion(0, 10).high)
    assert "no event, so each of 10 clusters counts once" in none.method
    assert (all_of_them.low, all_of_them.high) == (pytest.approx(stats.beta.ppf(0.025, 10.5, 0.5)), 1.0)
    assert error_rate([]).reason == "no cases to count"
    assert error_rate([True, False], ["a", "a"]).reason == "all answers belong to one cluster"


# The difference of two rates on the same answers.


def test_two_rates_of_zero_may_still_differ() -> None:
    found = paired_rate_difference(np.zeros(30), np.zeros(30))
    reach = proportion(0, 30).high
    assert found.value == 0.0
    assert (found.low, found.high) == pytest.approx((-reach, reach))
    assert paired_rate_difference(np.zeros(30), np.zeros(30), list(range(30))) == found


def test_with_several_answers_to_a_case_it_takes_15_cases_in_which_the_two_differ() -> None:
    cases, first = np.repeat(np.arange(40), 3), np.zeros(120)
    second = (np.arange(120) % 3 == 0) & (np.arange(120) < 45)
    enough = paired_rate_difference(first, second, cases)
    assert enough.value == pytest.approx(0.125)
    assert 0 < enough.low < 0.125 < enough.high
    second[0] = False
    few = paired_rate_difference(first, second, cases)
    assert (few.value, few.low, few.high, few.n) == (pytest.approx(14 / 120), None, None, 120)
    assert few.method == "no interval: the two differ in 14 cases, at least 15 are needed"


def test_fourteen_errors_against_fifteen_prove_nothing() -> None:
    first, second = np.zeros(90), np.zeros(90)
    first[:15], second[1:15] = 1, 1
    found = paired_rate_difference(first, second)
    assert found.value == pytest.approx(-1 / 90)
    assert found.low < 0 < found.high


def test_the_interval_is_that_of_zou_and_donner() -> None:
    found = difference_of(Estimate(0.3, 0.2, 0.45, 9, ""), Estimate(0.1, 0.04, 0.2, 9, ""), "rates")
    assert found.low == pytest.approx(0.2 - np.sqrt(0.1**2 + 0.1**2))
    assert found.high == pytest.approx(0.2 + np.sqrt(0.15**2 + 0.06**2))


@pytest.mark.parametrize("answers", [1, 5])
def test_it_covers_the_true_difference(answers: int) -> None:
    """500 studies of 40 cases; answers of one case share their danger. 95 % shows as 93 to 97 %."""
    held = given = 0
    for seed in range(500):
        generator = np.random.default_rng(seed)
        hard = np.repeat(generator.beta(0.5, 2.0, 40), answers)
        first, second = generator.random(len(hard)) < hard, generator.random(len(hard)) < 0.6 * hard
        found = paired_rate_difference(first, second, np.repeat(np.arange(40), answers))
        given += found.low is not None
        held += found.low is not None and found.low <= -0.4 * 0.2 <= found.high
    assert given >= 400
    assert 0.92 <= held / given <= 0.985


# Shares and tests on counts, against the formulas of the books.


def test_the_methods_name_their_interval() -> None:
    assert [
        said(proportion(3, 10, interval=name, confidence=0.9))
        for name in ("clopper_pearson", "wilson", "jeffreys", "flat_prior")
    ] == [
        (0.3, 0.087, 0.607, 10, "90 % Clopper-Pearson exact", ""),
        (0.3, 0.127, 0.558, 10, "90 % Wilson score", ""),
        (0.3, 0.117, 0.558, 10, "90 % Jeffreys, Beta(0.5, 0.5) prior", ""),
        (0.3, 0.135, 0.564, 10, "90 % flat Beta(1, 1) prior, equal-tailed", ""),
    ]


def test_mcnemar_of_nothing_or_of_a_draw_proves_nothing() -> None:
    assert [
        (each.exact, each.chi_square, each.chi_square_corrected) for each in (mcnemar(0, 0), mcnemar(4, 4))
    ] == [(1.0, 1.0, 1.0), (1.0, 1.0, 1.0)]


def test_answers_of_one_cluster_leave_no_interval() -> None:
    assert [
        said(clustered_proportion(hits, ["a"] * 4, confidence=0.9))
        for hits in ([True, False, True, True], [True] * 4)
    ] == [
        (None, None, None, 4, "90 % Clopper-Pearson, clustered", "all answers belong to one cluster"),
        (
            1.0,
            0.05,
            1.0,
            4,
            "90 % Clopper-Pearson exact; no exception, so each of 1 clusters counts once",
            "",
        ),
    ]


def test_clusters_that_all_go_one_way_are_worth_less_than_one_answer_each() -> None:
    """n / deff = 24 · (0.25 / 23) / 0.05 = 5.2 of 6 clusters, less for their few: (2.07 / 2.57)² = 0.65."""
    hits = [True] * 12 + [False] * 12
    assert said(clustered_proportion(hits, [place // 4 for place in range(24)])) == (
        0.5,
        0.05,
        0.95,
        24,
        "95 % Clopper-Pearson; 24 answers of 6 clusters are worth 3.4 (Korn & Graubard 1998)",
        "",
    )


def test_names_of_any_kind_make_clusters() -> None:
    assert (
        len(
            {
                clustered_proportion([True, False, True, False], names).high
                for names in (["a", "a", "b", "b"], [1, 1, 2, 2], np.array([7, 7, 9, 9]), (x for x in "aabb"))
            }
        )
        == 1
    )


def test_a_difference_of_two_values_needs_both_and_both_intervals() -> None:
    known, open_end, gone = (
        Estimate(0.5, 0.4, 0.7, 10, "m"),
        Estimate(0.2, None, 0.3, 8, "m"),
        Estimate(None, None, None, 7, "m", "nothing there"),
    )
    assert [
        said(difference_of(*pair, "what"))
        for pair in (
            (known, Estimate(0.2, 0.1, 0.25, 9, "m")),
            (known, open_end),
            (open_end, known),
            (known, gone),
            (gone, known),
        )
    ] == [
        (0.3, 0.188, 0.524, 10, "what (Zou & Donner 2008)", ""),
        (0.3, None, None, 10, "no interval: what", ""),
        (-0.3, None, None, 8, "no interval: what", ""),
        (None, None, None, 7, "what", "nothing there"),
        (None, None, None, 7, "what", "nothing there"),
    ]


def test_rates_of_nothing_are_not_compared() -> None:
    assert said(paired_rate_difference([], [])) == (
        None,
        None,
        None,
        0,
        "paired rates",
        "no answer to compare on",
    )
