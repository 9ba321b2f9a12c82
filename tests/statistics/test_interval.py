"""From resampled values to the two ends of an interval, step by step."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from medjury.statistics._interval import (
    AS_IT_IS,
    fewest_items,
    interval,
    jackknife,
    plain,
    quantile,
    symmetric,
)


def test_a_quantile_is_an_order_statistic_or_lies_between_two_on_the_normal_scale() -> None:
    ordered = np.arange(1.0, 20.0)
    assert [
        round(quantile(ordered, level), 4) for level in (0.0, 0.04, 0.05, 0.5, 0.525, 0.95, 0.96, 1.0)
    ] == [1.0, 1.0, 1.0, 10.0, 10.499, 19.0, 19.0, 19.0]


def test_the_jackknife_gives_the_standard_error_of_a_mean_and_fewer_degrees_of_freedom_for_heavy_tails() -> (
    None
):
    values = np.array([1.0, 2.0, 3.0, 4.0, 10.0])
    found = jackknife((values.sum() - values) / 4, np.ones(5), AS_IT_IS)
    assert found == pytest.approx((stats.sem(values), 4.0, 5.0))
    left_out = np.array([0.0] * 19 + [1.0])
    heavy = jackknife(left_out, np.ones(20), AS_IT_IS)
    assert heavy and heavy[1] == pytest.approx(2 / (2 / 19 + stats.kurtosis(left_out) / 20))


def test_two_left_out_values_are_enough_for_a_jackknife_and_one_is_not() -> None:
    assert [
        jackknife(np.array(values), np.ones(len(values)), AS_IT_IS)
        for values in ([1.0, 1.0], [1.0, np.nan], [1.0])
    ] == [(0.0, 2.0, 2.0), None, None]


def test_a_coefficient_is_stretched_on_its_own_scale() -> None:
    drawn = np.linspace(0.6, 0.9, 199)
    left_out = np.linspace(0.7, 0.8, 12)
    assert [
        tuple(
            round(end, 3)
            for end in interval(
                0.75, drawn, left_out, np.ones(12), method="bca_t", confidence=0.95, name=name
            )[:2]
        )
        for name in ("kappa_quadratic", "auc", "rmse", "icc_2_k", "offset")
    ] == [(0.417, 0.905), (0.467, 0.911), (0.552, 1.018), (0.369, 0.901), (0.521, 0.979)]


def test_a_turned_value_comes_back() -> None:
    turns = [
        symmetric(name, np.array([0.2, 0.6]))
        for name in (
            "kappa_quadratic",
            "human spearman",
            "icc_2_k",
            "icc_3_k_z",
            "icc_2_1",
            "f1",
            "rmse",
            "offset",
            "kappa_minus_spearman",
            "auc_change",
            "first\0rmse",
        )
    ]
    assert [
        (round(float(each.there(np.asarray(0.5))), 4), round(each.back(each.there(np.asarray(0.5))), 6))
        for each in turns
    ] == [
        (0.5493, 0.5),
        (0.5493, 0.5),
        (0.6931, 0.5),
        (0.6931, 0.5),
        (0.5493, 0.5),
        (0.0, 0.5),
        (-0.6931, 0.5),
        (0.5, 0.5),
        (0.5, 0.5),
        (0.5, 0.5),
        (-0.6931, 0.5),
    ]


def test_values_beyond_a_scale_are_taken_as_they_are() -> None:
    assert [
        symmetric(name, np.array(values)) is AS_IT_IS
        for name, values in (
            ("kappa", [1.00005]),
            ("kappa", [1.001]),
            ("f1", [-0.00005]),
            ("f1", [-0.001]),
            ("rmse", [-1.0]),
            ("rmse", [9.0]),
            ("icc_2_k", [-5.0]),
            ("icc_2_k", [1.1]),
            ("kappa", [np.nan, 0.5]),
        )
    ] == [False, True, False, True, True, False, False, True, False]


def test_an_end_on_the_edge_of_a_scale_is_finite() -> None:
    assert [
        round(float(symmetric(name, np.array([value])).there(np.asarray(value))), 3)
        for name, value in (
            ("kappa", 1.0),
            ("kappa", -1.0),
            ("auc", 0.0),
            ("auc", 1.0),
            ("rmse", 0.0),
            ("icc_2_k", 1.0),
        )
    ] == [4.952, -4.952, -9.21, 9.21, -9.21, 9.21]


def test_some_statistics_need_more_items() -> None:
    assert [
        fewest_items(name)
        for name in (
            "first rmse",
            "limit_of_agreement_low",
            "limit_of_agreement_high",
            "gwet_ac2_quadratic",
            "kappa_quadratic",
        )
    ] == [30, 30, 30, 30, 10]


def test_a_name_is_plain_without_whose_value_it_is() -> None:
    assert [plain(name) for name in ("first rmse", "accuracy\0jury\0kappa_quadratic", "rmse")] == [
        "rmse",
        "kappa_quadratic",
        "rmse",
    ]
