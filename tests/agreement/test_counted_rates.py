"""Shares of counted cases have an interval of their counts; coefficients of matches one of the jackknife alone."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import stdtrit

from medjury.analysis.agreement import classification
from medjury.analysis.agreement._classification import classification_statistics
from medjury.analysis.agreement._pair_estimates import pair_estimates
from medjury.analysis.agreement._pair_statistics import (
    Pair,
    Settings,
    counted,
    pair_names,
    two_rater_statistics,
)
from medjury.statistics import Estimate, proportion, replicates
from medjury.tables import Grades

# Truth and prediction of 20 cases: 9 true positives, 2 false ones, 3 missed, 6 true negatives.
ROWS = np.array([(1.0, 1.0)] * 9 + [(0.0, 1.0)] * 2 + [(1.0, 0.0)] * 3 + [(0.0, 0.0)] * 6)
TWO, FIVE = Grades((0.0, 1.0), "given"), Grades((1.0, 2.0, 3.0, 4.0, 5.0), "given")


def found(rows: np.ndarray, cases: np.ndarray, grades: Grades, *statistics: str) -> dict[str, Estimate]:
    made = pair_estimates(Pair(rows, cases, grades), Settings(400, statistics=statistics))[0]
    return {name: estimate for name, (estimate, _) in made.items()}


@pytest.mark.parametrize(
    ("name", "hits", "n"),
    [("accuracy", 15, 20), ("sensitivity", 9, 12), ("specificity", 6, 8), ("precision", 9, 11)],
)
def test_a_share_of_counted_cases_has_wilsons_interval(name: str, hits: int, n: int) -> None:
    wanted = proportion(hits, n, interval="wilson")
    one = found(ROWS, np.arange(20), TWO, name)[name]
    assert (one.value, one.low, one.high) == (pytest.approx(hits / n), wanted.low, wanted.high)
    assert "Wilson" in one.method


def test_f1_is_a_function_of_the_share_right_of_what_anybody_called_positive() -> None:
    share = proportion(9, 14, interval="wilson")
    one = found(ROWS, np.arange(20), TWO, "f1")["f1"]
    assert one.value == pytest.approx(18 / 23)
    assert share.low is not None and share.high is not None
    assert (one.low, one.high) == (2 * share.low / (1 + share.low), 2 * share.high / (1 + share.high))


def test_brennan_and_predigers_coefficient_is_a_line_of_the_share_of_matches() -> None:
    both = found(ROWS + 2.0, np.arange(20), FIVE, "exact_match", "brennan_prediger")
    for end in ("value", "low", "high"):
        match = getattr(both["exact_match"], end)
        assert getattr(both["brennan_prediger"], end) == pytest.approx((match - 0.2) / 0.8)


def test_several_answers_to_a_case_are_not_counted_as_cases() -> None:
    rows, cases = np.tile(ROWS, (2, 1)), np.tile(np.arange(20), 2)
    one = found(rows, cases, TWO, "sensitivity", "specificity", "precision", "f1", "f1_class_1")
    for each in one.values():
        assert "jackknife t, each of 20 clusters left out once" in each.method
    # The same share of the same answers under two names.
    assert one["f1"] == one["f1_class_1"]
    # By hand: logit(0.75) and what leaving out one of the twelve cases with positives changes in it.
    left_out = np.array([8 / 11] * 9 + [9 / 11] * 3 + [9 / 12] * 8)
    there = np.log(left_out / (1 - left_out))
    error = np.sqrt(19 / 20 * np.sum((there - there.mean()) ** 2))
    excess = max(np.mean((there - there.mean()) ** 4) / np.var(there) ** 2 - 3, 0)
    half = stdtrit(2 / (2 / 19 + excess / 20), 0.975) * error
    ends = [1 / (1 + np.exp(-(np.log(3) + side * half))) for side in (-1, 1)]
    assert [one["sensitivity"].low, one["sensitivity"].high] == pytest.approx(ends)


# Answers with the class, by case; 16 and 16 beside ten with two are as 5.1 cases of equal size.
@pytest.mark.parametrize(
    ("sizes", "refused"),
    [
        ([3] * 6, ""),
        ([4] * 5, "5.0"),
        ([2] * 18 + [20], ""),
        ([2] * 10 + [16, 16], "4.9"),
        ([20, 20] + [1] * 20, "4.4"),
    ],
)
def test_a_rate_of_a_class_that_comes_from_few_cases_has_no_interval(sizes: list[int], refused: str) -> None:
    cases = np.concatenate([np.repeat(np.arange(len(sizes)), sizes), 100 + np.arange(40) // 2])
    truth = np.repeat([1.0, 0.0], [sum(sizes), 40])
    rows = np.column_stack([truth, np.resize([1.0, 1.0, 0.0, 1.0, 0.0, 1.0, 1.0], len(truth))])
    one = found(rows, cases, TWO, "sensitivity", "specificity", "recall", "f1", "f1_class_1", "f1_class_0")
    assert one["sensitivity"].value is not None and (one["sensitivity"].low is None) == bool(refused)
    if refused:
        assert f"answers that count are spread as over {refused} cases" in one["sensitivity"].method
    assert one["sensitivity"] == one["recall"] and one["f1"] == one["f1_class_1"]
    assert one["specificity"].low is not None and one["f1_class_0"].low is not None
    # The same by the function of arrays.
    alone = classification(truth, rows[:, 1], classes=[0.0, 1.0], clusters=cases, resamples=400)
    for name in ("sensitivity", "specificity", "f1", "f1_class_1"):
        assert (alone[name].low, alone[name].high) == (one[name].low, one[name].high)
    # A rate of exactly 1 counts every case once, so that none can have too much.
    rows[truth == 1.0, 1] = 1.0
    assert found(rows, cases, TWO, "sensitivity")["sensitivity"].low is not None


def test_f1_has_one_interval_under_both_of_its_names() -> None:
    truth = np.repeat([1.0, 0.0], [12, 68])
    said = np.where(np.isin(np.arange(80), [0, 1, 2, 30, 40, 50]), 1 - truth, truth)
    one = found(np.column_stack([truth, said]), np.arange(80) % 20, TWO, "f1", "f1_class_1")
    assert one["f1"] == one["f1_class_1"]
    assert one["f1"].method == "no interval: the reference gave 1 only 12 times, at least 15 are needed"


def test_the_function_of_arrays_has_the_same_intervals_and_counts_the_class_that_is_named() -> None:
    words = (
        [["no", "yes"][int(each)] for each in ROWS[:, 0]],
        [["no", "yes"][int(each)] for each in ROWS[:, 1]],
    )
    alone = classification(*words, classes=["no", "yes"], resamples=400)
    wanted = {"sensitivity": (9, 12), "specificity": (6, 8), "precision": (9, 11)}
    for name, (hits, n) in wanted.items():
        wilson = proportion(hits, n, interval="wilson")
        assert (alone[name].low, alone[name].high) == (wilson.low, wilson.high)
    turned = classification(*words, classes=["no", "yes"], positive="no", resamples=400)
    assert turned["sensitivity"] == alone["specificity"] and turned["specificity"] == alone["sensitivity"]
    assert turned["f1"] == alone["f1_class_no"] and alone["f1"] == alone["f1_class_yes"]


def test_a_jackknife_does_not_speak_of_resamples_that_it_does_not_use() -> None:
    truth = np.repeat([1.0, 0.0], [16, 224])
    said = np.where(np.random.default_rng(0).random(240) < 0.75, truth, 1 - truth)
    rows, statistics = (
        np.column_stack([truth, said]),
        classification_statistics([0.0, 1.0], np.array([0.0, 1.0])),
    )
    made = replicates(rows, statistics, clusters=np.arange(240) // 4, resamples=2000)
    assert 0 < np.isnan(made.resampled["sensitivity"]).sum() < 100
    method = made.estimate("sensitivity").method
    assert method == "95 % jackknife t, each of 60 clusters left out once"


def test_with_fewer_than_ten_cases_a_share_has_no_interval() -> None:
    few = found(ROWS[5:14], np.arange(9), TWO, "accuracy")["accuracy"]
    assert few.value is not None and few.low is None and "too few" in few.method


@pytest.mark.parametrize("name", ["fleiss_kappa", "gwet_ac1", "krippendorff_alpha_ordinal", "mcc"])
def test_a_coefficient_of_matches_does_not_change_with_the_resamples(name: str) -> None:
    pair = Pair(ROWS + 2.0, np.arange(20), FIVE)
    first, second = (
        pair_estimates(pair, Settings(resamples, seed, statistics=[name]))[0][name][0]
        for resamples, seed in ((400, 1), (600, 2))
    )
    assert first == second and first.low is not None
    assert "jackknife t, each of 20 items left out once" in first.method


@pytest.mark.parametrize("grades", [TWO, FIVE, None])
@pytest.mark.parametrize(
    "asked", [None, ["offset", "icc_2_1", "krippendorff_alpha_ordinal"], ["f1_class_1", "mcc", "auc"]]
)
def test_the_names_of_a_pairs_statistics_are_those_that_they_give(
    grades: Grades | None, asked: list[str] | None
) -> None:
    pair = Pair(ROWS if grades is TWO else ROWS + 2.5, np.arange(20) // 2, grades)
    known, _ = counted(pair)
    names = set(pair_names(pair, known, Settings(200, statistics=asked)))
    with np.errstate(all="ignore"):
        given = set(two_rater_statistics(names, known)(pair.rows)(np.ones((1, 20))))
    assert names - {"auc"} <= given
    assert asked is None or names <= {*asked}


def test_f1_of_a_class_that_hardly_occurs_has_no_interval() -> None:
    rows = np.array([(5.0, 5.0)] * 9 + [(4.0, 5.0)] * 7 + [(1.0, 2.0)] * 2 + [(1.0, 1.0)] * 2)
    one = found(rows, np.arange(20), FIVE, "f1_class_1", "f1_class_5")
    assert one["f1_class_1"].low is None and one["f1_class_5"].low is not None
    assert one["f1_class_1"].method == (
        "no interval: both together gave 1 only 4 times, at least 5 are needed"
    )


def test_f1_of_a_class_with_several_answers_to_a_case_is_that_of_the_jackknife_and_needs_fifteen() -> None:
    rows = np.tile(np.array([(5.0, 5.0), (4.0, 4.0), (4.0, 5.0), (3.0, 4.0)]), (30, 1))
    rows[::9, 1] = 4.0
    rows[-64:, 0] = np.where(rows[-64:, 0] == 3.0, 2.0, rows[-64:, 0])
    one = found(rows, np.repeat(np.arange(30), 4), FIVE, "f1_class_3", "f1_class_4")
    assert (
        one["f1_class_3"].value == 0.0
        and "3 only 14 times, at least 15 are needed" in one["f1_class_3"].method
    )
    assert "jackknife t, each of 30 clusters left out once" in one["f1_class_4"].method


def test_matthewss_coefficient_of_two_grades_needs_thirty_items() -> None:
    for rows, refused in ((ROWS, True), (np.tile(ROWS, (2, 1)), False)):
        one = found(rows, np.arange(len(rows)), TWO, "mcc")["mcc"]
        assert one.value is not None and (one.low is None) == refused
        assert ("at least 30 are needed" in one.method) == refused
    assert found(ROWS + 2.0, np.arange(20), FIVE, "mcc")["mcc"].low is not None
