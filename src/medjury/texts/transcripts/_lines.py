"""Transcripts as lines of text, as people, Otter, Word and whisper.cpp lay them out, with or without times."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from medjury.foundation.errors import MedjuryError
from medjury.texts.transcripts._rows import seconds
from medjury.texts.transcripts._speaker_names import (
    NAME,
    doubt,
    is_bare_role,
    is_relative,
    is_role,
    like_a_name,
    named,
    refuse_names_within,
    speakers_among,
    tidy,
)

_CLOCK = r"(?:\d{1,2}:)?\d{1,2}:\d{2}(?:[.,]\d{1,3})?"
_SPAN = re.compile(rf"\s*\[\s*(?P<time>{_CLOCK})\s*-->\s*(?P<end>{_CLOCK})\s*\]\s*(?P<rest>.*)")
_TIMED = re.compile(
    rf"\s*(?:\[\s*(?P<a>{_CLOCK})\s*\]|\(\s*(?P<b>{_CLOCK})\s*\)|(?P<c>{_CLOCK})(?!\S))\s*(?:[-–—|]\s)?\s*(?P<rest>.*)"
)
_NAME_AND_TIME = re.compile(
    rf"\s*[*_]{{0,3}}{NAME}[*_]{{0,3}}\s*[\[(]\s*(?P<time>{_CLOCK})\s*[\])]\s*:?[*_]{{0,3}}\s*:?\s*(?P<rest>.*)"
)
# Nothing but a name and a time, in either order: the words are below.
_NAME_THEN_TIME = re.compile(rf"\s*[*_]{{0,3}}{NAME}[*_]{{0,3}}\s+[-–—]?\s*(?P<time>{_CLOCK})\s*:?\s*")
_TIME_THEN_NAME = re.compile(rf"\s*\[?(?P<time>{_CLOCK})\]?\s+{NAME}\s*:?\s*")


@dataclass(frozen=True, slots=True)
class _Line:
    """A line as it may be read: its number, its time, who may be named in it, and the words after both."""

    number: int
    whole: str
    time: str | None = None
    end: str | None = None
    name: str | None = None
    rest: str = ""  # after the name
    untaken: str = ""  # after the time alone, where the name is none


def transcript_lines(
    text: str, file: str = "transcript", speakers: Collection[str] | None = None
) -> list[dict[str, Any]]:
    """One row a turn. Where turns have times or speakers, a line that has neither goes on with the turn before it.

    Read are `Doctor: Hello`, `[00:03] Doctor: Hello`, `00:03 Doctor: Hello`, `Doctor (00:03): Hello`, `[doctor]
    Hello`, `Doctor - Hello`, a line with name and time (or a role alone) above the words, and `[00:00 --> 00:03]
    Hello`.
    """
    numbered = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    lines = _under_headers(numbered)
    headed = lines is not None
    if lines is None:
        lines = [_read(number, line) for number, line in numbered]
    marks = [(each.name, each.number) for each in lines if each.name]
    sure = speakers_among(marks, len(lines), file, speakers, own_line=headed)
    _refuse_times_that_go_back(lines, file)
    if headed and speakers is None:
        _refuse_family_once(lines, file)
    if not headed and speakers is None:
        _refuse_hidden_headers(lines, file)
    if speakers is None:
        own = [(each, each.name is not None and tidy(each.name).casefold() in sure) for each in lines]
        names = {tidy(each.name or "") for each, is_named in own if is_named}
        said = [(each.number, each.rest if is_named else each.whole) for each, is_named in own]
        refuse_names_within(said, names, file)
    timed = any(each.time for each in lines)
    rows: list[dict[str, Any]] = []
    for each in lines:
        is_named = each.name is not None and tidy(each.name).casefold() in sure
        if not is_named and rows and (sure or timed) and not each.time:
            rows[-1]["text"] = f"{rows[-1]['text']} {each.whole}".strip()
            continue
        rows.append(
            {
                "text": each.rest if is_named else each.untaken,
                "speaker": tidy(each.name or "") if is_named else None,
                "start": each.time,
                "end": each.end,
            }
        )
    return rows


def _read(number: int, line: str) -> _Line:
    """A line that has all of its turn, or goes on with the one before."""
    whole = line.strip()
    if span := _SPAN.fullmatch(line):
        name, rest = named(span["rest"])
        return _Line(number, whole, span["time"], span["end"], name, rest, span["rest"].strip())
    if (both := _NAME_AND_TIME.fullmatch(line)) and both["rest"]:
        return _Line(number, whole, both["time"], None, both["name"], both["rest"].strip(), whole)
    if timed := _TIMED.fullmatch(line):
        after, time = timed["rest"].strip(), timed["a"] or timed["b"] or timed["c"]
        name, rest = named(after)
        return _Line(number, whole, time, None, name, rest, after)
    name, rest = named(line)
    return _Line(number, whole, None, None, name, rest, whole)


def _header(line: str) -> tuple[str, str | None] | None:
    """Name and time of a line that may be a header."""
    for form in (_NAME_AND_TIME, _NAME_THEN_TIME, _TIME_THEN_NAME):
        found = form.fullmatch(line)
        if found and not found.groupdict().get("rest"):
            return found["name"], found["time"]
    return (line.strip(), None) if is_bare_role(line) else None


def _under_headers(numbered: list[tuple[int, str]]) -> list[_Line] | None:
    """The turns of a file that has names on lines of their own, all with a time or all without, each with its words
    below as one line; None for any other."""
    read = [_header(line) for _, line in numbered]
    if len(read) < 4 or read[0] is None:
        return None
    timed = read[0][1] is not None
    is_header = [each is not None and (each[1] is not None) == timed for each in read]
    if is_header[1] or sum(is_header) < 2 or not _words_between(numbered, is_header):
        return None
    turns: list[_Line] = []
    for (number, line), header, own in zip(numbered, read, is_header, strict=True):
        if own and turns and not turns[-1].rest:
            return None  # two headers in a row: one of them is words
        if own and header is not None:
            turns.append(_Line(number, line.strip(), header[1], None, header[0], "", line.strip()))
        else:
            last = turns[-1]
            untaken = f"{last.untaken} {line.strip()}"
            said = f"{last.rest} {line.strip()}".strip()
            turns[-1] = _Line(last.number, untaken, last.time, None, last.name, said, untaken)
    return turns


def _refuse_family_once(lines: list[_Line], file: str) -> None:
    """Refuse a relative who is named once on a line of its own without a time: `Wife` may be an answer."""
    counts = Counter(tidy(each.name or "").casefold() for each in lines)
    for each in lines:
        if not each.time and is_relative(each.name or "") and counts[tidy(each.name or "").casefold()] == 1:
            raise MedjuryError(doubt(each.name or "", each.number, file))


def _words_between(numbered: list[tuple[int, str]], is_header: list[bool]) -> bool:
    """Whether the lines that are no headers are words alone: none begins with a time."""
    return not any(
        _TIMED.fullmatch(line) for (_, line), own in zip(numbered, is_header, strict=True) if not own
    )


def _refuse_times_that_go_back(lines: list[_Line], file: str) -> None:
    """Refuse lines whose times run backwards: one begins with a time that was spoken (`10:30 is fine`)."""
    latest, above = 0.0, ""
    for each in lines:
        header = None if each.time else _header(each.whole)
        time = each.time or (header[1] if header else None)
        at = seconds(time) if time else None
        if at is None:
            continue
        if at < latest:
            raise MedjuryError(
                f"{file}, line {each.number}: the time {time} is earlier than {above} above it; is one of them a "
                "part of what was said? Write times in one way, such as [00:03], at the beginning of each turn"
            )
        latest, above = at, str(time)


def _refuse_hidden_headers(lines: list[_Line], file: str) -> None:
    """Refuse a file without headers in which what may be a name is alone beside a time, with words below."""
    alone = Counter(tidy(each.untaken).casefold() for each in lines if each.time)
    for each, below in pairwise(lines):
        header = _header(each.whole)
        if header is None or header[1] is None:
            continue
        name = tidy(header[0])
        repeated = alone[name.casefold()] > 1 and (is_role(name) or like_a_name(name))
        words_below = below.time is None or not below.untaken
        if repeated or (words_below and (len(name.split()) < 3 or is_role(name) or like_a_name(name))):
            raise MedjuryError(doubt(name, each.number, file))
