"""The detector in C says what the Python says, which is its definition."""

from __future__ import annotations

import csv
import random
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.metrics.kernels import ANYTHING, PRIMOCK, compiled_library

from medjury.foundation.errors import MedjuryError
from medjury.texts.metrics import _compiled
from medjury.texts.metrics._differences import detector as _detector
from medjury.texts.metrics._differences.compare_pairs import Compared, compare_pairs
from medjury.texts.metrics._lexicons import CATEGORIES, entries, lexicons

LISTS = [
    *CATEGORIES.values(),
    "negations",
    "answers_yes",
    "answers_no",
    "answers_short",
    "courtesy",
    "closing",
]
TERMS = sorted({term for file in [*LISTS, "administrative", "greetings"] for term in entries(file)})
COMMON = [
    *entries("function_words"),
    "no",
    "not",
    "yes",
    "one",
    "two",
    "six",
    "weeks",
    "mg",
    "right",
    "arm",
    "um",
]
ODD = [
    "mm hmm",
    "and",
    "or",
    "i i",
    "katherine",
    "catherine",
    "gmail",
    "g mail",
    "telmisartan",
    "diagnoses",
    "diagnosis",
]


@pytest.fixture(autouse=True)
def compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use the kernels as the source is now, not as it was at installation."""
    library = compiled_library()
    monkeypatch.setattr(_compiled, "library", lambda: library)


def same(said: list[str], heard: list[str], asked: list[str | None]) -> Compared:
    one, other = compare_pairs(said, heard, asked), compare_pairs(said, heard, asked, kernels="python")
    for row in range(len(said)):
        assert one.changes[row] == other.changes[row], (said[row], heard[row], asked[row])
        assert one.features[row].tolist() == pytest.approx(other.features[row].tolist(), abs=1e-15)
    assert one.answers == other.answers
    assert one.reasons() == other.reasons()
    return one


def utterance(generator: random.Random, longest: int) -> str:
    lists = (COMMON, COMMON, TERMS, ODD)
    return " ".join(generator.choice(generator.choice(lists)) for _ in range(generator.randrange(longest)))


def garbled(text: str, generator: random.Random) -> str:
    def heard(word: str) -> str:
        return generator.choice(
            [word, word, word, word, "", f"{word} {word}", generator.choice(COMMON + TERMS)]
        )

    return " ".join(heard(word) for word in text.split())


@pytest.mark.parametrize("seed", range(4))
def test_on_utterances_of_listed_words(seed: int) -> None:
    generator = random.Random(seed)
    said = [utterance(generator, generator.choice([3, 12, 30])) for _ in range(400)]
    heard = [
        garbled(text, generator) if generator.random() < 0.8 else utterance(generator, 12) for text in said
    ]
    asked = [generator.choice([None, utterance(generator, 15), "Any chest pain?"]) for _ in said]
    found = same(said, heard, asked)
    assert sum(map(bool, found.changes)) > 100


@settings(max_examples=150, deadline=None)
@given(ANYTHING, ANYTHING, st.one_of(st.none(), ANYTHING))
def test_on_any_text(said: str, heard: str, asked: str | None) -> None:
    same([said], [heard], [asked])


def test_on_real_calls() -> None:
    if not PRIMOCK.exists():
        pytest.skip(f"{PRIMOCK.name} is not on this machine")
    with PRIMOCK.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    same(*([row[name] for row in rows] for name in ("patient_ground_truth", "patient_hypothesis", "doctor")))


@pytest.mark.parametrize("longest", [0, 5])
def test_very_long_turns_take_the_short_way_in_both(monkeypatch: pytest.MonkeyPatch, longest: int) -> None:
    monkeypatch.setattr("medjury.texts.metrics._differences.differences.LONGEST_JOINED", longest)
    monkeypatch.setattr("medjury.texts.metrics._differences.differences.MOST_NEAR", longest)
    monkeypatch.setattr(_detector, "_vocabulary", lambda: [_detector.Vocabulary(lexicons())])
    same(["katherine wrote to gmail about the garden"], ["catherine wrote to g mail about a carpet"], [None])


def test_new_words_get_numbers_and_too_many_start_again(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = [_detector.Vocabulary(lexicons())]
    monkeypatch.setattr(_detector, "_vocabulary", lambda: kept)
    base = len(kept[0].spoken)
    same(["zyx wvu"], ["zyx"], [None])
    assert len(kept[0].spoken) == base + 2
    monkeypatch.setattr(_detector, "MOST_WORDS", base + 1)
    same(["tsr"], ["qpo"], [None])
    assert len(kept[0].spoken) == base + 2, "the old words are gone, the new ones are there"


def test_threads_may_share_it() -> None:
    said = [[f"{word} in my left arm {number}" for word in TERMS[number::40]] for number in range(8)]
    heard = [[text.replace("left", "right") for text in texts] for texts in said]
    asked: list[list[str | None]] = [[None] * len(texts) for texts in said]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(compare_pairs, said, heard, asked))
    for texts, others, compared in zip(said, heard, found, strict=True):
        assert compared.changes == compare_pairs(texts, others, [None] * len(texts), kernels="python").changes


def test_no_pairs() -> None:
    assert compare_pairs([], [], []).features.shape == (0, len(_detector._differences.FEATURES) + 1)


def test_words_without_a_number_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    vocabulary = _detector.Vocabulary(lexicons())
    vocabulary.tables()[1].spoken_words = 3
    monkeypatch.setattr(_detector, "_vocabulary", lambda: [vocabulary])
    with pytest.raises(MedjuryError, match="cannot be counted"):
        _detector.compare_in_c(compiled_library(), ["mm hmm out of breath"], ["short"], [None])
