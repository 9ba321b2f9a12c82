"""Exact match: choices, labels and texts against the gold answer."""

from __future__ import annotations

import time

import pytest
from tests.suites.marking.made_up import benchmark

from medjury.foundation.errors import MedjuryError
from medjury.instruments import Reason
from medjury.suites import Item
from medjury.suites._marking._metrics import METRICS, mark

CHOSEN = Item("1", {"question": "Which?"}, ("B",), {"A": "Rest", "B": "Surgery"})


def test_a_right_letter_scores_one_and_says_what_was_read() -> None:
    found = mark(benchmark(), CHOSEN, "The answer is B.", "exact_match")
    assert (found.score, found.read) == (1, "B")


def test_a_wrong_letter_scores_zero() -> None:
    assert mark(benchmark(), CHOSEN, "A", "exact_match").score == 0


def test_the_gold_answer_may_be_the_text_of_a_choice() -> None:
    item = Item("1", {}, ("surgery",), {"A": "Rest", "B": "Surgery"})
    assert mark(benchmark(), item, "(B)", "exact_match").score == 1


def test_a_gold_answer_outside_the_choices_is_a_fault_of_the_item() -> None:
    item = Item("1", {}, ("D",), {"A": "Rest", "B": "Surgery"})
    found = mark(benchmark(), item, "A", "exact_match")
    assert (found.score, found.reason) == (None, Reason.INPUT)


def test_an_item_without_gold_answer_cannot_be_marked() -> None:
    assert mark(benchmark(), Item("1", {}), "A", "exact_match").reason is Reason.INPUT


@pytest.mark.parametrize(
    ("gold", "answer", "score"),
    [
        ("Atrial fibrillation", "atrial  fibrillation.", 1),
        ("Atrial fibrillation", "The diagnosis is atrial fibrillation", 1),
        ("Atrial fibrillation", "**Answer:** Atrial Fibrillation", 1),
        ("Atrial fibrillation", '{"answer": "atrial fibrillation"}', 1),
        ("Atrial fibrillation", "atrial flutter", 0),
        ("Atrial fibrillation", "not atrial fibrillation", 0),
        ("1,000", "1000", 1),
        ("1.5", "15", 0),
        ("T2N1", "t2n1", 1),
    ],
)
def test_texts_are_compared_without_case_spacing_and_punctuation(gold: str, answer: str, score: int) -> None:
    assert mark(benchmark(), Item("1", {}, (gold,)), answer, "exact_match").score == score


def test_every_gold_text_counts() -> None:
    item = Item("1", {}, ("heart attack", "myocardial infarction"))
    assert mark(benchmark(), item, "Myocardial infarction", "exact_match").score == 1


@pytest.mark.parametrize(
    ("answer", "read"),
    [("no finding", "no finding"), ("The answer is: FINDING", "finding"), ("finding or no finding", "")],
)
def test_labels_are_read_like_choices_without_letters(answer: str, read: str) -> None:
    item = Item("1", {}, ("finding",))
    assert mark(benchmark(labels=["finding", "no finding"]), item, answer, "exact_match").read == read


def test_an_unknown_metric_is_named_with_the_known_ones() -> None:
    with pytest.raises(MedjuryError, match="did you mean 'exact_match'"):
        mark(benchmark(), CHOSEN, "A", "exact_mach")
    assert "exact_match" in METRICS


@pytest.mark.parametrize("piece", ["A. ", "the answer is ", "<think>", '{"answer": ', "**A** "])
def test_a_long_answer_is_read_in_a_moment(piece: str) -> None:
    before = time.process_time()
    mark(benchmark(), CHOSEN, piece * (12_000 // len(piece)), "exact_match")
    assert time.process_time() - before < 5


def test_a_text_that_stands_under_two_letters_is_right_where_both_are() -> None:
    choices = {"A": "Rest", "B": "Rest", "C": "Go"}
    both, one = (Item("1", {"question": "What now?"}, gold, choices) for gold in (("A", "B"), ("A",)))
    assert mark(benchmark(), both, "Rest.", "exact_match").score == 1
    assert mark(benchmark(), both, "A or C", "exact_match").score is None
    assert mark(benchmark(), one, "Rest", "exact_match").score is None
