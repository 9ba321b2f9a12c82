"""Classification rates and the area under the curve, against R and scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics
from tests.agreement.reference_values import reference

from medjury.analysis.agreement import area_under_curve, classification, roc_curve
from medjury.analysis.agreement._classification import classification_rates
from medjury.foundation.errors import MedjuryError

R = reference("classification_metrics_auc")
TRUTH, SAID, SCORE = (R["data"][name] for name in ("truth", "pred", "score"))
LABELS = st.integers(2, 40).flatmap(
    lambda n: st.tuples(*[st.lists(st.integers(0, 3), min_size=n, max_size=n) for _ in range(2)])
)
# Truth with both classes in it, and a score of 0 to 3 for each.
BOTH_CLASSES = (
    st.lists(st.integers(0, 1), max_size=38)
    .flatmap(lambda more: st.permutations([0, 1, *more]))
    .flatmap(
        lambda truth: st.tuples(
            st.just(truth), st.lists(st.integers(0, 3), min_size=len(truth), max_size=len(truth))
        )
    )
)


def test_rates_equal_those_of_r() -> None:
    found = classification(TRUTH, SAID, resamples=0)
    names = ("sensitivity", "specificity", "precision", "f1", "accuracy", "macro_f1")
    for name in names:
        assert found[name].value == pytest.approx(R[name], abs=1e-12), name
    assert area_under_curve(TRUTH, SCORE).value == pytest.approx(R["auc"], abs=1e-12)


@settings(deadline=None)
@given(LABELS)
def test_rates_equal_those_of_scikit_learn(labels: tuple[list[int], list[int]]) -> None:
    truth, said = labels
    classes = [0, 1, 2, 3]
    table = metrics.confusion_matrix(truth, said, labels=classes).astype(float)
    rates = classification_rates(table)
    assert rates["accuracy"] == pytest.approx(metrics.accuracy_score(truth, said))
    expected = metrics.f1_score(truth, said, labels=sorted({*truth, *said}), average="macro", zero_division=0)
    assert rates["macro_f1"] == pytest.approx(expected)
    recalls = metrics.recall_score(truth, said, labels=sorted(set(truth)), average="macro", zero_division=0)
    assert rates["balanced_accuracy"] == pytest.approx(recalls)
    if len(set(truth)) > 1 and len(set(said)) > 1:
        assert rates["mcc"] == pytest.approx(metrics.matthews_corrcoef(truth, said), abs=1e-9)
    else:
        assert np.isnan(rates["mcc"])


@settings(deadline=None)
@given(BOTH_CLASSES)
def test_auc_equals_that_of_scikit_learn_with_ties(labels: tuple[list[int], list[int]]) -> None:
    truth, score = labels
    found = area_under_curve(truth, score)
    assert found.value == pytest.approx(metrics.roc_auc_score(truth, score))
    if found.low is not None:
        assert 0 <= found.low <= found.value <= found.high <= 1


def test_the_curve_runs_from_nothing_to_everything_and_its_area_is_the_auc() -> None:
    _, sensitivity, specificity = roc_curve(TRUTH, SCORE)
    assert (sensitivity[0], specificity[0]) == (0, 1)
    assert (sensitivity[-1], specificity[-1]) == (1, 0)
    assert np.trapezoid(sensitivity, 1 - specificity) == pytest.approx(R["auc"], abs=1e-12)


def test_a_class_that_never_occurs_has_no_f1_and_does_not_pull_the_macro_mean() -> None:
    found = classification([0, 1, 0, 1], [0, 1, 1, 1], classes=[0, 1, 2], resamples=200)
    assert found["f1_class_2"].reason == "no item has this class, in truth or prediction"
    assert found["macro_f1"].value == pytest.approx((2 / 3 + 0.8) / 2)


def test_a_class_that_is_never_predicted_has_f1_zero() -> None:
    found = classification([0, 1, 2, 2], [0, 1, 0, 1], classes=[0, 1, 2], resamples=200)
    assert found["f1_class_2"].value == 0.0


def test_words_are_classes_too_and_the_positive_one_can_be_chosen() -> None:
    truth, said = ["safe", "harm", "harm", "safe"], ["safe", "harm", "safe", "safe"]
    found = classification(truth, said, classes=["harm", "safe"], positive="harm", resamples=200)
    assert (found["sensitivity"].value, found["specificity"].value) == (0.5, 1.0)
    with pytest.raises(MedjuryError, match="not among the classes"):
        classification(truth, said, classes=["harm", "safe"], positive="danger")


def test_missing_labels_are_left_out_and_counted() -> None:
    found = classification([0, 1, None, 1], [0, 1, 1, 0], classes=[0, 1], resamples=50)
    assert found["accuracy"].n == 3
    assert "1 of 4 pairs incomplete" in found["accuracy"].method


def test_one_class_or_three_valued_truth_gives_a_reason_or_an_error() -> None:
    assert area_under_curve([1, 1], [0, 1]).reason == "the truth has one class only"
    with pytest.raises(MedjuryError, match="two values"):
        area_under_curve([0, 1, 2], [1, 2, 3])
    with pytest.raises(MedjuryError, match="two classes or more"):
        classification([1, 1], [1, 1])


@pytest.mark.parametrize("missing", [None, float("nan")])
def test_a_curve_refuses_a_truth_that_is_missing(missing: float | None) -> None:
    """A missing truth is no negative: counted as one it would make this curve perfect."""
    for curve in (roc_curve, area_under_curve):
        with pytest.raises(MedjuryError, match="2 have none, first item 3"):
            curve([1, 1, missing, missing], [3, 4, 1, 2])


def test_a_rate_of_a_class_that_does_not_occur_has_no_points_on_the_curve() -> None:
    all_positive, all_negative = roc_curve([1, 1], [1, 2]), roc_curve([0, 0], [1, 2])
    assert [each.tolist() for each in all_positive[1:]] == [[0.0, 0.5, 1.0], []]
    assert [each.tolist() for each in all_negative[1:]] == [[], [1.0, 0.5, 0.0]]


def test_a_constant_score_has_an_area_but_no_interval() -> None:
    found = area_under_curve([0, 0, 1, 1], [3, 3, 3, 3])
    assert (found.value, found.low, found.high) == (0.5, None, None)
    assert "no interval where no score varies" in found.method


@pytest.mark.parametrize("size", [2, 3, 5, 7, 11])
def test_matthews_s_coefficient_of_perfect_labels_is_one_in_every_resample(size: int) -> None:
    labels = np.arange(10 * size) % size
    perfect = classification(labels, labels, resamples=300)["mcc"]
    assert (perfect.value, perfect.low, perfect.high) == (1.0, None, None)
    assert perfect.method.startswith("no interval: the same in all of 300 resamples")


def test_matthews_s_coefficient_of_reversed_labels_is_minus_one_in_every_resample() -> None:
    labels = np.arange(33) % 2
    reversed_labels = classification(labels, 1 - labels, resamples=300)["mcc"]
    assert (reversed_labels.value, reversed_labels.low, reversed_labels.high) == (-1.0, None, None)


def test_the_delong_interval_covers() -> None:
    generator = np.random.default_rng(3)
    truth = np.repeat([0, 1], 40)
    from scipy.special import ndtr

    true_area = ndtr(1 / np.sqrt(2))
    held = 0
    for _ in range(400):
        estimate = area_under_curve(truth, truth + generator.standard_normal(80))
        held += estimate.low <= true_area <= estimate.high
    assert 0.92 <= held / 400 <= 0.98
