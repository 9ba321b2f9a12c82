"""The gate where jury and clinicians never differ: enough cases prove it, few do not, and no width is no proof."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.validation.on_trial import World, graded, verdict

from medjury.validation import Verdict


def never_differing(cases: int, **settings: Any) -> Verdict:
    """Of a jury and clinicians who always say the same. A copy it is called only where colleagues differ."""
    world = World(1, cases=cases, **settings)
    true = graded(world.truth)
    world.__dict__["humans"] = np.column_stack([true, true])
    return verdict(world.frame(true))


@pytest.mark.parametrize("systems", [1, 2])
def test_many_cases_without_a_disagreement_validate(systems: int) -> None:
    found = never_differing(300, systems=systems)
    assert found.word == "VALIDATED", found.reasons
    assert found.rule("agreement").jury == found.rule("agreement").colleague == 1.0


def test_few_cases_without_a_disagreement_do_not() -> None:
    few = never_differing(20, systems=3)
    assert few.word == "AUXILIARY" and few.rule("doubly_rated").state == "holds"
    assert few.rule("missed_danger").state == few.rule("consensus_danger").state == "open"
    missed = few.rule("missed_danger")
    assert missed.value == 0.0 and missed.high is not None and missed.high > 0.05, "no width is no proof"


def test_thirty_cases_without_a_disagreement_prove_no_agreement_where_no_danger_is_claimed() -> None:
    world = World(1, cases=30, systems=2)
    true = graded(world.truth)
    world.__dict__["humans"] = np.column_stack([true, true])
    found = verdict(world.frame(true), safety=False)
    assert found.word == "AUXILIARY"
    for name in ("agreement", "within_case", "within_system"):
        line = found.rule(name)
        assert (line.value, line.state) == (0.0, "open") and line.low is not None and line.low < -0.1
    colleagues = found.rule("colleagues")
    assert colleagues.value == colleagues.high == 1.0 and colleagues.low is not None
    assert 1 - 0.05 ** (1 / 30) < 1 - colleagues.low < 0.3, (
        "the rule of three, and more where a guess may be right"
    )


def test_scores_that_do_not_vary_are_no_agreement_however_many() -> None:
    world = World(1)
    flat = np.full(world.size, 4.0)
    world.__dict__["humans"] = np.column_stack([flat, flat])
    found = verdict(world.frame(flat))
    assert found.word == "AUXILIARY" and found.rule("offset").state == "holds"
    assert {found.rule(name).state for name in ("agreement", "colleagues", "within_case")} == {"not known"}


@pytest.mark.parametrize("wrong", [0.0, 0.05, 0.3, 1.0])
def test_a_jury_that_differs_from_clinicians_who_never_do_is_no_colleague(wrong: float) -> None:
    world = World(1)
    flat = np.full(world.size, 4.0)
    world.__dict__["humans"] = np.column_stack([flat, flat])
    off = world.draw.random(world.size) < wrong
    found = verdict(world.frame(np.where(off, np.where(world.case % 2, 5.0, 3.0), flat)), safety=False)
    line = found.rule("agreement")
    assert (found.word, line.cap) == (("AUXILIARY",) * 2 if wrong < 0.1 else ("NOT VALIDATED",) * 2)
    assert (line.state, line.value) == ("not known", None)
    if wrong >= 0.1:
        assert "a colleague to 100.0 %." in line.why and line.why == found.reasons[0]


def test_a_jury_that_says_the_same_of_every_answer_is_no_colleague_by_a_rank_correlation_either() -> None:
    """A constant has no rank correlation, so that there is no difference from a colleague's."""
    world = World(1)
    found = verdict(world.frame(np.full(world.size, 3.0)), rules={"statistic": "spearman"})
    assert found.word == "NOT VALIDATED" and found.rule("agreement").cap == "NOT VALIDATED"


def test_a_jury_that_never_differs_in_level_is_still_not_sure_of_it() -> None:
    """No case differs, so that a bound by their spread would be 0 wide."""
    found = never_differing(60, systems=1).rule("offset")
    assert found.value == 0.0 and found.low is not None and found.low < -0.1
