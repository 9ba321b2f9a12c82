"""What a tuning is worth on held-out cases: whole groups are resampled, and the truth is the clinicians'."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.tuning.labelled import IMPACT, cases

from medjury.instruments import Score
from medjury.tuning._held_out import PLAIN, TUNED, HeldOut, evaluate_held_out
from medjury.tuning._objective import make_objective


def held_out(group: int) -> tuple[HeldOut, np.ndarray, np.ndarray]:
    """40 cases, each with three copies of it: the plain judge is right on half of them, the tuned on more."""
    made_up = cases([n // 4 % 3 for n in range(160)])
    made_up = [replace(each, group=f"g{n // group}") for n, each in enumerate(made_up)]
    right = {PLAIN: lambda n: n // 4 % 2 == 0, TUNED: lambda n: n // 4 % 5 != 0}
    said: dict[str, Any] = {
        who: [{"impact": Score(n // 4 % 3 if hit(n) else (n // 4 + 1) % 3)} for n in range(160)]
        for who, hit in right.items()
    }
    made = make_objective("cost_matrix", IMPACT, IMPACT.dimensions, made_up)
    rewards = {who: [made.reward(*each) for each in zip(made_up, said[who], strict=True)] for who in said}
    found = evaluate_held_out(made_up, said, made, resamples=800)
    return found, np.array(rewards[TUNED]), np.array(rewards[PLAIN])


def test_the_gain_is_the_difference_of_means_and_its_interval_that_of_groups() -> None:
    found, tuned, plain = held_out(4)
    assert found.gain.value == pytest.approx(tuned.mean() - plain.mean())
    assert found.value(TUNED).value == pytest.approx(tuned.mean())
    means = (tuned - plain).reshape(40, 4).mean(axis=1)
    error = means.std(ddof=1) / 40**0.5
    assert found.gain.low == pytest.approx(means.mean() - 2.02 * error, abs=0.5 * error)
    assert found.gain.high == pytest.approx(means.mean() + 2.02 * error, abs=0.5 * error)
    assert (found.cases, found.groups) == (160, 40)


@pytest.mark.parametrize("rater", [PLAIN, TUNED])
def test_copies_of_a_case_make_no_judge_surer(rater: str) -> None:
    grouped, single = (held_out(group)[0].value(rater) for group in (4, 1))
    widths = [(each.high or 0.0) - (each.low or 0.0) for each in (grouped, single)]
    assert widths[0] > 1.6 * widths[1] > 0
