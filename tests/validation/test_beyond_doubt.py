"""Differences beyond doubt: spreads of resamples, and means over clusters."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from tests.validation.on_trial import on_trial

from medjury.statistics import Replicates, counted_share
from medjury.validation._beyond_doubt import below_zero, p_below
from medjury.validation._clustered import clustered_contrast, clustered_share, patients

ANNA = [1 + place % 5 for place in range(40)]


def replicates_of(observed: float, drawn: list[float]) -> Replicates:
    return Replicates(
        {"a": observed, "b": 0.0},
        {"a": np.array(drawn), "b": np.zeros(len(drawn))},
        {},
        np.empty(0),
        9,
        len(drawn),
        "item",
        9,
        "test",
    )


def test_what_is_below_zero_beyond_doubt_is_told_by_the_spread_of_resamples() -> None:
    drawn = [-1.0, -2.0] * 10
    assert [
        round(each, 6)
        for each in (
            *below_zero(replicates_of(-1.5, drawn), "a", "b"),
            p_below(1.5, np.array(drawn)),
            p_below(0.0, np.array([0.0] * 20)),
            p_below(-1.0, np.array([0.0] * 20)),
            p_below(-1.0, np.array(drawn[:19])),
            p_below(float("nan"), np.array(drawn)),
            p_below(-1.5, np.array([*drawn, np.nan])),
        )
    ] == [-1.5, 0.001728, 0.998272, 1.0, 0.0, 1.0, 1.0, 0.001728]


def test_whose_each_case_is() -> None:
    evidence = on_trial({"clinician a": ANNA[:3], "jury": ANNA[:3]}, known={"patient": ["p", "p", ""]})
    assert (
        dict(sorted(patients(evidence.table).items())),
        clustered_share(
            evidence.table,
            [True, True, False, True],
            ["case 0", "case 1", "case 2", "elsewhere"],
            confidence=0.9,
        )
        == replace(counted_share([True, True, False, True], ["p", "p", "q", "r"], confidence=0.9), n=3),
    ) == ({"case 0": "patient p", "case 1": "patient p", "case 2": "item case 2"}, True)


def test_a_contrast_of_two_groups_is_their_difference_of_means_with_a_t_interval_over_clusters() -> None:
    values, groups = np.array([1.0, 2.0, 3.0, 5.0, 9.0]), np.array([1, 1, 0, 0, 2])
    assert [
        (round(each.value, 4), round(each.low, 4), round(each.high, 4), each.n, each.method, round(p, 6))
        for each, p in (
            clustered_contrast(values, groups, np.array(names), confidence=level)
            for names, level in ((["a", "b", "c", "d", "e"], 0.95), (["a", "b", "a", "b", "e"], 0.9))
        )
    ] == [
        (-2.5, -5.4052, 0.4052, 4, "95 % t interval, 4 cases", 0.035711),
        (-2.5, -5.6569, 0.6569, 4, "90 % t interval, 2 cases", 0.062833),
    ]


def test_a_contrast_of_fewer_than_two_clusters_or_without_its_group_is_not_defined() -> None:
    assert [
        (each.reason, each.n, each.method, p)
        for each, p in (
            clustered_contrast(np.array([1.0, 2.0]), np.array(groups), np.array(names))
            for groups, names in (([1, 1], ["a", "a"]), ([0, 0], ["a", "b"]), ([2, 2], ["a", "b"]))
        )
    ] == [
        ("fewer than two cases", 2, "t of clustered means", 1.0),
        ("fewer than two cases", 2, "t of clustered means", 1.0),
        ("fewer than two cases", 0, "t of clustered means", 1.0),
    ]


def test_a_contrast_without_spread_is_sure() -> None:
    assert [
        clustered_contrast(np.array([value, value]), np.array([1, 1]), np.array(["a", "b"]))[1]
        for value in (1.0, 0.0, -1.0)
    ] == [1.0, 1.0, 0.0]
