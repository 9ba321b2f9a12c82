"""One reference from several raters."""

from __future__ import annotations

import numpy as np
import pytest

from medjury.foundation.errors import MedjuryError
from medjury.tables import mean_of_raters
from medjury.tables._consensus import adjudicated, consensus_of, majority, median_of_raters

NAN = np.nan


def test_means_and_medians_use_whoever_scored() -> None:
    table = [[1, 2, 6], [NAN, 4, 5], [NAN, NAN, NAN]]
    assert mean_of_raters(table) == pytest.approx([3, 4.5, NAN], nan_ok=True)
    assert median_of_raters(table) == pytest.approx([2, 4.5, NAN], nan_ok=True)


def test_a_majority_is_more_than_half_of_those_who_voted() -> None:
    table = [[1, 1, 2], [1, 2, 3], [1, 2, NAN], [2, NAN, NAN], [NAN, NAN, NAN]]
    assert majority(table) == pytest.approx([1, NAN, NAN, 2, NAN], nan_ok=True)


def test_a_majority_does_not_depend_on_the_order_of_raters() -> None:
    table = np.array([[1.0, 2, 2, 1], [3, 1, 3, 3]])
    for order in ([0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2]):
        assert majority(table[:, order]) == pytest.approx([NAN, 3], nan_ok=True)


def test_an_adjudicator_settles_what_the_raters_left_open() -> None:
    scores = [[0, 0], [0, 1], [0, 1], [2, NAN]]
    assert adjudicated(scores, [NAN, 1, NAN, NAN]) == pytest.approx([0, 1, NAN, NAN], nan_ok=True)
    assert adjudicated(scores, [2, NAN, NAN, 1])[0] == 2


def test_unknown_rules_and_missing_adjudicators_are_refused() -> None:
    with pytest.raises(MedjuryError, match="no consensus rule"):
        consensus_of([[1, 2]], "vote")
    with pytest.raises(MedjuryError, match="adjudicator's labels"):
        consensus_of([[1, 2]], "adjudicated")
    with pytest.raises(MedjuryError, match="has no part"):
        consensus_of([[1, 2]], "mean", [1])
