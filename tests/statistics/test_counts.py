"""Shares and tests on counts, against the formulas of the books."""

from __future__ import annotations

import numpy as np
from tests.statistics.twenty_rows import said

from medjury.statistics import Estimate, clustered_proportion, proportion
from medjury.statistics._shares import difference_of, mcnemar, paired_rate_difference


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
