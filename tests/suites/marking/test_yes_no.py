"""Yes, no and maybe, read as they are meant."""

from __future__ import annotations

import pytest
from tests.suites.marking.made_up import benchmark

from medjury.instruments import Reason
from medjury.suites import Item
from medjury.suites._marking._metrics import mark

ITEM = Item("1", {"question": "Is there no effect of rest on recovery after surgery?"}, ("yes",))


@pytest.mark.parametrize(
    ("answer", "read"),
    [
        ("yes", "yes"),
        ("No.", "no"),
        ("**Maybe**", "maybe"),
        ("YES!", "yes"),
        ("Answer: no", "no"),
        ("(maybe)", "maybe"),
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
        ("Is there no effect of rest on recovery after surgery? Yes", "yes"),
        ("Sí", "yes"),
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
        ("yes or no", Reason.PARSE),
        ("Yes and no.", Reason.PARSE),
        ("yes/no/maybe", Reason.PARSE),
        ("There is no effect.", Reason.PARSE),
        ("Yes.\n\nThe answer is no.", Reason.PARSE),
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
