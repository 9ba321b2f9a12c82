"""Differences between two texts: every word is kept, and only those that differ are marked."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as some

from medjury.panel._rating._case_page import differences
from medjury.panel._word_difference import Parts, word_difference


def marked(parts: Parts) -> list[str]:
    return [words for words, differs in parts if differs]


@pytest.mark.parametrize("compare", [word_difference, differences])
@given(left=some.text("ab .\n", max_size=60) | some.text(max_size=60), right=some.text("ab .\n", max_size=60))
def test_both_texts_are_whole_in_their_parts(
    compare: Callable[[str, str], tuple[Parts, Parts]], left: str, right: str
) -> None:
    one, two = compare(left, right)
    assert ("".join(words for words, _ in one), "".join(words for words, _ in two)) == (left, right)


@pytest.mark.parametrize(
    ("compare", "left", "right", "only"),
    [
        (word_difference, "take 5 mg daily with food", "take 10 mg daily", (["5", "with food"], ["10"])),
        (word_difference, "Yes, 5 mg", "yes 5 mg", (["Yes,"], ["yes"])),
        (differences, "It is not painful at all.", "It is painful at all.", (["not"], [])),
        (differences, "Yes, 5 mg  daily.", "yes 5 mg daily", ([], [])),
        (differences, "Give .5 mg (.25).", "Give 5 mg (25).", ([".5", "(.25)."], ["5", "(25)."])),
    ],
)
def test_the_words_that_the_other_has_not_are_marked(
    compare: Callable[[str, str], tuple[Parts, Parts]],
    left: str,
    right: str,
    only: tuple[list[str], list[str]],
) -> None:
    one, two = compare(left, right)
    assert (marked(one), marked(two)) == only


def test_texts_too_long_to_compare_are_shown_unmarked() -> None:
    one, two = "a " * 5000, "b " * 5000
    assert word_difference(one, two) is None
    assert differences(one, two) == ([(one, False)], [(two, False)])
