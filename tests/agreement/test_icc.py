"""The six intraclass correlations: equal to psych and pingouin, missing cells never silent."""

from __future__ import annotations

import numpy as np
import pytest
from tests.agreement.reference_values import reference

from medjury.analysis.agreement import cronbach_alpha, icc, intraclass_correlations
from medjury.analysis.agreement._icc import icc_statistics
from medjury.foundation.errors import MedjuryError
from medjury.statistics import evaluate

FORMS = {
    "ICC1": "icc_1_1",
    "ICC2": "icc_2_1",
    "ICC3": "icc_3_1",
    "ICC1k": "icc_1_k",
    "ICC2k": "icc_2_k",
    "ICC3k": "icc_3_k",
}
SHROUT_FLEISS = reference("icc_shrout_fleiss_1979")
MISSING = reference("icc_missing_data")


def assert_equal_to_psych(found: dict, expected: dict, tolerance: float) -> None:
    for row in expected["results"]:
        estimate = found[FORMS[row["type"]]]
        assert estimate.value == pytest.approx(row["icc"], abs=tolerance)
        assert (estimate.low, estimate.high) == pytest.approx((row["lower"], row["upper"]), abs=tolerance)


def test_shrout_and_fleiss_values_and_intervals_equal_psych() -> None:
    found = intraclass_correlations(SHROUT_FLEISS["data"], interval="analytic")
    assert_equal_to_psych(found, SHROUT_FLEISS["expected_psych_aov"], 1e-12)
    for name, value in SHROUT_FLEISS["published"].items():
        assert round(found[FORMS[name]].value, 2) == value
    assert "Shrout & Fleiss" in found["icc_3_k"].method
    assert "McGraw & Wong" in found["icc_2_1"].method


def test_irr_agrees_except_for_the_interval_of_the_average_in_absolute_agreement() -> None:
    found = intraclass_correlations(SHROUT_FLEISS["data"], interval="analytic")
    names = {
        "oneway_consistency_single": "icc_1_1",
        "oneway_consistency_average": "icc_1_k",
        "twoway_consistency_single": "icc_3_1",
        "twoway_consistency_average": "icc_3_k",
        "twoway_agreement_single": "icc_2_1",
        "twoway_agreement_average": "icc_2_k",
    }
    for name, form in names.items():
        expected = SHROUT_FLEISS["expected_irr"][name]
        assert found[form].value == pytest.approx(expected["icc"], abs=1e-12)
        if form != "icc_2_k":
            ends = (expected["lower"], expected["upper"])
            assert (found[form].low, found[form].high) == pytest.approx(ends, abs=1e-9)
    assert found["icc_2_k"].low == pytest.approx(0.0711368153025033, abs=1e-12)
    assert SHROUT_FLEISS["expected_irr"]["twoway_agreement_average"]["lower"] < 0.04


def test_ends_of_the_average_are_the_stepped_up_ends_of_the_single() -> None:
    found = intraclass_correlations(SHROUT_FLEISS["data"], interval="analytic")
    for end in ("low", "high"):
        single, average = getattr(found["icc_2_1"], end), getattr(found["icc_2_k"], end)
        assert average == pytest.approx(4 * single / (1 + 3 * single), abs=1e-12)


def test_items_with_missing_cells_are_left_out_and_counted() -> None:
    found = intraclass_correlations(MISSING["data"], interval="analytic")
    assert_equal_to_psych(found, MISSING["complete_cases_psych_aov"], 1e-12)
    assert found["icc_3_k"].n == MISSING["complete_cases_n"]
    assert "2 of 6 items with missing scores left out" in found["icc_3_k"].method


def test_all_cells_equal_lme4_as_closely_as_it_converged() -> None:
    found = intraclass_correlations(MISSING["data"], missing="all_cells")
    assert_equal_to_psych(found, MISSING["psych_missingTRUE_lmer"], 1e-6)
    assert found["icc_3_k"].n == 6
    assert "2 of 24 missing" in found["icc_3_k"].method


def test_the_balanced_formula_on_unbalanced_squares_is_not_copied() -> None:
    wrong = {row["type"]: row["icc"] for row in MISSING["psych_missingFALSE_aov"]["results"]}
    assert abs(icc(MISSING["data"]).value - wrong["ICC3k"]) > 0.02
    assert abs(icc(MISSING["data"], missing="all_cells").value - wrong["ICC3k"]) > 0.02


def test_all_cells_of_a_nearly_complete_table_come_close_to_the_complete_one() -> None:
    generator = np.random.default_rng(2)
    table = generator.normal(size=(200, 1)) + generator.normal(size=(200, 4)) + [0, 0.5, 1, 0]
    holed = table.copy()
    holed[0, 0] = np.nan
    complete, all_cells = icc(table, "icc_2_1"), icc(holed, "icc_2_1", missing="all_cells")
    assert all_cells.value == pytest.approx(complete.value, abs=5e-3)


def test_all_cells_without_holes_are_the_complete_table() -> None:
    assert icc(SHROUT_FLEISS["data"], missing="all_cells") == icc(SHROUT_FLEISS["data"])


def test_all_cells_have_no_bootstrap_and_say_so() -> None:
    with pytest.raises(MedjuryError, match="complete_items"):
        icc(MISSING["data"], missing="all_cells", interval="bca")


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # pingouin's own
def test_random_tables_equal_pingouin() -> None:
    import pandas
    import pingouin

    generator = np.random.default_rng(6)
    for items, raters in ((5, 2), (12, 3), (30, 6)):
        table = generator.normal(size=(items, 1)) + generator.normal(size=(items, raters))
        long = pandas.DataFrame(
            {
                "item": np.repeat(np.arange(items), raters),
                "rater": np.tile(np.arange(raters), items),
                "score": table.ravel(),
            }
        )
        peer = pingouin.intraclass_corr(long, "item", "rater", "score")["ICC"]
        found = intraclass_correlations(table)
        assert [found[form].value for form in FORMS.values()] == pytest.approx(list(peer), abs=1e-12)


def test_values_on_given_resamples_equal_the_analysis_of_each() -> None:
    generator = np.random.default_rng(9)
    table = np.clip(np.rint(generator.normal(3, 1, (40, 1)) + generator.normal(size=(40, 3))), 1, 5)
    resamples = generator.integers(0, 40, size=(30, 40))
    forms = list(FORMS.values())
    ours = evaluate(table, icc_statistics(forms), resamples)
    for place, chosen in enumerate(resamples):
        expected = intraclass_correlations(table[chosen], interval="none")
        assert [ours[form][place] for form in forms] == pytest.approx(
            [expected[form].value for form in forms], abs=1e-12
        )


def test_cronbach_s_alpha_is_the_consistency_of_the_average() -> None:
    values = reference("cronbach_alpha")
    assert cronbach_alpha(values["data"]).value == pytest.approx(values["raw_alpha"], abs=1e-12)
    assert cronbach_alpha(values["data"]).value == pytest.approx(values["icc3k"], abs=1e-12)
    standardised = cronbach_alpha(values["data"], standardised=True, interval="none")
    assert standardised.value == pytest.approx(values["std_alpha"], abs=1e-12)
    same = icc(values["data"], "icc_3_k", interval="analytic")
    found = cronbach_alpha(values["data"], interval="analytic")
    assert (found.low, found.high) == (same.low, same.high)
    assert "Feldt" in found.method


def test_cronbach_s_alpha_has_the_interval_of_the_same_number_by_another_name() -> None:
    """Feldt's takes scores as normal, and grades pile up at one end: it is there for whoever asks for it."""
    generator = np.random.default_rng(4)
    table = np.clip(np.round(generator.normal(4, 1, (40, 1)) + 0.6 * generator.normal(size=(40, 3))), 1, 5)
    for clusters in (None, np.repeat(np.arange(20), 2)):
        alpha, same = (
            make(table, resamples=400, clusters=clusters)
            for make in (cronbach_alpha, lambda rows, **options: icc(rows, "icc_3_k", **options))
        )
        assert (alpha.low, alpha.high) == pytest.approx((same.low, same.high))
        assert "BCa-t" in alpha.method


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        ([[3, 3], [3, 3], [3, 3]], "every score is the same"),
        ([[1, 2], [1, 2], [1, 2]], "the items do not differ"),
        ([[1, 2]], "fewer than two items"),
        ([[1], [2], [3]], "fewer than two raters"),
        ([[1, None], [None, 2]], "fewer than two items"),
        ([], "fewer than two raters"),
    ],
)
def test_degenerate_tables_are_undefined_with_a_reason(table: list, reason: str) -> None:
    for interval in ("analytic", "bca"):
        found = icc(table, "icc_3_k", interval=interval)
        assert found.value is None
        assert reason in found.reason
    assert cronbach_alpha(table).value is None


def test_perfect_consistency_is_one_without_an_interval() -> None:
    found = icc([[1, 2], [2, 3], [3, 4]], "icc_3_1", interval="analytic")
    assert found.value == pytest.approx(1.0)
    assert found.low is None
    assert "no analytic interval" in found.method


def test_an_analytic_interval_refuses_clusters() -> None:
    with pytest.raises(MedjuryError, match="independent"):
        icc(SHROUT_FLEISS["data"], interval="analytic", clusters=[1, 1, 2, 2, 3, 3])
    few = icc(SHROUT_FLEISS["data"], clusters=[1, 1, 2, 2, 3, 3], resamples=99)
    assert few.method == "no interval: 3 clusters are too few, at least 10 are needed"
