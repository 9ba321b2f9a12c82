"""Yes, no and maybe, read as they are meant."""

from __future__ import annotations

import pytest
from tests.suites.marking.made_up import benchmark

from medjury.instruments import Reason
from medjury.suites import Item
from medjury.suites._marking._metrics import mark, read_yes_no

ITEM = Item("1", {"question": "Is there no effect of rest on recovery after surgery?"}, ("yes",))


@pytest.mark.parametrize(
    ("answer", "read"),
    [
        ("yes", "yes"),
        ("No.", "no"),
        ("**Maybe**", "maybe"),
        ("YES!", "yes"),
        ("Answer: no", "no"),
        ("Yes, because there was no difference.", "yes"),
        ("No\n\nThe abstract shows no effect.", "no"),
        ("There was no difference, so the answer is yes.", "yes"),
        ("The answer to the question is: **No**", "no"),
        ("<think>yes? no?</think>\nmaybe", "maybe"),
        ('{"answer": "Yes"}', "yes"),
        ("\\boxed{no}", "no"),
        ("If the effect were larger the answer would be no. The final answer is maybe.", "maybe"),
        ("Uncertain", "maybe"),
        ("No evidence was lost.\nAnswer: yes", "yes"),
        ('{"answer": true}', "yes"),
        ("Nein.", "no"),
    ],
)
def test_the_word_that_is_the_answer_is_read(answer: str, read: str) -> None:
    found = mark(benchmark(), ITEM, answer, "yes_no_maybe")
    assert (found.read, found.score) == (read, float(read == "yes")), found


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("", Reason.EMPTY),
        ("yes/no/maybe", Reason.PARSE),
        ("There is no effect.", Reason.PARSE),
        ("No evidence was found.", Reason.PARSE),
        ("I cannot answer this.", Reason.REFUSAL),
        ("It depends.", Reason.PARSE),
        ("\\boxed{7}", Reason.OUT_OF_RANGE),
        ("Yesterday nothing was known.", Reason.PARSE),
        ("Knowing this is hard.", Reason.PARSE),
        ("The answer is not yes.", Reason.PARSE),
    ],
)
def test_what_is_neither_is_not_guessed(answer: str, reason: Reason) -> None:
    found = mark(benchmark(), ITEM, answer, "yes_no_maybe")
    assert found.reason is reason, found


ASKED = Item("1", {"question": "Does it help the old people much?"}, ("yes",))


@pytest.mark.parametrize(
    ("answer", "word"),
    [
        ("Yep!", "yes"),
        ("sí", "yes"),
        ("unclear", "maybe"),
        ("true", "yes"),
        ("'False'", "no"),
        ("Final answer: no. The answer is yes.", "no"),
        ("Final answer: no. The final answer is no.", "no"),
        ("The answer is yes; the conclusion is yes.", "yes"),
        ("The conclusion would be likely no since it fell.", "no"),
        ("The verdict must be: definitely yes", "yes"),
        ("answer = 'no'", "no"),
        ("The label → maybe", "maybe"),
        ("Yes because of it", "yes"),
        ("Yes it does", "yes"),
        ("No - it does not", "no"),
        ("It fell. Yes", "yes"),
        ("Did it? no", "no"),
        ("In short: perhaps", "maybe"),
        ("It fell\nand rose\nno\n\n", "no"),
        ("yes, or so it was. So the answer is yes.", "yes"),
        ("It could be. The answer is yes.", "yes"),
        ("If so, well" + " and" * 30 + " the answer is yes, so it is", "yes"),
        ('{"answer": "Yes."}', "yes"),
        ("[[yes]] [[YES]]", "yes"),
        ("Does it help the old people much? Yes", "yes"),
    ],
)
def test_a_word_is_the_answer_where_it_is_stated_or_stands_alone(answer: str, word: str) -> None:
    assert read_yes_no(answer, ASKED).value == word


@pytest.mark.parametrize(
    "answer",
    [
        "Hm",
        "Yes of course it may be",
        "yes or no",
        "yes, and no",
        "No/yes: hard to say",
        "Yes, it does. No: Maybe",
        "Yes\nThe answer is no.",
        "Final answer: no. Final answer: yes",
        "If the answer is yes, so be it",
        "Whether the answer is yes, nobody knows",
        "This could mean that the answer is yes, or it",
        "The answer is no longer known",
        "[[yes]] [[no]]",
        '{"answer": "hm"} {"answer": "yes"}',
        '{"answer": "hm"}',
    ],
)
def test_a_word_that_is_supposed_or_one_of_two_is_none(answer: str) -> None:
    reading = read_yes_no(answer, ASKED)
    assert reading.value is None and reading.reason


def test_the_gold_word_may_be_any_that_means_it() -> None:
    for gold, answer, score in (
        ("True", "yes", 1),
        ("yes", "true", 1),
        ("perhaps", "maybe", 1),
        ("NO", "yes", 0),
    ):
        assert mark(benchmark(), Item("1", {}, (gold,)), answer, "yes_no_maybe").score == score
    assert mark(benchmark(), Item("1", {}, ("no", "maybe")), "maybe", "yes_no_maybe").score == 1
