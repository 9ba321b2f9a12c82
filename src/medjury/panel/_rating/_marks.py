"""Passages of the answer that a rater marked: where each begins and ends, and its words, so that a program that
counts letters otherwise finds it too. A letter is a Unicode character, and a line break is one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from pydantic import TypeAdapter, ValidationError

from medjury.foundation.errors import MedjuryError
from medjury.panel._design import Passage
from medjury.panel._language import _

MARKS = "marks"  # the field of the form


@dataclass(frozen=True)
class Mark:
    """One passage: the answer's letters from `start` up to `end`."""

    start: int
    end: int
    text: str


Marks = tuple[Mark, ...]
_READ = TypeAdapter(list[Mark])


def text_to_mark(answer: Passage | None) -> str:
    """The answer's text as a browser has it: each line break is one letter."""
    return "" if answer is None else answer.text.replace("\r\n", "\n").replace("\r", "\n")


def marks_in(form: Mapping[str, str], answer: Passage | None) -> Marks | None:
    """What the form marks, in the order of the text; None where it says nothing of marks. Refused where the words
    are not those at that place, or two marks overlap."""
    if MARKS not in form:
        return None
    text, last, found = text_to_mark(answer), 0, []
    try:
        sent = _READ.validate_json(form[MARKS] or "[]", strict=True)
    except ValidationError:
        sent = [Mark(-1, -1, "")]
    for mark in sorted(sent, key=lambda each: each.start):
        if not last <= mark.start < mark.end <= len(text) or text[mark.start : mark.end] != mark.text:
            raise MedjuryError(
                _("Not saved: what you marked is not in the answer. Open the case again and mark anew.")
            )
        found.append(mark)
        last = mark.end
    return tuple(found)


def marks_row(marks: Sequence[Mark]) -> list[dict[str, object]]:
    """Marks as the database keeps them."""
    return [asdict(each) for each in marks]


def marks_from_row(row: Sequence[Mapping[str, object]] | None) -> Marks:
    """And back; None where nothing was saved yet."""
    return tuple(_READ.validate_python(row or []))


def marks_text(marks: Sequence[Mark]) -> str:
    """Marks as one cell of a table, or one field of the form: JSON."""
    return json.dumps(marks_row(marks), ensure_ascii=False)
