"""Reading scores: missing is missing, and whatever cannot be a score is named with its place."""

from __future__ import annotations

import numpy as np
import polars
import pytest

from medjury.analysis.agreement import (
    cohen_kappa,
    gwet_ac,
    icc,
    icc_3_k_z,
    krippendorff_alpha,
    many_raters,
    offset,
    two_raters,
    wilcoxon_signed_rank,
)
from medjury.analysis.agreement._chance_corrected import chance_statistics
from medjury.analysis.agreement._kappa import kappa_statistics
from medjury.foundation.errors import MedjuryError
from medjury.statistics import bootstrap


def test_lists_arrays_and_frames_are_read_alike() -> None:
    table = [[1, 2], [2, 2], [None, 3], [4, 5]]
    array = np.array([[1, 2], [2, 2], [np.nan, 3], [4, 5]])
    frame = polars.DataFrame({"a": [1, 2, None, 4], "b": [2, 2, 3, 5]})
    assert icc(table) == icc(array) == icc(frame)
    assert offset(frame["a"], frame["b"]) == offset(array[:, 0], array[:, 1])


def test_text_in_a_number_column_is_named_not_coerced() -> None:
    with pytest.raises(MedjuryError, match=r"'4' at item 2, rater 1"):
        icc([[1, 2], ["4", 3]])
    with pytest.raises(MedjuryError, match=r"2 scores are not numbers: 'n/a' at item 1"):
        offset(["n/a", "x", 1], [1, 2, 3])


def test_infinite_scores_are_refused() -> None:
    with pytest.raises(MedjuryError, match="infinite"):
        offset([1.0, float("inf")], [1.0, 2.0])


def test_ragged_rows_and_unequal_raters_are_refused() -> None:
    with pytest.raises(MedjuryError, match="differ in length"):
        icc([[1, 2], [3]])
    with pytest.raises(MedjuryError, match="3 scores and the second 2"):
        offset([1, 2, 3], [1, 2])
    with pytest.raises(MedjuryError, match="one list of scores"):
        offset([[1, 2]], [[1, 2]])


def test_a_scale_lists_different_levels_of_one_kind() -> None:
    for scale in ([1], [1, 1], [1, "a"]):
        with pytest.raises(MedjuryError, match="scale"):
            cohen_kappa([1], [1], scale=scale)


def test_many_scores_off_the_scale_are_counted() -> None:
    with pytest.raises(MedjuryError, match=r"9 at item 1, rater 1, .* and 3 more"):
        many_raters([[9, 9]] * 4, scale=[1, 2])


def test_statistics_for_the_engine_refuse_scores_off_the_scale_too() -> None:
    for statistics in (kappa_statistics([1, 2], ["none"]), chance_statistics([1, 2], "identity")):
        with pytest.raises(MedjuryError, match=r"off the scale 1, 2: 1\.5"):
            bootstrap([[1, 2], [1.5, 2]], statistics, resamples=50)


@pytest.mark.parametrize(
    ("call", "names"),
    [
        (lambda: cohen_kappa([1], [1], scale=[1, 2], weights="squared"), "none, linear, quadratic"),
        (lambda: icc([[1, 2]], "ICC3"), "icc_3_k"),
        (lambda: icc([[1, 2]], missing="drop"), "complete_items, all_cells"),
        (lambda: icc_3_k_z([1, 2], [1, 2], order="z"), "average_first, standardise_first"),
        (lambda: krippendorff_alpha([[1, 2]], "metric"), "nominal, ordinal, interval, ratio"),
        (lambda: gwet_ac([[1, 2]], scale=[1, 2], weights="none"), "identity, linear"),
        (lambda: wilcoxon_signed_rank([1], [2], zeros="keep"), "drop, pratt"),
        (lambda: wilcoxon_signed_rank([1], [2], method="approx"), "exact, normal, auto"),
    ],
)
def test_a_wrong_name_is_answered_with_the_right_ones(call, names: str) -> None:
    with pytest.raises(MedjuryError, match=names):
        call()


def test_true_and_false_are_levels() -> None:
    found = cohen_kappa([True, False, True, True], [True, False, False, True], scale=[0, 1], interval="none")
    assert found.value == pytest.approx(0.5)


def test_every_two_rater_statistic_comes_in_one_call_and_in_order() -> None:
    first, second = [1, 2, 3, 4, 5, 3, None], [1, 2, 4, 4, 5, 2, 3]
    found = two_raters(first, second, scale=range(1, 6), resamples=200)
    alone = cohen_kappa(first, second, scale=range(1, 6), weights="linear", resamples=200)
    assert found["kappa_linear"] == alone
    assert list(found)[:2] == ["exact_match", "offset"]
    assert all(estimate.n == 6 for estimate in found.values())
    assert all("1 of 7 pairs incomplete" in estimate.method for estimate in found.values())


def test_without_a_scale_kappa_is_undefined_and_the_rest_is_there() -> None:
    found = two_raters([1.5, 2.25, 3.0], [1.0, 2.5, 3.5], resamples=50)
    assert "scale" in found["kappa_quadratic"].reason
    assert found["pearson"].value is not None
    many = many_raters([[1.5, 1.0], [2.25, 2.5], [3.0, 3.5]], resamples=50)
    assert "scale" in many["gwet_ac1"].reason
    assert many["icc_2_1"].value is not None


def test_words_have_no_numbers_to_correlate() -> None:
    found = many_raters([["a", "a"], ["b", "a"], ["b", "b"]], scale=["a", "b"], resamples=50)
    assert "words" in found["icc_2_1"].reason
    assert found["fleiss_kappa"].value is not None
    assert found["krippendorff_alpha_nominal"].value is not None


def test_words_have_no_differences() -> None:
    found = two_raters(["a", "b", "b"], ["a", "a", "b"], scale=["a", "b"], resamples=50)
    assert found["exact_match"].value == pytest.approx(2 / 3)
    assert found["kappa"].value is not None
    assert "words" in found["offset"].reason
    assert "words" in found["pearson"].reason


def test_an_unknown_statistic_is_answered_with_the_known_ones() -> None:
    with pytest.raises(MedjuryError, match=r"no two-rater statistic kapa.*kappa_quadratic"):
        two_raters([1], [1], statistics=["kapa"])
    with pytest.raises(MedjuryError, match=r"no many-rater statistic icc.*icc_3_k"):
        many_raters([[1, 2]], statistics=["icc"])
