"""Shares and tests on counts, against the formulas of the books."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats

from medjury.statistics import (
    Estimate,
    clustered_proportion,
    proportion,
)
from medjury.statistics._shares import (
    binomial_test,
    difference_of,
    fisher_test,
    mcnemar,
    paired_rate_difference,
)


def said(each: Estimate) -> tuple[Any, ...]:
    ends = (None if end is None else round(end, 3) for end in (each.value, each.low, each.high))
    return *ends, each.n, each.method, each.reason


def test_the_ratio_of_an_empty_margin_or_cell_is_not_defined_and_says_how_many_were_counted() -> None:
    assert [
        (round(each.p_value, 6), said(each.odds_ratio))
        for each in (
            fisher_test(((0, 0), (3, 4))),
            fisher_test(((3, 0), (4, 5))),
            fisher_test(((0, 3), (4, 5))),
        )
    ] == [
        (
            1.0,
            (
                None,
                None,
                None,
                7,
                "conditional maximum likelihood, exact interval",
                "a row or a column of the table is empty",
            ),
        ),
        (
            0.204545,
            (
                None,
                None,
                None,
                12,
                "conditional maximum likelihood, exact interval",
                "the odds ratio is infinite: a cell is zero",
            ),
        ),
        (0.490909, (0.0, 0.0, 4.914, 12, "conditional maximum likelihood, exact interval", "")),
    ]


def test_the_odds_ratio_is_the_conditional_one_with_its_exact_interval() -> None:
    assert said(fisher_test(((18, 9), (2, 11)), confidence=0.9).odds_ratio) == (
        10.297,
        2.135,
        77.485,
        40,
        "conditional maximum likelihood, exact interval",
        "",
    )


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


def test_wilson_and_clopper_pearson_end_at_zero_and_one_where_nothing_or_all_was_hit() -> None:
    assert [
        said(proportion(hits, 5, interval=name))[1:3]
        for name in ("wilson", "clopper_pearson")
        for hits in (0, 5)
    ] == [(0.0, 0.434), (0.566, 1.0), (0.0, 0.522), (0.478, 1.0)]


def test_no_cases_have_no_share() -> None:
    assert said(proportion(0, 0, confidence=0.9)) == (
        None,
        None,
        None,
        0,
        "90 % Clopper-Pearson exact",
        "no cases to count",
    )


def test_one_sided_and_other_probabilities_are_to_be_had() -> None:
    assert [
        round(binomial_test(8, 10, probability, alternative=side), 6)
        for probability, side in ((0.5, "two-sided"), (0.5, "greater"), (0.5, "less"), (0.7, "greater"))
    ] == [0.109375, 0.054688, 0.989258, 0.382783]


def test_mcnemar_gives_three_p_values() -> None:
    found = mcnemar(9, 2)
    assert (
        found.only_first,
        found.only_second,
        round(found.exact, 6),
        round(found.chi_square - stats.chi2.sf(49 / 11, 1), 9),
        round(found.chi_square_corrected - stats.chi2.sf(36 / 11, 1), 9),
    ) == (9, 2, 0.06543, 0.0, 0.0)


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


def test_where_all_or_none_were_hit_each_cluster_counts_once() -> None:
    assert [said(clustered_proportion([hit] * 6, [1, 1, 2, 2, 3, 3])) for hit in (True, False)] == [
        (
            1.0,
            0.292,
            1.0,
            6,
            "95 % Clopper-Pearson exact; no exception, so each of 3 clusters counts once",
            "",
        ),
        (0.0, 0.0, 0.708, 6, "95 % Clopper-Pearson exact; no event, so each of 3 clusters counts once", ""),
    ]


def test_answers_of_clusters_are_worth_fewer_than_they_are() -> None:
    hits = [True, True, False, False, True, False, False, False, True, True, True, False]
    assert said(clustered_proportion(hits, [place // 3 for place in range(12)], confidence=0.9)) == (
        0.5,
        0.055,
        0.945,
        12,
        "90 % Clopper-Pearson; 12 answers of 4 clusters are worth 2.8 (Korn & Graubard 1998)",
        "",
    )


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


def test_many_clusters_with_an_event_are_taken_as_they_are_seen() -> None:
    hits = [place % 4 == 0 for place in range(80)]
    assert said(clustered_proportion(hits, [place // 2 for place in range(80)])) == (
        0.25,
        0.152,
        0.37,
        80,
        ("95 % Clopper-Pearson; 80 answers of 40 clusters are worth 67.4 (Korn & Graubard 1998)"),
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


def test_only_answers_on_which_two_raters_differ_tell_their_rates_apart() -> None:
    assert said(paired_rate_difference([1, 1, 0, 0, 0, 1], [1, 0, 1, 1, 0, 1], confidence=0.9)) == (
        0.167,
        -0.233,
        0.511,
        6,
        "90 % of the discordant answers, counted (Zou & Donner 2008)",
        "",
    )
