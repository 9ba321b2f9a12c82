"""Semantic-weighted WER: an error costs what the word is worth."""

from __future__ import annotations

import pytest

from medjury.metrics import _semantic_wer as module
from medjury.metrics import score
from medjury.metrics._lexicons import lexicons


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
