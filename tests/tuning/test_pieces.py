"""The pieces of a tuning, each by itself: examples, truths, sides, lines of the lineage, proposals, findings."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.tuning.labelled import IMPACT, case

from medjury.foundation.errors import MedjuryError
from medjury.instruments import NotApplicable, Reason, Score, Unscored
from medjury.intake.cases import Case
from medjury.judging import nearest_grade
from medjury.statistics import Estimate
from medjury.tuning._held_out import (
    PLAIN,
    TUNED,
    CurvePoint,
    HeldOut,
    HeldOutRow,
    clinicians_said,
    evaluate_held_out,
    labels_until_better,
    nested,
)
from medjury.tuning._labelled_cases import graded, labelled_cases, split_cases
from medjury.tuning._lineage import Ancestor, Judged, Lineage
from medjury.tuning._objective import make_objective
from medjury.tuning._prompt_texts import (
    case_inputs,
    editable_texts,
    read_proposal,
    reflection_messages,
    why_refused,
    with_texts,
)
from medjury.tuning._result import TuningResult, _memorised
from medjury.tuning._shots import shortlist, with_shots

DIMENSIONS = IMPACT.dimensions


# Truths.


def test_of_two_grades_that_are_as_near_the_higher_counts() -> None:
    near = [nearest_grade(DIMENSIONS[0], value) for value in (-1, 0.4, 0.5, 0.6, 1.5, 9)]
    assert near == [0, 0, 1, 1, 2, 2]
    assert case(1, 1.5).grade(DIMENSIONS[0]) == 2 and case(1, None).grade(DIMENSIONS[0]) is None
    assert len(case(1).key) == 16 and case(1).key != case(2).key
    assert graded(IMPACT, ["impact"]) == DIMENSIONS and graded(IMPACT, ["other"]) == ()


def rating(rater: str, score: float | None = None, status: str = "scored", **more: Any) -> Any:
    given = {"item": "c", "system": "", "dimension": "impact", "explanation": "", **more}
    return SimpleNamespace(rater=rater, status=status, score=score, **given)


def learned(
    *rows: Any,
    cases: Sequence[Case] = (Case("c", "An answer."),),
    consensus: str = "mean",
    settles: str | None = None,
    reference: Sequence[str] = ("a", "b", "c"),
    group: str = "none",
    inputs: Sequence[Any] = (),
) -> Any:
    summary = SimpleNamespace(adjudicator=settles, consensus=consensus)
    humans: Any = SimpleNamespace(ratings=rows, reference=reference, summary=summary)
    instrument = SimpleNamespace(inputs=inputs, dimension=IMPACT.dimension)
    study: Any = SimpleNamespace(cases=list(cases), instrument=instrument, file="study.yaml")
    return labelled_cases(study, humans, ["impact"], group)


@pytest.mark.parametrize(
    ("rows", "settings", "truth"),
    [
        ([rating("a", 0), rating("b", 2)], {}, 1.0),
        ([rating("a", 0), rating("a", 1), rating("b", 2)], {}, 1.25),  # each rater once
        ([rating("a", 0), rating("x", 2)], {}, 0.0),  # one who is no reference
        ([rating("a", 0), rating("b", status="unscored")], {}, 0.0),
        ([*(rating(each, status="not_applicable") for each in "ab"), rating("c", 2)], {}, None),  # as most say
        ([rating("a", status="not_applicable"), rating("b", 2)], {}, 2.0),  # half of them are not most
        ([rating("a", 0), rating("b", 2, dimension="other")], {}, 0.0),
        ([rating("a", 0), rating("b", 1), rating("c", 2)], {"consensus": "median"}, 1.0),
        ([rating("a", 0), rating("z", 2)], {"consensus": "adjudicated", "settles": "z"}, 2.0),
        ([rating("a", 0), rating("z", status="not_applicable")], {"settles": "z"}, None),
        ([rating("a", status="not_applicable"), rating("z", 1)], {"consensus": "adjudicated", "settles": "z"}, 1.0),
    ],
)  # fmt: skip
def test_the_truth_is_what_the_clinicians_settle(rows: Any, settings: Any, truth: float | None) -> None:
    ((found,), _, _) = learned(*rows, **settings)
    assert found.truth == {"impact": truth}


def test_cases_that_teach_nothing_are_counted_by_their_reason() -> None:
    cases = [Case("c", "x"), Case("d", "x"), Case("e", "x"), Case("f", None, texts={"t": "y"})]
    rows = [
        rating("a", 1, explanation=" it is so "), rating("b", 2), rating("b", status="not_applicable"),
        rating("a", status="unscored", explanation="no"), rating("a", item="e", status="unscored"),
        rating("a", 1, item="f"),
    ]  # fmt: skip
    inputs = [
        SimpleNamespace(name="candidate", required=True),
        SimpleNamespace(name="context", required=False),
    ]
    found, labels, left_out = learned(*rows, cases=cases, inputs=inputs)
    assert [each.case.id for each in found] == ["c"]
    assert left_out == {
        "no clinician labelled it": 1,
        "the clinicians settle no label on every dimension": 1,
        "it lacks an input that the instrument needs": 1,
    }
    assert labels == 3
    assert found[0].reasons == {"impact": ("1: it is so",)}
    none: Any = SimpleNamespace(file="study.yaml")
    with pytest.raises(MedjuryError, match=r"study\.yaml: tuning learns from clinicians' labels"):
        labelled_cases(none, None, ["impact"], "none")


def test_what_belongs_together_is_one_group() -> None:
    cases = [
        Case("c", "one", patient="p", metadata={"ward": "w"}),
        Case("d", "two", patient="p", metadata={"ward": "v"}),
        Case("e", "three", metadata={"ward": "w"}),
        Case("f", "one", metadata={"ward": "u"}),
    ]
    rows = [rating("a", 1, item=each.id) for each in cases]

    def groups(by: str) -> list[str]:
        return [each.group for each in learned(*rows, cases=cases, group=by)[0]]

    assert groups("patient") == ["patient p", "patient p", "case e", "patient p"], "and who shares a text"
    assert groups("case") == ["case c", "case d", "case e", "case c"]
    assert groups("ward") == ["ward w", "ward v", "ward w", "ward w"]
    assert len(set(groups("none"))) == 4
    with pytest.raises(MedjuryError, match="case 'c' has nothing under that name"):
        groups("room")


# Sides.


@pytest.mark.parametrize(
    ("sizes", "found"),
    [((0.6, 0.2, 0.2), (6, 2, 2)), ((1, 1, 1), (4, 3, 3)), ((1, 1, 0), (5, 5, 0)), ((2, 1, 1), (5, 3, 2))],
)
def test_sides_are_whole_numbers_in_proportion(sizes: Sequence[float], found: tuple[int, ...]) -> None:
    split = split_cases([case(n) for n in range(10)], DIMENSIONS, sizes=sizes)
    assert tuple(len(split.of(side)) for side in ("training", "validation", "held_out")) == found


def test_a_split_is_described_by_counts_and_labels() -> None:
    split = split_cases([case(n, n % 2, f"g{n // 2}") for n in range(20)], DIMENSIONS, seed=3, group="ward")
    told = split.described(DIMENSIONS)
    assert (told.seed, told.group, told.kin, told.hash) == (3, "ward", 0, split.hash())
    assert (told.training, told.validation, told.held_out) == (12, 4, 4)
    assert told.groups == {"training": 6, "validation": 2, "held_out": 2}
    assert told.labels["held_out"] == {"impact 0": 2, "impact 1": 2}
    assert split.seen == (*split.training, *split.validation)
    assert split.touched() == frozenset().union(*(each.marks for each in split.seen))


def test_kin_share_a_patient_an_item_or_a_text() -> None:
    seen = [case(1, patient="p"), case(2)]
    held = [
        case(3, patient="p"),
        replace(case(4), case=Case("c1", "z")),
        replace(case(5), marks=case(2).marks),
        case(6),
    ]
    split = replace(
        split_cases([case(n) for n in range(10)], DIMENSIONS),
        training=(seen[0],),
        validation=(seen[1],),
        held_out=tuple(held),
    )
    assert split.kin() == {each.key for each in held[:3]}


# Examples.


def test_the_shortlist_has_each_label_in_turn_and_groups_once_while_it_can() -> None:
    training = [case(n, n % 2, f"g{n % 6}") for n in range(12)] + [case(20, None, "g9")]
    listed = shortlist(training, DIMENSIONS, 7, seed=0)
    assert [each.grade(DIMENSIONS[0]) for each in listed] == [0, 1, None, 0, 1, 0, 1]
    assert len({each.group for each in listed}) == 7
    whole = shortlist(training, DIMENSIONS, 50, seed=0)
    assert len(whole) == 13 and {each.key for each in whole} == {each.key for each in training}
    assert [each.key for each in whole[:7]] == [each.key for each in listed]
    assert [each.key for each in shortlist(training, DIMENSIONS, 7, seed=1)] != [each.key for each in listed]
    assert shortlist([], DIMENSIONS, 3, seed=0) == []


def test_shots_become_the_examples_of_an_instrument_in_their_order() -> None:
    plain = replace(IMPACT, examples=())
    assert with_shots(plain, [], DIMENSIONS) is plain
    shots = [
        case(1, 2.0, why=("2: short", "2: it is the longest: of all"), texts={"context": "talk"}),
        case(2, 1.0),
        case(3, None),
    ]
    made = with_shots(plain, shots, DIMENSIONS)
    assert made.version == f"{plain.version}-tuned"
    first, second, third = made.examples
    assert first.inputs == {"candidate": "answer 1", "context": "talk"}
    assert [each.scores for each in made.examples] == [{"impact": 2}, {"impact": 1}, {"impact": None}]
    assert first.explanation == "it is the longest: of all"
    assert second.explanation == DIMENSIONS[0].grades[1].strip()
    assert third.explanation == "This does not apply here."


# The lineage.


def test_a_lineage_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    made = Lineage.open(tmp_path, "h")
    outcomes: dict[str, Any] = {
        "a": Score(2, "so"), "b": NotApplicable("no"), "c": Unscored(Reason.REFUSAL, "declined")
    }  # fmt: skip
    made.note_judged("x", "k", 0, Judged(outcomes, 0.5, 2))
    made.note_judged("x", "k", 1, Judged({}, None, 0))
    made.note_proposed("p", 1, "täxt", 0.1)
    ancestors = [
        Ancestor(
            "h1", 1, ("h0",), {"t": "x"}, ("t",), 0.1, 0.2, 0.3, 0.4, "kept", "", ("f",), ("k",), 1.5, 3
        ),
        Ancestor("h2", None, (), {}, status="refused", why="empty"),
        Ancestor("h0", 0, (), {}),
    ]
    for each in (*ancestors, ancestors[0], replace(ancestors[0], why="other words")):
        made.note(each)
    made.note(replace(ancestors[0], status="dropped"))
    again = Lineage.open(tmp_path, "h")
    assert (again.judged, again.proposed, again.ancestors) == (made.judged, made.proposed, made.ancestors)
    assert again.judged["x", "k", 0] == Judged(outcomes, 0.5, 2) and again.proposed["p", 1] == ("täxt", 0.1)
    assert again.ancestors == [*ancestors, replace(ancestors[0], status="dropped")]
    assert [each.number for each in again.kept] == [0, 1, 1]
    with pytest.raises(MedjuryError, match="holds another tuning"):
        Lineage.open(tmp_path, "other")
    assert len(Lineage.open(tmp_path, "").ancestors) == 4, "who only reads need not know which tuning it is"


def test_a_torn_line_is_taken_off_and_a_broken_one_is_named(tmp_path: Path) -> None:
    made = Lineage.open(tmp_path, "h")
    made.note_proposed("p", 1, "x", None)
    whole = made.file.read_bytes()
    made.file.write_bytes(whole + b'{"kind": "prop')
    assert len(Lineage.open(tmp_path, "h").proposed) == 1 and made.file.read_bytes() == whole
    made.file.write_bytes(whole + b'{"kind": "proposal"}\n')
    with pytest.raises(MedjuryError, match="line 3: is not a line of a lineage"):
        Lineage.open(tmp_path, "h")


# Texts and proposals.


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        ("<think>a <new text>x</new text></think>b <new text> New. </new text> c", "New."),
        ("<new text>New, without an end", "New, without an end"),
        ("So:\n```\nNew.\n```\nDone.", "New."),
        ("```text\nNew.\nMore.\n```", "New.\nMore."),
        ("```New one.\nMore.```", "New one.\nMore."),
        ("```\nNew.\n```\nMore.\n```", "New.\n```\nMore."),
        ("``` a fence that is alone", "``` a fence that is alone"),
        ("  New. ", "New."),
        ("a</think>b</think> c", "c"),
    ],
)
def test_the_new_text_is_between_its_lines_else_in_a_fence_else_all(reply: str, text: str) -> None:
    assert read_proposal(reply) == text


def test_a_proposal_may_not_be_empty_endless_or_a_case() -> None:
    twelve = "one two three four five six seven eight nine ten eleven twelve"
    eleven = twelve.removesuffix(" twelve")
    case_text = f"Before. {twelve.upper()}, after."
    assert why_refused(" \n", [], may_quote=True) == "the proposal is empty"
    assert why_refused("x" * 20_000, [], may_quote=False) == ""
    assert "20,001 characters" in why_refused("x" * 20_001, [], may_quote=True)
    assert why_refused(f"So {twelve}!", ["other", case_text], may_quote=False)
    assert why_refused(f"So {twelve}!", ["other", case_text], may_quote=True) == ""
    assert why_refused(f"So {eleven} so", [case_text], may_quote=False) == ""
    assert why_refused(twelve, [eleven], may_quote=False) == ""


def test_only_instructions_and_definitions_are_editable() -> None:
    texts = editable_texts(IMPACT)
    assert list(texts) == ["instructions", "definition of impact"]
    assert texts["instructions"] == IMPACT.instructions.strip()
    assert editable_texts(IMPACT, ["definition of impact"]) == {
        "definition of impact": DIMENSIONS[0].definition.strip()
    }
    with pytest.raises(MedjuryError, match=r"no editable text 'instruction'.*'instructions'"):
        editable_texts(IMPACT, ["instruction"])
    assert with_texts(IMPACT, texts) is IMPACT and with_texts(IMPACT, {}) is IMPACT
    made = with_texts(IMPACT, {"definition of impact": "New."})
    assert (made.version, made.instructions) == (f"{IMPACT.version}-tuned", IMPACT.instructions)
    assert made.dimensions == (replace(DIMENSIONS[0], definition="New."),)
    assert with_texts(IMPACT, {"instructions": "New."}).instructions == "New."


def test_the_question_for_a_better_text_shows_the_text_the_grades_and_the_misses() -> None:
    records = [
        {"inputs": "INPUT ONE", "feedback": "MISS ONE"},
        {"inputs": "INPUT TWO", "feedback": "MISS TWO"},
    ]
    system, question = reflection_messages(IMPACT, "instructions", "OLD TEXT", records)
    assert (system.role, question.role) == ("system", "user")
    shown = ["'instructions'", "OLD TEXT", "impact: 0 = ", "; 1 = ", "; 2 = ", "# Case 1", "INPUT ONE", "MISS ONE",
             "# Case 2", "INPUT TWO", "MISS TWO", "<new text>", "</new text>"]  # fmt: skip
    places = [question.content.index(each) for each in shown]
    assert places == sorted(places)


def test_the_inputs_of_a_case_are_shown_under_their_labels() -> None:
    shown = case_inputs(IMPACT, case(1, texts={"context": "THE TALK"}).case)
    labels = {each.name: each.label for each in IMPACT.inputs}
    assert f"{labels['candidate']}:\n" in shown and "answer 1" in shown
    assert f"{labels['context']}:\n" in shown and "THE TALK" in shown and labels["reference"] not in shown


# Held out.


def estimate(value: float, low: float | None = None, high: float | None = None) -> Estimate:
    return Estimate(value, low, high, 12, method="the method")


def test_a_curve_beats_from_the_fewest_labels_on_which_all_larger_ones_do() -> None:
    points = [
        CurvePoint(training, training + 10, estimate(0.1, low, 0.3))
        for training, low in ((40, 0.1), (10, 0.05), (20, 0.0), (30, 0.01), (5, None))
    ]
    assert [each.beats for each in points] == [True, True, False, True, False]
    assert labels_until_better(points) == 40
    assert labels_until_better(points[:2]) == 20 and labels_until_better(points[2:3]) is None
    assert labels_until_better([]) is None
    told = points[0].as_dict()
    assert (told["training"], told["labels"]) == (40, 50)
    assert {name: value for name, value in told.items() if name.startswith("gain")} == {
        "gain": 0.1, "gain_low": 0.1, "gain_high": 0.3
    }  # fmt: skip


def test_a_smaller_part_of_the_training_cases_lies_within_a_larger() -> None:
    training = [case(n, group=f"g{n % 3}") for n in range(7)]
    found = [[each.case.id for each in nested(training, wanted)] for wanted in (0, 1, 3, 4, 9)]
    assert found == [
        [], ["c0", "c3", "c6"], ["c0", "c3", "c6"], ["c0", "c3", "c6", "c1", "c4"],
        ["c0", "c3", "c6", "c1", "c4", "c2", "c5"],
    ]  # fmt: skip


def test_every_rater_is_held_against_the_truth_and_failures_are_the_worst() -> None:
    cases = [case(n, n % 3) for n in range(12)]
    made = make_objective("cost_matrix", IMPACT, DIMENSIONS, cases)
    right: list[Any] = [{"impact": Score(n % 3)} for n in range(12)]
    half = [each if n % 2 else {"impact": Score((n + 1) % 3)} for n, each in enumerate(right)]
    failed = [{"impact": Unscored(Reason.REFUSAL, "")}, *right[1:]]
    someone = [None, *right[1:]]
    said = {PLAIN: half, TUNED: failed, "A": someone, "nobody": [None] * 12}
    kin = frozenset(each.key for each in cases[:3])
    found = evaluate_held_out(cases, said, made, kin=kin, fits={TUNED: 0.5}, resamples=200)
    assert {row.rater for row in found.rows} == {PLAIN, TUNED, "A"}
    assert found.value(PLAIN, "accuracy", "impact").value == 0.5
    assert found.value(TUNED, "accuracy", "impact").value == 1.0
    rewards = [made.reward(*each) for each in zip(cases, failed, strict=True)]
    assert found.value(TUNED).value == pytest.approx(sum(rewards) / 12) and rewards[0] < min(rewards[1:])
    assert found.gain.value == pytest.approx(found.value(TUNED).value - found.value(PLAIN).value)
    assert (found.cases, found.groups, found.kin, found.fits) == (12, 12, 3, {TUNED: 0.5})
    assert found.on_kin is not None and found.on_strangers is not None
    assert found.on_kin.value == pytest.approx(sum(rewards[:3]) / 3)
    assert found.on_strangers.value == pytest.approx(sum(rewards[3:]) / 9)
    rows = {(row.rater, row.statistic): row for row in found.rows}
    assert (rows[TUNED, "objective"].unscored, rows[TUNED, "accuracy"].unscored) == (1, 1)
    assert (rows[TUNED, "accuracy"].estimate.n, rows["A", "objective"].estimate.n) == (11, 11)
    order = [row.statistic for row in found.rows if row.rater == PLAIN]
    assert order[:5] == ["objective", "accuracy", "kappa", "kappa_quadratic", "macro_f1"]
    assert order[5:] == ["f1_class_0", "f1_class_1", "f1_class_2"]
    told = rows[TUNED, "accuracy"].as_dict()
    assert (told["rater"], told["dimension"], told["statistic"], told["n"], told["unscored"]) == (
        TUNED, "impact", "accuracy", 11, 1
    )  # fmt: skip
    strangers = evaluate_held_out(cases, {PLAIN: half, TUNED: right}, made, resamples=200)
    assert (strangers.kin, strangers.on_kin, strangers.on_strangers, strangers.fits) == (0, None, None, {})
    all_kin = frozenset(each.key for each in cases)
    alike = evaluate_held_out(cases, {PLAIN: half, TUNED: right}, made, kin=all_kin, resamples=200)
    assert alike.on_kin is not None and alike.on_strangers is None


def test_clinicians_are_raters_too_but_for_the_one_who_settles() -> None:
    def row(rater: str, item: str, outcome: Any, status: str = "scored", dimension: str = "impact") -> Any:
        given = {"item": item, "system": "", "dimension": dimension, "status": status, "outcome": outcome}
        return SimpleNamespace(rater=rater, **given)

    rows = [
        row("b", "c1", Score(1)),
        row("b", "c2", None, "unscored"),
        row("a", "c2", Score(2)),
        row("z", "c1", Score(0)),
        row("other", "c1", Score(0)),
        row("c", "c9", Score(0)),
        row("d", "c1", Score(0), dimension="else"),
    ]
    summary = SimpleNamespace(adjudicator="z")
    humans: Any = SimpleNamespace(ratings=rows, reference={"a", "b", "c", "d", "z"}, summary=summary)
    found = clinicians_said([case(1), case(2)], humans, DIMENSIONS)
    assert list(found) == ["a", "b"]
    assert found == {"a": [None, {"impact": Score(2)}], "b": [{"impact": Score(1)}, None]}


# Findings.


def held_out(gain: Estimate, **more: Any) -> HeldOut:
    rows = tuple(HeldOutRow(who, "", "objective", estimate(0.5, 0.4, 0.6)) for who in (PLAIN, TUNED, "first"))
    return HeldOut(rows, gain, 40, 10, **more)


def result(*, changed: bool = True, **more: Any) -> TuningResult:
    best = with_texts(IMPACT, {"instructions": "New."}) if changed else IMPACT
    found: Any = SimpleNamespace(best=best, start=IMPACT, validation=0.7, start_validation=0.4)
    return TuningResult(Path("t"), "complete", found=found, calls=1234, labels=90, **more)


@pytest.mark.parametrize(
    ("gain", "words"),
    [
        (estimate(0.1, 0.01, 0.2), "tuning helped"),
        (estimate(0.1, 0.0, 0.2), "no gain is shown"),
        (estimate(-0.1, -0.2, 0.0), "no gain is shown"),
        (estimate(-0.1, -0.2, -0.01), "tuning did harm"),
        (estimate(0.1), "whether that is more than chance is not known (the method)"),
    ],
)
def test_a_gain_is_shown_where_its_interval_leaves_zero_out(gain: Estimate, words: str) -> None:
    first, second, last = result(held_out=held_out(gain)).findings()
    assert first.startswith("Held out, 40 cases of 10 groups: ") and words in first
    assert "flatters" in second and last == "Tuning took 1,234 calls (cost not known) and 90 labels."


def test_a_tuning_that_changed_nothing_or_was_stopped_says_so() -> None:
    still = result(
        changed=False, held_out=held_out(estimate(0.0, -1, 1)), cost=1.5, currency="EUR", clinician_hours=2
    )
    assert not still.changed and result().changed
    first, second, last = still.findings()
    assert "it stays as it is" in first and second.endswith("before as after.")
    assert last == "Tuning took 1,234 calls (1.5 EUR) and 90 labels, about 2.0 hours of clinicians."
    stopped = TuningResult(Path("t"), "incomplete", "over budget", notes=["a note"])
    assert stopped.findings() == ["Not finished: over budget"] and not stopped.changed
    assert stopped.text().splitlines() == ["INCOMPLETE: over budget", "! a note", "Tuning folder: t"]
    told = still.content()
    assert len(told.pop("held_out")) == 3 and told == {
        "folder": "t", "status": "complete", "why": "", "calls": 1234, "cost": 1.5, "currency": "EUR",
        "labels": 90, "clinician_hours": 2, "changed": False, "notes": [], "findings": still.findings(),
    }  # fmt: skip
    assert result().content()["held_out"] is None and json.dumps(told)
    assert len(result().findings()) == 1


def test_kin_among_the_held_out_cases_and_a_prompt_learned_by_heart_are_told() -> None:
    zero = estimate(0.0, -1, 1)
    both = held_out(zero, kin=5, on_kin=estimate(0.9), on_strangers=estimate(0.3))
    (line,) = [each for each in result(held_out=both).findings() if "patients, items or texts" in each]
    assert line.startswith("5 of 40 held-out cases") and "elsewhere" in line
    (line,) = [
        each for each in result(held_out=held_out(zero, kin=5)).findings() if "patients, items" in each
    ]
    assert line.endswith("before you believe the gain.")
    lines = result(held_out=held_out(zero, fits={TUNED: 0.6, "first": 0.7})).findings()
    fits = [each for each in lines if "on the training cases and" in each]
    assert fits[0].startswith("The tuned prompt is worth 0.6") and "by heart" not in fits[0]
    assert fits[1].startswith("Another prompt") and "by heart" in fits[1]
    assert not [
        each for each in result(held_out=held_out(zero, fits={"first": 0.6})).findings() if "training" in each
    ]


def test_a_curve_says_from_how_many_labels_on_tuning_helps() -> None:
    points = [CurvePoint(n, n + 5, estimate(0.1, low, 1)) for n, low in ((10, -0.1), (2000, 0.1))]
    assert (
        "Learning curve: from 2,005 labelled cases on tuning beats the plain prompt."
        in result(curve=points).findings()
    )
    assert any("with up to 15 labelled cases" in each for each in result(curve=points[:1]).findings())


@pytest.mark.parametrize(
    ("high", "heart", "not_known"), [(0.6, True, False), (0.95, False, False), (None, False, True)]
)
def test_only_an_interval_below_the_training_cases_shows_learning_by_heart(
    high: float | None, heart: bool, not_known: bool
) -> None:
    low = None if high is None else 0.4
    worth = Estimate(0.5, low, high, 12, method="no interval: 5 clusters are too few")
    rows = tuple(HeldOutRow(who, "", "objective", worth) for who in (PLAIN, TUNED))
    (line,) = _memorised(HeldOut(rows, worth, 12, 5, fits={TUNED: 0.9}))
    assert ("by heart" in line, "is not known" in line) == (heart, not_known)
