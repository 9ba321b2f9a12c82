"""Reading an utterance: concepts, denials, answers, courtesy; and what a question asks."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from medjury.texts.metrics._lexicons import lexicons
from medjury.texts.metrics._reading import Concept, Reading, origins_of, read, read_question


def reading(text: str) -> Reading:
    return read(text, lexicons())


def concept(text: str, word: str) -> Concept:
    return next(each for words, each in reading(text).concepts.items() if word in words)


@pytest.mark.parametrize(
    ("said", "word", "denied"),
    [
        ("no chest pain", "pain", True),
        ("I have pain", "pain", False),
        ("I don't have any pain", "pain", True),
        ("no I have pain", "pain", False),
        ("not throat but pain in the lips", "pain", False),
        ("never had a rash", "rash", True),
        ("without any fever", "temperatur", True),
    ],
)
def test_denials_reach_over_the_clause_and_no_further(said: str, word: str, denied: bool) -> None:
    found = concept(said, word)
    assert found.denied == denied
    assert found.affirmed != denied


def test_a_denial_too_far_away_leaves_it_open() -> None:
    found = concept("I did not really think that it was the pain", "pain")
    assert not found.denied and not found.affirmed


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("yeah", "yes"), ("Uh, yes I do.", "yes"), ("I do", "yes"), ("I do smoke", ""), ("mm-hmm", "yes"),
        ("no", "no"), ("not really", "no"), ("never", "no"), ("well, not at the moment", "no"),
        ("three days ago", ""), ("", ""), ("I have been to the shop and yes", ""),
    ],
)  # fmt: skip
def test_the_answer_stands_at_the_beginning(said: str, answer: str) -> None:
    assert reading(said).answer == answer


@pytest.mark.parametrize(
    ("said", "courtesy"),
    [("okay, thank you very much", True), ("yeah yeah", True), ("yes, that's great", True), ("um", False),
     ("thank you, my chest hurts", False), ("no", False), ("thanks, Maria", False)],
)  # fmt: skip
def test_courtesy_is_politeness_and_assent_alone(said: str, courtesy: bool) -> None:
    assert reading(said).courtesy == courtesy


def test_stammered_repeats_are_said_once() -> None:
    assert reading("I I can I can I can walk").words == reading("I can walk").words


def test_a_number_goes_with_what_it_counts() -> None:
    assert ("six", "year") in reading("about six years ago").concepts
    assert reading("that one").concepts == {}
    assert {c.category for c in reading("one or two days").concepts.values()} == {"time"}


@pytest.mark.parametrize(
    ("asked", "clinical", "administrative", "closing"),
    [
        ("Any nausea or vomiting?", True, False, False),
        ("Could you confirm your name and date of birth?", False, True, False),
        ("Hi, hello.", False, True, False),
        ("Is that alright?", False, False, True),
        ("Can you confirm your name? And do you have any chest pain?", True, False, False),
        ("OK.", False, False, False),
    ],
)
def test_what_a_question_asks(asked: str, clinical: bool, administrative: bool, closing: bool) -> None:
    question = read_question(asked, lexicons())
    assert (question.clinical, question.administrative, question.closing) == (
        clinical,
        administrative,
        closing,
    )


@settings(deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                "um",
                "i",
                "i",
                "can",
                "can't",
                "yes",
                "mm",
                "hmm",
                "short",
                "of",
                "breath",
                "no",
                "pain",
                "right",
                "arm",
                "two",
                "days",
                "a",
            ]
        )
    )
)
def test_every_canonical_word_comes_from_a_spoken_one_in_order(words: list[str]) -> None:
    found = reading(" ".join(words))
    origins = origins_of(found, lexicons())
    assert len(origins) == len(found.words)
    assert origins == sorted(origins)
    assert all(0 <= origin < len(found.surface) for origin in origins)


@settings(deadline=None)
@given(st.text(max_size=300))
def test_any_text_can_be_read(text: str) -> None:
    found = reading(text)
    for each in found.concepts.values():
        assert found.words[each.start : each.stop] == each.words
