"""Marks of what differs between a source and an answer: numbers, doses, units, sides and negations."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import medjury
from medjury.texts.metrics import marked_differences

CASES = Path(medjury.__file__).parent / "studies" / "demo" / "cases.jsonl"


def marked(source: str, answer: str) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    (there,), here = marked_differences([source], answer)
    return (
        [(source[each.start : each.end], each.kind) for each in there],
        [(answer[each.start : each.end], each.kind) for each in here],
    )


@pytest.mark.parametrize(
    ("source", "answer", "there", "here"),
    [
        ("Morphine 15 mg at night.", "Morphine 150 mg at night.", ["15 mg"], ["150 mg"]),
        ("Morphine 15 mg at night.", "Morphine 15 g at night.", ["15 mg"], ["15 g"]),
        ("Potassium 4.2 mmol/L.", "The potassium was 2.4 mmol/L.", ["4.2 mmol/L"], ["2.4 mmol/L"]),
        ("Raised from 20 to 40 mg.", "Raised to 40 mg.", [], []),
        ("Takes fifteen mg.", "Takes 15 mg.", [], []),
        ("He has pain in the left knee.", "He has pain in the right knee.", ["left"], ["right"]),
        ("Pain in the left knee, the right knee is well.", "Pain in the left knee.", [], []),
        ("She denies chest pain.", "She has chest pain.", ["denies chest pain"], ["chest pain"]),
        ("No fever on Monday. The fever was high on Friday.", "The patient had fever.", [], []),
        ("Bett 7. Morphin 15 mg und keine Diabetes.", "Morphin 150 mg und Diabetes.", ["15 mg"], ["150 mg"]),
        ("El paciente no tiene diabetes.", "El paciente tiene diabetes.", [], []),
    ],
)
def test_what_differs_is_marked_where_it_is(
    source: str, answer: str, there: list[str], here: list[str]
) -> None:
    found = marked(source, answer)
    assert [words for words, _ in found[0]] == there
    assert [words for words, _ in found[1]] == here


def test_every_planted_dose_and_side_is_marked_and_nothing_else() -> None:
    seen = {"number": 0, "side": 0}
    for line in CASES.read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        planted = case["metadata"]["planted"]
        _, here = marked(case["texts"]["context"], case["candidate"])
        wanted = [
            kind for error, kind in (("wrong dose", "number"), ("wrong side", "side")) if error in planted
        ]
        assert sorted(kind for _, kind in here) == sorted(wanted), case["id"]
        for kind in wanted:
            seen[kind] += 1
    assert seen == {"number": 21, "side": 5}


def test_each_source_has_its_own_marks() -> None:
    sources = ["Aspirin 75 mg.", "Morphine 15 mg."]
    (first, second), here = marked_differences(sources, "Morphine 150 mg, aspirin 75 mg.")
    assert not first and [each.kind for each in second] == ["number"] == [each.kind for each in here]
