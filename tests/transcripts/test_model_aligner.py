"""The model aligner: each of the seven rules is broken once, and repair mends it or says so."""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any

import pytest

from medjury.foundation.errors import MedjuryError
from medjury.instruments import Reason
from medjury.models import Gate, MemoryCache, ModelError, Reply, Scripted
from medjury.texts.transcripts import Alignment, align_with_model
from medjury.texts.transcripts._model_aligner import alignment_request
from medjury.texts.transcripts._turn import Turn

GOLD = [
    Turn(0, "Hello, good morning.", start=0.0),
    Turn(1, "I have had a cough for three weeks, and it is worse at night.", start=4.0),
    Turn(2, "I stopped the tablets", start=12.0),
    Turn(3, "because of the rash.", start=15.0),
    Turn(4, "No fever.", start=20.0),
    Turn(5, "Thank you, doctor.", start=25.0),
]
HEARD = [
    Turn(0, "hello good morning", start=0.0, confidence=0.9),
    Turn(1, "i have had a cough for three weeks", start=4.0, confidence=0.9),
    Turn(2, "and it is worse at night", start=8.0, confidence=0.7),
    Turn(3, "i stopped the tablets because of the rash", start=12.0),
    Turn(4, "no fever", start=20.0),
    Turn(5, "thank you doctor", start=25.0),
]
RIGHT = [(0, [0]), (1, [1, 2]), (2, [3]), (3, [3]), (4, [4]), (5, [5])]
PAIRS = [((0,), (0,)), ((1,), (1, 2)), ((2, 3), (3,)), ((4,), (4,)), ((5,), (5,))]


def answer(*entries: tuple[Any, Any], **more: Any) -> str:
    rows = [
        {
            "golden_index": gold,
            "asr_indices": heard,
            "match_type": "fuzzy" if heard else "missing",
            "similarity": 0.9,
        }
        for gold, heard in entries
    ]
    return json.dumps({"alignments": [row | more for row in rows]})


def changed(**entries: Any) -> str:
    """The right answer with some entries replaced (None takes one out)."""
    rows = dict(RIGHT) | {int(key[1:]): value for key, value in entries.items()}
    return answer(*((gold, heard) for gold, heard in rows.items() if heard is not None))


def ask(*answers: Any, gold: list[Turn] = GOLD, heard: list[Turn] = HEARD) -> Alignment:
    model = Scripted(list(answers), name="aligner")
    return asyncio.run(align_with_model(gold, heard, model, Gate(cache=MemoryCache())))


def pairs(alignment: Alignment) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    return [(match.golden_indices, match.asr_indices) for match in alignment.matches]


def test_a_right_answer_becomes_an_alignment_with_our_own_numbers() -> None:
    found = ask(answer(*RIGHT))
    assert pairs(found) == PAIRS and found.missed == found.spurious == ()
    assert [match.match_type for match in found.matches] == [
        "exact", "multi_fragment", "multi_golden", "exact", "exact"]  # fmt: skip
    assert all(match.similarity == 1.0 for match in found.matches)  # the model said 0.9
    assert found.matches[1].confidence == pytest.approx(0.8)
    assert found.notes == ("G2 with A3 and G3 with A3: share a turn; merged",)
    assert found.method == "model aligner"


@pytest.mark.parametrize(
    ("rule", "broken", "note"),
    [
        ("1 a number that does not exist", changed(g4=[4, 99]), "named a turn that does not exist"),
        ("2 a gold turn is left out", changed(g4=None), "G4: the model left it out"),
        ("2 the same entry twice", answer(*RIGHT, (5, [5])), "G5 with A5: said twice; kept once"),
        ("3 a segment in two places", changed(g5=[0, 5]), "claim the same turn; G0 with A0 keeps it"),
        ("4 a turn called missing that was heard", changed(g5=[]), "G5 with A5: was missed; similar enough"),
        ("5 pairs that cross", changed(g0=[5], g5=[0]), "out of order; dropped"),
        ("6 a fragment is left out", changed(g1=[1]), "is part of a longer turn; now G1 with A1, A2"),
        (
            "6 fragments that are not neighbours",
            changed(g4=[4], g1=[1, 2, 5], g5=[]),
            "not consecutive; now G1 with",
        ),
        ("7 a turn called missing that is in the segment", changed(g2=[]), "now G2, G3 with A3"),
    ],
)
def test_every_broken_rule_is_mended_and_told(rule: str, broken: str, note: str) -> None:
    found = ask(broken)
    assert pairs(found) == PAIRS, rule
    assert any(re.search(note, each) for each in found.notes), found.notes


def test_text_that_a_model_invents_goes_nowhere() -> None:
    found = ask(answer(*RIGHT, golden_text="I never said this", asr_text="nor this"), answer(*RIGHT))
    assert pairs(found) == PAIRS and "never" not in json.dumps(found.to_json())


def test_notes_and_errors_quote_no_speech() -> None:
    told = " ".join(ask(changed(g0=[5], g1=[1], g2=[], g4=None, g5=[0])).notes).lower()
    assert not [word for word in ("hello", "cough", "tablets", "rash", "fever", "thank") if word in told]


def test_missing_with_segments_is_missing_until_the_text_says_otherwise() -> None:
    found = ask(answer(*RIGHT, match_type="missing"))
    assert "called missing and given segments" in found.notes[0]
    assert pairs(found)[0] == ((0,), (0,))


def test_a_fence_is_read_and_prose_and_nonsense_are_asked_again() -> None:
    assert pairs(ask(f"```json\n{answer(*RIGHT)}\n```")) == PAIRS
    assert pairs(ask(f"Here it is:\n{answer()}", answer(*RIGHT))) == PAIRS
    assert pairs(ask("I cannot see JSON", '{"alignments": "none"}', answer(*RIGHT))) == PAIRS
    with pytest.raises(MedjuryError, match="no usable alignment in 3 answers"):
        ask("no", "no", "no")


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        (Reply("", finish="refusal"), "declined"),
        (Reply('{"alignments": [', finish="length"), "ran out of room"),
        (ModelError(Reason.PROVIDER, "is down"), "down"),
    ],
)
def test_a_model_that_fails_gives_an_error_and_no_alignment(line: Any, complaint: str) -> None:
    with pytest.raises(MedjuryError, match=complaint):
        ask(line)


def test_an_empty_side_needs_no_model() -> None:
    assert ask(gold=[]).spurious == (0, 1, 2, 3, 4, 5)
    assert ask(heard=[]).missed == (0, 1, 2, 3, 4, 5)


def test_the_question_names_turns_by_place_with_time_and_confidence() -> None:
    request = alignment_request([Turn(7, "A\nB", start=1.0)], [Turn(9, "a b", confidence=0.5)])
    asked = request.messages[1].content
    assert "G0 (at 1.0 s): A B" in asked and "A0 (confidence 0.50): a b" in asked
    assert all(f"{number}. " in request.messages[0].content for number in range(1, 8))


def test_places_become_the_files_own_indices() -> None:
    found = ask(answer((0, [0])), gold=[Turn(7, "Yes.")], heard=[Turn(9, "yes")])
    assert pairs(found) == [((7,), (9,))]
