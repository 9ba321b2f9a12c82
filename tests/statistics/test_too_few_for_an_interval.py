"""Numbers that too few cases, labels or pairs stand behind: the value is told, the interval is not, and why."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from medjury.analysis.calibration._automatic import automatic_decisions
from medjury.analysis.calibration._prediction_powered import estimate_mixture
from medjury.analysis.calibration._quality_asked import estimate_weighted
from medjury.analysis.calibration._review_curve import review_curves
from medjury.statistics import Estimate
from medjury.texts.metrics._impact import rates


def told(found: Estimate) -> tuple[bool, bool, str]:
    """Whether there is a value, whether there is an interval, and where there is none what is said."""
    has = found.low is not None and found.high is not None
    return found.value is not None, has, "" if has else found.method


@pytest.mark.parametrize("dangerous", [29, 30])
def test_a_review_curve_needs_thirty_cases_to_catch(dangerous: int) -> None:
    draw = np.random.default_rng(1)
    target = np.arange(200) < dangerous
    orders = {"rule": target + draw.normal(0, 1, 200), "jury": target + draw.normal(0, 1.5, 200)}
    curves = review_curves(orders, target, cases=range(200), rule="rule", resamples=200)
    saved = curves["jury"].saved_by_rule
    assert saved is not None
    why = f"no interval: {dangerous} cases hold a dangerous answer, at least 30 are needed"
    expected = (True, True, "") if dangerous == 30 else (True, False, why)
    shown = [curves["jury"].area, curves["jury"].review_to_catch, saved, *curves["jury"].caught]
    assert [told(each) for each in shown] == [expected] * len(shown)


@pytest.mark.parametrize(("labelled", "enough"), [(98, False), (100, True)])
def test_decisions_without_a_clinician_need_fifty_tested_cases(labelled: int, enough: bool) -> None:
    """Half of the labelled cases are tested; here nearly every score is right."""
    draw = np.random.default_rng(2)
    labels = draw.choice([1.0, 2.0, 4.0, 5.0], size=labelled)
    found = automatic_decisions(
        labels, labels, cases=range(labelled), scale=(1.0, 5.0), threshold=4.0, error=0.1, confidence=0.9
    )
    assert found.cut is not None
    why = f"no interval: {labelled // 2} cases were tested, at least 50 are needed"
    assert told(found.error) == (True, enough, "" if enough else why)


def test_where_no_rule_decides_the_share_it_decides_has_no_interval() -> None:
    draw = np.random.default_rng(3)
    scores, labels = draw.integers(1, 6, size=(2, 400)).astype(float)
    found = automatic_decisions(
        scores, labels, cases=range(400), scale=(1.0, 5.0), threshold=4.0, error=0.1, confidence=0.9
    )
    assert told(found.share) == (True, False, "no interval: no rule passed the test, so none decides")


@pytest.mark.parametrize(
    ("how", "labelled", "needed"),
    [("another mix of cases", 28, 30), ("unequal chances", 29, 30), ("a share by unequal chances", 79, 80)],
)
@pytest.mark.parametrize("more", [False, True])
def test_an_estimate_by_the_jury_needs_so_many_labelled_cases(
    how: str, labelled: int, needed: int, more: bool
) -> None:
    truth, jury, strata = _jury_and_truth(300)
    count = needed if more else labelled
    known = np.arange(300) < count
    weights, labels = np.where(np.arange(300) % 2, 5.0, 300 / count), np.where(known, truth, np.nan)
    effort: dict[str, Any] = {"cases": range(300), "confidence": 0.95}
    if how == "another mix of cases":
        shares = {"a": 0.7, "b": 0.3}
        found = estimate_mixture(labels, jury, strata=strata, shares=shares, labels_random=True, **effort)
    elif how == "unequal chances":
        found = estimate_weighted(labels, jury, weights, share=False, **effort)
    else:
        bad, called = np.where(known, truth <= 3, np.nan), (jury <= 3).astype(float)
        found = estimate_weighted(bad, called, weights, share=True, **effort)
    chance = "" if "mix" in how else " of unequal probability"
    why = f"no interval: {labelled} labelled cases{chance} are too few, at least {needed} are needed"
    expected = (True, True, "") if more else (True, False, why)
    assert [told(each) for each in (found.power_tuned, found.fixed)] == [expected] * 2
    assert told(found.classical) == ((True, True, "") if how.startswith("a share") else expected)


@pytest.mark.parametrize("harmful", [49, 50])
def test_recall_of_a_level_of_harm_needs_fifty_pairs_of_it(harmful: int) -> None:
    truth = np.where(np.arange(300) < harmful, 2, np.arange(300) % 2)
    levels = np.where(np.arange(300) % 7 == 0, (truth + 1) % 3, truth)
    found = rates(truth, levels, {"clusters": np.arange(300), "resamples": 200, "seed": 0})
    why = "no interval: 49 pairs are too few, at least 50 are needed"
    assert told(found["recall_2"]) == ((True, True, "") if harmful == 50 else (True, False, why))
    assert told(found["accuracy"]) == (True, True, "")


def _jury_and_truth(size: int) -> tuple[np.ndarray, np.ndarray, list[str]]:
    draw = np.random.default_rng(4)
    truth = draw.integers(1, 6, size).astype(float)
    jury = np.clip(truth + draw.integers(-1, 2, size), 1, 5)
    return truth, jury, ["ab"[place % 2] for place in range(size)]
