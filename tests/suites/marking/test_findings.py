"""What an answer finds in a text: no error, an error, or an error in one of its sentences."""

from __future__ import annotations

import pytest
from tests.suites.marking.made_up import benchmark

from medjury.instruments import Reason
from medjury.suites import Item
from medjury.suites._marking._error_sentence import Finding, read_finding
from medjury.suites._marking._metrics import mark

SENTENCES = {
    0: "A man of fifty has had a fever since Monday.",
    1: "He takes aspirin every day for his heart.",
    2: "Rest.",
}
ITEM = Item("1", {}, ("1 So.",), facts={"error": True, "error_sentence": 1, "sentences": SENTENCES})
NONE, SOME = Finding(False), Finding(True)


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        *((f'{{"{name}": {flag}}}', SOME) for name in ("error_flag", "error", "Has Error", "flag")
          for flag in ('1', 'true', '"YES"', '"Incorrect "')),
        *((f'{{"{name}": {flag}}}', NONE) for name in ("error_flag", "flag") for flag in ("0", "false", '"no"')),
        *((f'{{"{name}": 2}}', Finding(True, 2))
          for name in ("error_sentence_id", "sentence id", "errorSentence", "sentence")),
        ('{"sentence": 0}', Finding(True, 0)),
        ('{"sentence": -1}', NONE),
        ('{"error": 1, "sentence": 0}', Finding(True, 0)),
        ('{"error": 1, "sentence": -1}', SOME),
        ('{"error": 1, "sentence": "two"}', SOME),
        ('{"error": 0, "sentence": 2}', NONE),
        ('So: {"error": 1, "sentence": "2"} as it is', Finding(True, 2)),
        ("id-1 1 2 Rest.", Finding(True, 2)),
        ("id-1 1 0 A man.", Finding(True, 0)),
        ("id-1 1 -1", SOME),
        ("id-1 0 2 NA", NONE),
        ("CORRECT", NONE),
        ("The text is correct.", NONE),
        ("Correct: no errors in sentences 1 and 2.", NONE),
        ("There is no error.", NONE),
        ("It does not contain any errors.", NONE),
        ("Nothing is wrong here.", NONE),
        ("-1", NONE),
        ("2 Rest is right.", Finding(True, 2)),
        ("(2)", Finding(True, 2)),
        ("Sentence number 2: Rest.", Finding(True, 2)),
        ("The error is in sentence 2.", Finding(True, 2)),
        ("He has sentence 2 wrong, sentence 2.", Finding(True, 2)),
        ("50 mg is too much in sentence 1.", Finding(True, 1)),
        ("This is wrong: he takes ASPIRIN every day  for his heart. Not so.", Finding(True, 1)),
        ("The text is not correct.", SOME),
        ("It is erroneous.", SOME),
        ("There is an error.", SOME),
    ],
)  # fmt: skip
def test_a_finding_is_read_from_objects_lines_and_words(answer: str, found: Finding) -> None:
    assert read_finding(answer, ITEM) == found


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
        ('{"error": 1, "sentence": 7}', Reason.OUT_OF_RANGE),
        ("I'm sorry, I cannot help.", Reason.REFUSAL),
    ],
)
def test_what_finds_nothing_or_several_is_not_guessed(answer: str, reason: Reason) -> None:
    found = read_finding(answer, ITEM)
    assert not isinstance(found, Finding) and found.reason is reason


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
