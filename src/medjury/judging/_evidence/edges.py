"""Where a quotation begins and ends: not within a dose, a range, a fraction or a word with a hyphen.

"10 mg daily" stands in "5-10 mg daily", "give 5 mg" in "give 5 mg/kg", and "smoker for years" in "ex-smoker for
years"; none of them says what its text says.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from medjury.judging._evidence.words import UNITS, Token

# Between two numbers these make a range, a product or a ratio.
_JOINING = frozenset({"-", "to", "x", "×", "/", "or", "by"})
# Before a number these make it a limit.
_LIMITS = frozenset(
    """< > ≤ ≥ ± ~ ≈ ≠ ^ ↑ ↓ + - than above below over under least most exceed exceeding maximum max
    minimum""".split()  # noqa: SIM905
)


# Behind a number these are a part of it.
_BEHIND = frozenset("%^×°")
# A dash is no hyphen: what it joins are two thoughts, unless they are numbers.
_HYPHENS = "-\u2010\u2011/"


def is_cut(text: str, tokens: Sequence[Token], start: int, end: int) -> bool:
    """Whether `text[start:end]` leaves out a part of what it begins or ends with."""
    first = bisect_left(tokens, start, key=lambda token: token.start)
    last = bisect_left(tokens, end, key=lambda token: token.end)
    if not 0 <= first <= last < len(tokens):
        return False
    return _cut_before(text, tokens, first) or _cut_after(text, tokens, last)


def _cut_before(text: str, tokens: Sequence[Token], first: int) -> bool:
    if not first:
        return False
    here, before = tokens[first], tokens[first - 1]
    if before.end == here.start:
        if before.text == "?" or (_says(before) and _says(here) and here.text.isascii()):
            return True
        if text[before.start] in _HYPHENS and first > 1:
            other = tokens[first - 2]
            if other.end == before.start and _says(other):
                return True
    if here.kind != "number":
        return False
    if before.text == ":" and first > 1 and tokens[first - 2].end == before.start:  # a time of day, a ratio
        return tokens[first - 2].kind == "number"
    if before.text in _LIMITS and before.kind != "mark":
        return True
    return before.text in _JOINING and any(
        token.kind == "number" or token.text == "up" for token in tokens[max(0, first - 3) : first - 1]
    )


def _cut_after(text: str, tokens: Sequence[Token], last: int) -> bool:
    if last + 1 >= len(tokens):
        return False
    here, after = tokens[last], tokens[last + 1]
    then = tokens[last + 2] if last + 2 < len(tokens) else None
    if here.end == after.start:
        if after.text == "?" or (_says(here) and _says(after) and here.text.isascii()):
            return True
        if text[after.start] in _HYPHENS and then is not None and after.end == then.start and _says(then):
            return True
    if here.kind != "number" and here.text not in UNITS:
        return False
    if after.text == ":" and here.end == after.start and then is not None and then.start == after.end:
        return here.kind == then.kind == "number"
    if after.text == "per" or (here.kind == "number" and (after.text in UNITS or after.text in _BEHIND)):
        return True
    return after.text in _JOINING and after.text != "/" and then is not None and then.kind == "number"


def _says(token: Token) -> bool:
    return token.kind in ("word", "number")
