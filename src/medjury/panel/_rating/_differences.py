"""What differs between two texts, word by word, for the eye of a rater."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher

_WORDS = re.compile(r"\s+|[^\s]+")
_MOST_WORDS = 4000  # beyond that the comparison takes longer than a rater waits, and nothing is marked


@dataclass(frozen=True)
class Piece:
    """A stretch of text that both sides share, or that this side has alone."""

    text: str
    differs: bool


def differences(first: str, second: str) -> tuple[list[Piece], list[Piece]]:
    """Both texts in pieces. Only whole words differ; capitals and punctuation at a word's edge do not count."""
    one, other = _WORDS.findall(first), _WORDS.findall(second)
    if len(one) + len(other) > _MOST_WORDS:
        return [Piece(first, False)], [Piece(second, False)]
    left: list[Piece] = []
    right: list[Piece] = []
    matcher = SequenceMatcher(None, list(map(_plain, one)), list(map(_plain, other)), autojunk=False)
    for kind, start, end, from_, to in matcher.get_opcodes():
        _add(left, "".join(one[start:end]), kind != "equal")
        _add(right, "".join(other[from_:to]), kind != "equal")
    return left, right


def _plain(word: str) -> str:
    return " " if word.isspace() else word.strip(".,;:!?\"'“”’()").casefold() or word


def _add(pieces: list[Piece], text: str, differs: bool) -> None:
    if text:
        pieces.append(Piece(text, differs and not text.isspace()))
