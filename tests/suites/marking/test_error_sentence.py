"""Errors in clinical texts: is there one, and in which sentence?"""

from __future__ import annotations

import csv

import pytest
from tests.suites.marking.made_up import SHARED, benchmark

from medjury.instruments import Reason
from medjury.suites import Item
from medjury.suites._marking._error_sentence import read_finding
from medjury.suites._marking._metrics import mark

SENTENCES = {
    0: "A man of fifty has had a fever since Monday.",
    1: "He takes aspirin every day for his heart.",
    2: "Rest.",
}
ITEM = Item("1", {}, ("1 So.",), facts={"error": True, "error_sentence": 1, "sentences": SENTENCES})
NONE, SOME = "CORRECT", "error"


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        *((f'{{"{name}": {flag}}}', SOME) for name in ("error_flag", "error", "Has Error", "flag")
          for flag in ('1', 'true', '"YES"', '"Incorrect "')),
        *((f'{{"{name}": {flag}}}', NONE) for name in ("error_flag", "flag") for flag in ("0", "false", '"no"')),
        *((f'{{"{name}": 2}}', "sentence 2")
          for name in ("error_sentence_id", "sentence id", "errorSentence", "sentence")),
        ('{"sentence": 0}', "sentence 0"),
        ('{"sentence": -1}', NONE),
        ('{"error": 1, "sentence": 0}', "sentence 0"),
        ('{"error": 1, "sentence": -1}', SOME),
        ('{"error": 1, "sentence": "two"}', SOME),
        ('{"error": 0, "sentence": 2}', NONE),
        ('So: {"error": 1, "sentence": "2"} as it is', "sentence 2"),
        ("id-1 1 2 Rest.", "sentence 2"),
        ("id-1 1 0 A man.", "sentence 0"),
        ("id-1 1 -1", SOME),
        ("id-1 0 2 NA", NONE),
        ("CORRECT", NONE),
        ("The text is correct.", NONE),
        ("Correct: no errors in sentences 1 and 2.", NONE),
        ("There is no error.", NONE),
        ("It does not contain any errors.", NONE),
        ("Nothing is wrong here.", NONE),
        ("-1", NONE),
        ("2 Rest is right.", "sentence 2"),
        ("(2)", "sentence 2"),
        ("Sentence number 2: Rest.", "sentence 2"),
        ("The error is in sentence 2.", "sentence 2"),
        ("He has sentence 2 wrong, sentence 2.", "sentence 2"),
        ("50 mg is too much in sentence 1.", "sentence 1"),
        ("This is wrong: he takes ASPIRIN every day  for his heart. Not so.", "sentence 1"),
        ("The text is not correct.", SOME),
        ("It is erroneous.", SOME),
        ("There is an error.", SOME),
    ],
)  # fmt: skip
def test_a_finding_is_read_from_objects_lines_and_words(answer: str, found: str) -> None:
    assert read_finding(answer, ITEM).value == found


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("", Reason.EMPTY),
        ("Hm.", Reason.PARSE),
        ("Sentences 1 and 2.", Reason.PARSE),
        ("0 A man.\n1 He rests.", Reason.PARSE),
        ("The text is correct, but see the Error in sentence 1", Reason.PARSE),
        ("The text is correct, sentence 1 is wrong", Reason.PARSE),
        ("Sentence 3 is wrong", Reason.OUT_OF_RANGE),
        ("-5 Rest.", Reason.OUT_OF_RANGE),
        ('{"error": 1, "sentence": 7}', Reason.OUT_OF_RANGE),
        ("I'm sorry, I cannot help.", Reason.REFUSAL),
    ],
)
def test_what_finds_nothing_or_several_is_not_guessed(answer: str, reason: Reason) -> None:
    found = read_finding(answer, ITEM)
    assert found.value is None and found.reason is reason


def test_a_finding_is_marked_by_its_flag_and_by_its_sentence() -> None:
    right = Item("2", {}, ("CORRECT",), facts={"error": False, "error_sentence": -1})

    def marked(item: Item, answer: str) -> list[tuple[float | None, str]]:
        marks = [mark(benchmark(), item, answer, metric) for metric in ("error_flag", "error_sentence")]
        return [(each.score, each.read) for each in marks]

    assert marked(ITEM, "1 He rests.") == [(1.0, "sentence 1")] * 2
    assert marked(ITEM, "2 He rests.") == [(1.0, "sentence 2"), (0.0, "sentence 2")]
    assert (
        marked(ITEM, "CORRECT") == [(0.0, "CORRECT")] * 2
        and marked(right, "CORRECT") == [(1.0, "CORRECT")] * 2
    )
    assert marked(ITEM, "There is an error.") == [(1.0, "error"), (None, "error")]
    assert marked(right, "99 He rests.") == [(0.0, "sentence 99")] * 2, (
        "no sentences are known, so none is ruled out"
    )
    assert marked(Item("3", {}), "CORRECT") == [(None, "")] * 2


TEXT = {
    0: "A 50-year-old man has fever.",
    1: "He takes no drugs at home today.",
    2: "Aspirin is given for the virus.",
}
WRONG = Item("1", {}, ("2 Rest is advised.",), facts={"error": True, "error_sentence": 2, "sentences": TEXT})


@pytest.mark.parametrize(
    ("answer", "read"),
    [
        ("correct.", "CORRECT"),
        ("**CORRECT**", "CORRECT"),
        ("There are no errors in this text.", "CORRECT"),
        ("<think>2?</think>CORRECT", "CORRECT"),
        ("The note does not contain any errors.", "CORRECT"),
        ("2 Rest is advised.", "sentence 2"),
        ("2: Rest is advised.", "sentence 2"),
        ("**2** Rest is advised.", "sentence 2"),
        ("Sentence 2 is incorrect.", "sentence 2"),
        ("The text is incorrect; see sentence 1.", "sentence 1"),
        ("The text is incorrect.", "error"),
        ('The error is in "Aspirin is given for the virus."', "sentence 2"),
        ("0 A 50-year-old man has a fever of 39.", "sentence 0"),
        ("2 The correct drug is rest.", "sentence 2"),
    ],
)
def test_what_an_answer_finds_is_read_behind_other_words(answer: str, read: str) -> None:
    assert mark(benchmark(), WRONG, answer, "error_flag").read == read


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("7 Rest.", Reason.OUT_OF_RANGE),
        ("I cannot assess this text.", Reason.PARSE),
        ("CORRECT, but there is an error in sentence 2 or sentence 1.", Reason.PARSE),
    ],
)
def test_a_sentence_that_is_not_there_and_two_words_are_not_guessed(answer: str, reason: Reason) -> None:
    assert mark(benchmark(), WRONG, answer, "error_flag").reason is reason


def test_an_error_where_there_is_none_is_wrong_by_both_marks() -> None:
    right = Item("2", {}, ("CORRECT",), facts={"error": False, "error_sentence": -1, "sentences": TEXT})
    marks = [
        mark(benchmark(), right, "2 Rest is advised.", name) for name in ("error_flag", "error_sentence")
    ]
    assert [each.score for each in marks] == [0, 0]
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
