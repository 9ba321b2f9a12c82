"""What the readers of transcripts share: rows of turns, turns of single words, times, the plain list."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
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
                f"{UNREAD}: number {number} of a list is not an object, as the others are; export it again"
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


# Times as they are written in transcripts, as seconds.


_CLOCK = re.compile(r"(?:(\d+):)?(\d{1,2}):(\d{1,2})(?:[.,](\d{1,9}))?")
_SECONDS = re.compile(r"(-?\d+(?:\.\d+)?)s?")


def seconds(value: object) -> float | None:
    """12, "12.5", "12.5s", "00:12.5", "01:02:03,400" or "2025-10-02T12:37:46Z" in seconds; ValueError for others.

    >>> seconds("01:02:03,400")
    3723.4
    """
    if value is None or value == "":
        return None
    if isinstance(value, dict):  # {"seconds": "3", "nanos": 500000000}
        return float(value.get("seconds") or 0) + float(value.get("nanos") or 0) / 1e9
    if isinstance(value, int | float) and not isinstance(value, bool):
        if not math.isfinite(value):
            raise ValueError("not a time")
        return float(value)
    if not isinstance(value, str):
        raise ValueError("not a time")
    text = value.strip()
    if found := _SECONDS.fullmatch(text):
        return float(found[1])
    if found := _CLOCK.fullmatch(text):
        hours, minutes, whole, fraction = found.groups()
        return int(hours or 0) * 3600 + int(minutes) * 60 + float(f"{whole}.{fraction or 0}")
    moment = datetime.fromisoformat(text)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


# A list of turns, the plainest form: {text, speaker?, start?, end?, index?, confidence?}.


# Names under which people write who speaks and is not read here; what is under them would be lost.
_LIKE_SPEAKERS = ("role", "speaker_id", "speakerid", "speaker_name", "speakername", "speaker_label", "name", "who",
                  "participant", "channel", "from", "author")  # fmt: skip


def plain_turns(content: Any, file: str = "transcript") -> Rows | None:
    """A list of turns or of texts, or an object that holds one under `turns`."""
    if isinstance(content, dict) and isinstance(content.get("turns"), list):
        content = content["turns"]
    if not isinstance(content, list):
        return None
    rows: Rows = []
    for turn in content:
        if isinstance(turn, str):
            turn = {"text": turn}
        if not isinstance(turn, dict):
            return None
        if any(name in turn for name in ("text", "transcript")):
            _refuse_unread_speakers(turn, f"{file}, turn {len(rows) + 1}")
        rows.append(
            {
                "text": first_of(turn, "text", "transcript"),
                "index": turn.get("index"),
                "speaker": turn.get("speaker"),
                "start": first_of(turn, "start", "startedAt"),
                "end": first_of(turn, "end", "endedAt"),
                "confidence": turn.get("confidence"),
                "interim": _is_interim(first_of(turn, "final", "is_final", "isFinal", "isfinal")),
            }
        )
    return rows


def _is_interim(final: Any) -> bool:
    """True where a turn says that it is not final, as JSON or as a table writes it."""
    return final is False or (isinstance(final, str) and final.strip().casefold() in ("false", "0", "no"))


def _refuse_unread_speakers(turn: dict[str, Any], place: str) -> None:
    """Refuse a turn that says who speaks under another name than `speaker`: it would be taken for nobody's."""
    if turn.get("speaker") not in (None, ""):
        return
    for name, value in turn.items():
        if str(name).strip().casefold() in (*_LIKE_SPEAKERS, "speaker") and name != "speaker" and value:
            raise MedjuryError(f"{place}: `{name}` may say who speaks; call it `speaker`, or leave it out")
