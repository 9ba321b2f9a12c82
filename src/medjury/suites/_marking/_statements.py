"""Where an answer says what its answer is: statements, in their order, with how final each claims to be."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from medjury.suites._marking._choices import Choices, Named
from medjury.suites._marking._lines import listed_spans
from medjury.suites._marking._phrases import BACK, CUES, JOINS_BEFORE, LOOSE, NOT_OWN, VERDICT, WRONG

_OPTION = re.compile(r"\b(?:option|choice|answer)\s+$", re.IGNORECASE)
_NEAR = 400  # characters of a sentence that are looked at on either side
_SENTENCE = re.compile(
    r"(?:(?<!^[A-Za-z])(?<!\n[A-Za-z])(?<![(\[][A-Za-z])[.!?]+[\"'”)*_]*\s+|\n\s*\n|\n(?=\s*(?:[-*•#]|\(?[A-Za-z0-9]{1,2}[).:]\s)))"
)


@dataclass(frozen=True, slots=True)
class Statement:
    """The choices that a statement names, where it begins and ends, and whether it calls itself final."""

    start: int
    end: int
    named: Named
    final: bool = False


def statements(text: str, choices: Choices) -> list[Statement]:
    """Every statement of an answer that is the writer's own."""
    found = sorted([*_cued(text, choices), *_verdicts(text, choices)], key=lambda each: each.start)
    return [each for each in found if each.named.keys or each.named.unknown]


def taken_back(text: str, earlier: Statement, later: Statement) -> bool:
    """Whether the words between two statements say that the earlier no longer holds."""
    return BACK.search(text, earlier.end, later.end) is not None


def _cued(text: str, choices: Choices) -> Iterator[Statement]:
    listed = listed_spans(text, choices)
    for cue in CUES.finditer(text):
        if not _own(text, cue.start(), cue.end()):
            continue
        tail = text[cue.end() : cue.end() + _NEAR]
        named = choices.named_by(tail)
        end = cue.end() + len(tail) - len(named.rest)
        if LOOSE.match(cue.group()) and not _closes(choices, named, tail):
            continue
        if any(start > cue.start() and start < end <= stop for start, stop in listed):
            continue  # "each option:" and the options below it
        said = VERDICT.match(named.rest)
        if said and (said.group("not") or WRONG.match(said.group("what"))):
            continue  # "Answer: (A) is wrong"
        yield Statement(cue.start(), end, named, bool(cue.group("final")))


def _closes(choices: Choices, named: Named, tail: str) -> bool:
    """Whether a letter ends its clause, as it does where it is the answer and not a word in a sentence."""
    words = choices.filled(tail)
    letter = choices.letter_at(words)
    if not (letter.keys or letter.unknown):
        return False
    return (
        len(named.keys) > 1
        or re.match(
            r"[)\]}>*_\"'”]*\s*(?:$|[.,;:!\n(–—-]|(?:because|since|as|which|for|due|given|rather|instead|over|not)\b)|[)\]}>*_]",
            letter.rest,
        )
        is not None
    )


def _verdicts(text: str, choices: Choices) -> Iterator[Statement]:
    """ "C is correct", "option B: the right answer": a choice of which is said that it is right."""
    for place in re.finditer(r"(?<![\w'’])(?=[\w(\[])", text):
        here = text[place.start() : place.start() + 300]
        if _OPTION.search(text, max(0, place.start() - 12), place.start()):
            here = here[:1].upper() + here[1:]
        named = choices.one(here)
        if len(named.keys) != 1:
            continue
        said = VERDICT.match(named.rest)
        if said is None or said.group("not") or WRONG.match(said.group("what")):
            continue
        if JOINS_BEFORE.search(text[max(0, place.start() - 40) : place.start()]) or not _own(
            text, place.start(), place.start() + 1, verdict=True
        ):
            continue
        yield Statement(place.start(), place.start() + len(here) - len(named.rest) + said.end(), named)


@lru_cache(maxsize=8)
def _sentence_ends(text: str) -> tuple[int, ...]:
    return tuple(each.end() for each in _SENTENCE.finditer(text))


def _own(text: str, start: int, end: int, *, verdict: bool = False) -> bool:
    """Whether the sentence before a statement leaves it the writer's own and unquoted."""
    ends = _sentence_ends(text)
    before, after = bisect_right(ends, start), bisect_left(ends, end)
    begins = max(ends[before - 1] if before else 0, start - _NEAR)
    lead = text[begins : start if verdict else end]
    closing = (
        text[end : min(ends[after] if after < len(ends) else len(text), end + _NEAR)]
        .rstrip()
        .rstrip("\"'”*_)")
    )
    asks = (
        closing.endswith("?")
        and "?" not in lead
        and len(closing.split()) < 12
        and not re.search(r"[A-Z]\?$", closing)
    )
    quoted = (lead.count('"') % 2 == 1 and lead.count('"') > 0) or lead.count("“") > lead.count("”")
    starts_so = re.match(
        r"\W*(?:is|are|was|could|would|should|does|can)\b", lead, re.IGNORECASE
    ) and closing.endswith("?")
    clause = re.split(r";|\bbut\b|\bhowever\b", lead, flags=re.IGNORECASE)[-1]
    supposed = re.search(r"\b(?:if(?!\s+(?:I|we)\s+(?:had|have)\s+to)|whether|unless)\b", lead, re.IGNORECASE)
    return not (NOT_OWN.search(clause) or supposed or quoted or (asks and not verdict) or starts_so)
