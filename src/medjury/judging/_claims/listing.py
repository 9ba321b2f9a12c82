"""The claims of a text: read from the model's answer, separated from their repetitions, found in the text."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from medjury.instruments import Reason
from medjury.intake.cases import clean_text
from medjury.judging._asking import Unusable
from medjury.judging._claims.claim import RecordedClaim, recorded_place
from medjury.judging._clinical_words import Token, content, tokens
from medjury.judging._quotations import Source, locate
from medjury.judging._retrieval import sentences

# More than this from one piece of text is a model that does not stop.
MOST_CLAIMS = 200
# Fewer words without a number may say nothing that can be verified: "Thank you for this interesting question."
_FEW_WORDS = 8


def read_claims(
    value: Any, source: Source, importances: Collection[int], most: int | None = None
) -> list[RecordedClaim]:
    """The claims of an answer, each with its place in the text; `Unusable` says what is wrong with it."""
    entries = value.get("claims") if isinstance(value, Mapping) else None
    if not isinstance(entries, list):
        raise Unusable('it needs one object with a list "claims"')
    if len(entries) > (most or MOST_CLAIMS):
        raise Unusable(f"it lists {len(entries)} claims; list each once, at most {most or MOST_CLAIMS}")
    return [_read(entry, number, source, importances) for number, entry in enumerate(entries, start=1)]


def says_something(text: str) -> bool:
    """Whether a text is long enough, or has a number in it, so that it cannot be without a claim."""
    found = content(tokens(text))
    return len(found) >= _FEW_WORDS or any(token.kind == "number" for token in found)


def some(claims: list[RecordedClaim], text: str) -> list[RecordedClaim]:
    """The claims; `Unusable` where there is none of a text that says something: silence is no finding."""
    if not claims and says_something(text):
        problem = (
            f"it lists no claim of a text of {len(text.split())} words; list each thing that the text says"
        )
        raise Unusable(problem, Reason.MISSING)
    return claims


def without_repeats(
    claims: Iterable[RecordedClaim],
) -> tuple[list[RecordedClaim], list[tuple[RecordedClaim, int]]]:
    """The claims, each once, and the repetitions with the place of the claim they repeat.

    A claim is a repetition where it has the same words in the same order, apart from case, punctuation, slight
    words and the plural; "smokes" and "smoked" are two claims. A looser rule would merge claims that differ in
    one word, which may be the drug. The claim that stays takes the higher importance of the two.
    """
    kept: list[RecordedClaim] = []
    repeats: list[tuple[RecordedClaim, int]] = []
    places: dict[tuple[str, ...], int] = {}
    for claim in claims:
        key = tuple(_stem(token) for token in content(tokens(claim.claim)))
        place = places.setdefault(key, len(kept))
        if place == len(kept):
            kept.append(claim)
            continue
        repeats.append((claim, place))
        if claim.importance > kept[place].importance:
            kept[place] = kept[place].replaced(importance=claim.importance)
    return kept, repeats


def pieces(text: str, most: int) -> list[tuple[int, int]]:
    """The places of parts of at most `most` signs (one sentence, where that is longer), cut between sentences."""
    if len(text) <= most:
        return [(0, len(text))]
    made: list[tuple[int, int]] = []
    for start, end in sentences(text):
        if made and end - made[-1][0] <= most:
            made[-1] = made[-1][0], end
        else:
            made.append((start, end))
    return made


def numbers_of(text: str) -> list[str]:
    """The numbers in a text, as written."""
    return [token.text for token in tokens(text) if token.kind == "number"]


def _read(entry: Any, number: int, source: Source, importances: Collection[int]) -> RecordedClaim:
    if not isinstance(entry, Mapping):
        raise Unusable(f"claim {number} is not an object")
    text, quote, importance = entry.get("claim"), entry.get("quote", ""), entry.get("importance")
    if not isinstance(text, str) or not text.strip():
        raise Unusable(f'claim {number} has no "claim"')
    if not isinstance(quote, str):
        raise Unusable(f'the "quote" of claim {number} is not text')
    importance = whole_number(importance)
    if not isinstance(importance, int) or isinstance(importance, bool) or importance not in importances:
        grades = ", ".join(str(each) for each in sorted(importances))
        raise Unusable(f'the "importance" of claim {number} must be one of {grades}')
    place = locate(quote, source)
    return RecordedClaim(
        number=number,
        claim=clean_text(text).strip(),
        importance=importance,
        quote=clean_text(quote),
        source=source.id,
        place=None if place is None else recorded_place(place),
    )


def whole_number(value: Any) -> Any:
    """A number that came as text; anything else as it is."""
    short = isinstance(value, str) and len(value) < 20
    return int(value) if short and value.strip().isdecimal() else value


def _stem(token: Token) -> str:
    """A word without the ending that number gives it. Endings of tense stay: a habit is not a history."""
    word = token.text
    plural = token.kind == "word" and word.isascii() and not token.is_protected and len(word) > 3
    return word[:-1] if plural and word.endswith("s") and not word.endswith("ss") else word


def strays(claim: RecordedClaim, numbers: Collection[str]) -> list[str]:
    """Numbers in the claim that are not among those of its text: the model that listed it brought them in."""
    return [number for number in numbers_of(claim.claim) if number not in numbers]
