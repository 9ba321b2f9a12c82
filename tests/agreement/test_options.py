"""The options that every coefficient shares, and what each makes of an interval."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.statistics.twenty_rows import ROWS, mean, said
from tests.tables.run_folders import refused

from medjury.analysis.agreement._options import estimates
from medjury.statistics import Estimate


def made(**options: Any) -> dict[str, Estimate]:
    return estimates(ROWS, mean, reason=lambda name: f"no {name}", **options)


def test_an_interval_is_bca_t_of_two_thousand_resamples_and_95_percent_unless_asked_otherwise() -> None:
    assert [said(each) for each in made(note="; 2 left out").values()] == [
        (10.5, 7.731, 13.269, 20, "95 % BCa-t bootstrap, 2000 resamples of 20 items, seed 0; 2 left out", ""),
        (None, None, None, 20, "bca_t; 2 left out", "no nothing"),
    ]


def test_resamples_confidence_and_seed_are_as_asked() -> None:
    assert said(made(resamples=100, confidence=0.9, seed=3)["mean"]) == (
        10.5,
        8.213,
        12.787,
        20,
        "90 % BCa-t bootstrap, 100 resamples of 20 items, seed 3",
        "",
    )


def test_percentile_and_basic_intervals_are_to_be_had_and_none_is_none() -> None:
    assert [
        said(made(interval=name, resamples=100)["mean"])[1:5]
        for name in ("percentile", "basic", "bca", "none")
    ] == [
        (8.87, 12.672, 20, "95 % percentile bootstrap, 100 resamples of 20 items, seed 0"),
        (8.328, 12.13, 20, "95 % basic bootstrap, 100 resamples of 20 items, seed 0"),
        (8.371, 12.592, 20, "95 % BCa bootstrap, 100 resamples of 20 items, seed 0"),
        (None, None, 20, "no interval"),
    ]


def test_an_analytic_interval_is_the_callers_own() -> None:
    known = {"mean": lambda value, confidence: (value - confidence, value + confidence, "by formula")}
    assert [
        said(each)
        for each in made(interval="analytic", analytic=lambda: known, note="; noted", confidence=0.5).values()
    ] == [
        (10.5, 10.0, 11.0, 20, "50 % by formula; noted", ""),
        (None, None, None, 20, "analytic; noted", "no nothing"),
    ]


def test_an_analytic_interval_that_does_not_exist_says_so() -> None:
    assert [
        said(made(interval=name, analytic=lambda known=known: known, note="; noted")["mean"])[1:5]
        for name, known in (("analytic", {}), ("gwet", {"mean": lambda value, confidence: None}))
    ] == [
        (None, None, 20, "no interval: mean has no analytic one, ask for 'bca_t'; noted"),
        (None, None, 20, "no analytic interval for so few or so uniform data; noted"),
    ]


def test_clusters_are_cut_to_the_items_that_are_kept() -> None:
    kept = np.array([True] * 20 + [False] * 2)
    assert said(made(kept=kept, clusters=[place // 2 for place in range(22)], resamples=100)["mean"])[
        3:5
    ] == (20, "95 % BCa-t bootstrap, 100 resamples of 10 clusters, seed 0")


def test_the_number_of_items_can_be_told_by_the_caller() -> None:
    assert [each.n for each in made(n=77, resamples=0).values()] == [77, 77]


def test_what_makes_no_sense_is_refused_in_words() -> None:
    assert [
        refused(lambda more=more: made(**more))
        for more in (
            {"confidence": 1.0},
            {"confidence": 0.0},
            {"interval": "analytic", "clusters": list(range(20))},
            {"kept": np.ones(21, dtype=bool), "clusters": list(range(20))},
            {"interval": "exact"},
        )
    ] == [
        "The confidence is a share between 0 and 1, such as 0.95, not 1.0.",
        "The confidence is a share between 0 and 1, such as 0.95, not 0.0.",
        ("An analytic interval takes every item as independent. With clusters, ask for interval='bca_t'."),
        "There are 21 items but 20 cluster names.",
        (
            "There is no interval called 'exact'. Choose from bca_t, analytic, gwet, bca, "
            "percentile, basic, none."
        ),
    ]
