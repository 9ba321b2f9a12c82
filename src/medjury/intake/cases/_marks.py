"""Marks of a case: hashes by which the same texts are known again, in another study, under another name and id.

Whoever tuned on a text may not prove anything on it. Ids are given anew in every study, so a case is known by its
words: all of them together, the answer with its reference, what is known beside the answer, and every long note.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from medjury.intake.cases._case import Case

# Shorter texts ("yes", a specialty, a standing instruction) are shared by cases that have nothing to do with each
# other.
_TELLING_ANSWER, _TELLING_RECORD, _TELLING_NOTE = 40, 100, 400
_DIGITS = 16


def content_marks(case: Case) -> frozenset[str]:
    """The marks of a case. Two cases that share one are taken for the same, or for the same patient's; spaces, case
    of letters, the names of the texts, the id, the system and the patient's name make no difference."""
    answer = [_plain(case.candidate), _plain(case.reference)]
    others = [_plain(text) for text in case.texts.values()]
    notes = [_plain(note.text) for note in case.notes]
    record = [answer[1], *others, *notes]
    marks = [_mark([*answer, *others, *notes])]
    if len(answer[0] + answer[1]) >= _TELLING_ANSWER:
        marks.append(_mark(["answer", *answer], in_order=True))
    if sum(map(len, record)) >= _TELLING_RECORD:
        marks.append(_mark(["record", *record]))
    marks += [_mark(["note", note]) for note in notes if len(note) >= _TELLING_NOTE]
    return frozenset(marks)


def _plain(text: str | None) -> str:
    return " ".join((text or "").casefold().split())


def _mark(texts: Iterable[str], *, in_order: bool = False) -> str:
    said = [text for text in texts if text]
    whole = "\0".join(said if in_order else sorted(set(said)))
    return hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
