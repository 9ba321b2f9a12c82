"""Triage: the rule finds planted severe errors early, learns from other cases alone, and says when it
cannot."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike

from medjury.analysis.calibration._maps import case_folds
from medjury.analysis.calibration._review_curve import review_curves
from medjury.analysis.calibration._review_order import ReviewOrder, first_to_read, review_order
from medjury.foundation.errors import MedjuryError
from medjury.tables import mean_of_raters

GRADES = (1, 2, 3, 4, 5)


def triage(judges: Mapping[str, ArrayLike], **given: Any) -> ReviewOrder:
    """The order by the mean of the judges; danger is the second grade."""
    columns = [np.asarray(scores, dtype=float) for scores in judges.values()]
    jury = mean_of_raters(np.column_stack(columns)) if columns else np.empty(0)
    return review_order(jury, judges, **{"threshold": 2.0, **given})


def planted(generator: np.random.Generator, cases: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Three judges who each overlook nearly half of the dangerous answers, but not the same ones."""
    labels = generator.choice([1.0, 2.0, 3.0, 4.0, 5.0], p=[0.05, 0.07, 0.18, 0.35, 0.35], size=cases)
    judges = {}
    for number in range(3):
        scores = np.clip(np.round(labels + 0.6 * generator.normal(size=cases)), 1, 5)
        overlooked = (labels <= 2) & (generator.random(cases) < 0.45)
        judges[f"judge-{number}"] = np.where(overlooked, generator.choice([4.0, 5.0], size=cases), scores)
    return judges, labels


def test_thirty_percent_reviewed_catch_eighty_percent_where_a_single_judge_needs_more() -> None:
    judges, labels = planted(np.random.default_rng(1), 800)
    found = triage(judges, cases=range(800), grades=GRADES, labels=labels, resamples=300)
    curves = found.curves
    assert curves["rule"].review_to_catch.value <= 0.30
    for name in judges:
        single = curves[f"judge {name}"]
        assert single.review_to_catch.value > 0.30
        assert single.saved_by_rule.low > 0
    assert curves["rule"].area.low > 0.75
    at = dict(zip(curves["rule"].reviewed, curves["rule"].caught, strict=True))
    assert at[0.3].value >= 0.8
    assert found.n_dangerous == int((labels <= 2).sum())
    assert found.n_severe is None


def test_the_labels_of_a_fold_do_not_touch_its_own_priorities() -> None:
    judges, labels = planted(np.random.default_rng(4), 500)
    fold = case_folds(range(500))
    changed = labels.copy()
    changed[fold == 2] = np.random.default_rng(0).permutation(changed[fold == 2])
    first, second = (
        triage(judges, cases=range(500), grades=GRADES, labels=each, resamples=0)
        for each in (labels, changed)
    )
    assert second.priority[fold == 2].tolist() == first.priority[fold == 2].tolist()
    assert second.priority[fold != 2].tolist() != first.priority[fold != 2].tolist()
    for name, values in first.signals.items():
        assert second.signals[name][fold == 2].tolist() == values[fold == 2].tolist()


def test_where_labels_are_noise_the_rule_is_no_better_than_chance() -> None:
    """A rule that had seen the labels would look good even here."""
    judges, labels = planted(np.random.default_rng(5), 600)
    shuffled = np.random.default_rng(6).permutation(labels)
    curves = triage(judges, cases=range(600), grades=GRADES, labels=shuffled, resamples=300).curves
    assert curves["rule"].area.low < 0.5 < curves["rule"].area.high + 0.03


def test_errors_the_jury_missed_can_be_the_target() -> None:
    judges, labels = planted(np.random.default_rng(7), 800)
    jury = np.mean(list(judges.values()), axis=0)
    found = triage(judges, cases=range(800), grades=GRADES, labels=labels, gap=2.0, resamples=100)
    assert found.n_severe == int(((labels <= 2) & (jury - labels >= 2)).sum())
    assert found.curves["rule"].review_to_catch.value < found.curves["jury"].review_to_catch.value


def test_without_labels_the_judges_own_signals_rank_the_items() -> None:
    agree, alarmed, split = [5.0, 5.0, 5.0], [1.0, 2.0, 1.0], [5.0, 1.0, 4.0]
    table = np.array([agree, alarmed, split, [4.0, 4.0, 4.0]])
    judges = {f"j{column}": table[:, column] for column in range(3)}
    found = triage(judges, cases="abcd", grades=GRADES)
    assert first_to_read(found.priority).tolist()[0] in (1, 2)
    assert first_to_read(found.priority).tolist()[-1] == 0
    assert found.curves is None
    assert "nothing was learnt" in found.how
    assert found.signals["disagreement"][2] == pytest.approx(np.std(split))


def test_an_item_that_no_judge_scored_comes_first() -> None:
    judges = {"a": [5.0, np.nan, 1.0], "b": [4.0, np.nan, np.nan]}
    found = triage(judges, cases="xyz", grades=GRADES)
    assert first_to_read(found.priority)[0] == 1
    assert found.n_unscored == 1
    assert found.signals["disagreement"][2] == 0


def test_with_few_severe_cases_ranks_are_averaged_and_it_says_so() -> None:
    judges, labels = planted(np.random.default_rng(8), 100)
    labels[labels <= 2] = 3
    labels[:3] = 1
    found = triage(judges, cases=range(100), grades=GRADES, labels=labels, resamples=0)
    assert found.weights is None
    assert "fewer than 10 cases with a dangerous answer" in found.how
    assert not np.isnan(found.priority).any()


def test_unlabelled_items_are_ranked_with_the_rule_of_all_labels() -> None:
    judges, labels = planted(np.random.default_rng(9), 600)
    truth = labels.copy()
    labels[400:] = np.nan
    found = triage(judges, cases=range(600), grades=GRADES, labels=labels, resamples=0)
    new = found.priority[400:]
    assert np.mean(new[truth[400:] <= 2]) > np.mean(new[truth[400:] > 2]) + 1
    assert found.n_labelled == 400


def test_the_curve_by_hand() -> None:
    priority = {"order": np.array([5.0, 4.0, 3.0, 2.0, 1.0]), "blind": np.zeros(5)}
    severe = np.array([True, False, True, False, False])
    curves = review_curves(
        priority, severe, cases="abcde", fractions=(0.2, 0.5, 0.6), catch=0.75, resamples=0
    )
    assert [each.value for each in curves["order"].caught] == pytest.approx([0.5, 0.75, 1.0])
    assert curves["order"].review_to_catch.value == pytest.approx(0.5, abs=1e-5)
    assert [each.value for each in curves["blind"].caught] == pytest.approx([0.2, 0.5, 0.6])
    assert curves["blind"].area.value == pytest.approx(0.5)
    assert curves["blind"].review_to_catch.value == pytest.approx(0.75, abs=1e-5)


@pytest.mark.parametrize("catch", [0.3, 0.8, 1.0])
def test_the_share_to_review_is_the_first_step_at_which_enough_is_caught(catch: float) -> None:
    draw = np.random.default_rng(5)
    priority, strata, cases = (
        draw.integers(0, 25, 90).astype(float),
        draw.integers(0, 3, 90),
        np.arange(90) // 3,
    )
    target = priority + draw.normal(0, 6, 90) > 20
    fractions = (0.25, 0.5)

    def curves(fractions: tuple[float, ...], resamples: int) -> Mapping[str, Any]:
        return review_curves(
            {"all": priority}, target, cases=cases, strata=strata, catch=catch, fractions=fractions,
            resamples=resamples,
        )  # fmt: skip

    share = curves(fractions, 200)["all"].review_to_catch.value
    assert share is not None and share * 2**20 == round(share * 2**20)
    before, at = curves((share - 2.0**-20, share), 0)["all"].caught
    assert before.value < catch - 1e-12 <= at.value


def test_where_nothing_more_is_caught_for_long_the_first_step_counts() -> None:
    """Four of five are caught by the first fifth, the last one among the last: 80 % is reached on a flat line."""
    target = np.isin(np.arange(100), [2, 5, 11, 19, 98])
    for catch, share in ((0.8, 0.20), (0.6, 0.12), (1.0, 0.99)):
        found = review_curves(
            {"all": -np.arange(100.0)}, target, cases=np.arange(100), catch=catch, resamples=0
        )
        assert found["all"].review_to_catch.value == pytest.approx(share, abs=2e-6)


def test_a_resample_without_anything_to_catch_has_no_share_to_review() -> None:
    target = np.arange(12) == 11
    found = review_curves({"all": np.arange(12.0)}, target, cases=np.arange(12), resamples=200)
    made = found.replicates_of(0)
    none = np.isnan(made.resampled["area"])
    assert 0 < none.sum() < 200
    assert (np.isnan(made.resampled["review"]) == none).all()


def test_orders_learnt_in_different_folds_are_not_ranked_against_each_other() -> None:
    """All items look alike, but each fold's rule says so at another height, lowest where errors are most
    frequent, as it must when a fold's own labels are left out. Ranked across folds that would look worse
    than chance."""
    fold = np.repeat(np.arange(4), 50)
    severe = np.arange(200) % 50 < 5 * (fold + 1)
    priority = {"rule": -fold.astype(float)}
    apart = review_curves(priority, severe, cases=range(200), strata=fold, resamples=0)["rule"]
    together = review_curves(priority, severe, cases=range(200), resamples=0)["rule"]
    assert apart.area.value == pytest.approx(0.5)
    assert apart.review_to_catch.value == pytest.approx(0.8, abs=1e-5)
    assert together.area.value < 0.4


def test_a_definition_that_fits_no_item_or_every_item_is_refused() -> None:
    judges, labels = planted(np.random.default_rng(8), 100)
    with pytest.raises(MedjuryError, match="no item is a dangerous answer"):
        triage(judges, cases=range(100), grades=GRADES, labels=np.maximum(labels, 3), resamples=0)
    with pytest.raises(MedjuryError, match="every item is a dangerous answer"):
        triage(judges, cases=range(100), grades=GRADES, labels=labels, threshold=5.0, resamples=0)
    with pytest.raises(MedjuryError, match="no item is a severe error"):
        triage(judges, cases=range(100), grades=GRADES, labels=labels, gap=5.0, resamples=0)
    with pytest.raises(MedjuryError, match="at least one judge"):
        triage({}, cases=[], grades=GRADES)
    with pytest.raises(MedjuryError, match="100 items, 100 labels, 99 cases"):
        triage(judges, cases=range(99), grades=GRADES, labels=labels)


def test_equal_scores_stay_equal_whatever_rounding_left_of_them() -> None:
    """Means of the same grades added up in another order differ in the last digit: that is no order of review."""
    target = np.array([True, False, True, False, False, False])
    equal = -np.array([2.0, 2.0, 3.0, 3.0, 4.0, 4.0])
    rounded = equal + np.array([4.5e-16, 0, 4.5e-16, 0, 0, 9e-16])
    found = [
        review_curves({"jury": each}, target, cases=list("abcdef"), resamples=0)["jury"].area.value
        for each in (equal, rounded)
    ]
    assert found[0] == found[1]
