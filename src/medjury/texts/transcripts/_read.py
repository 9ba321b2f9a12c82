"""Reads a transcript, whoever wrote it: the form is told by the file's ending and by what is in it."""

from __future__ import annotations

import codecs
import csv
import io
import json
from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from medjury.foundation import limits
from medjury.foundation.errors import MedjuryError, no_such
from medjury.texts.transcripts._lines import transcript_lines
from medjury.texts.transcripts._recognisers import FORMS
from medjury.texts.transcripts._rows import UNREAD, Rows, plain_turns, seconds
from medjury.texts.transcripts._timed_text import subtitle_cues, timed_words
from medjury.texts.transcripts._turn import Transcript, Turn

ENDINGS = (".json", ".csv", ".vtt", ".srt", ".txt", ".ctm", ".rttm")
_KNOWN = (
    "a list of turns {index, text, speaker?, start?, end?, confidence?}, lines `[00:03] Patient: ...` under a name "
    f"with `golden` in it, or the output of {', '.join(name for name in FORMS if name != 'list of turns')}"
)
_MORE = "\0more"
_WORDS_PER_SECOND = (0.02, 50.0)  # what no one who speaks goes below or above


def read_transcript(path: str | Path, *, speakers: Collection[str] | None = None) -> Transcript:
    """The turns of a .json, .csv, .vtt, .srt, .txt or .ctm file, numbered from 0 unless the file has an `index`.

    Interim results are left out; a turn without text keeps its number. `notes` counts both. `speakers` names those
    who speak, where names stand before their words and the file leaves doubt; empty, it says that nobody is named.
    """
    file = Path(path)
    ending = file.suffix.lower()
    if ending not in ENDINGS:
        raise MedjuryError(f"{file.name}: give a {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]} file")
    left_out, notes = Counter[str](), list[str]()
    rows, form = _found(file, ending, speakers, left_out, notes)
    return _transcript(rows, form, file.name, left_out, notes)


def _found(
    file: Path, ending: str, speakers: Collection[str] | None, left_out: Counter[str], notes: list[str]
) -> tuple[Rows, str]:
    """The rows of a file's turns and the form it has; what is to be told of it is put into the last two."""
    if ending in (".ctm", ".rttm"):
        pair = {each: file.with_suffix(each) for each in (".ctm", ".rttm")}
        if not pair[".ctm"].is_file():
            raise MedjuryError(
                f"{file.name}: says who speaks but not what; {file.stem}.ctm must be beside it"
            )
        texts = {each: _text(place) for each, place in pair.items() if place.is_file()}
        rows, told = timed_words(file, texts, left_out)
        notes += told
        return rows, "RTTM and CTM" if ".rttm" in texts else "CTM"
    text = _text(file)
    if ending == ".csv":
        return _csv_rows(text, file.name), "table of turns"
    if ending in (".vtt", ".srt"):
        form = "WebVTT" if ending == ".vtt" else "SubRip"
        return subtitle_cues(text, file.name, speakers, left_out), form
    if ending == ".txt":
        return transcript_lines(text, file.name, speakers), "lines of text"
    return _json_rows(text, file.name, speakers)


def _text(file: Path) -> str:
    try:
        content = limits.read_bytes(file, limits.SHEET_BYTES)
        marked = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        return content.decode("utf-16" if marked else "utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except FileNotFoundError:
        raise MedjuryError(no_such(file)) from None
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text; save it as UTF-8"
        raise MedjuryError(f"{file}: cannot be read: {why}") from None


def _json_rows(text: str, file: str, speakers: Collection[str] | None) -> tuple[Rows, str]:
    limits.check_depth(file, text)
    try:
        content = json.loads(text, object_pairs_hook=_each_key_once)
    except _KeyTwiceError as error:
        raise MedjuryError(f"{file}: {error}") from None
    except json.JSONDecodeError as error:
        raise MedjuryError(f"{file}, line {error.lineno}: is not valid JSON; is the file complete?") from None
    if isinstance(content, dict):
        for key, value in content.items():
            if "golden" in key and isinstance(value, str):
                return transcript_lines(value, file, speakers), "lines of text"
    for name, form in FORMS.items():
        try:
            rows = plain_turns(content, file) if form is plain_turns else form(content)
        except MedjuryError as error:
            raise MedjuryError(f"{file}: {error}" if str(error).startswith(UNREAD) else str(error)) from None
        except (ValueError, TypeError, AttributeError, KeyError):
            raise MedjuryError(
                f"{file}: looks like the output of {name}, but one of its fields does not hold what it should; "
                "export it again"
            ) from None
        if rows is not None:
            return rows, name
    raise MedjuryError(f"{file}: holds no transcript that is known here; give {_KNOWN}")


class _KeyTwiceError(ValueError):
    """An object says two things under one name."""


def _each_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)
        raise _KeyTwiceError(f"the key {twice!r} appears twice in one object; keep the right one")
    return found


def _csv_rows(text: str, file: str) -> Rows:
    try:
        header = "".join(text.partition("\n")[0].split('"')[::2])
        separator = max(",;\t|", key=header.count)
        reader = csv.DictReader(
            io.StringIO(text, newline=""), strict=True, restkey=_MORE, delimiter=separator
        )
        named = [(name or "").strip().lower() for name in reader.fieldnames or ()]
        twice = sorted({name for name in named if named.count(name) > 1})
        if twice:
            raise MedjuryError(f"{file}, line 1: the column {twice[0]!r} appears twice; rename or remove one")
        found = []
        for row in reader:
            if _MORE in row:
                raise MedjuryError(
                    f"{file}, line {reader.line_num}: has more cells than the header names; put a text that holds "
                    "a comma into quotation marks"
                )
            found.append({(name or "").strip().lower(): cell for name, cell in row.items()})
    except csv.Error as error:
        raise MedjuryError(f"{file}, line {reader.line_num}: is not a CSV table: {error}") from None
    if "text" not in {(name or "").strip().lower() for name in reader.fieldnames or ()}:
        raise MedjuryError(
            f"{file}: needs a column `text` (and may have index, speaker, start, end, confidence)"
        )
    return plain_turns(found, file) or []


def _transcript(rows: Rows, form: str, file: str, left_out: Counter[str], notes: Sequence[str]) -> Transcript:
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
        same_cue = (
            bool(turns)
            and row.get("cue") is not None
            and (turn.start, turn.end) == (turns[-1].start, turns[-1].end)
        )
        overlapping += turn.start is not None and turn.start < latest and not same_cue
        latest = max(latest, turn.end if turn.end is not None else latest)
        turns.append(turn)
    lacking = {**+left_out, **({"interim results": interim} if interim else {})}
    told = [
        f"{file}: {words}"
        for count, words in (
            *((count, f"{count} {what} left out") for what, count in lacking.items()),
            (empty, f"{empty} turns without text: there is nothing to align them by"),
            (
                overlapping,
                f"{overlapping} turns begin before an earlier one ends; the order of the file was kept",
            ),
        )
        if count
    ]
    _check_pace(turns, file)
    return Transcript(tuple(turns), file, (*notes, *told), numbered, form, lacking)


def _check_pace(turns: list[Turn], file: str) -> None:
    """Refuse times in which nobody could have spoken the words: they are in another unit than seconds."""
    paces = [
        len(turn.text.split()) / (turn.end - turn.start)
        for turn in turns
        if turn.start is not None
        and turn.end is not None
        and turn.end > turn.start
        and len(turn.text.split()) > 2
    ]
    if not paces:
        return
    usual = median(paces)
    if not _WORDS_PER_SECOND[0] <= usual <= _WORDS_PER_SECOND[1]:
        unit = "milliseconds" if usual < 1 else "minutes or hours"
        raise MedjuryError(
            f"{file}: its times say that {usual:.3g} words are spoken in a second; are they {unit}? Write "
            "seconds, or hh:mm:ss"
        )


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
    speaker = _speaker(row.get("speaker"), place)
    return Turn(index, (text or "").strip(), speaker, start, end, _confidence(row.get("confidence"), place))


def _speaker(value: Any, place: str) -> str | None:
    """Who speaks; 0 is somebody's number, and an object is nobody's name."""
    if isinstance(value, int) and not isinstance(value, bool):
        return f"speaker {value}"
    if value is not None and not isinstance(value, str):
        raise MedjuryError(f"{place}: `speaker` must be a name or a number")
    return (value or "").strip() or None


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
