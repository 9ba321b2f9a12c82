"""CTM (words with times) and RTTM (who speaks when): two files of one name that belong together."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from medjury.foundation.errors import MedjuryError
from medjury.texts.transcripts._readers.rows import Rows, Word, turns_of_words

_PAUSE = 1.0  # seconds of silence after which another turn begins


@dataclass(frozen=True, slots=True)
class _Segment:
    speaker: str
    start: float
    end: float


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
        note = f"{file.name}: no {file.stem}.rttm is beside it, so that nobody knows who speaks"
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
        found.append(_Segment(name, start, start + length))
    return found


def _spoken(word: Word, segments: list[_Segment]) -> Word:
    middle = (word.start + word.end) / 2
    names = {each.speaker for each in segments if each.start <= middle <= each.end}
    return Word(word.text, names.pop() if len(names) == 1 else None, word.start, word.end, word.confidence)


def _by_pause(words: list[Word]) -> list[list[Word]]:
    turns: list[list[Word]] = []
    for word in words:
        if turns and word.start - turns[-1][-1].end <= _PAUSE:
            turns[-1].append(word)
        else:
            turns.append([word])
    return turns
