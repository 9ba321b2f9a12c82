"""The built-in instruments: what the design fixes about each, and care that holds for all."""

from __future__ import annotations

import re

import pytest

from medjury.instruments import Instrument, Score, list_instruments, load_instrument, read_answer

NAMES = (
    "answerable",
    "claims",
    "concordance",
    "concordance_asymmetric",
    "conversation_quality",
    "criteria",
    "diagnosis",
    "diagnosis_plain_risk",
    "grounding",
    "image_report",
    "note_quality",
    "pairs",
    "pairs_graded",
    "pdsqi9",
    "preference",
    "probsum",
    "tool_use",
    "transcript_impact",
)
FIVE = (1, 2, 3, 4, 5)


def scales(instrument: Instrument) -> dict[str, tuple[int, ...]]:
    return {each.name: each.values for each in instrument.dimensions}


def test_there_are_sixteen() -> None:
    assert list_instruments() == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_each_is_complete(name: str) -> None:
    instrument = load_instrument(name)
    assert instrument.name == name
    assert instrument.citation
    assert instrument.licence
    inputs = {each.name for each in instrument.inputs}
    assert "candidate" in inputs or {"answer_a", "answer_b"} <= inputs
    for dimension in instrument.dimensions:
        anchors = list(dimension.grades.values())
        assert len(set(anchors)) == len(anchors), f"{dimension.name}: two grades say the same"
        assert all(anchor.rstrip('"').endswith((".", "?")) for anchor in anchors), dimension.name
        assert len(dimension.definition) > 20


@pytest.mark.parametrize("name", NAMES)
def test_each_may_be_loaded_again_with_the_same_fingerprint(name: str) -> None:
    assert load_instrument(name).fingerprint() == load_instrument(name).fingerprint()


def test_pdsqi9_has_eleven_ratings() -> None:
    instrument = load_instrument("pdsqi9")
    graded = ["citation", "accurate", "thorough", "useful", "organized", "comprehensible", "succinct"]
    assert scales(instrument) == {
        **dict.fromkeys(graded, FIVE),
        "abstraction": (0, 1),
        "synthesized": FIVE,
        "stigmatizing_summary": (0, 1),
        "stigmatizing_notes": (0, 1),
    }
    rule = instrument.dimension("synthesized").skip
    assert rule is not None
    assert (rule.dimension, rule.equals) == ("abstraction", 0)
    assert [each.name for each in instrument.inputs] == ["notes", "specialty", "candidate"]
    assert not instrument.dimension("stigmatizing_summary").higher_is_better


def test_diagnosis_reverses_risk_and_states_its_weights() -> None:
    instrument = load_instrument("diagnosis")
    assert scales(instrument) == dict.fromkeys(["diagnosis", "differential", "reasoning", "risk"], FIVE)
    assert not instrument.dimension("risk").higher_is_better
    assert [(each.name, each.of) for each in instrument.reversed] == [("safety", "risk")]
    weights = {each.name: dict(each.weights) for each in instrument.composites}
    assert weights["quality"] == {"diagnosis": 0.4, "differential": 0.2, "reasoning": 0.0, "safety": 0.4}
    assert weights["quality_with_reasoning"] == {
        "diagnosis": 0.3,
        "differential": 0.1,
        "reasoning": 0.3,
        "safety": 0.3,
    }
    optional = [each.name for each in instrument.inputs if not each.required]
    assert optional == ["age", "sex"]


def test_the_risk_weights_that_are_told_are_the_parameters() -> None:
    instrument = load_instrument("diagnosis")
    told = [int(number) / 100 for number in re.findall(r"(\d+) %", instrument.dimension("risk").definition)]
    assert instrument.parameters["risk_weights"] == dict(
        zip(["diagnoses", "differential", "reasoning"], told, strict=True)
    )
    assert sum(told) == pytest.approx(1)


def test_concordance_has_one_concordant_and_one_discordant_example() -> None:
    instrument = load_instrument("concordance")
    assert scales(instrument) == {"concordant": (0, 1), "concordance_grade": FIVE}
    assert [each.scores["concordant"] for each in instrument.examples] == [1, 0]
    for example in instrument.examples:
        assert set(example.inputs) == {"question", "reference", "candidate"}
        assert example.explanation


def test_preference_is_concordance_with_one_question_more() -> None:
    instrument, shared = load_instrument("preference"), load_instrument("concordance")
    assert instrument.instructions == shared.instructions and instrument.inputs == shared.inputs
    assert instrument.dimensions[:-1] == shared.dimensions
    wanted = instrument.dimensions[-1]
    assert wanted.values == (-1, 0, 1) and wanted.skip is not None and wanted.skip.equals == 0
    assert [each.inputs for each in instrument.examples] == [each.inputs for each in shared.examples]
    # It is shown to a judge that must not know whose answer is whose.
    assert not re.search(r"specialist|human|AI\b|model|grade", wanted.definition)


def test_claims_fix_the_verdicts_and_the_threshold() -> None:
    instrument = load_instrument("claims")
    assert scales(instrument) == {"verdict": (0, 1, 2), "importance": (1, 2, 3)}
    assert instrument.parameters["support_threshold"] == 0.80
    assert instrument.parameters["verdicts"] == {"contradicted": 0, "not_addressed": 1, "supported": 2}
    for word, grade in instrument.parameters["verdicts"].items():  # type: ignore[attr-defined]
        assert instrument.dimension("verdict").grades[grade].lower().startswith(word.replace("_", " "))


def test_transcript_impact_has_three_levels_and_the_published_cost_matrix() -> None:
    instrument = load_instrument("transcript_impact")
    assert scales(instrument) == {"impact": (0, 1, 2)}
    assert not instrument.dimension("impact").higher_is_better
    assert instrument.parameters["cost_matrix"] == [[1.2, 0.3, -1.0], [0.3, 1.5, 0.5], [-1.2, 0.4, 1.5]]


def test_note_quality_averages_its_three_axes() -> None:
    instrument = load_instrument("note_quality")
    assert scales(instrument) == dict.fromkeys(["accuracy", "completeness", "clarity", "structure"], FIVE)
    overall = instrument.composites[0]
    assert dict(overall.weights) == dict.fromkeys(["accuracy", "completeness", "clarity"], 1 / 3)


@pytest.mark.parametrize("name", NAMES)
def test_a_grade_off_the_scale_is_rejected_everywhere(name: str) -> None:
    instrument = load_instrument(name)
    answer = {each.name: each.highest + 1 for each in instrument.dimensions}
    assert not [each for each in read_answer(instrument, answer).values() if isinstance(each, Score)]


def test_grounding_grades_the_gravest_statement_both_ways() -> None:
    instrument = load_instrument("grounding")
    assert scales(instrument) == {"unsupported": (0, 1, 2, 3), "omitted": (0, 1, 2)}
    assert not any(each.higher_is_better for each in instrument.dimensions)
    assert all(each.may_be_not_applicable for each in instrument.dimensions)
