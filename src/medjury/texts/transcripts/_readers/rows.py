"""What readers of recognisers' JSON share: picking fields, and making turns of single words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from medjury.foundation.errors import MedjuryError

UNREAD = "a part cannot be read"
Row = dict[str, Any]
Rows = list[Row]


@dataclass(frozen=True, slots=True)
class Word:
    """One recognised word; `glued` ones, such as a full stop, follow the word before without a blank."""

    text: str
    speaker: str | None = None
    start: Any = None
    end: Any = None
    confidence: Any = None
    glued: bool = False


def turns_of_words(words: Iterable[Word]) -> Rows:
    """Words in a row of one speaker as one turn, with its span of time and the mean of its confidences. A glued
    word goes with the word before it, whatever is said of its speaker."""
    turns: list[list[Word]] = []
    for word in words:
        if turns and (word.glued or turns[-1][0].speaker == word.speaker):
            turns[-1].append(word)
        else:
            turns.append([word])
    return [_turn(each) for each in turns]


def _turn(words: list[Word]) -> Row:
    text = "".join(word.text if word.glued else f" {word.text}" for word in words)
    timed = [word for word in words if word.start is not None and not word.glued]
    sure = [float(word.confidence) for word in words if word.confidence not in (None, "") and not word.glued]
    return {
        "text": text,
        "speaker": words[0].speaker,
        "start": timed[0].start if timed else None,
        "end": timed[-1].end if timed else None,
        "confidence": sum(sure) / len(sure) if sure else None,
    }


def objects(value: Any) -> list[dict[str, Any]]:
    """The objects of a list; where something else is among them, it would be lost, and the file is refused."""
    found = value if isinstance(value, list) else []
    for number, each in enumerate(found, 1):
        if not isinstance(each, dict):
            raise MedjuryError(
                f"{UNREAD}: number {number} of a list is no object, as the others are; export it again"
            )
    return found


def first_of(row: dict[str, Any], *names: str) -> Any:
    return next((row[name] for name in names if row.get(name) is not None), None)


def numbered_speaker(value: Any) -> str | None:
    return None if value is None else f"speaker {value}" if isinstance(value, int) else str(value)


def by_start(rows: Rows) -> Rows:
    """Channels side by side become one order; rows without a time stay where they are."""
    if not all(isinstance(row.get("start"), int | float) for row in rows):
        return rows
    return sorted(rows, key=lambda row: row["start"])
