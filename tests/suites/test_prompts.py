"""A prompt is filled in once: whatever a patient's text holds, it is text."""

from __future__ import annotations

import pytest

from medjury.foundation.errors import MedjuryError
from medjury.suites import Item, load_benchmark, prompt_of

BENCHMARK = load_benchmark("pubmedqa").model_copy(update={"prompt": "From {abstract} say: {question}"})


def test_braces_inside_an_input_mean_nothing() -> None:
    item = Item("1", {"abstract": "{question} {0} {missing} {{x}} \\1", "question": "why?"})
    assert prompt_of(BENCHMARK, item) == "From {question} {0} {missing} {{x}} \\1 say: why?"


def test_choices_follow_the_prompt_that_has_no_place_for_them() -> None:
    item = Item("1", {"abstract": "a", "question": "b"}, choices={"A": "yes", "B": "no"})
    assert prompt_of(BENCHMARK, item) == "From a say: b\n\nA. yes\nB. no"


def test_an_input_that_an_item_lacks_is_named() -> None:
    with pytest.raises(MedjuryError, match="item 1 has no 'question', which its prompt asks for"):
        prompt_of(BENCHMARK, Item("1", {"abstract": "a"}))
