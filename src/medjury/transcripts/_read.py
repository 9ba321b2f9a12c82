"""Reads a transcript, whoever wrote it: the form is told by the file's ending and by what stands in it."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

from medjury.errors import MedjuryError
from medjury.transcripts._lines import transcript_lines
from medjury.transcripts._recognisers import FORMS, plain_turns
from medjury.transcripts._subtitles import subtitle_cues
from medjury.transcripts._times import seconds
from medjury.transcripts._turn import Transcript, Turn

_KNOWN = (
    "a list of turns {index, text, speaker?, start?, end?, confidence?}, lines `[00:03] Patient: ...` under a name "
    "with `golden` in it, or the output of Deepgram, Google Speech-to-Text, Whisper or whisper.cpp"
)


def read_transcript(path: str | Path) -> Transcript:
    """The turns of a .json, .csv, .vtt, .srt or .txt file, numbered from 0 unless the file has an `index`.

    Interim results are left out; a turn without text keeps its number. `notes` counts both.
    """
    file = Path(path)
    try:
        text = file.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise MedjuryError(f"{file}: there is no such file") from None
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise MedjuryError(f"{file}: cannot be read: {why}") from None
    ending = file.suffix.lower()
    if ending == ".csv":
        rows = _csv_rows(text, file.name)
    elif ending in (".vtt", ".srt"):
        rows = subtitle_cues(text, file.name)
    elif ending == ".txt":
        rows = transcript_lines(text)
    elif ending == ".json":
        rows = _json_rows(text, file.name)
    else:
        raise MedjuryError(f"{file.name}: give a .json, .csv, .vtt, .srt or .txt file")
    return _transcript(rows, file.name)


def _json_rows(text: str, file: str) -> list[dict[str, Any]]:
    try:
        content = json.loads(text)
    except RecursionError:
        raise MedjuryError(f"{file}: is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise MedjuryError(f"{file}, line {error.lineno}: is not valid JSON; is the file complete?") from None
    if isinstance(content, dict):
        for key, value in content.items():
            if "golden" in key and isinstance(value, str):
                return transcript_lines(value)
    for form in FORMS:
        rows = form(content)
        if rows is not None:
            return rows
    raise MedjuryError(f"{file}: holds no transcript that is known here; give {_KNOWN}")


def _csv_rows(text: str, file: str) -> list[dict[str, Any]]:
    try:
        reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
        found = [{(name or "").strip().lower(): cell for name, cell in row.items()} for row in reader]
    except csv.Error as error:
        raise MedjuryError(f"{file}, line {reader.line_num}: is not a CSV table: {error}") from None
    if "text" not in {(name or "").strip().lower() for name in reader.fieldnames or ()}:
        raise MedjuryError(
            f"{file}: needs a column `text` (and may have index, speaker, start, end, confidence)"
        )
    return plain_turns(found) or []


def _transcript(rows: list[dict[str, Any]], file: str) -> Transcript:
    numbered = any(row.get("index") not in (None, "") for row in rows)
    turns: list[Turn] = []
    interim = empty = overlapping = 0
    latest = float("-inf")
    for place, row in enumerate(rows, 1):
        if row.get("interim"):
            interim += 1
            continue
        turn = _turn(row, len(turns), numbered, f"{file}, turn {place}")
        empty += not turn.text
        overlapping += turn.start is not None and turn.start < latest
        latest = max(latest, turn.end if turn.end is not None else latest)
        turns.append(turn)
    notes = [
        f"{file}: {words}"
        for count, words in (
            (interim, f"{interim} interim results left out"),
            (empty, f"{empty} turns without text: there is nothing to align them by"),
            (
                overlapping,
                f"{overlapping} turns begin before an earlier one ends; the order of the file was kept",
            ),
        )
        if count
    ]
    return Transcript(tuple(turns), file, tuple(notes), numbered)


def _turn(row: dict[str, Any], number: int, numbered: bool, place: str) -> Turn:
    text = row.get("text")
    if text is not None and not isinstance(text, str):
        raise MedjuryError(f"{place}: `text` must be text")
    index = _index(row.get("index"), place) if numbered else number
    times = {}
    for name in ("start", "end"):
        try:
            times[name] = seconds(row.get(name))
        except (ValueError, TypeError, OverflowError):
            raise MedjuryError(f"{place}: `{name}` must be seconds, hh:mm:ss or a date with time") from None
    start, end = times["start"], times["end"]
    if start is not None and end is not None and end < start:
        raise MedjuryError(f"{place}: ends before it starts; correct its times or leave them out")
    speaker = str(row.get("speaker") or "").strip() or None
    return Turn(index, (text or "").strip(), speaker, start, end, _confidence(row.get("confidence"), place))


def _index(value: Any, place: str) -> int:
    if isinstance(value, str) and value.strip().isdecimal():
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise MedjuryError(f"{place}: `index` must be a whole number from 0 on (on every turn or on none)")
    return value


def _confidence(value: Any, place: str) -> float | None:
    if value is None or value == "":
        return None
    try:
        found = float(value)
    except (TypeError, ValueError):
        found = float("nan")
    if not 0 <= found <= 1:
        raise MedjuryError(f"{place}: `confidence` must be between 0 and 1")
    return found
