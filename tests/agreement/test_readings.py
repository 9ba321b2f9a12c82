"""Words for coefficients are conventions and say whose."""

from __future__ import annotations

import pytest

from medjury.analysis.agreement._row import koo_li, landis_koch, reading
from medjury.statistics import Estimate, undefined


@pytest.mark.parametrize(
    ("value", "word"),
    [(-0.2, "poor"), (0, "slight"), (0.2, "slight"), (0.21, "fair"), (0.5, "moderate"), (0.8, "substantial"),
     (0.81, "almost perfect"), (1, "almost perfect")],
)  # fmt: skip
def test_landis_koch(value: float, word: str) -> None:
    assert landis_koch(value) == word


@pytest.mark.parametrize(
    ("value", "word"),
    [(0.49, "poor"), (0.5, "moderate"), (0.75, "good"), (0.9, "excellent"), (1, "excellent")],
)
def test_koo_li(value: float, word: str) -> None:
    assert koo_li(value) == word


def test_a_reading_covers_the_whole_interval_and_names_its_convention() -> None:
    assert reading("icc_3_k", Estimate(0.8, 0.3, 0.95, 9, "")) == "poor to excellent (Koo-Li convention)"
    assert (
        reading("kappa_quadratic", Estimate(0.7, 0.65, 0.75, 9, "")) == "substantial (Landis-Koch convention)"
    )
    assert reading("kappa", Estimate(0.7, None, None, 9, "")) == "substantial (Landis-Koch convention)"


def test_what_has_no_convention_gets_no_word() -> None:
    assert reading("spearman", Estimate(0.8, 0.7, 0.9, 9, "")) == ""
    assert reading("icc_2_1_change_added", Estimate(0.8, 0.7, 0.9, 9, "")) == ""
    assert reading("kappa", undefined("no item", 0, "")) == ""
