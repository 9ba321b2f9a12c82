"""Loading an instrument: a user's own file works as a built-in one, and a bad one is told all its faults."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.instruments.samples import GOOD, write

from medjury.instruments import Example, derive, load_instrument, output_schema, read_answer
from medjury.instruments._load import InstrumentError


def faults(file: Path) -> list[str]:
    with pytest.raises(InstrumentError) as error:
        load_instrument(file)
    return [line.removeprefix(f"{file}, ") for line in str(error.value).splitlines()]


def test_a_users_own_file_works_as_a_built_in_one_does(tmp_path: Path) -> None:
    instrument = load_instrument(str(write(tmp_path, GOOD)))
    assert instrument.examples == (
        Example({"candidate": "All well."}, {"complete": 1, "plan": None}, "It says nothing."),
    )
    assert dict(instrument.composites[0].weights) == {"complete": 0.5, "plan": 0.5}
    assert list(output_schema(instrument)["properties"]) == ["complete", "danger", "plan"]
    outcomes = read_answer(instrument, {"complete": 3, "danger": 0, "plan": 2})
    assert [each.value for each in derive(instrument, outcomes).values()] == [1.0, 2.5]  # type: ignore[union-attr]


def test_examples_may_stand_in_a_file_beside_it(tmp_path: Path) -> None:
    file = write(tmp_path, GOOD)
    write(
        tmp_path,
        "examples:\n  - {inputs: {candidate: Hm.}, scores: {complete: 2}}\n",
        "handover.examples.yaml",
    )
    assert [each.scores for each in load_instrument(file).examples] == [
        {"complete": 1, "plan": None},
        {"complete": 2},
    ]


def test_a_bad_example_beside_it_is_named_by_its_own_file(tmp_path: Path) -> None:
    file = write(tmp_path, GOOD)
    beside = write(
        tmp_path,
        "examples:\n  - inputs: {candidate: Hm.}\n    scores: {complete: 9}\n",
        "handover.examples.yaml",
    )
    with pytest.raises(InstrumentError, match=r"handover\.examples\.yaml, line 3: .*9 is not a grade"):
        load_instrument(file)
    beside.write_text("examples: 3\n", encoding="utf-8")
    with pytest.raises(InstrumentError, match=r"handover\.examples\.yaml, line 1: examples"):
        load_instrument(file)


def test_other_words_are_another_instrument_and_another_citation_is_not(tmp_path: Path) -> None:
    first = load_instrument(write(tmp_path, GOOD)).fingerprint()
    assert load_instrument(write(tmp_path, GOOD.replace("Partly", "In part"))).fingerprint() != first
    assert load_instrument(write(tmp_path, GOOD + "citation: Someone 2024\n")).fingerprint() == first


def test_a_translation_changes_words_alone_and_says_what_it_lacks(tmp_path: Path) -> None:
    words = """\
translations:
  de:
    inputs: {candidate: Übergabe}
    dimensions:
      complete: {label: Vollständig, grades: {1: Nein.}}
"""
    plain, ours = load_instrument(write(tmp_path, GOOD)), load_instrument(write(tmp_path, GOOD + words))
    assert ours.fingerprint() == plain.fingerprint()
    german = ours.in_language("de")
    assert (german.dimensions[0].label, german.dimensions[0].grades[1]) == ("Vollständig", "Nein.")
    assert german.dimensions[0].grades[2] == plain.dimensions[0].grades[2]
    assert german.inputs[0].label == "Übergabe"
    assert german.shape() == ours.in_language("fr").shape() == plain.shape()
    assert ours.untranslated("de")[:3] == [
        "instructions",
        "the input specialty",
        "complete (definition, grade 2, grade 3)",
    ]


def test_a_translation_of_what_is_not_there_is_named_with_its_line(tmp_path: Path) -> None:
    words = """\
translations:
  de:
    inputs: {letter: Brief}
    dimensions:
      complete: {grades: {9: Nein.}}
      whole: {label: Ganz}
"""
    first = GOOD.count("\n") + 3
    found = faults(write(tmp_path, GOOD + words))
    assert [each.partition(":")[0] for each in found] == [
        f"line {at}" for at in (first, first + 2, first + 3)
    ]
    assert ["'letter'" in found[0], "9 is not a grade of 'complete'" in found[1], "'whole'" in found[2]] == [
        True
    ] * 3
    (bad,) = faults(write(tmp_path, GOOD + "translations: {german: {}}\n"))
    assert "two letters" in bad


def test_every_fault_of_form_is_told_at_once_with_its_line(tmp_path: Path) -> None:
    text = (
        GOOD.replace("name: handover", "name: Hand over")
        .replace('version: "1.0"', "version: 1.0")
        .replace("instructions: Grade the handover.\n", "")
        .replace("required: false", "required: maybe")
        .replace("grades: {0: No., 1: Yes.}", 'grades: {"0": No., "1": Yes.}')
        .replace("definition: Is there a plan?", 'definition: ""')
        .replace("title:", "titel: x\ntitle:")
    )
    assert faults(write(tmp_path, text)) == [
        "line 1: name: must be lower-case letters, digits and _, beginning with a letter",
        "line 2: version: must be text; put it in quotes",
        "line 1: instructions: is missing; add it",
        "line 7: inputs[1].required: Input should be a valid boolean",
        "line 17: dimensions[1].grades: must have whole numbers without quotes on the left",
        "line 20: dimensions[2].definition: is empty; write it",
        "line 3: titel: no such setting here; remove it or correct its name (did you mean 'title'?)",
    ]


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("name: specialty", "name: candidate", "inputs[1].name: the name 'candidate' is used twice"),
        ("name: plan", "name: complete", "dimensions[2].name: the name 'complete' is used twice"),
        ("name: safe,", "name: plan,", "reversed[0].name: the name 'plan' is used twice"),
        (
            "of: danger",
            "of: dangr",
            "reversed[0].of: 'dangr' is not a dimension; use one of complete, danger, plan",
        ),
        ("[complete, plan]", "[complete, safety]", "'safety' is neither a dimension nor a reversed one"),
        ("[complete, plan]", "[complete, complete]", "a name appears twice"),
        ("[complete, plan]", "[complete, danger]", "'danger' is better when lower"),
        ("[complete, plan]", "{complete: 0.5, plan: 0.4}", "the weights sum to 0.9, not to 1"),
        ("[complete, plan]", "{complete: 1.5, plan: -0.5}", "a weight is not between 0 and 1"),
        ("[complete, plan]", "{complete: yes}", "every weight must be a number"),
        ("[complete, plan]", "3", "must be a list of names"),
        (
            "may_be_not_applicable: true",
            "skip: {dimension: later, equals: 1}",
            "'later' is not a dimension above",
        ),
        (
            "may_be_not_applicable: true",
            "skip: {dimension: danger, equals: 2}",
            "2 is not a grade of 'danger'",
        ),
        ("may_be_not_applicable: true", "skip: {dimension: danger, equals: yes}", "must be a whole number"),
        (
            "{candidate: All well.}",
            "{text: All well.}",
            "'text' is not an input; use one of candidate, specialty",
        ),
        ("{complete: 1,", "{complet: 1,", "'complet' is not a dimension"),
        ("{complete: 1,", "{complete: null,", "cannot be not applicable"),
        ("{complete: 1,", "{complete: 4,", "4 is not a grade"),
        ("grades: {0: No., 1: Yes.}", "grades: {0: No.}", "two or more grades"),
        ("{threshold: 0.5}", "{threshold: .nan}", "must hold texts, numbers, lists and mappings only"),
        ("{threshold: 0.5}", "{since: 2024-01-02}", "put dates in quotes"),
        ("{threshold: 0.5}", "{weights: {1: 2, a: 3}}", "must hold texts, numbers"),
    ],
)
def test_every_fault_of_meaning_is_told(tmp_path: Path, old: str, new: str, fault: str) -> None:
    assert old in GOOD
    assert any(fault in each for each in faults(write(tmp_path, GOOD.replace(old, new, 1))))


def test_an_example_must_obey_the_skip_rule(tmp_path: Path) -> None:
    text = GOOD.replace("may_be_not_applicable: true", "skip: {dimension: danger, equals: 0}")
    good = text.replace("{complete: 1, plan: null}", "{complete: 1, danger: 0, plan: null}")
    assert load_instrument(write(tmp_path, good)).dimension("plan").may_be_not_applicable
    bad = text.replace("{complete: 1, plan: null}", "{complete: 1, danger: 0, plan: 2}")
    assert "the skip rule makes it null" in faults(write(tmp_path, bad))[0]
    bad = text.replace("{complete: 1, plan: null}", "{complete: 1, danger: 1, plan: null}")
    assert "only when danger is 0" in faults(write(tmp_path, bad))[0]


def test_written_weights_that_round_sum_to_one_afterwards(tmp_path: Path) -> None:
    text = GOOD.replace("[complete, plan]", "{complete: 0.333, plan: 0.333, safe: 0.333}")
    assert sum(load_instrument(write(tmp_path, text)).composites[0].weights.values()) == pytest.approx(
        1, abs=1e-12
    )


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"", "must hold"),
        (b"- a\n- b\n", "must hold"),
        (b"name: [\n", "not valid YAML"),
        (b"name: a\nname: b\n", "twice"),
        (b"name: \xff\n", "UTF-8"),
    ],
)
def test_a_file_that_is_no_instrument_is_refused_with_the_reason(
    tmp_path: Path, content: bytes, fault: str
) -> None:
    file = tmp_path / "x.yaml"
    file.write_bytes(content)
    with pytest.raises(InstrumentError, match=fault):
        load_instrument(file)


def test_a_missing_file_and_an_unknown_name_say_what_there_is(tmp_path: Path) -> None:
    with pytest.raises(InstrumentError, match="there is no such file"):
        load_instrument(tmp_path / "none.yaml")
    with pytest.raises(InstrumentError, match="did you mean 'pdsqi9'"):
        load_instrument("pdsqi")
    with pytest.raises(InstrumentError, match="known: answerable, claims, concordance"):
        load_instrument("zzz")


def test_a_name_that_is_also_a_file_is_the_built_in_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, GOOD, "diagnosis")
    assert load_instrument("diagnosis").title.startswith("Quality and risk")
