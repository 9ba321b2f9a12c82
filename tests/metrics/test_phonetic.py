"""How alike two texts sound."""

from __future__ import annotations

import pytest

from medjury.texts.metrics._learned_metrics import jaro_winkler, phonetic_similarity, soundex


@pytest.mark.parametrize(
    ("word", "code"),
    [
        ("Robert", "R163"),
        ("Tymczak", "T522"),
        ("Pfister", "P236"),
        ("Honeyman", "H555"),
        ("a", "A000"),
        ("мама", ""),
    ],
)
def test_soundex_codes(word: str, code: str) -> None:
    assert soundex(word) == code


@pytest.mark.parametrize(
    ("first", "second", "value"),
    [("MARTHA", "MARHTA", 0.9611), ("DIXON", "DICKSONX", 0.8133), ("DWAYNE", "DUANE", 0.84)],
)
def test_jaro_winkler_of_the_textbook_names(first: str, second: str, value: float) -> None:
    assert jaro_winkler(first, second) == pytest.approx(value, abs=5e-5)


def test_words_that_sound_alike_are_alike() -> None:
    assert phonetic_similarity("katherine smith", "catherine smyth") > phonetic_similarity(
        "katherine smith", "new phone"
    )
    assert phonetic_similarity("throat", "throat") == 1.0
    assert phonetic_similarity("боль", "pain") == 0.0
