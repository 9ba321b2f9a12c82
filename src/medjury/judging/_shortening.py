"""Shortens a record that does not fit its model, by a stated rule, and says exactly what was left out.

Whole notes go first; the last one that is left is cut between sentences. Of a conversation whole turns go, and its
instructions stay. The answer under judgement and the reference are never touched. Everything left out is counted,
and the record itself says that it was.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeVar

from medjury.intake.cases import Case, ChatMessage, Note
from medjury.judging._dates import moment_of
from medjury.models import cautious_tokens
from medjury.store.runs import RecordedCut

Part = TypeVar("Part", Note, int)
Keep = Literal["newest", "oldest", "both_ends"]
UNTOUCHABLE = ("candidate", "reference")
# Part of a rating's key wherever a record may be shortened: raise it when the rule or its words change.
FITTING_VERSION = "2"

_MOST_IDS = 20
_LONGEST_PIECE = 400
_MARKER_TOKENS = 60  # for the words around the ids
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")


@dataclass(frozen=True, slots=True)
class Truncation:
    """What may be shortened (the notes, or the text of that name), and which of it is worth most."""

    what: str = "notes"
    keep: Keep = "newest"

    def settings(self) -> dict[str, str]:
        return {"truncate": self.what, "keep": self.keep}


def shorten(case: Case, rule: Truncation, tokens: int) -> tuple[Case, RecordedCut] | None:
    """The case with at least so many tokens fewer, by the cautious count, and what was left out of it. None
    where that would leave nothing at all of what may be shortened."""
    if rule.what in case.messages:
        return _shorten_conversation(case, rule, tokens)
    if rule.what != "notes":
        return _shorten_text(case, rule, tokens)
    if not case.notes:
        return None
    ordered, order = _in_time(case.notes)
    goes = _order_of_going(ordered, rule.keep)
    left_out: list[Note] = []
    missing = tokens
    while missing > 0 and len(left_out) < len(goes) - 1:
        note = goes[len(left_out)]
        missing -= cautious_tokens(note.text) - cautious_tokens(note.id) - (0 if left_out else _MARKER_TOKENS)
        left_out.append(note)
    last, part = goes[-1], None
    if missing > 0:
        part = _keep_part(last.text, rule.keep, missing + _MARKER_TOKENS)
        if part is None:
            return None
    gone = {id(note) for note in left_out}  # the notes themselves: two may have one id
    kept = [
        replace(note, text=part[0]) if part is not None and note is last else note
        for note in case.notes
        if id(note) not in gone
    ]
    characters = sum(len(note.text) for note in left_out) + (0 if part is None else part[1])
    if left_out:
        marker = _marker_note(case.notes, left_out)
        kept = [marker, *kept] if rule.keep == "newest" else [*kept, marker]
    cut = RecordedCut(
        truncate="notes",
        keep=rule.keep,
        order=order,
        notes_left_out=tuple(note.id for note in case.notes if id(note) in gone),
        shortened=None if part is None else last.id,
        characters_left_out=characters,
        characters=sum(len(note.text) for note in case.notes),
    )
    return replace(case, notes=tuple(kept)), cut


def _shorten_conversation(case: Case, rule: Truncation, tokens: int) -> tuple[Case, RecordedCut] | None:
    messages = case.messages[rule.what]
    turns: dict[int, list[ChatMessage]] = {}
    for each in messages:
        turns.setdefault(each.turn, []).append(each)
    turns.pop(0, None)
    missing, gone = tokens + 3 * _MARKER_TOKENS, list[int]()  # the marker has two lines around it as well
    for turn in _order_of_going(list(turns), rule.keep)[:-1]:
        if missing <= 0:
            break
        for each in turns[turn]:  # with the two lines around it
            lines = cautious_tokens(f"<<<begin {rule.what} {each.heading} 000000000000>>>")
            missing -= cautious_tokens(each.text) + 2 * lines
        gone.append(turn)
    if missing > 0 or not gone:
        return None
    gone.sort()
    left_out = [each for turn in gone for each in turns[turn]]
    characters = sum(len(each.text) for each in left_out)
    named = ", ".join(map(str, gone[:_MOST_IDS])) + (", ..." if len(gone) > _MOST_IDS else "")
    marker = ChatMessage(
        "left out",
        f"[{len(gone)} of {len(turns)} turns, {characters:,} characters, were left out here, because the whole "
        f"conversation does not fit the model: {named}. What they say is not known.]",
    )
    kept = list(messages)
    kept[messages.index(left_out[0])] = marker
    cut = RecordedCut(
        truncate=rule.what,
        keep=rule.keep,
        order="position",
        notes_left_out=tuple(f"turn {turn}" for turn in gone),
        characters_left_out=characters,
        characters=sum(len(each.text) for each in messages),
    )
    short = tuple(each for each in kept if each.turn not in gone)
    texts = {name: text for name, text in case.texts.items() if name != rule.what}
    return replace(case, texts=texts, messages={**case.messages, rule.what: short}), cut


def _shorten_text(case: Case, rule: Truncation, tokens: int) -> tuple[Case, RecordedCut] | None:
    text = case.texts.get(rule.what)
    part = None if not text else _keep_part(text, rule.keep, tokens + _MARKER_TOKENS)
    if text is None or part is None:
        return None
    cut = RecordedCut(
        truncate=rule.what,
        keep=rule.keep,
        order="position",
        notes_left_out=(),
        shortened=rule.what,
        characters_left_out=part[1],
        characters=len(text),
    )
    return replace(case, texts={**case.texts, rule.what: part[0]}), cut


def _in_time(notes: Sequence[Note]) -> tuple[list[Note], Literal["date", "position"]]:
    """Oldest first by their dates where every note has one that can be read, else as they are."""
    moments = [moment_of(note.date) for note in notes]
    dated = [(moment, note) for moment, note in zip(moments, notes, strict=True) if moment is not None]
    if len(dated) < len(notes):
        return list(notes), "position"
    return [note for _, note in sorted(dated, key=lambda pair: pair[0])], "date"


def _order_of_going(notes: list[Part], keep: Keep) -> list[Part]:
    """The notes, turns or pieces in the order in which they are left out; the last is the one kept longest."""
    if keep == "newest":
        return notes
    if keep == "oldest":
        return notes[::-1]
    middle = (len(notes) - 1) / 2  # both ends: from the middle outwards, and of the two ends the newest stays
    return [notes[place] for place in sorted(range(len(notes)), key=lambda place: abs(place - middle))]


def _keep_part(text: str, keep: Keep, tokens: int) -> tuple[str, int] | None:
    """The text with at least so many tokens fewer, cut between sentences, and how many characters were left
    out; None where no sentence would be left."""
    pieces = _pieces(text)
    gone: set[int] = set()
    for place in _order_of_going(list(range(len(pieces))), keep):
        if tokens <= 0:
            break
        tokens -= cautious_tokens(pieces[place])
        gone.add(place)
    if tokens > 0 or len(gone) == len(pieces):
        return None
    characters = sum(len(pieces[place]) for place in gone)
    mark = f"[... {characters:,} characters were left out here: the whole text does not fit the model ...]"
    before = "".join(pieces[: min(gone)]).rstrip()
    after = "".join(pieces[max(gone) + 1 :]).lstrip()
    return "\n".join(part for part in (before, mark, after) if part), characters


def _pieces(text: str) -> list[str]:
    """The text in sentences and lines, which put together are the text; very long ones at a blank, or anywhere."""
    ends = [match.end() for match in _SENTENCE_END.finditer(text)]
    pieces = [
        text[start:end] for start, end in zip([0, *ends], [*ends, len(text)], strict=True) if start < end
    ]
    found: list[str] = []
    for piece in pieces:
        while len(piece) > _LONGEST_PIECE:
            at = piece.rfind(" ", 1, _LONGEST_PIECE) + 1 or _LONGEST_PIECE
            found.append(piece[:at])
            piece = piece[at:]
        found.append(piece)
    return found


def _marker_note(notes: Sequence[Note], left_out: Sequence[Note]) -> Note:
    """A line in the record that says what is not in it."""
    taken = {note.id for note in notes}
    name = "left-out"
    while name in taken:
        name += "+"
    gone = {id(note) for note in left_out}
    ids = [note.id for note in notes if id(note) in gone]
    named = ", ".join(ids[:_MOST_IDS]) + (f" and {len(ids) - _MOST_IDS} more" if len(ids) > _MOST_IDS else "")
    characters = sum(len(note.text) for note in left_out)
    return Note(
        name,
        f"[{len(ids)} of {len(notes)} notes, {characters:,} characters, were left out here, because the whole "
        f"record does not fit the model: {named}. What they say is not known.]",
    )
