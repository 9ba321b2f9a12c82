"""Differences between two texts: every word is kept, and only those that differ are marked."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as some

from medjury.panel._rating._case_page import differences


def marked(pieces: list[object]) -> list[str]:
    return [each.text.strip() for each in pieces if each.differs]  # type: ignore[attr-defined]


@given(some.text(alphabet="ab .\n", max_size=60), some.text(alphabet="ab .\n", max_size=60))
def test_both_texts_are_whole_in_their_pieces(first: str, second: str) -> None:
    left, right = differences(first, second)
    assert "".join(each.text for each in left) == first
    assert "".join(each.text for each in right) == second


def test_a_lost_negation_is_marked_where_it_stood() -> None:
    left, right = differences("It is not painful at all.", "It is painful at all.")
    assert (marked([*left]), marked([*right])) == (["not"], [])


def test_capitals_spaces_and_punctuation_are_no_difference() -> None:
    left, right = differences("Yes, 5 mg  daily.", "yes 5 mg daily")
    assert (marked([*left]), marked([*right])) == ([], [])


def test_texts_too_long_to_compare_are_shown_unmarked() -> None:
    left, right = differences("a " * 5000, "b " * 5000)
    assert (len(left), len(right), left[0].differs) == (1, 1, False)
