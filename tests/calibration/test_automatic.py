"""Automatic decisions: the promised error level holds, and without evidence everything is referred."""

from __future__ import annotations

import numpy as np
import pytest
from tests.calibration.test_conformal import jury_and_label

from medjury.analysis.calibration._automatic import automatic_decisions
from medjury.foundation.errors import MedjuryError

OPTIONS = {"scale": (1.0, 5.0), "threshold": 4.0, "error": 0.1, "confidence": 0.9}


def with_new_cases(generator: np.random.Generator, labelled: int, new: int) -> tuple[np.ndarray, ...]:
    scores, labels, _ = jury_and_label(generator, labelled)
    new_scores, new_labels, _ = jury_and_label(generator, new)
    hidden = np.concatenate([labels, np.full(new, np.nan)])
    return np.concatenate([scores, new_scores]), hidden, new_labels


def test_the_share_of_wrong_decisions_exceeds_the_level_no_more_often_than_stated() -> None:
    """The rule is chosen on one half of 400 labelled cases; its error is counted on 4000 new ones."""
    generator = np.random.default_rng(31)
    broken, shares, runs = 0, [], 80
    for run in range(runs):
        scores, labels, truth = with_new_cases(generator, 400, 4000)
        found = automatic_decisions(scores, labels, cases=range(4400), seed=run, **OPTIONS)
        decisions = found.decisions[400:]
        decided = decisions != "refer"
        shares.append(decided.mean())
        if decided.any():
            wrong = (decisions == "pass") != (truth >= 4)
            broken += wrong[decided].mean() > 0.1
    # 10 % of 80 runs are allowed; 15 would be surprising (binomial, p < 0.02).
    assert broken <= 14
    assert np.mean(shares) > 0.4


def test_only_passing_refers_every_case_that_looks_bad() -> None:
    scores, labels, _ = with_new_cases(np.random.default_rng(32), 600, 0)
    found = automatic_decisions(scores, labels, cases=range(600), decide="pass", **OPTIONS)
    assert set(found.decisions.tolist()) == {"pass", "refer"}
    assert scores[found.decisions == "pass"].min() > scores[found.decisions == "refer"].mean()
    assert "passed wrongly" in found.guarantee
    assert "At most".lower() in found.guarantee


def test_a_jury_that_knows_nothing_decides_nothing_and_says_so() -> None:
    generator = np.random.default_rng(33)
    labels = generator.integers(1, 6, size=400).astype(float)
    scores = generator.integers(1, 6, size=400).astype(float)
    found = automatic_decisions(scores, labels, cases=range(400), **OPTIONS)
    assert found.cut is None
    assert found.share.value == 0
    assert set(found.decisions.tolist()) == {"refer"}
    assert "every case is referred" in found.guarantee
    assert not found.error.defined


def test_rare_bad_cases_that_were_passed_are_shown_beside_the_low_overall_error() -> None:
    """Passing everything errs in 5 % of the cases and misses every bad one."""
    labels = np.where(np.arange(1000) % 20 == 0, 2.0, 5.0)
    labels[:5] = 3.0
    scores = np.random.default_rng(36).choice([4.0, 5.0], size=1000)
    found = automatic_decisions(scores, labels, cases=range(1000), **OPTIONS)
    assert found.share.value == 1
    assert found.error.high < 0.1
    assert found.missed.value == 1


def test_one_item_per_case_is_tested_and_unscored_items_have_no_decision() -> None:
    scores, labels, names = jury_and_label(np.random.default_rng(34), 300, per_case=4)
    scores[0] = np.nan
    found = automatic_decisions(scores, labels, cases=names, **OPTIONS)
    assert found.n_taught + found.n_tested == 300
    assert found.decisions[0] == ""
    assert found.n_wrong <= found.n_decided <= found.n_tested


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"threshold": 1.0}, "the threshold 1 decides nothing"),
        ({"error": 0.7}, "an error level lies between 0 and"),
        ({"confidence": 95.0}, "a confidence between"),
    ],
)
def test_settings_that_make_no_sense_are_refused(change: dict[str, float], message: str) -> None:
    scores, labels, _ = with_new_cases(np.random.default_rng(35), 100, 0)
    with pytest.raises(MedjuryError, match=message):
        automatic_decisions(scores, labels, cases=range(100), **{**OPTIONS, **change})
    with pytest.raises(MedjuryError, match="too few labels"):
        automatic_decisions(scores[:8], labels[:8], cases=range(8), **OPTIONS)
