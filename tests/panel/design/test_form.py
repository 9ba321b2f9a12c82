"""From instrument to form: every instrument of the library can be answered by hand, and only as it allows."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from medjury.instruments import (
    Dimension,
    Instrument,
    NotApplicable,
    Reason,
    Score,
    SkipRule,
    Unscored,
    list_instruments,
    load_instrument,
)
from medjury.panel._design._form import form_of_instrument, outcome_from_row, outcome_row, read_form, said_in
from medjury.panel._design._rounds import instrument_from_row, instrument_to_row

LIBRARY = sorted(str(getattr(each, "name", each)) for each in list_instruments())


def answered(instrument: Instrument, **grades: str) -> dict[str, str]:
    """Every question answered by its highest grade, but for those named."""
    best = {f"grade.{each.name}": str(each.highest) for each in instrument.dimensions}
    return best | {f"grade.{name}": value for name, value in grades.items()}


@pytest.mark.parametrize("name", LIBRARY)
def test_every_instrument_of_the_library_gives_a_form_in_which_each_grade_counts(name: str) -> None:
    instrument = load_instrument(name)
    questions = form_of_instrument(instrument)
    assert [each.name for each in questions] == [each.name for each in instrument.dimensions]
    for question, dimension in zip(questions, instrument.dimensions, strict=True):
        assert [int(choice.value) for choice in question.grades] == list(dimension.values)
        assert all(choice.words == dimension.grades[int(choice.value)] for choice in question.grades)
        keys = [choice.key for choice in question.choices]
        assert len(set(keys)) == len(keys)
        assert all(len(key) == 1 for key in keys)
        for choice in question.grades:
            read = read_form(answered(instrument, **{question.name: choice.value}), instrument, questions)
            assert not read.problems
            assert read.outcomes[question.name] == Score(float(choice.value))


@pytest.mark.parametrize("name", LIBRARY)
def test_an_empty_form_is_no_answer(name: str) -> None:
    instrument = load_instrument(name)
    read = read_form({}, instrument, form_of_instrument(instrument))
    assert len(read.problems) == len(instrument.dimensions)
    assert not read.outcomes


@pytest.mark.parametrize("name", LIBRARY)
def test_an_instrument_is_kept_with_all_that_a_form_needs(name: str) -> None:
    instrument = load_instrument(name)
    kept = instrument_from_row(instrument_to_row(instrument))
    assert form_of_instrument(kept) == form_of_instrument(instrument)
    assert (kept.inputs, kept.examples) == (instrument.inputs, instrument.examples)


PDSQI = load_instrument("pdsqi9")
QUESTIONS = form_of_instrument(PDSQI)


@pytest.mark.parametrize("given_anyway", ["", "3", "cannot"])
def test_a_question_that_is_skipped_is_not_applicable_whatever_was_answered(given_anyway: str) -> None:
    form = answered(PDSQI, abstraction="0", synthesized=given_anyway)
    read = read_form(form, PDSQI, QUESTIONS)
    assert not read.problems
    assert read.outcomes["synthesized"] == NotApplicable()


def test_a_question_that_applies_must_be_answered() -> None:
    read = read_form(answered(PDSQI, abstraction="1", synthesized=""), PDSQI, QUESTIONS)
    assert [*read.problems.items()] == [("synthesized", "Choose a grade.")]


def test_the_form_says_in_words_when_a_question_is_left_out() -> None:
    (question,) = [each for each in QUESTIONS if each.skip]
    assert question.skip_words == "Leave this out if you answered 0 (No) to “Abstraction needed”."


def test_not_applicable_is_offered_only_where_the_instrument_allows_it() -> None:
    instrument = load_instrument("note_quality")
    questions = form_of_instrument(instrument)
    assert {each.name for each in questions if "na" in {c.value for c in each.others}} == {"structure"}
    read = read_form(answered(instrument, structure="na", accuracy="na"), instrument, questions)
    assert [*read.problems] == ["accuracy"]


def test_who_cannot_judge_says_why_and_gives_no_number() -> None:
    form = answered(PDSQI, accurate="cannot")
    assert [*read_form(form, PDSQI, QUESTIONS).problems.values()] == ["Say why you can't judge this."]
    read = read_form(form | {"why.accurate": "Note 3 is cut off"}, PDSQI, QUESTIONS)
    assert read.outcomes["accurate"] == Unscored(Reason.CANNOT_JUDGE, "Note 3 is cut off")


@pytest.mark.parametrize("value", ["6", "0", "-1", "4.5", " 4", "four", "nan", "None", "n/a", "４", "1e0"])
def test_what_is_not_on_the_scale_is_refused(value: str) -> None:
    read = read_form(answered(PDSQI, accurate=value), PDSQI, QUESTIONS)
    assert [*read.problems] == ["accurate"]
    assert read.said["accurate"]["grade"] == ""


def test_a_required_reason_is_required_and_an_optional_one_is_kept() -> None:
    questions = form_of_instrument(PDSQI, {"accurate": "required"})
    form = answered(PDSQI) | {"why.citation": " all cited "}
    assert [*read_form(form, PDSQI, questions).problems.values()] == ["Give your reason in a few words."]
    read = read_form(form | {"why.accurate": "wrong dose"}, PDSQI, questions)
    assert (read.outcomes["accurate"], read.outcomes["citation"]) == (
        Score(5, "wrong dose"),
        Score(5, "all cited"),
    )


def test_grades_below_zero_are_chosen_by_keys_counted_from_one() -> None:
    (preference,) = [
        each for each in form_of_instrument(load_instrument("preference")) if each.name == "preference"
    ]
    assert [(each.value, each.key) for each in preference.grades] == [("-1", "1"), ("0", "2"), ("1", "3")]


def test_more_grades_than_digits_still_give_a_form() -> None:
    wide = Instrument("w", "1", "", "", (), (Dimension("pain", "Pain", "", {n: str(n) for n in range(11)}),))
    (question,) = form_of_instrument(wide)
    assert [each.key for each in question.grades] == [*"123456789", "", ""]


@given(some.dictionaries(some.text(max_size=12), some.text(max_size=20), max_size=8), some.data())
def test_whatever_is_sent_is_read_or_refused_and_never_breaks(
    form: dict[str, str], data: some.DataObject
) -> None:
    names = some.sampled_from(
        [f"{part}{each.name}" for each in PDSQI.dimensions for part in ("grade.", "why.")]
    )
    form |= data.draw(
        some.dictionaries(names, some.text(max_size=6) | some.sampled_from(["1", "na", "cannot"]))
    )
    read = read_form(form, PDSQI, QUESTIONS)
    assert bool(read.outcomes) != bool(read.problems)
    assert said_in(form, QUESTIONS) == (read.said, read.comment)


@pytest.mark.parametrize(
    "outcome", [Score(3.0, "why"), NotApplicable("x"), Unscored(Reason.CANNOT_JUDGE, "blurred")]
)
def test_an_outcome_is_the_same_after_it_was_kept(outcome: Score | NotApplicable | Unscored) -> None:
    assert outcome_from_row(outcome_row(outcome)) == outcome


def test_a_chain_of_skips_reads_the_first_rule_first() -> None:
    grades = {0: "no", 1: "yes"}
    dimensions = (Dimension("a", "A", "", grades), Dimension("b", "B", "", grades, skip=SkipRule("a", 0)))
    instrument = Instrument("chain", "1", "", "", (), dimensions)
    read = read_form({"grade.a": "0"}, instrument, form_of_instrument(instrument))
    assert read.outcomes == {"a": Score(0), "b": NotApplicable()}
