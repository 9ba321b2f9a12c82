"""Kendall's W: equal to irr with and without the correction for ties."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from tests.agreement.reference_values import reference

from medjury.analysis.agreement import kendall_w
from medjury.analysis.agreement._all_at_once import concordance_statistics
from medjury.statistics import evaluate

VALUES = reference("kendall_w_spearman_kendall_tau")


@pytest.mark.parametrize("name", ["anxiety", "shrout_fleiss"])
@pytest.mark.parametrize("corrected", [True, False])
def test_w_equals_irr(name: str, corrected: bool) -> None:
    expected = VALUES[name]["W_tie_corrected" if corrected else "W_uncorrected"]
    found = kendall_w(VALUES[name]["data"], ties_corrected=corrected, interval="none")
    assert found.value == pytest.approx(expected["W"], abs=1e-12)
    assert found.n == expected["subjects"]


def test_values_on_given_resamples_equal_the_formula_on_each() -> None:
    generator = np.random.default_rng(1)
    table = generator.integers(1, 6, size=(30, 2))
    resamples = generator.integers(0, 30, size=(20, 30))
    ours = evaluate(table, concordance_statistics(), resamples)["kendall_w"]
    for place, chosen in enumerate(resamples):
        ranks = np.apply_along_axis(stats.rankdata, 0, table[chosen])
        spread = ((ranks.sum(axis=1) - ranks.sum(axis=1).mean()) ** 2).sum()
        ties = sum(
            (count**3 - count).sum() for count in (np.unique(c, return_counts=True)[1] for c in ranks.T)
        )
        assert ours[place] == pytest.approx(12 * spread / (4 * (30**3 - 30) - 2 * ties), abs=1e-12)


def test_without_the_correction_there_is_no_interval() -> None:
    assert kendall_w(VALUES["anxiety"]["data"], ties_corrected=False).low is None
    assert kendall_w(VALUES["anxiety"]["data"], resamples=200).low is not None


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        ([[1, 1], [1, 1]], "no rater orders the items"),
        ([[1, 2]], "fewer than two items"),
        ([[1], [2]], "fewer than two raters"),
        ([], "fewer than two raters"),
    ],
)
def test_degenerate_tables_are_undefined(table: list, reason: str) -> None:
    found = kendall_w(table)
    assert found.value is None
    assert reason in found.reason
