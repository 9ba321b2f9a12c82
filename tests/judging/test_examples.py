"""Worked examples: what clinicians agreed on, set apart from the validation, never shown to its own kin."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from medjury.foundation.errors import MedjuryError
from medjury.instruments import Composite, Dimension, Input, Instrument, Reason, SkipRule, Unscored
from medjury.intake.cases import Case, Note
from medjury.judging import DrawnExamples, Judge, split_training
from medjury.judging._drawn_examples import DRAWS, Draw, WordIndex
from medjury.judging._training_split import WorkedExample, consensus_of, kin_of, nearest_grade
from medjury.models import Scripted
from medjury.store.ratings import Rating, Status

SCALE = {1: "bad", 2: "poor", 3: "fair", 4: "good", 5: "best"}
INSTRUMENT = Instrument(
    "small", "1.0", "Small", "Grade it.",
    (Input("notes", "Notes", required=False), Input("candidate", "Summary")),
    (Dimension("accuracy", "Accuracy", "Right?", SCALE), Dimension("clarity", "Clarity", "Clear?", SCALE)),
    composites=(Composite("overall", {"accuracy": 0.5, "clarity": 0.5}),),
)  # fmt: skip


def rating(
    item: str,
    rater: str,
    dimension: str,
    score: int | None,
    *,
    system: str = "",
    words: str = "",
    repeat: int = 0,
) -> Rating:
    status: Status = "not_applicable" if score is None else "scored"
    return Rating(
        item, system, rater, "clinician", "small@1.0", dimension, repeat, score, status, None, words,
        None, None, None, None, "2026-01-01T00:00:00", f"{item} {rater}",
    )  # fmt: skip


def rate(item: str, *scores: int, system: str = "", words: str = "") -> list[Rating]:
    """Each clinician gives one score on both dimensions."""
    return [
        rating(item, f"dr-{number}", dimension, score, system=system, words=words)
        for number, score in enumerate(scores)
        for dimension in ("accuracy", "clarity")
    ]


def study(count: int = 10) -> tuple[list[Case], list[Rating]]:
    cases = [Case(f"case-{n}", f"Summary {n}.", patient=f"patient-{n}") for n in range(count)]
    ratings = [row for n in range(count) for row in rate(f"case-{n}", n % 5 + 1, n % 5 + 1)]
    return cases, ratings


def shown(drawn: DrawnExamples, case: Case) -> tuple[WorkedExample, ...]:
    found = drawn.for_case(case)
    assert not isinstance(found, Unscored)
    return found


# What clinicians say together


@pytest.mark.parametrize(
    ("scores", "grade"),
    [
        ((3, 3), 3),
        ((2, 3), 3),
        ((2, 4), 3),
        ((1, 2), 2),
        ((4, 4, 1), 4),
        ((1, 2, 4, 5), 3),
        ((1, 2, 3, 4), 3),
    ],
)
def test_the_consensus_is_the_median_half_up_to_a_grade(scores: tuple[int, ...], grade: int) -> None:
    found = consensus_of(INSTRUMENT, rate("a", *scores), 2)
    assert not isinstance(found, str) and found.scores == {"accuracy": grade, "clarity": grade}


def test_half_way_between_two_grades_of_a_scale_with_gaps_is_the_higher() -> None:
    gaps = Dimension("g", "G", "?", {0: "no", 2: "some", 5: "yes"})
    assert [nearest_grade(gaps, value) for value in (0.9, 1.0, 3.4, 3.5, 5.0)] == [0, 2, 2, 5, 5]


def test_an_answer_that_too_few_clinicians_rated_is_left_out_and_counted() -> None:
    cases, ratings = study(4)
    ratings = [
        row
        for row in ratings
        if not (row.item == "case-2" and row.rater == "dr-1" and row.dimension == "clarity")
    ]
    split = split_training(cases, ratings, INSTRUMENT, share=1.0)
    assert {each.item for each in split.examples} == {"case-0", "case-1", "case-3"}
    assert split.left_out == {"fewer than 2 clinicians rated every dimension": 1} and split.rated == 4
    alone = split_training(cases, ratings, INSTRUMENT, share=1.0, clinicians=1)
    assert len(alone.examples) == 4 and not alone.left_out


def test_a_clinician_who_rated_twice_is_heard_once() -> None:
    twice = [rating("a", "dr-0", name, 5, repeat=n) for name in ("accuracy", "clarity") for n in (0, 1)]
    assert isinstance(consensus_of(INSTRUMENT, twice, 2), str)
    found = consensus_of(INSTRUMENT, [*twice, *rate("a", 5, 1, 1)[2:]], 3)
    assert not isinstance(found, str) and found.scores["accuracy"] == 1


def test_not_applicable_needs_more_than_half_and_a_skip_rule_holds_for_examples_too() -> None:
    needed = Dimension("needed", "Needed", "?", {0: "no", 1: "yes"})
    made = Dimension("made", "Made", "?", {1: "badly", 2: "well"}, skip=SkipRule("needed", 0))
    instrument = replace(INSTRUMENT, dimensions=(needed, made), composites=())

    def said(*pairs: tuple[int, int | None]) -> object:
        rows = [
            rating("a", f"dr-{n}", name, value)
            for n, pair in enumerate(pairs)
            for name, value in zip(("needed", "made"), pair, strict=True)
        ]
        found = consensus_of(instrument, rows, 2)
        return found if isinstance(found, str) else dict(found.scores)

    assert said((0, None), (0, None), (1, 2)) == {"needed": 0, "made": None}
    assert said((1, 2), (1, 2), (0, None)) == {"needed": 1, "made": 2}
    assert said((0, None), (1, 2)) == "the clinicians are divided over whether a dimension applies"
    broken = "the consensus is not an answer that the instrument allows (not applicable, skip rules)"
    assert said((0, None), (0, None), (1, 2), (1, 2), (1, None)) == broken


def test_the_explanation_is_the_comment_of_a_clinician_who_gave_that_grade_else_the_rubrics_line() -> None:
    rows = [
        rating("a", "dr-0", "accuracy", 2, words="The dose is wrong."),
        rating("a", "dr-1", "accuracy", 2, words="Wrong."),
        rating(
            "a", "dr-2", "accuracy", 5, words="I see nothing wrong with any of it, it is quite all right."
        ),
        *(rating("a", f"dr-{n}", "clarity", 4) for n in range(3)),
    ]
    found = consensus_of(INSTRUMENT, rows, 2)
    assert not isinstance(found, str)
    assert found.explanations == {"accuracy": "The dose is wrong.", "clarity": "good"}


# The split


def test_all_systems_and_all_items_of_a_patient_are_on_one_side() -> None:
    cases = [
        Case(f"visit-{patient}-{visit}", f"Text {patient} {visit} {system}", system=system, patient=f"p{patient}")
        for patient in range(8) for visit in range(2) for system in ("a", "b")
    ]  # fmt: skip
    ratings = [row for case in cases for row in rate(case.id, 3, 4, system=case.system)]
    for seed in range(5):
        split = split_training(cases, ratings, INSTRUMENT, share=0.3, seed=seed)
        sides = {case.patient: set[bool]() for case in cases}
        for case in cases:
            sides[case.patient].add(case.id in split.development)
        assert all(len(side) == 1 for side in sides.values())
        assert len(split.development) == 6 and split.held_out == 10  # 3 of 8 patients: 12 of 32 answers


def test_items_that_share_a_long_note_belong_together_even_without_a_patient() -> None:
    record = (Note("1", "Seen in clinic with a cough. " * 20),)
    more = (*record, Note("2", "Seen again."))
    cases = [
        Case("one", "A.", notes=record),
        Case("two", "B.", notes=more),
        Case("three", "C.", notes=more[1:]),
    ]
    ratings = [row for case in cases for row in rate(case.id, 3, 3)]
    split = split_training(cases, ratings, INSTRUMENT, items=["one"])
    assert split.development == ("one", "two") and [each.item for each in split.examples] == ["one"]


def test_the_same_question_under_two_ids_is_one_item() -> None:
    question = (
        "My mother takes warfarin and was given ibuprofen for her painful knee last week. "
        "Should she stop one of them now?"
    )
    cases = [
        Case("q1-model-a", "Stop ibuprofen.", texts={"question": question}),
        Case("q1-model-b", "Keep both.", texts={"question": question.replace("Should", " should")}),
        Case("q2-model-a", "Rest.", texts={"question": "My knee hurts."}),
        Case("q3-model-a", "Rest too.", texts={"question": "My knee hurts."}),
    ]
    asked = replace(INSTRUMENT, inputs=(Input("question", "Question"), Input("candidate", "Answer")))
    ratings = [row for case in cases for row in rate(case.id, 3, 3)]
    assert split_training(cases, ratings, asked, items=["q1-model-a"]).development == (
        "q1-model-a", "q1-model-b",
    )  # fmt: skip
    # A few words may be anybody's.
    assert split_training(cases, ratings, asked, items=["q2-model-a"]).development == ("q2-model-a",)


def test_a_case_that_nobody_rated_tells_that_two_rated_ones_are_of_one_patient() -> None:
    note = Note("1", "Admitted with breathlessness, given diuretics, sent home. " * 10)
    cases = [
        Case("by-patient", "A.", patient="p"),
        Case("by-note", "B.", notes=(note,)),
        Case("unrated", "C.", patient="p", notes=(note,)),
        Case("other", "D.", patient="q"),
    ]
    ratings = [row for case in cases if case.id != "unrated" for row in rate(case.id, 3, 3)]
    split = split_training(cases, ratings, INSTRUMENT, items=["by-patient"])
    assert split.development == ("by-note", "by-patient")


FORWARD = (
    "Ward round {day}. Seen by Dr Hill with the night team. Breathless on the stairs since the weekend, sleeps on "
    "three pillows, ankles swollen to the knee, no chest pain, no fever. Crackles at both bases, raised jugular "
    "pressure, weight up four kilograms. Furosemide forty milligrams given twice, potassium checked, bisoprolol "
    "held, daughter informed by telephone, echo booked for {day} afternoon, bloods again tomorrow."
)


@pytest.mark.parametrize("draw", DRAWS)
def test_a_note_copied_forward_with_another_date_is_not_shown_though_nobody_named_the_patient(
    draw: Draw,
) -> None:
    others = [
        Case(f"other-{n}", "A.", notes=(Note("1", " ".join(f"word{n}x{place}" for place in range(30))),))
        for n in range(4)
    ]
    yesterday = Case("yesterday", "A.", notes=(Note("1", FORWARD.format(day="Monday")),))
    today = Case("today", "A.", notes=(Note("1", FORWARD.format(day="Tuesday")),))
    training = [*others, yesterday]
    ratings = [row for n, case in enumerate(training) for row in rate(case.id, n + 1, n + 1)]
    split = split_training([*training, today], ratings, INSTRUMENT, share=1.0)
    for seed in range(8):
        drawn = DrawnExamples(split, INSTRUMENT, shots=4, draw=draw, seed=seed)
        assert {each.item for each in shown(drawn, today)} == {case.id for case in others}
        assert "yesterday" in {each.item for each in shown(drawn, others[0])}
    both = replace(yesterday, id="before", notes=(Note("1", FORWARD.format(day="Sunday")),))
    ratings = [row for case in (*others[1:], yesterday, both) for row in rate(case.id, 3, 3)]
    split = split_training([*others[1:], yesterday, both, today], ratings, INSTRUMENT, share=1.0)
    refused = DrawnExamples(split, INSTRUMENT, shots=4, draw=draw).for_case(today)
    assert isinstance(refused, Unscored) and "only 3 examples may be shown to it" in refused.message


def test_the_share_is_of_the_answers_that_can_be_shown_and_the_seed_decides() -> None:
    cases, ratings = study(20)
    sizes = {
        share: len(split_training(cases, ratings, INSTRUMENT, share=share).examples)
        for share in (0.1, 0.3, 1.0)
    }
    assert sizes == {0.1: 2, 0.3: 6, 1.0: 20}
    splits = {split_training(cases, ratings, INSTRUMENT, seed=seed).development for seed in range(6)}
    assert len(splits) > 1
    again = split_training(reversed_twice(cases), ratings[::-1], INSTRUMENT, seed=1)
    assert again.development == split_training(cases, ratings, INSTRUMENT, seed=1).development


class reversed_twice:  # noqa: N801
    """Cases that can be read again and again, in another order than the list."""

    def __init__(self, cases: Sequence[Case]) -> None:
        self._cases = cases

    def __iter__(self) -> Any:
        return iter(self._cases[::-1])


def test_only_named_cases_are_shown_but_all_their_kin_are_kept_from_validation() -> None:
    cases = [Case("a1", "A.", patient="a"), Case("a2", "B.", patient="a"), Case("b", "C."), Case("c", "D.")]
    ratings = [row for case in cases for row in rate(case.id, 2, 2)]
    split = split_training(cases, ratings, INSTRUMENT, items=["a1", "b"])
    assert [each.item for each in split.examples] == ["a1", "b"]
    assert split.development == ("a1", "a2", "b") and split.held_out == 1
    with pytest.raises(MedjuryError, match="'z' is not a case that a clinician rated; name one"):
        split_training(cases, ratings, INSTRUMENT, items=["z"])


def test_ratings_of_no_case_are_counted_and_cases_that_can_be_read_only_once_are_refused() -> None:
    cases, ratings = study(4)
    split = split_training(cases[:3], ratings, INSTRUMENT, share=1.0)
    assert len(split.examples) == 3 and split.left_out == {"there is no such case": 1}
    with pytest.raises(MedjuryError, match="can be read only once"):
        split_training(iter(cases), ratings, INSTRUMENT)


def test_an_example_that_lacks_an_input_is_left_out_and_counted() -> None:
    cases, ratings = study(4)
    cases[1] = Case("case-1")
    split = split_training(cases, ratings, INSTRUMENT, share=1.0)
    assert len(split.examples) == 3
    assert split.left_out == {"the case lacks an input that the instrument needs": 1}


# The draw


def test_random_and_stratified_show_every_stranger_the_same_examples() -> None:
    cases, ratings = study(30)
    split = split_training(cases, ratings, INSTRUMENT)
    for draw in ("random", "stratified"):
        drawn = DrawnExamples(split, INSTRUMENT, 3, draw)
        strangers = [case for case in cases if case.id not in split.development]
        assert len({tuple(each.item for each in shown(drawn, case)) for case in strangers}) == 1


def test_fewer_random_shots_are_the_first_of_more() -> None:
    cases, ratings = study(40)
    split = split_training(cases, ratings, INSTRUMENT)
    items = {
        n: [e.item for e in shown(DrawnExamples(split, INSTRUMENT, n), Case("new", "X."))] for n in (1, 3, 5)
    }
    assert items[5][:3] == items[3] and items[3][:1] == items[1]


@pytest.mark.parametrize("dimension", [None, "accuracy", "overall"])
@pytest.mark.parametrize(("shots", "levels"), [(1, [3]), (3, [1, 3, 5]), (5, [1, 2, 3, 4, 5])])
def test_stratified_examples_are_spread_over_the_scores(
    dimension: str | None, shots: int, levels: list[int]
) -> None:
    cases, ratings = study(50)
    split = split_training(cases, ratings, INSTRUMENT, share=0.5, seed=3)
    drawn = DrawnExamples(split, INSTRUMENT, shots, "stratified", seed=3, dimension=dimension)
    assert sorted(each.scores["accuracy"] or 0 for each in shown(drawn, Case("new", "X."))) == levels


def test_a_dimension_on_which_low_is_good_counts_the_other_way_in_the_whole() -> None:
    risk = Dimension("clarity", "Risk", "?", SCALE, higher_is_better=False)
    instrument = replace(INSTRUMENT, dimensions=(INSTRUMENT.dimensions[0], risk), composites=())
    cases = [Case(f"c{n}", f"T{n}") for n in range(3)]
    pairs = [(1, 5), (5, 1), (3, 3)]
    ratings = [
        rating(f"c{n}", f"dr-{k}", name, value)
        for n, pair in enumerate(pairs) for k in range(2)
        for name, value in zip(("accuracy", "clarity"), pair, strict=True)
    ]  # fmt: skip
    split = split_training(cases, ratings, instrument, share=1.0)
    drawn = DrawnExamples(split, instrument, 2, "stratified")
    assert {each.item for each in shown(drawn, Case("new", "X"))} == {"c0", "c1"}


def test_the_nearest_examples_are_those_that_read_most_alike_and_the_most_alike_comes_last() -> None:
    topics = [
        "chest pain and troponin",
        "asthma and a wheeze",
        "chest pain, no troponin rise",
        "a broken wrist",
        "gout",
    ]
    cases = [Case(f"c{n}", f"The patient has {text}.") for n, text in enumerate(topics)]
    ratings = [row for case in cases for row in rate(case.id, 3, 3)]
    split = split_training(cases, ratings, INSTRUMENT, share=1.0)
    drawn = DrawnExamples(split, INSTRUMENT, 2, "nearest")
    new = Case("new", "The patient has chest pain and a troponin rise.")
    assert [each.item for each in shown(drawn, new)] == ["c0", "c2"]
    assert [each.item for each in shown(drawn, Case("other", "A wrist is broken."))][-1] == "c3"


def test_a_word_in_every_text_tells_nothing_and_a_text_without_a_telling_word_is_like_none() -> None:
    index = WordIndex(["the cough", "the fever", "the rash"])
    assert index.likeness("the the the") == [0.0, 0.0, 0.0]
    assert index.likeness("Fever!") == [0.0, pytest.approx(1.0), 0.0]
    assert WordIndex([]).likeness("anything") == []


def test_too_few_training_cases_are_refused_with_what_is_there_and_what_to_do() -> None:
    cases, ratings = study(10)
    split = split_training(cases, ratings, INSTRUMENT)  # three
    DrawnExamples(split, INSTRUMENT, 2)
    with pytest.raises(MedjuryError, match=r"3 examples .* need 4 .* there are 3, of 10 .* Raise `share`"):
        DrawnExamples(split, INSTRUMENT, 3)


# Nobody sees itself or its kin


@st.composite
def studies(draw: st.DrawFn) -> tuple[list[Case], list[Rating]]:
    """Cases of some patients, some without one, answered by some systems, some with the same record."""
    records = [
        *[()] * 6,
        (Note("1", "A long record of the first kind. " * 15),),
        (Note("1", "Another record. " * 30),),
    ]
    answers = draw(st.permutations([(number, system) for number in range(16) for system in "ab"]))
    facts = st.tuples(st.sampled_from([None, None, *"pqrstuv"]), st.sampled_from(records), st.integers(1, 5))
    rows = list(zip(answers, draw(st.lists(facts, min_size=8, max_size=24)), strict=False))
    cases = [
        Case(f"i{n}", f"Text {n}{s}", system=s, patient=p, notes=notes) for (n, s), (p, notes, _) in rows
    ]
    ratings = [row for (n, s), (_, _, grade) in rows for row in rate(f"i{n}", grade, grade, system=s)]
    return cases, ratings


@settings(max_examples=150, deadline=None)
@given(studies(), st.sampled_from(DRAWS), st.integers(1, 3), st.integers(0, 9), st.floats(0.3, 1.0))
def test_no_case_ever_sees_itself_or_its_kin_even_where_training_cases_are_judged(
    made: tuple[list[Case], list[Rating]], draw: Draw, shots: int, seed: int, share: float
) -> None:
    cases, ratings = made
    split = split_training(cases, ratings, INSTRUMENT, share=share, seed=seed)
    try:
        drawn = DrawnExamples(split, INSTRUMENT, shots, draw, seed)
    except MedjuryError:
        return  # too few
    by_id = {(case.id, case.system): case for case in cases}
    for case in cases:
        found = shown(drawn, case)
        assert len(found) == shots == len({(each.item, each.system) for each in found})
        for each in found:
            other = by_id[each.item, each.system]
            assert each.item in split.development and each.item != case.id
            assert case.patient is None or other.patient != case.patient
            assert kin_of(other, INSTRUMENT).isdisjoint(kin_of(case, INSTRUMENT))
    outside = [case for case in cases if case.id not in split.development]
    inside = [case for case in cases if case.id in split.development]
    assert all(kin_of(a, INSTRUMENT).isdisjoint(kin_of(b, INSTRUMENT)) for a in outside for b in inside)


def test_a_case_that_joins_two_families_by_its_own_marks_is_unscored_rather_than_shown_fewer() -> None:
    cases = [Case("a", "A.", patient="p"), Case("b", "B.", patient="q"), Case("c", "C.", patient="r")]
    ratings = [row for case in cases for row in rate(case.id, 3, 3)]
    drawn = DrawnExamples(split_training(cases, ratings, INSTRUMENT, share=1.0), INSTRUMENT, 2)
    found = drawn.for_case(Case("a", "Z.", patient="q"))  # the item of one, the patient of another
    assert isinstance(found, Unscored) and found.reason is Reason.INPUT and "only 1 example" in found.message


# The judge


def judge_with(drawn: DrawnExamples | None, **settings: Any) -> Judge:
    return Judge(Scripted("{}", name="juror"), INSTRUMENT, drawn=drawn, **settings)


def made(
    shots: int = 2, draw: Draw = "random", ratings: Iterable[Rating] | None = None, **settings: Any
) -> DrawnExamples:
    cases, given_ratings = study(20)
    split = split_training(cases, given_ratings if ratings is None else ratings, INSTRUMENT)
    return DrawnExamples(split, INSTRUMENT, shots, draw, **settings)


def test_a_judge_per_dimension_shows_only_that_dimension_and_without_explanations_only_grades() -> None:
    judge = judge_with(made(), per_dimension=True, explain=False)
    for unit in judge.units(Case("new", "The new text."), 0):
        request = judge.request(unit)
        assert not isinstance(request, Unscored)
        assert list(json.loads(request.messages[2].content)) == list(unit.dimensions)


def test_the_key_changes_with_the_examples_and_stays_without_them() -> None:
    case = Case("new", "The new text.")
    _, ratings = study(20)
    other_words = [replace(row, explanation="Because.") for row in ratings]
    keys = [
        judge_with(drawn).units(case, 0)[0].key
        for drawn in (
            None, made(1), made(2), made(2, "nearest"), made(2, "stratified"),
            made(2, "stratified", dimension="clarity"), made(2, seed=1), made(2, ratings=other_words),
        )
    ]  # fmt: skip
    assert len(set(keys)) == len(keys)
    assert judge_with(None).settings_hash() == Judge(Scripted("{}", name="juror"), INSTRUMENT).settings_hash()


def test_the_manifest_tells_how_the_examples_were_drawn_and_what_is_no_longer_held_out() -> None:
    drawn = made(2, "nearest")
    told = judge_with(drawn).describe()
    assert told["development_cases"] == list(drawn.split.development) and len(drawn.split.development) == 6
    examples = told["drawn_examples"]
    assert isinstance(examples, dict)
    assert (
        examples["shots"] == 2
        and examples["draw"] == "nearest"
        and examples["split"] == drawn.split.fingerprint()
    )
    assert "development_cases" not in judge_with(None).describe()
    assert "Summary" not in json.dumps(told)
