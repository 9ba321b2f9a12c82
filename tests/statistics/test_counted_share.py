"""A share of counted answers of which neither end is a promise: how often its interval holds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from medjury.statistics import clustered_proportion, counted_share, proportion

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
    ("rate", "n"), [(0.02, 20), (0.05, 50), (0.1, 20), (0.3, 20), (0.6, 50), (0.95, 200)]
)
def test_it_holds_in_92_to_98_5_percent_of_all_studies_that_can_happen(rate: float, n: int) -> None:
    """Every count, as often as it comes; Clopper and Pearson's interval would hold in up to 99.9 %."""
    held = sum(
        stats.binom.pmf(events, n, rate)
        for events in range(n + 1)
        if (found := counted_share(np.arange(n) < events)).low <= rate <= found.high
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
