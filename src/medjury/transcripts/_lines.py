"""Transcripts as lines of text: `[00:03] Patient: Hello.`, with or without time and speaker."""

from __future__ import annotations

import re
from typing import Any

_LINE = re.compile(
    r"\s*(?:\[(?P<time>[\d:.,]+)\]\s*)?(?:(?P<speaker>[^\W\d_][\w .'-]{0,39}?)\s*:(?=\s|$))?\s*(?P<text>.*)"
)


def transcript_lines(text: str) -> list[dict[str, Any]]:
    """One row a line. Where turns have times (or, without times, speakers), a line that has none goes on with the
    turn before it."""
    found = [match for line in text.splitlines() if line.strip() and (match := _LINE.fullmatch(line))]
    mark = next((name for name in ("time", "speaker") if any(match[name] for match in found)), None)
    rows: list[dict[str, Any]] = []
    for match in found:
        if rows and mark and not match[mark]:
            rows[-1]["text"] += " " + match[0].strip()
        else:
            rows.append({"text": match["text"], "speaker": match["speaker"], "start": match["time"]})
    return rows
