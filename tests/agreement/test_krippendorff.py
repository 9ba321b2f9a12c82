"""Krippendorff's alpha: equal to the definition and to the krippendorff package, undefined for one value."""

from __future__ import annotations

import krippendorff
import numpy as np
import pytest
from tests.agreement.reference_values import reference

from medjury.analysis.agreement import krippendorff_alpha
from medjury.analysis.agreement._krippendorff import alpha_statistics, krippendorff_alphas
from medjury.foundation.errors import MedjuryError
from medjury.statistics import evaluate

VALUES = reference("krippendorff_alpha_canonical")
LEVELS = ["nominal", "ordinal", "interval", "ratio"]
SETS = ["canonical", "anxiety", "shrout_fleiss", "anxiety_raters_1_2"]


def items_by_raters(name: str) -> np.ndarray:
    return np.array(VALUES[name]["data"], dtype=object).T


@pytest.mark.parametrize("name", SETS)
def test_alpha_equals_the_definition_in_r(name: str) -> None:
    found = krippendorff_alphas(items_by_raters(name), LEVELS, interval="none")
    for level in LEVELS:
        expected = VALUES[name]["expected"][level]["alpha"]
        assert found[f"krippendorff_alpha_{level}"].value == pytest.approx(expected, abs=1e-12)


def test_the_canonical_data_give_the_published_values() -> None:
    for level, value in VALUES["canonical"]["published"].items():
        found = krippendorff_alpha(items_by_raters("canonical"), level, interval="none")
        assert round(found.value, 3) == value
        assert found.n == 11
        assert "1 of 12 items with fewer than two scores left out" in found.method


def test_irr_is_wrong_for_complete_data_of_three_raters() -> None:
    for level in LEVELS:
        expected = VALUES["anxiety"]["expected"][level]
        assert abs(expected["irr_kripp_alpha"] - expected["alpha"]) > 1e-3


@pytest.mark.parametrize("kind", ["whole", "continuous"])
@pytest.mark.parametrize("level", LEVELS)
def test_values_on_given_resamples_equal_the_krippendorff_package(kind: str, level: str) -> None:
    generator = np.random.default_rng(1)
    table = np.clip(generator.normal(3, 1, (60, 1)) + generator.normal(0, 0.7, (60, 4)), 1, 5)
    if kind == "whole":
        table = np.rint(table)
    table[generator.random(table.shape) < 0.25] = np.nan
    resamples = generator.integers(0, 60, size=(15, 60))
    (ours,) = evaluate(table, alpha_statistics([level]), resamples).values()
    peer = [krippendorff.alpha(table[each].T, level_of_measurement=level) for each in resamples]
    assert ours == pytest.approx(peer, abs=1e-12)


def test_words_have_a_nominal_and_an_ordinal_alpha() -> None:
    words = [["low", "low"], ["high", "mid"], ["mid", "mid"], ["high", "high"]]
    numbers = [[1, 1], [3, 2], [2, 2], [3, 3]]
    for level in ("nominal", "ordinal"):
        found = krippendorff_alpha(words, level, scale=["low", "mid", "high"], interval="none")
        assert found.value == krippendorff_alpha(numbers, level, interval="none").value
    with pytest.raises(MedjuryError, match="need numbers"):
        krippendorff_alpha(words, "interval", scale=["low", "mid", "high"])


@pytest.mark.parametrize("level", LEVELS)
def test_one_value_everywhere_is_undefined_never_one(level: str) -> None:
    found = krippendorff_alpha([[4, 4], [4, 4], [4, None]], level)
    assert found.value is None
    assert found.reason == "every score is the same"


def test_no_item_with_two_scores_is_undefined() -> None:
    found = krippendorff_alpha([[1, None], [None, 2]], "ordinal")
    assert found.reason == "no item was scored by two raters"


def test_ratio_refuses_negative_scores() -> None:
    with pytest.raises(MedjuryError, match="zero or more"):
        krippendorff_alpha([[-1, 2], [3, 4]], "ratio")
