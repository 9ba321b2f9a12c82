"""Reversed dimensions and composites: arithmetic on scores, and no score where a part has none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from medjury.instruments import (
    NotApplicable,
    Outcome,
    Reason,
    Score,
    Unscored,
    derive,
    list_instruments,
    load_instrument,
    read_answer,
)

DIAGNOSIS = load_instrument("diagnosis")


def diagnose(**scores: int | None) -> dict[str, Outcome]:
    return derive(DIAGNOSIS, read_answer(DIAGNOSIS, scores))


def test_safety_is_six_minus_risk() -> None:
    for risk in range(1, 6):
        assert diagnose(diagnosis=1, differential=1, reasoning=1, risk=risk)["safety"] == Score(6.0 - risk)


def test_the_composites_have_the_published_weights() -> None:
    derived = diagnose(diagnosis=4, differential=3, reasoning=5, risk=2)
    assert derived["quality"] == Score(3.8)  # 0.4·4 + 0.2·3 + 0.4·4
    assert derived["quality_with_reasoning"] == Score(4.2)  # 0.3·4 + 0.1·3 + 0.3·5 + 0.3·4


def test_a_part_with_weight_zero_is_not_needed() -> None:
    derived = diagnose(diagnosis=4, differential=3, risk=2)
    assert derived["quality"] == Score(3.8)
    assert isinstance(derived["quality_with_reasoning"], Unscored)


def test_a_part_that_is_not_applicable_makes_a_composite_that_needs_it_not_applicable() -> None:
    derived = diagnose(diagnosis=4, differential=3, reasoning=None, risk=2)
    assert isinstance(derived["quality_with_reasoning"], NotApplicable)


def test_a_part_without_a_score_leaves_the_composite_without_one() -> None:
    derived = diagnose(diagnosis=4, differential=3, reasoning=5, risk=9)
    assert isinstance(derived["safety"], Unscored)
    assert derived["safety"].reason == Reason.MISSING
    assert isinstance(derived["quality"], Unscored)
    assert "safety" in derived["quality"].message


def test_elsewhere_a_part_that_is_not_applicable_drops_out() -> None:
    instrument = load_instrument("pdsqi9")
    grades = dict.fromkeys([each.name for each in instrument.dimensions], 4)
    grades |= {"stigmatizing_summary": 0, "stigmatizing_notes": 1, "citation": 1}
    with_synthesis = derive(
        instrument, read_answer(instrument, {**grades, "abstraction": 1, "synthesized": 2})
    )
    without = derive(instrument, read_answer(instrument, {**grades, "abstraction": 0, "synthesized": 2}))
    assert with_synthesis["mean_quality"] == Score((1 + 6 * 4 + 2) / 8)
    assert without["mean_quality"] == Score(round((1 + 6 * 4) / 7, 12))


def test_a_composite_of_nothing_is_not_applicable() -> None:
    instrument = load_instrument("pdsqi9")
    outcomes = {each.name: NotApplicable() for each in instrument.dimensions}
    assert isinstance(derive(instrument, outcomes)["mean_quality"], NotApplicable)


@pytest.mark.parametrize("name", list_instruments())
@given(data=st.data())
def test_a_composite_lies_between_its_lowest_and_highest_part(name: str, data: st.DataObject) -> None:
    instrument = load_instrument(name)
    answer = {each.name: data.draw(st.sampled_from(each.values)) for each in instrument.dimensions}
    outcomes = read_answer(instrument, answer)
    derived = derive(instrument, outcomes)
    for composite in instrument.composites:
        parts = [({**outcomes, **derived})[part] for part, weight in composite.weights.items() if weight]
        values = [part.value for part in parts if isinstance(part, Score)]
        result = derived[composite.name]
        if isinstance(result, Score):
            assert min(values) - 1e-9 <= result.value <= max(values) + 1e-9
