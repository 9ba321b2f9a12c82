"""A difference in words: "'not throat' became 'not so': denial of a part of the body lost"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from medjury.texts.metrics._differences.differences import DENIABLE, NOWHERE, Difference, Span
from medjury.texts.metrics._differences.reading import Reading, origins_of
from medjury.texts.metrics._lexicons import Lexicons

LABELS = {
    "drug": "drug",
    "symptom": "symptom",
    "condition": "condition",
    "anatomy": "part of the body",
    "laterality": "side or place",
    "dose": "dose or quantity",
    "number": "number",
    "time": "time or duration",
    "frequency": "frequency",
    "unit": "unit",
    "family": "family history",
    "history": "history (habit, test or treatment)",
    "exposure": "exposure",
    "qualifier": "description",
    "content": "content",
}
# A turn that was lost altogether is not listed word by word.
MOST_REASONS = 6
# Of a very long turn only so many differences are worded.
MOST_WORDED = 200
# Of a long stretch only the beginning and the end are quoted.
MOST_QUOTED = 12
# A negation this near to what it denies is quoted with it.
QUOTED_WITH = 3


class WordChange(NamedTuple):
    """A difference by the words as spoken: what stood there (`said`) and what stands in its place (`heard`)."""

    kind: str
    category: str
    said: Span
    heard: Span
    denied: bool
    loaded: bool


def located(
    said: Reading, heard: Reading, differences: Sequence[Difference], links: Sequence[int], lists: Lexicons
) -> list[WordChange]:
    """The differences by the words as spoken; `links` tells which canonical word became which."""
    if not differences:
        return []
    said_from, heard_from = origins_of(said, lists), origins_of(heard, lists)
    before, after = _neighbours(links, len(heard.words))
    changes = []
    for each in differences:
        (start, stop), place, denied = each.said, each.heard, each.denied
        if each.kind == "lost":
            denied = denied and each.category in DENIABLE
            if denied and start - each.denied_from <= QUOTED_WITH:
                start = each.denied_from
            first = links[start] if links[start] >= 0 else before[start]
            place = first, max(first, after[stop])
        changes.append(
            WordChange(
                each.kind,
                each.category,
                _spoken(said_from, start, stop),
                _spoken(heard_from, *place),
                denied,
                each.loaded,
            )
        )
    return changes


def reasons_for(
    changes: Sequence[WordChange], said: list[str], heard: list[str], said_answer: str, heard_answer: str
) -> tuple[str, ...]:
    """One sentence for each change, the gravest first."""
    if not changes:
        return ()
    if len(changes) > 1:
        changes = sorted(changes, key=_gravity)
    reasons: dict[str, None] = {} if heard else {"nothing was recognised": None}
    told: set[int] = set()
    for each in changes[:MOST_WORDED]:
        kind = each.kind
        if kind == "lost":
            first, last = each.heard
            changed = any(
                other.kind == "added" and other.category == each.category and first <= other.heard[0] < last
                for other in changes[:MOST_WORDED]
            )
            became = f"became '{_quoted(heard, each.heard)}'" if last > first else "was not recognised"
            what = LABELS[each.category]
            what = _denial(what) if each.denied else what
            told.update(range(first, last))
            reason = f"'{_quoted(said, each.said)}' {became}: {what} {'changed' if changed else 'lost'}"
        elif kind == "added":
            if told.issuperset(range(*each.heard)):
                continue
            reason = f"'{_quoted(heard, each.heard)}' was added: {LABELS[each.category]} that was not said"
        elif kind == "affirmed":
            words, what = _quoted(said, each.said), LABELS[each.category]
            reason = f"'{words}' was denied and now reads as affirmed: {_denial(what)} lost"
        elif kind == "denied":
            words, what = _quoted(said, each.said), LABELS[each.category]
            reason = f"'{words}' was affirmed and now reads as denied: {what} reversed"
        elif kind == "negation":
            reason = "a negation was lost" if each.denied else "a negation was added"
        elif kind == "answer":
            change = f"became '{heard_answer}'" if heard_answer else "was lost"
            reason = f"the answer '{said_answer}' {change}"
        else:
            reason = "an acknowledgement was lost"
        reasons[reason] = None
    kept = tuple(reasons)
    more = len(kept) - MOST_REASONS + max(0, len(changes) - MOST_WORDED)
    return kept if more <= 0 else (*kept[:MOST_REASONS], f"and {more} more")


def _denial(what: str) -> str:
    return f"denial of {'an' if what[0] in 'aeiou' else 'a'} {what}"


def _gravity(change: WordChange) -> tuple[bool, bool]:
    return not change.loaded, change.category == "content"


def _quoted(words: list[str], span: Span) -> str:
    start, stop = span
    if stop - start <= MOST_QUOTED:
        return " ".join(words[start:stop])
    return " ".join([*words[start : start + MOST_QUOTED // 2], "…", *words[stop - MOST_QUOTED // 2 : stop]])


def _spoken(origins: list[int], start: int, stop: int) -> Span:
    """The span of spoken words behind canonical words `start` to `stop`."""
    return (origins[start], origins[stop - 1] + 1) if stop > start else NOWHERE


def _neighbours(links: Sequence[int], length: int) -> tuple[list[int], list[int]]:
    """For every place of the reference: the hypothesis word after the nearest match to its left, and the nearest
    match from it to the right."""
    before, after = [0], [length]
    for link in links:
        before.append(link + 1 if link >= 0 else before[-1])
    for link in reversed(links):
        after.append(link if link >= 0 else after[-1])
    return before, after[::-1]
