"""WebVTT and SubRip: cues with two times and lines of text."""

from __future__ import annotations

import html
import re
from typing import Any

from medjury.errors import MedjuryError

_TIMES = re.compile(r"\s*([\d:]+[.,]\d+|[\d:]+)\s*-->\s*([\d:]+[.,]\d+|[\d:]+)(?:\s.*)?")
_VOICE = re.compile(r"<v(?:\.[^ >]*)?\s+([^>]+)>")
_TAG = re.compile(r"</?[a-zA-Z0-9][^>]*>")
_SPEAKER = re.compile(r"([^\W\d_][\w .'-]{0,39}?):\s+(.*)", re.DOTALL)


def subtitle_cues(text: str, file: str) -> list[dict[str, Any]]:
    """One row a cue; blocks of notes and styles have no times and are no cues. The speaker is WebVTT's voice tag,
    or `Name: ` at the beginning where every cue has one."""
    rows: list[dict[str, Any]] = []
    lines = text.splitlines()
    at = 0
    while at < len(lines):
        times = _TIMES.fullmatch(lines[at])
        if "-->" in lines[at] and times is None:
            raise MedjuryError(
                f"{file}, line {at + 1}: a cue's times must look like 00:00:01.000 --> 00:00:02.500"
            )
        if times is None:
            at += 1
            continue
        first = at + 1
        at = first
        while at < len(lines) and lines[at].strip() and "-->" not in lines[at]:
            at += 1
        body = " ".join(line.strip() for line in lines[first:at])
        voice = _VOICE.search(body)
        rows.append(
            {
                "text": html.unescape(_TAG.sub("", body)).strip(),
                "speaker": voice[1].strip() if voice else None,
                "start": times[1],
                "end": times[2],
            }
        )
    named = [_SPEAKER.fullmatch(row["text"]) for row in rows if row["text"]]
    if named and all(named) and not any(row["speaker"] for row in rows):
        for row in rows:
            if found := _SPEAKER.fullmatch(row["text"]):
                row["speaker"], row["text"] = found[1], found[2]
    return rows
