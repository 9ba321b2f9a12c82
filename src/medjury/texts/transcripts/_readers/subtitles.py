"""WebVTT and SubRip: cues with two times and lines of text."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from medjury.foundation.errors import MedjuryError
from medjury.texts.transcripts._readers.marks import Mark, named, refuse_names_within, speakers_among
from medjury.texts.transcripts._readers.names import is_role, like_a_name, tidy

_TIMES = re.compile(r"\s*([\d:]+[.,]\d+|[\d:]+)\s*-->\s*([\d:]+[.,]\d+|[\d:]+)(?:\s.*)?")
_VOICE = re.compile(r"<v(?:\.[^ >]*)?(?:\s+([^>]*))?>|</v>", re.IGNORECASE)
# Known tags alone: `sugar <10 after meals and >4 before` is what somebody said.
_TAG = re.compile(
    r"</?(?:c|i|b|u|s|em|strong|lang|ruby|rt|font|span)(?:[ .][^>]*)?>|<[\d:.]+>|\{\\[^}]*\}", re.IGNORECASE
)
_ASIDE = ("NOTE", "STYLE", "REGION", "WEBVTT")


@dataclass(frozen=True, slots=True)
class _Line:
    """One line of a cue: its number in the file, that of its cue, whom a voice tag names, and its words."""

    number: int
    cue: int
    voice: str | None
    text: str


def subtitle_cues(
    text: str, file: str, speakers: Collection[str] | None, left_out: Counter[str]
) -> list[dict[str, Any]]:
    """One row for each speaker in a cue; blocks of notes and styles have no times and are no cues: `left_out`
    counts them.

    The speaker is WebVTT's voice tag, of which a cue may have several, else `Name: ` or `[Name] ` at the beginning
    of a line. A cue without a name has no speaker, and takes nobody else's name away.
    """
    times: list[tuple[str, str]] = []
    found = list(_cue_lines(text.splitlines(), times, file, left_out))
    voices = any(each.voice for each in found)
    if voices:
        _refuse_names_beside_voices(found, file)
    else:
        found = _named(found, file, speakers)
    if speakers is None:
        refuse_names_within(
            [(each.number, each.text) for each in found], {each.voice or "" for each in found}, file
        )
    rows: list[dict[str, Any]] = []
    last: tuple[int, str | None] | None = None
    for each in found:
        goes_on = last is not None and last[0] == each.cue and each.voice is None and not voices
        if last == (each.cue, each.voice) or goes_on:
            rows[-1]["text"] = f"{rows[-1]['text']} {each.text}".strip()
            continue
        start, end = times[each.cue]
        rows.append({"text": each.text, "speaker": each.voice, "start": start, "end": end, "cue": each.cue})
        last = (each.cue, each.voice)
    return rows


def _cue_lines(
    lines: list[str], times: list[tuple[str, str]], file: str, left_out: Counter[str]
) -> Iterator[_Line]:
    """The lines of all cues in pieces of one voice each; `times` grows by each cue's own."""
    at = 0
    first = next((place for place, line in enumerate(lines) if "-->" in line), 0)
    numbered = first > 0 and lines[first - 1].strip().isdecimal()
    while at < len(lines):
        found = _TIMES.fullmatch(lines[at])
        if "-->" in lines[at] and found is None:
            raise MedjuryError(
                f"{file}, line {at + 1}: a cue's times must look like 00:00:01.000 --> 00:00:02.500"
            )
        if found is None:
            at = _beside_cues(lines, at, file, left_out)
            continue
        at += 1
        times.append((found[1], found[2]))
        voice: str | None = None
        silent = True
        while at < len(lines) and lines[at] != "" and "-->" not in lines[at]:
            if numbered and _next_cue(lines, at):
                break
            for speaking, piece in _pieces(lines[at], voice):
                voice = speaking
                if piece:
                    silent = False
                    yield _Line(at + 1, len(times) - 1, voice, piece)
            at += 1
        if silent:
            yield _Line(at, len(times) - 1, None, "")


def _beside_cues(lines: list[str], at: int, file: str, left_out: Counter[str]) -> int:
    """The place after a line that is in no cue: a blank one, a block of notes, or a cue's name. Others are words
    that would be lost, and are refused."""
    line = lines[at].strip()
    if not line:
        return at + 1
    if line.startswith(_ASIDE):
        left_out["blocks of notes and styles"] += not line.startswith("WEBVTT")
        while at < len(lines) and lines[at].strip() and "-->" not in lines[at]:
            at += 1
        return at
    if at + 1 < len(lines) and "-->" in lines[at + 1]:
        return at + 1
    if line.isdecimal() and not any(each.strip() for each in lines[at + 1 :]):
        return at + 1  # the number of a cue that never came
    raise MedjuryError(
        f"{file}, line {at + 1}: these words are in no cue and would be lost; remove the empty line above them, or "
        "begin the block with NOTE"
    )


def _refuse_names_beside_voices(found: list[_Line], file: str) -> None:
    """Refuse a name before the words where others are named by voice tags: one of the two is not read."""
    for each in found:
        name = named(each.text)[0] if each.voice is None else None
        if name is not None and (is_role(name) or like_a_name(tidy(name))):
            raise MedjuryError(
                f"{file}, line {each.number}: is {tidy(name)!r} a speaker? Others are named by voice tags; write "
                f"<v {tidy(name)}> here too"
            )


def _next_cue(lines: list[str], at: int) -> bool:
    """Whether a line is a cue's number or blank and the next one its times: some writers leave no empty line."""
    return at + 1 < len(lines) and "-->" in lines[at + 1] and not re.search(r"[^\W\d]", lines[at])


def _pieces(line: str, voice: str | None) -> Iterator[tuple[str | None, str]]:
    """A line cut at its voice tags, each piece with the voice that speaks it; a voice lasts until the next tag."""
    at = 0
    for tag in _VOICE.finditer(line):
        yield voice, _plain(line[at : tag.start()])
        voice = tidy(html.unescape(tag[1] or "")) or None
        at = tag.end()
    yield voice, _plain(line[at:])


def _plain(text: str) -> str:
    return html.unescape(_TAG.sub("", text)).strip()


def _named(found: list[_Line], file: str, speakers: Collection[str] | None) -> list[_Line]:
    """The same lines with the names at their beginnings taken as who speaks."""
    marks: dict[int, tuple[str, str]] = {}
    for place, each in enumerate(found):
        name, rest = named(each.text)
        if name is not None:
            marks[place] = (name, rest)
    cues = len({each.cue for each in found if each.text})
    listed = [Mark(name, found[place].number) for place, (name, _) in marks.items()]
    sure = speakers_among(listed, max(cues, len(listed)), file, speakers, own_line=True)
    spoken = []
    for place, each in enumerate(found):
        name, rest = marks.get(place, ("", ""))
        own = tidy(name)
        spoken.append(
            _Line(each.number, each.cue, own, rest.strip()) if own and own.casefold() in sure else each
        )
    return spoken
