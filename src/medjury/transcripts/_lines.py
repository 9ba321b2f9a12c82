"""Transcripts as lines of text: `[00:03] Patient: Hello.`, with or without time and speaker."""

from __future__ import annotations

import re
from typing import Any

_LINE = re.compile(
    r"\s*(?:\[(?P<time>[\d:.,]+)\]\s*)?(?:(?P<speaker>[^\W\d_][\w .'-]{0,39}?)\s*:(?=\s|$))?\s*(?P<text>.*)"
)


def transcript_lines(text: str) -> list[dict[str, Any]]:
    """One row a line; a line with neither time nor speaker goes on with the turn before it, where that had one."""
    rows: list[dict[str, Any]] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        found = _LINE.fullmatch(line)
        assert found is not None  # every part may be absent
        if rows and not found["time"] and not found["speaker"] and (rows[-1]["start"] or rows[-1]["speaker"]):
            rows[-1]["text"] += " " + line.strip()
            continue
        rows.append(
            {"text": found["text"], "speaker": found["speaker"], "start": found["time"], "line": number}
        )
    return rows
