"""A dimension as it was measured: which end is dangerous, and how much too kind is a severe error."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from medjury.instruments import list_instruments, load_instrument
from medjury.store.runs import GateRules
from medjury.tables import Grades, Measured
from medjury.tables._dimensions import of_instrument


def measured(*grades: float, higher: bool = True) -> Measured:
    return Measured("risk", "risk", Grades(grades) if grades else None, higher_is_better=higher)


def test_danger_is_a_share_of_the_scale_and_the_gap_never_less_than_a_grade_or_half_of_two() -> None:
    rules = GateRules()
    assert measured(1, 2, 3, 4, 5).danger(rules) == (2.0, 2.0)
    assert measured(0, 1).danger(rules) == (0.25, 0.5)
    assert measured(0, 1, 2).danger(rules) == (0.5, 1.0)
    assert measured(1, 2, 3, 4).danger(rules) == (1.75, 1.5)
    assert measured().danger(rules) is None


def test_the_least_gap_is_the_smallest_step_of_the_scale_and_of_two_grades_half_of_it() -> None:
    """Of two grades a whole one would forgive a jury of three that most of its judges overlook a harm."""
    assert measured(0, 1).danger(GateRules(gap=0.1)) == (0.25, 0.5)
    assert measured(0, 1).danger(GateRules(gap=0.8)) == (0.25, 0.8)
    assert measured(3, 9, higher=False).danger(GateRules()) == (4.5, 3.0)
    assert measured(0, 0.5, 1).danger(GateRules(gap=0.1)) == (0.25, 0.5)
    assert measured(0, 1, 10).danger(GateRules(gap=0.05)) == (2.5, 1.0)
    assert measured(0, 1, 10).danger(GateRules(danger=0, gap=0.5)) == (0, 5)


def test_danger_from_one_on_is_a_grade_and_on_a_turned_scale_that_grade_or_higher() -> None:
    by_grade = GateRules(danger=2, severe_dimensions=("risk",))
    assert measured(1, 2, 3, 4, 5).danger(by_grade) == (2.0, 2.0)
    assert measured(*range(11)).danger(GateRules(danger=3)) == (3.0, 5.0)
    turned = measured(1, 2, 3, 4, 5, higher=False)
    assert turned.danger(GateRules(danger=4)) == turned.danger(GateRules(danger=0.25)) == (2.0, 2.0)
    assert measured(1, 2, 3, 4, 5).danger_words(by_grade) == "graded 2 or lower"
    assert turned.danger_words(by_grade) == "graded 2 or higher"
    assert turned.danger_words(GateRules(severe_dimensions=("risk",))) == "graded 4 or higher"
    assert measured(0, 1).danger_words(GateRules(severe_dimensions=("risk",))) == "graded 0"
    assert measured(0, 1, higher=False).danger_words(GateRules(severe_dimensions=("risk",))) == "graded 1"


def test_danger_is_claimed_by_the_study_or_where_it_says_nothing_by_the_instrument() -> None:
    plain, marked = measured(1, 2, 3, 4, 5), replace(measured(1, 2, 3, 4, 5), safety=True)
    nothing, this, other = (
        GateRules(),
        GateRules(severe_dimensions=("risk",)),
        GateRules(severe_dimensions=("zeal",)),
    )
    assert [[each.carries_danger(rules) for rules in (nothing, this, other)] for each in (plain, marked)] == [
        [False, True, False],
        [True, True, False],
    ]
    assert plain.claimed_danger(nothing) is None and plain.danger_words(nothing) == ""
    assert marked.claimed_danger(nothing) == marked.danger(nothing) == (2.0, 2.0)
    assert measured().claimed_danger(this) is None and measured().danger_words(this) == ""


def test_low_is_the_dangerous_end_once_scores_are_turned() -> None:
    scores = np.array([1.0, 2.5, 5.0, np.nan])
    assert measured(1, 5).oriented(scores).tolist()[:3] == [1, 2.5, 5]
    assert measured(1, 5, higher=False).oriented(scores).tolist()[:3] == [5, 3.5, 1]
    assert measured(0, 1, higher=False).oriented(np.array([0.0, 1.0])).tolist() == [1, 0]
    assert np.isnan(measured(1, 5, higher=False).oriented(scores)[3])
    assert measured(higher=False).oriented(scores).tolist()[:3] == [1, 2.5, 5]


@pytest.mark.parametrize("name", list_instruments())
def test_every_instrument_s_dimensions_are_known_and_what_follows_from_them_is_derived(name: str) -> None:
    instrument = load_instrument(name)
    found = {each.name: each for each in of_instrument(instrument)}
    assert [name for name, each in found.items() if not each.derived] == [
        each.name for each in instrument.dimensions
    ]
    for each in instrument.reversed:
        assert found[each.name].derived
        assert found[each.name].higher_is_better is not found[each.of].higher_is_better
        assert found[each.name].grades == found[each.of].grades
    for composite in instrument.composites:
        assert found[composite.name].derived
        assert found[composite.name].grades is None
        assert dict(found[composite.name].weights) == dict(composite.weights)
