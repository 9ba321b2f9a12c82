"""Choices with the letters by which they are chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from string import ascii_uppercase

from medjury.suites._loaders._reading.gather import RowError


def lettered(texts: Sequence[str]) -> dict[str, str]:
    """A, B, C … for the texts in their order."""
    if not 2 <= len(texts) <= len(ascii_uppercase):
        raise RowError(f"has {len(texts)} choices; 2 to {len(ascii_uppercase)} can be lettered")
    if not all(text.strip() for text in texts):
        raise RowError("one of the choices is empty")
    return dict(zip(ascii_uppercase, texts, strict=False))


def right_letters(letter: str, choices: Mapping[str, str]) -> tuple[str, ...]:
    """The right letter, and every other whose text reads the same: sources have such questions, and nobody can tell
    the two apart."""
    text = choices[letter].casefold()
    return (letter, *(each for each in choices if each != letter and choices[each].casefold() == text))


def letter_of(answer: str, choices: Mapping[str, str]) -> str:
    """The letter of a gold answer that is given as a letter or as the text of a choice. Where it may be either, as
    with blood groups, nobody can tell which was meant."""
    found = [letter for letter, text in choices.items() if text.casefold() == answer.casefold()]
    letter = answer.upper()
    if letter in choices and found and letter not in found:
        raise RowError(
            f"the right answer may be the letter {letter} or the text of {found[0]}; reword that choice"
        )
    if letter in choices:
        return letter
    if not found:
        raise RowError("the right answer is none of the choices")
    return found[0]
