"""Cross-fitting: whole cases, no leak, and in-sample reporting refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from medjury.analysis.calibration._cross_fit import METHODS, Isotonic, OutOfFold, calibrator_kind, cross_fit
from medjury.analysis.calibration._maps import case_folds
from medjury.foundation.errors import MedjuryError

SCALE = (1.0, 5.0)


def lenient_judge(cases: int, per_case: int = 3, seed: int = 0) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """A judge a point above the reference, several items per case, items of a case alike."""
    generator = np.random.default_rng(seed)
    quality = np.repeat(generator.normal(size=cases), per_case) + generator.normal(size=cases * per_case) / 2
    labels = np.clip(np.round(2.8 + quality), 1, 5)
    scores = np.clip(np.round(3.8 + 0.7 * quality + generator.normal(size=len(quality)) / 2), 1, 5)
    return scores, labels, [f"case {number}" for number in range(cases) for _ in range(per_case)]


@settings(max_examples=50, deadline=None)
@given(st.integers(10, 80), st.integers(2, 5), st.integers(0, 1000))
def test_folds_keep_a_case_together_and_differ_by_one_case_at_most(cases: int, folds: int, seed: int) -> None:
    names = [f"c{number % cases}" for number in range(3 * cases)]
    fold = case_folds(names, folds=folds, seed=seed, minimum=1)
    by_case = {name: {int(each) for each in fold[[n == name for n in names]]} for name in set(names)}
    assert all(len(each) == 1 for each in by_case.values())
    sizes = np.bincount([each.pop() for each in by_case.values()], minlength=folds)
    assert np.ptp(sizes) <= 1


def test_folds_do_not_depend_on_the_order_of_rows_but_on_the_seed() -> None:
    names = [f"c{number}" for number in range(60)]
    fold = case_folds(names)
    assert case_folds(names[::-1])[::-1].tolist() == fold.tolist()
    assert case_folds(names, seed=1).tolist() != fold.tolist()


@pytest.mark.parametrize("method", sorted(METHODS))
def test_an_item_is_calibrated_without_its_own_case(method: str) -> None:
    """Changing the labels of one fold changes no calibrated score of that fold."""
    scores, labels, cases = lenient_judge(40)
    fitted = cross_fit(scores, labels, cases=cases, scale=SCALE, method=method)  # type: ignore[arg-type]
    fold = np.array([fitted.fold_of[case] for case in cases])
    changed = np.where(fold == 2, 6 - labels, labels)
    again = cross_fit(scores, changed, cases=cases, scale=SCALE, method=method)  # type: ignore[arg-type]
    before, after = fitted.out_of_fold.calibrated, again.out_of_fold.calibrated
    assert after[fold == 2].tolist() == before[fold == 2].tolist()
    assert after[fold != 2].tolist() != before[fold != 2].tolist()


def test_each_fold_is_what_a_fit_on_the_other_folds_predicts() -> None:
    scores, labels, cases = lenient_judge(40)
    fitted = cross_fit(scores, labels, cases=cases, scale=SCALE)
    fold = np.array([fitted.fold_of[case] for case in cases])
    for number in range(5):
        by_hand = Isotonic.fit(scores[fold != number], labels[fold != number], scale=SCALE)
        expected = by_hand.predict(scores[fold == number])
        assert fitted.out_of_fold.calibrated[fold == number] == pytest.approx(expected, abs=1e-12)


def test_a_case_without_labels_gets_the_map_of_all_labels() -> None:
    scores, labels, cases = lenient_judge(40)
    labels[:6] = np.nan  # the first two cases
    fitted = cross_fit(scores, labels, cases=cases, scale=SCALE)
    known = ~np.isnan(labels)
    by_hand = Isotonic.fit(scores[known], labels[known], scale=SCALE)
    assert fitted.out_of_fold.calibrated[:6] == pytest.approx(by_hand.predict(scores[:6]))
    assert "case 0" not in fitted.fold_of


def test_an_unscored_item_is_counted_and_stays_without_a_score() -> None:
    scores, labels, cases = lenient_judge(40)
    scores[5] = np.nan
    pairs = cross_fit(scores, labels, cases=cases, scale=SCALE).out_of_fold
    assert np.isnan(pairs.calibrated[5])
    assert (pairs.n, pairs.n_unscored, pairs.n_cases) == (119, 1, 40)


def test_reporting_in_sample_is_an_error() -> None:
    scores, labels, cases = lenient_judge(40)
    in_sample = Isotonic.fit(scores, labels, scale=SCALE).predict(scores)
    with pytest.raises(MedjuryError, match="Reporting on the cases that taught the calibration is an error"):
        OutOfFold(
            scores,
            in_sample,
            labels,
            np.array(cases, dtype=object),
            np.zeros(len(scores), dtype=int),
            np.ones(len(scores), dtype=bool),
            "",
        )


def test_too_few_labels_for_a_fold_are_refused_with_what_would_do() -> None:
    scores, labels, cases = lenient_judge(12)
    with pytest.raises(
        MedjuryError, match=r"of 12 labelled cases a fold would hold 2.*Label 25 cases.*use 2 folds"
    ):
        cross_fit(scores, labels, cases=cases, scale=SCALE)
    assert cross_fit(scores, labels, cases=cases, scale=SCALE, folds=2).out_of_fold.n == 36


def test_single_valued_scores_are_refused_by_name() -> None:
    _, labels, cases = lenient_judge(40)
    with pytest.raises(MedjuryError, match="o9-judge gave the score 4 to all 120 labelled items"):
        cross_fit(np.full(120, 4.0), labels, cases=cases, scale=SCALE, judge="o9-judge")


def test_a_score_that_varies_in_one_fold_alone_is_refused() -> None:
    _, labels, cases = lenient_judge(40)
    fold = case_folds(cases)
    scores = np.where(fold == 0, 3.0, 4.0)
    with pytest.raises(MedjuryError, match=r"\(outside fold 1 of 5\) gave the score 4"):
        cross_fit(scores, labels, cases=cases, scale=SCALE)


def test_arrays_that_do_not_belong_together_are_refused() -> None:
    with pytest.raises(MedjuryError, match="3 scores, 2 labels and 3 cases"):
        cross_fit([1, 2, 3], [1, 2], cases="abc", scale=SCALE)
    with pytest.raises(MedjuryError, match="needs 2 folds or more"):
        case_folds("abcdefghij", folds=1)
    with pytest.raises(
        MedjuryError, match="no calibration method 'platt'; use isotonic, offset, linear, ordinal"
    ):
        calibrator_kind("platt")
