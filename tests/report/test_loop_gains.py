"""What a closed loop gained, and in which words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats
from tests.validation.on_trial import on_trial

from medjury.judging import ClosedLoopBody
from medjury.report._sections.closed_loop import Gain, gain_estimates, gains_of, loop_gains, was_revised
from medjury.statistics import Estimate
from medjury.store.runs import Record
from medjury.tables import Measured

ANNA = [1 + place % 5 for place in range(40)]


def gain(
    loop: tuple[float, float], final: tuple[float, float], less: tuple[float, float], patients: int = 10
) -> Gain:
    """A gain by these intervals: the loop's, the final juror's, and of their difference."""
    ends = [Estimate(sum(each) / 2, *each, 10, "test") for each in (loop, final, less)]
    return Gain("loop", Measured("accuracy", "Accuracy", None), 10, patients, 0, *ends)


def scored(**grades: float | None) -> dict[str, Any]:
    return {
        name: {"status": "unscored" if grade is None else "scored", "score": grade}
        for name, grade in grades.items()
    }


def loop(item: str, *rounds: dict[str, Any], first: Any = None, last: Any = None) -> Record[ClosedLoopBody]:
    body = {
        "stopped": "rounds",
        "rounds": [
            {"round": place, "draft": "text", "scores": each, "passed": False}
            for place, each in enumerate(rounds)
        ],
        "final": {"first": first, "last": last},
    }
    return Record("key", item, "a", "loop", 0, ClosedLoopBody.model_validate(body))


def test_a_gain_is_confirmed_refuted_or_open_as_the_intervals_say() -> None:
    assert [
        gain(*each).word
        for each in (
            ((0.1, 0.5), (0.1, 0.5), (-0.2, 0.2)),
            ((0.1, 0.5), (0.1, 0.3), (0.1, 0.2)),
            ((0.1, 0.5), (-0.1, 0.1), (0.1, 0.4)),
            ((0.1, 0.5), (-0.3, -0.1), (0.1, 0.4)),
            ((-0.1, 0.5), (-0.3, -0.1), (-0.1, 0.4)),
            ((-0.1, 0.5), (0.1, 0.4), (-0.1, 0.2)),
            ((-0.1, 0.5), (-0.1, 0.4), (-0.1, 0.2)),
            ((0.1, 0.5), (-0.1, 0.4), (-0.1, 0.2)),
            ((0.0, 0.5), (-0.1, 0.0), (-0.1, 0.2)),
        )
    ] == [
        "confirmed",
        "confirmed, but smaller than the loop claims",
        "NOT CONFIRMED: the final juror does not find it",
        "WORSE by the final juror, NOT CONFIRMED",
        "WORSE by the final juror",
        "gain by the final juror alone",
        "the loop claims no gain",
        "not confirmed: too uncertain to tell",
        "the loop claims no gain",
    ]


def test_nine_patients_are_too_few_to_tell_a_gain() -> None:
    few = gain((0.1, 0.5), (-0.3, -0.1), (0.1, 0.4), patients=9)
    assert few.word == "too few cases to tell (fewer than 10)"
    assert not (few.enough or few.worse or few.refuted)


def test_a_loop_whose_draft_was_revised_and_judged_again_has_a_gain_on_each_dimension() -> None:
    run = loop(
        "1",
        scored(accuracy=2, clarity=4),
        scored(accuracy=3, clarity=None),
        scored(accuracy=4, clarity=5),
        first=scored(accuracy=1, clarity=3),
        last=scored(accuracy=2),
    )
    harm, clarity = (
        Measured("accuracy", "Accuracy", None, higher_is_better=False),
        Measured("clarity", "Clarity", None),
    )
    assert was_revised(run.body)
    asked = (Measured("accuracy", "Accuracy", None), harm, clarity)
    assert [gains_of(run.body, each) for each in asked] == [(2.0, 1.0), (-2.0, -1.0), None]


def test_a_draft_that_was_not_revised_or_not_judged_again_was_not_revised() -> None:
    assert not was_revised(loop("1", scored(a=1), last=scored(a=1)).body)
    assert not was_revised(loop("1", scored(a=1), scored(a=2)).body)
    assert was_revised(loop("1", scored(a=1), scored(a=2), last=scored(a=2)).body)


def test_gains_are_means_over_revised_drafts_with_the_cases_of_a_patient_together() -> None:
    evidence = on_trial(
        {"clinician a": ANNA, "jury": ANNA}, known={"patient": [str(place // 2) for place in range(40)]}
    )
    gained = [place % 3 for place in range(40)]
    runs = [
        loop(
            f"case {place}",
            scored(accuracy=2),
            scored(accuracy=2 + gained[place]),
            first=scored(accuracy=2),
            last=scored(accuracy=None if place == 39 else 3),
        )
        for place in range(40)
    ]
    (found,) = loop_gains(evidence, "loop", [*runs, loop("case 0", scored(accuracy=1))])
    assert (found.rater, found.dimension.name) == ("loop", "accuracy")
    assert (found.cases, found.patients, found.left_out) == (39, 20, 1)
    values = np.array(gained[:39], dtype=float)
    assert (found.loop.value, found.final.value) == (pytest.approx(values.mean()), 1.0)
    assert found.difference.value == pytest.approx(values.mean() - 1)
    assert found.loop.method == "95 % BCa-t bootstrap, 2000 resamples of 20 clusters, seed 0"
    # A sum over each patient of what it adds to the mean: never narrower than the jackknife of these.
    apart = np.bincount(np.arange(39) // 2, values - values.mean()) / 39
    least = stats.t.ppf(0.975, 19) * np.sqrt(20 / 19 * (apart**2).sum())
    assert found.loop.low is not None and found.loop.high is not None
    assert found.loop.low <= values.mean() - 0.9 * least and found.loop.high >= values.mean() + 0.9 * least


def test_a_gain_that_is_the_same_in_every_case_has_an_exact_interval() -> None:
    """Of 20 cases without a difference, at most 1 − 0.025^(1/20) of all could have lost the whole scale."""
    gains, clusters = np.tile([2.0, 1.0], (20, 1)), np.arange(20)
    loop_gain, final, less = gain_estimates(gains, clusters, span=4.0)
    could = 1 - 0.025 ** (1 / 20)
    for found, value, farthest in ((loop_gain, 2.0, 6.0), (final, 1.0, 5.0), (less, 1.0, 9.0)):
        assert (found.value, found.low) == (value, pytest.approx(value - could * farthest))
        assert "exact: none of 20 cases differs" in found.method
    assert gain_estimates(gains, clusters, span=None)[0].low is None, "without a scale nobody knows how much"
    assert gain_estimates(gains[:9], clusters[:9], span=4.0)[0].low is None, "nine cases are too few"


def test_a_loop_that_revised_nothing_gained_nothing() -> None:
    evidence = on_trial({"clinician a": ANNA, "jury": ANNA})
    assert loop_gains(evidence, "loop", [loop("case 0", scored(accuracy=1))]) == []
