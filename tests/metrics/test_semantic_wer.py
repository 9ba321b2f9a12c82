"""Semantic-weighted WER: an error costs what the word is worth."""

from __future__ import annotations

import numpy as np
import pytest

from medjury.texts.metrics import _semantic_wer as module
from medjury.texts.metrics import score
from medjury.texts.metrics._lexicons import lexicons


def semantic(reference: str, hypothesis: str) -> float:
    value, _ = module.semantic_wer(reference, hypothesis, lexicons())
    assert value is not None
    return value


def test_hesitations_and_equivalent_wordings_cost_nothing() -> None:
    assert semantic("Um, yeah, I don't have any pain.", "yes i do not have any pain") == 0.0


def test_a_lost_symptom_costs_more_than_a_lost_article() -> None:
    assert semantic("I have the pain", "I have the") > semantic("I have the pain", "I have pain") > 0


def test_a_lost_negation_costs_as_much_as_a_lost_symptom() -> None:
    assert semantic("not the throat", "the throat") == semantic("not the throat", "not the")


def test_the_arithmetic_by_hand() -> None:
    """Weights: no 2, chest pain 2 + 2, in ½, garden 1; garden for carpet is a substitution of weight 1."""
    assert semantic("no chest pain in garden", "chest pain in carpet") == pytest.approx((2 + 1) / 7.5)


def test_undefined_is_said() -> None:
    scores = score(["um", ""], ["pain", "pain"], ["semantic_wer"])
    assert scores.column("semantic_wer") == [None, None]
    assert "beyond hesitations" in scores.reasons["semantic_wer"][0]


def test_very_long_texts_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_CELLS", 3)
    scores = score(["left arm"], ["right arm"], ["semantic_wer"])
    assert "too long" in scores.reasons["semantic_wer"][0]


def test_the_published_values_where_no_two_different_words_are_alike() -> None:
    """Table 9 of Ellis et al. (2025): 0.0094 and 0.1111. By hand, first example: seventeen words said, eighteen
    heard; "throat" is deleted (1/17), "so" and the second "i" are inserted (2/18), all divided by 18. Second
    example: two of six words deleted and two inserted, 4/6, divided by 6."""
    said = "not throat but i can yeah i can i can definitely feel something in the lips yeah"
    heard = "not so but i can i yeah i can i can definitely feel something in the lips yeah"
    first = published(said, heard)
    assert first == pytest.approx((1 / 17 + 2 / 18) / 18)
    second = published("no no been feeling fine actually", "no no its sitting fine actually")
    assert second == pytest.approx((4 / 6) / 6)
    assert (round(first, 4), round(second, 4)) == (0.0094, 0.1111)


def test_a_word_that_is_alike_costs_nothing() -> None:
    assert published("a b c", "a x c", alike={("b", "x")}) == 0.0


def test_nothing_in_common_costs_two_divided_by_the_words_heard() -> None:
    """Everything said is deleted (N times 1/N) and everything heard inserted (M times 1/M)."""
    assert published("a b", "w x y z") == pytest.approx(2 / 4)


def published(said: str, heard: str, alike: set[tuple[str, str]] | None = None) -> float:
    rows = [
        np.array([one == other or (one, other) in (alike or set()) for other in heard.split()])
        for one in said.split()
    ]
    return module.semantic_wer_ellis(rows, len(said.split()), len(heard.split()))
