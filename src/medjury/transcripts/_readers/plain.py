"""A list of turns, the plainest form: {text, speaker?, start?, end?, index?, confidence?}."""

from __future__ import annotations

from typing import Any

from medjury.transcripts._readers.rows import Rows, first_of


def plain_turns(content: Any) -> Rows | None:
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
        rows.append(
            {
                "text": first_of(turn, "text", "transcript"),
                "index": turn.get("index"),
                "speaker": turn.get("speaker"),
                "start": first_of(turn, "start", "startedAt"),
                "end": first_of(turn, "end", "endedAt"),
                "confidence": turn.get("confidence"),
                "interim": turn.get("final") is False,
            }
        )
    return rows
