"""Choices with the letters by which they are chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from string import ascii_uppercase

from medjury.suites._loaders._gather import RowError


def lettered(texts: Sequence[str]) -> dict[str, str]:
    """A, B, C … for the texts in their order. Two that read the same cannot be told apart, and are refused."""
    if not 2 <= len(texts) <= len(ascii_uppercase):
        raise RowError(f"has {len(texts)} choices; 2 to {len(ascii_uppercase)} can be lettered")
    if not all(text.strip() for text in texts):
        raise RowError("one of the choices is empty")
    return dict(zip(ascii_uppercase, texts, strict=False))


def letter_of(answer: str, choices: Mapping[str, str]) -> str:
    """The letter of a gold answer that is given as a letter or as the text of a choice."""
    if answer.upper() in choices:
        return answer.upper()
    found = [letter for letter, text in choices.items() if text.casefold() == answer.casefold()]
    if len(found) != 1:
        raise RowError(
            "the right answer is none of the choices" if not found else "the right answer is two choices"
        )
    return found[0]
