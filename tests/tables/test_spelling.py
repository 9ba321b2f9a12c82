"""One rater spelled two ways is noticed; two raters with similar names are not accused."""

from __future__ import annotations

import pytest

from medjury.foundation.errors import MedjuryError
from medjury.tables._roles import known_rater, look_alikes


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("GPT-4o", "gpt 4o"),
        ("Dr Lee", "dr. lee"),
        ("claude ", "claude"),
        ("sonnet", "sonet"),
        ("gemini", "gemnii"),
    ],
)
def test_spellings_of_one_name_are_noticed(first: str, second: str) -> None:
    (warning,) = look_alikes([first, second], lambda *_: False)
    assert repr(first) in warning
    assert repr(second) in warning


@pytest.mark.parametrize(
    ("first", "second"),
    [("clinician_a", "clinician_b"), ("rater 1", "rater 2"), ("gpt-4o", "gpt-4o-mini"), ("o3", "o4"),
     ("qwen2", "qwen3"), ("llama-3-8b", "llama-3-70b"), ("anna", "anne")],
)  # fmt: skip
def test_different_raters_are_not_accused(first: str, second: str) -> None:
    assert look_alikes([first, second], lambda *_: False) == []


def test_a_slip_of_the_pen_does_not_rate_the_same_item_as_the_right_name() -> None:
    assert look_alikes(["sonnet", "sonet"], lambda *_: True) == []


def test_an_unknown_rater_is_an_error_with_a_suggestion() -> None:
    with pytest.raises(MedjuryError, match="did you mean 'gpt-4o'"):
        known_rater("GPT4o", ["claude", "gpt-4o"], "reference")
    with pytest.raises(MedjuryError, match="known: a, b"):
        known_rater("zzz", ["a", "b"], "reference")
