"""Reading an answer against an instrument: a score only where there is one, and why where there is not."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from medjury.instruments import (
    Dimension,
    Input,
    Instrument,
    NotApplicable,
    Reason,
    Score,
    SkipRule,
    Unscored,
    apply_skips,
    load_instrument,
    output_schema,
    problems,
    read_answer,
    read_grade,
)

SCALE = {1: "bad", 2: "poor", 3: "fair", 4: "good", 5: "best"}
INSTRUMENT = Instrument(
    name="test",
    version="1",
    title="Test",
    instructions="Grade.",
    inputs=(Input("candidate", "Text"),),
    dimensions=(
        Dimension("accurate", "Accurate", "True?", SCALE),
        Dimension("optional", "Optional", "If any.", SCALE, may_be_not_applicable=True),
        Dimension("needed", "Needed", "Needed?", {0: "no", 1: "yes"}),
        Dimension("skipped", "Skipped", "Where needed.", SCALE, skip=SkipRule("needed", 0)),
    ),
)
GOOD = {"accurate": 4, "optional": 3, "needed": 1, "skipped": 2}


def reason(outcome: object) -> Reason | None:
    return outcome.reason if isinstance(outcome, Unscored) else None


def test_a_full_answer_gives_every_score_and_explanation() -> None:
    answer = {name: {"explanation": f"because {name}", "score": score} for name, score in GOOD.items()}
    assert read_answer(INSTRUMENT, json.dumps(answer)) == {
        name: Score(float(score), f"because {name}") for name, score in GOOD.items()
    }


@pytest.mark.parametrize("value", [4, 4.0, "4", " 4 "])
def test_a_whole_number_on_the_scale_is_a_grade(value: object) -> None:
    assert read_answer(INSTRUMENT, {**GOOD, "accurate": value})["accurate"] == Score(4.0)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0, Reason.OUT_OF_RANGE),
        (6, Reason.OUT_OF_RANGE),
        ("6", Reason.OUT_OF_RANGE),
        (-1, Reason.OUT_OF_RANGE),
        (4.5, Reason.OUT_OF_RANGE),
        (1e300, Reason.OUT_OF_RANGE),
        (float("nan"), Reason.OUT_OF_RANGE),
        (float("inf"), Reason.OUT_OF_RANGE),
        (True, Reason.PARSE),
        (False, Reason.PARSE),
        ("4/5", Reason.PARSE),
        ("4.0", Reason.PARSE),
        ("four", Reason.PARSE),
        ("٤", Reason.PARSE),
        ("", Reason.PARSE),
        ([4], Reason.PARSE),
        ({"explanation": "no grade"}, Reason.MISSING),
        ({"score": {"score": 4}}, Reason.PARSE),
        (None, Reason.MISSING),
        ("N/A", Reason.MISSING),
    ],
)
def test_anything_else_is_no_score(value: object, expected: Reason) -> None:
    outcomes = read_answer(INSTRUMENT, {**GOOD, "accurate": value})
    assert reason(outcomes["accurate"]) == expected
    assert outcomes["needed"] == Score(1.0), "one bad dimension does not spoil the others"


def test_a_dimension_that_was_left_out_is_missing() -> None:
    assert reason(read_answer(INSTRUMENT, {"accurate": 4})["optional"]) == Reason.MISSING


@pytest.mark.parametrize(
    "value", [None, "NA", "n/a", "Not applicable", {"explanation": "none", "score": None}]
)
def test_not_applicable_is_accepted_where_the_dimension_allows_it(value: object) -> None:
    assert isinstance(read_answer(INSTRUMENT, {**GOOD, "optional": value})["optional"], NotApplicable)


@pytest.mark.parametrize("value", [3, None, 9, "nonsense"])
def test_a_skipped_dimension_is_not_applicable_whatever_was_answered(value: object) -> None:
    outcomes = read_answer(INSTRUMENT, {**GOOD, "needed": 0, "skipped": value})
    assert isinstance(outcomes["skipped"], NotApplicable)


def test_not_applicable_is_refused_where_the_skip_rule_does_not_hold() -> None:
    outcome = read_answer(INSTRUMENT, {**GOOD, "needed": 1, "skipped": None})["skipped"]
    assert reason(outcome) == Reason.MISSING
    assert "needed is 0" in outcome.message  # type: ignore[union-attr]


def test_not_applicable_is_refused_where_the_rule_cannot_be_checked() -> None:
    outcomes = read_answer(INSTRUMENT, {**GOOD, "needed": 7, "skipped": None})
    assert reason(outcomes["skipped"]) == Reason.MISSING
    assert read_answer(INSTRUMENT, {**GOOD, "needed": 7})["skipped"] == Score(2.0)


def test_dimensions_asked_one_at_a_time_are_reconciled_afterwards() -> None:
    alone = read_answer(INSTRUMENT, '{"skipped": 3}', ["skipped"])
    assert alone == {"skipped": Score(3.0)}
    merged = apply_skips(INSTRUMENT, {**alone, **read_answer(INSTRUMENT, '{"needed": 0}', ["needed"])})
    assert isinstance(merged["skipped"], NotApplicable)


def test_only_the_dimensions_that_were_asked_are_read() -> None:
    assert read_answer(INSTRUMENT, GOOD, ["needed", "accurate"]) == {
        "needed": Score(1.0),
        "accurate": Score(4.0),
    }
    with pytest.raises(KeyError, match="it has accurate"):
        read_answer(INSTRUMENT, GOOD, ["acurate"])


def test_keys_may_differ_in_case_and_spacing_but_not_stand_twice() -> None:
    instrument = load_instrument("concordance")
    outcomes = read_answer(instrument, {"Concordant": 1, "concordance grade": 5})
    assert outcomes == {"concordant": Score(1.0), "concordance_grade": Score(5.0)}
    outcomes = read_answer(instrument, {"Concordant": 1, "concordant": 0, "concordance-grade": 5})
    assert reason(outcomes["concordant"]) == Reason.PARSE


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("", Reason.EMPTY),
        ("  \n", Reason.EMPTY),
        ("I would rather not.", Reason.PARSE),
        ("[1, 2]", Reason.PARSE),
    ],
)
def test_an_answer_without_an_object_scores_nothing(answer: str, expected: Reason) -> None:
    assert {reason(each) for each in read_answer(INSTRUMENT, answer).values()} == {expected}


def test_an_explanation_that_no_store_could_hold_is_mended() -> None:
    answer = '{"accurate": {"explanation": "a\\ud800b\\u0000c \\ud83d\\ude00", "score": 4}}'
    assert read_answer(INSTRUMENT, answer, ["accurate"])["accurate"] == Score(4.0, "a\ufffdb\ufffdc 😀")


def test_an_explanation_that_is_not_text_is_kept_as_json() -> None:
    answer = {"accurate": {"explanation": ["a", 1], "score": 4}}
    assert read_answer(INSTRUMENT, answer, ["accurate"])["accurate"] == Score(4.0, '["a", 1]')


def test_the_model_is_told_what_was_wrong() -> None:
    text = problems(INSTRUMENT, read_answer(INSTRUMENT, {"accurate": 9, "optional": 3, "needed": 1}))
    assert "accurate: 9 is not a grade; the grades are 1, 2, 3, 4, 5" in text
    assert "skipped: it is missing" in text
    assert "optional:" not in text
    assert '"accurate", "optional", "needed", "skipped"' in text
    assert problems(INSTRUMENT, read_answer(INSTRUMENT, GOOD)) == ""
    assert "holds no JSON object" in problems(INSTRUMENT, read_answer(INSTRUMENT, "no"))


def test_no_message_repeats_what_the_model_wrote() -> None:
    answer = {
        "accurate": "Mrs Smith is fine",
        "optional": ["Smith"],
        "needed": {"Smith": 1},
        "skipped": "Smith",
    }
    outcomes = read_answer(INSTRUMENT, answer)
    assert "Smith" not in problems(INSTRUMENT, outcomes)
    assert "Smith" not in str(outcomes)


@given(
    st.dictionaries(
        st.sampled_from([*GOOD, "other"]), st.none() | st.integers() | st.floats() | st.text() | st.booleans()
    )
)
def test_every_score_is_a_grade_of_the_scale(answer: dict[str, object]) -> None:
    outcomes = read_answer(INSTRUMENT, answer)
    assert list(outcomes) == [each.name for each in INSTRUMENT.dimensions]
    for name, outcome in outcomes.items():
        if isinstance(outcome, Score):
            assert outcome.value in INSTRUMENT.dimension(name).values


@pytest.mark.parametrize("name", ["pdsqi9", "diagnosis", "concordance"])
@given(data=st.data())
def test_whatever_the_schema_allows_is_read(name: str, data: st.DataObject) -> None:
    """A constrained model can only answer by the schema; apart from a skip rule nothing is then unscored."""
    instrument = load_instrument(name)
    for explain in (True, False):
        answer: dict[str, object] = {}
        for dimension, part in output_schema(instrument, explain=explain)["properties"].items():
            grade = data.draw(st.sampled_from((part["properties"]["score"] if explain else part)["enum"]))
            answer[dimension] = {"explanation": "x", "score": grade} if explain else grade
        for dimension, outcome in read_answer(instrument, json.dumps(answer)).items():
            if isinstance(outcome, Unscored):
                assert instrument.dimension(dimension).skip is not None


def test_a_single_grade_is_read_by_the_same_rules() -> None:
    dimension = INSTRUMENT.dimension("accurate")
    assert read_grade(dimension, "5", "why") == Score(5.0, "why")
    assert reason(read_grade(dimension, "5.0")) == Reason.PARSE
