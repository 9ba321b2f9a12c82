"""What a rater sees of a case: the inputs that the instrument and the round name, blinded, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from medjury.instruments import Instrument
from medjury.intake.cases import Case
from medjury.panel._design._blinding import hide

ANSWER = "answer"


@dataclass(frozen=True)
class ShownNote:
    """One dated document of a record."""

    id: str
    text: str
    date: str = ""
    kind: str = ""


@dataclass(frozen=True)
class Passage:
    """One text with its heading, or the notes of a record."""

    name: str
    label: str
    text: str = ""
    notes: tuple[ShownNote, ...] = ()

    @property
    def is_answer(self) -> bool:
        return self.name == ANSWER

    @property
    def texts(self) -> list[str]:
        """Every text of it that a rater reads."""
        return [self.text, *(part for note in self.notes for part in (note.id, note.kind, note.text))]


def shown_of(
    case: Case, instrument: Instrument, show: Sequence[str] | None, pattern: re.Pattern[str] | None
) -> tuple[Passage, ...]:
    """The passages in the instrument's order; `show` narrows them. A text that the case lacks is left out."""
    passages = []
    for each in instrument.inputs:
        name = ANSWER if each.name == "candidate" else each.name
        if show is not None and name not in show:
            continue
        found = case.input(each.name)
        if isinstance(found, str):
            passages.append(Passage(name, each.label, hide(found, pattern)))
        elif found:
            notes = tuple(
                ShownNote(
                    hide(n.id, pattern), hide(n.text, pattern), n.date or "", hide(n.kind or "", pattern)
                )
                for n in found
            )
            passages.append(Passage(name, each.label, notes=notes))
    return tuple(passages)


def passages_to_row(passages: Sequence[Passage]) -> list[dict[str, Any]]:
    return [asdict(each) for each in passages]


def passages_from_row(rows: Sequence[dict[str, Any]]) -> tuple[Passage, ...]:
    return tuple(
        Passage(row["name"], row["label"], row["text"], tuple(ShownNote(**note) for note in row["notes"]))
        for row in rows
    )
