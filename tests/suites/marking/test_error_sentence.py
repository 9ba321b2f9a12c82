"""Errors in clinical texts: is there one, and in which sentence?"""

from __future__ import annotations

import csv

import pytest
from tests.suites.marking.made_up import SHARED, benchmark

from medjury.instruments import Reason
from medjury.suites import Item
from medjury.suites._marking._metrics import mark

SENTENCES = {
    0: "A 50-year-old man has fever.",
    1: "He takes no drugs at home today.",
    2: "Aspirin is given for the virus.",
}
WRONG = Item(
    "1", {}, ("2 Rest is advised.",), facts={"error": True, "error_sentence": 2, "sentences": SENTENCES}
)
RIGHT = Item("2", {}, ("CORRECT",), facts={"error": False, "error_sentence": -1, "sentences": SENTENCES})


@pytest.mark.parametrize(
    ("answer", "read"),
    [
        ("CORRECT", "CORRECT"),
        ("correct.", "CORRECT"),
        ("**CORRECT**", "CORRECT"),
        ("The text is correct.", "CORRECT"),
        ("There are no errors in this text.", "CORRECT"),
        ("<think>2?</think>CORRECT", "CORRECT"),
        ("The note does not contain any errors.", "CORRECT"),
        ("2 Rest is advised.", "sentence 2"),
        ("2", "sentence 2"),
        ("2: Rest is advised.", "sentence 2"),
        ("**2** Rest is advised.", "sentence 2"),
        ("Sentence 2: Rest.", "sentence 2"),
        ("The error is in sentence 2. It should read: Rest is advised.", "sentence 2"),
        ("Sentence 2 is incorrect.", "sentence 2"),
        ("The text is incorrect; see sentence 1.", "sentence 1"),
        ("The text is incorrect.", "error"),
        ('The error is in "Aspirin is given for the virus."', "sentence 2"),
        ("ms-test-7 1 2 Rest is advised.", "sentence 2"),
        ("ms-test-7 0 -1 NA", "CORRECT"),
        ('{"error_flag": 1, "error_sentence_id": 2}', "sentence 2"),
        ('{"error_flag": 0, "error_sentence_id": -1}', "CORRECT"),
        ("-1", "CORRECT"),
        ("0 A 50-year-old man has a fever of 39.", "sentence 0"),
        ("2 The correct drug is rest.", "sentence 2"),
    ],
)
def test_what_an_answer_finds_is_read(answer: str, read: str) -> None:
    assert mark(benchmark(), WRONG, answer, "error_flag").read == read


@pytest.mark.parametrize(
    ("item", "answer", "flag", "sentence"),
    [
        (WRONG, "2 Rest is advised.", 1, 1),
        (WRONG, "1 He takes aspirin.", 1, 0),
        (WRONG, "CORRECT", 0, 0),
        (RIGHT, "CORRECT", 1, 1),
        (RIGHT, "2 Rest is advised.", 0, 0),
    ],
)
def test_seeing_an_error_and_finding_its_sentence_are_two_marks(
    item: Item, answer: str, flag: int, sentence: int
) -> None:
    assert mark(benchmark(), item, answer, "error_flag").score == flag
    assert mark(benchmark(), item, answer, "error_sentence").score == sentence


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("", Reason.EMPTY),
        ("Hm.", Reason.PARSE),
        ("Sentences 1 and 2 are wrong.", Reason.PARSE),
        ("7 Rest.", Reason.OUT_OF_RANGE),
        ("I cannot assess this text.", Reason.PARSE),
        ("I'm sorry, I can't help.", Reason.REFUSAL),
        ("CORRECT, but there is an error in sentence 2 or sentence 1.", Reason.PARSE),
    ],
)
def test_what_finds_nothing_is_not_guessed(answer: str, reason: Reason) -> None:
    assert mark(benchmark(), WRONG, answer, "error_flag").reason is reason


def test_an_error_without_its_sentence_has_a_flag_and_no_sentence() -> None:
    assert mark(benchmark(), WRONG, "The text is incorrect.", "error_flag").score == 1
    assert mark(benchmark(), WRONG, "The text is incorrect.", "error_sentence").reason is Reason.MISSING


def test_every_gold_answer_of_the_source_is_right_by_both_marks() -> None:
    file = SHARED / "medec" / "MEDEC-MS-TestSet.csv"
    if not file.is_file():
        pytest.skip("MEDEC (shared/data/benchmarks/medec) is not on this machine")
    marked = 0
    with file.open(encoding="utf-8-sig", newline="") as opened:
        for row in csv.DictReader(opened):
            if not row["Text ID"]:
                continue
            error, number = row["Error Flag"] == "1", int(row["Error Sentence ID"])
            item = Item(row["Text ID"], {}, ("",), facts={"error": error, "error_sentence": number})
            answer = f"{number} {row['Corrected Sentence']}" if error else "CORRECT"
            assert mark(benchmark(), item, answer, "error_flag").score == 1, answer
            assert mark(benchmark(), item, answer, "error_sentence").score == 1, answer
            marked += 1
    assert marked == 597
