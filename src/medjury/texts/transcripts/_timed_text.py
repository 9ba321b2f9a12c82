"""Files of words with times: WebVTT and SubRip, CTM and RTTM."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from medjury.foundation.errors import MedjuryError
from medjury.texts.transcripts._rows import Rows, Word, turns_of_words
from medjury.texts.transcripts._speaker_names import (
    is_role,
    like_a_name,
    named,
    refuse_names_within,
    speakers_among,
    tidy,
)

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
    listed = [(name, found[place].number) for place, (name, _) in marks.items()]
    sure = speakers_among(listed, max(cues, len(listed)), file, speakers, own_line=True)
    spoken = []
    for place, each in enumerate(found):
        name, rest = marks.get(place, ("", ""))
        own = tidy(name)
        spoken.append(
            _Line(each.number, each.cue, own, rest.strip()) if own and own.casefold() in sure else each
        )
    return spoken


# CTM (words with times) and RTTM (who speaks when): two files of one name that belong together.


_PAUSE = 1.0  # seconds of silence after which another turn begins


_Segment = tuple[str, float, float]  # who speaks, from when, until when


def timed_words(file: Path, read: dict[str, str], left_out: Counter[str]) -> tuple[Rows, list[str]]:
    """The turns of a .ctm file, told apart by the .rttm file beside it. `read` has the text of each, by ending."""
    words = _words(read[".ctm"], file.with_suffix(".ctm").name)
    lines = [line.split() for line in read.get(".rttm", "").splitlines()]
    left_out["lines of a .ctm file that are remarks"] += read[".ctm"].count("\n;;") + read[".ctm"].startswith(
        ";;"
    )
    left_out["lines of an .rttm file that name no speaker"] += sum(
        bool(parts) and parts[0] != "SPEAKER" for parts in lines
    )
    if ".rttm" not in read:
        note = f"{file.name}: no {file.stem}.rttm is beside it, so nobody knows who speaks"
        return [row for turn in _by_pause(words) for row in turns_of_words(turn)], [note]
    first = next(line for line in read[".ctm"].splitlines() if line.strip() and not line.startswith(";;"))
    segments = _segments(read[".rttm"], file.with_suffix(".rttm").name, first.split()[0])
    spoken = [_spoken(word, segments) for word in words]
    nobody = sum(word.speaker is None for word in spoken)
    notes = [f"{file.name}: {nobody} words are in no speaker's time, or in that of two: they have no speaker"]
    return turns_of_words(spoken), notes if nobody else []


def _words(text: str, file: str) -> list[Word]:
    found = []
    sources: set[tuple[str, str]] = set()
    for number, line in enumerate(text.splitlines(), 1):
        parts = line.split()
        if not parts or line.startswith(";;"):
            continue
        try:
            start, length = float(parts[2]), float(parts[3])
            word = parts[4]
        except (IndexError, ValueError):
            raise MedjuryError(f"{file}, line {number}: must be `file channel start length word`") from None
        sources.add((parts[0], parts[1]))
        if len(sources) > 1:
            raise MedjuryError(
                f"{file}, line {number}: holds words of several recordings or channels, which would be mixed; "
                "write one file for each"
            )
        sure = parts[5] if len(parts) > 5 else None
        found.append(Word(word, None, start, start + length, sure))
    return sorted(found, key=lambda each: each.start)


def _segments(text: str, file: str, of: str) -> list[_Segment]:
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        parts = line.split()
        if not parts or parts[0] != "SPEAKER":
            continue
        try:
            start, length, name = float(parts[3]), float(parts[4]), parts[7]
            recording = parts[1]
        except (IndexError, ValueError):
            raise MedjuryError(
                f"{file}, line {number}: must be `SPEAKER file channel start length <NA> <NA> name …`"
            ) from None
        if recording != of:
            raise MedjuryError(
                f"{file}, line {number}: speaks of the recording {recording!r}, and the words are of {of!r}; are "
                "these two files of one recording?"
            )
        found.append((name, start, start + length))
    return found


def _spoken(word: Word, segments: list[_Segment]) -> Word:
    middle = (word.start + word.end) / 2
    names = {speaker for speaker, start, end in segments if start <= middle <= end}
    return Word(word.text, names.pop() if len(names) == 1 else None, word.start, word.end, word.confidence)


def _by_pause(words: list[Word]) -> list[list[Word]]:
    turns: list[list[Word]] = []
    for word in words:
        if turns and word.start - turns[-1][-1].end <= _PAUSE:
            turns[-1].append(word)
        else:
            turns.append([word])
    return turns
