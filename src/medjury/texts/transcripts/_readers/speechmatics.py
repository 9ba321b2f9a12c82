"""Speechmatics: words and punctuation, each with its speaker."""

from __future__ import annotations

from typing import Any

from medjury.texts.transcripts._readers.rows import Row, Rows, Word, objects, turns_of_words

_KINDS = ("word", "punctuation", "entity", "speaker_change")


def speechmatics(content: Any) -> Rows | None:
    results = content.get("results") if isinstance(content, dict) else None
    if not isinstance(results, list) or not results:
        return None
    if not all(isinstance(each, dict) and each.get("type") in _KINDS for each in results):
        return None
    return turns_of_words(_word(each) for each in objects(results) if each["type"] != "speaker_change")


def _word(each: Row) -> Word:
    best = next(iter(objects(each.get("alternatives"))), {})
    speaker = best.get("speaker") or each.get("channel")
    return Word(
        str(best.get("content") or ""),
        None if speaker in (None, "UU") else str(speaker),  # UU: it could not tell
        each.get("start_time"),
        each.get("end_time"),
        best.get("confidence"),
        glued=each["type"] == "punctuation" and each.get("attaches_to", "previous") == "previous",
    )
