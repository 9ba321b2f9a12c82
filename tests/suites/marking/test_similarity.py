"""How near an answer's words are to the gold answer."""

from __future__ import annotations

import importlib.util

import pytest
from tests.suites.marking.made_up import benchmark

from medjury.foundation.errors import MedjuryError
from medjury.instruments import Reason
from medjury.suites import Item
from medjury.suites._marking._metrics import mark, mark_all

ITEM = Item("1", {}, ("Take one tablet daily.", "One tablet a day"))


def test_the_same_words_are_one_and_other_words_zero() -> None:
    assert mark(benchmark(), ITEM, "take ONE tablet, daily", "rouge_l").score == 1
    assert mark(benchmark(), ITEM, "Rest well", "rouge_l").score == 0


def test_the_nearest_gold_answer_counts() -> None:
    assert mark(benchmark(), ITEM, "One tablet a day.", "rouge_l").score == 1


def test_reasoning_is_not_compared() -> None:
    answer = "<think>many other words</think>Take one tablet daily."
    assert mark(benchmark(), ITEM, answer, "rouge_l").score == 1


def test_an_empty_answer_and_a_missing_gold_answer_have_no_score() -> None:
    empty, without = mark_all(benchmark(), [ITEM, Item("2", {})], ["", "words"], "rouge_l")
    assert (empty.reason, without.reason) == (Reason.EMPTY, Reason.INPUT)


@pytest.mark.skipif(
    importlib.util.find_spec("transformers") is not None, reason="the extra is installed here"
)
@pytest.mark.parametrize("metric", ["bertscore", "embedding"])
def test_without_the_extra_the_message_says_what_to_install(metric: str) -> None:
    with pytest.raises(MedjuryError, match="install"):
        mark(benchmark(), ITEM, "Take one tablet.", metric)


def test_a_jurys_score_is_not_marked_here() -> None:
    with pytest.raises(MedjuryError, match="run of judges"):
        mark(benchmark(), ITEM, "x", "jury")
