"""AssemblyAI, whose times are milliseconds."""

from __future__ import annotations

from typing import Any

from medjury.texts.transcripts._readers.rows import Row, Rows, Word, objects, turns_of_words


def assemblyai(content: Any) -> Rows | None:
    """Its utterances, or, where speakers were not asked for, its words as one turn."""
    if not isinstance(content, dict) or not ("utterances" in content or "audio_duration" in content):
        return None
    utterances, words = content.get("utterances"), content.get("words")
    if isinstance(utterances, list) and utterances:
        return [
            {"text": each.get("text"), "speaker": _speaker(each), "start": _seconds(each.get("start")),
             "end": _seconds(each.get("end")), "confidence": each.get("confidence")}
            for each in objects(utterances)
        ]  # fmt: skip
    if not isinstance(words, list):
        return None
    return turns_of_words(
        Word(str(each.get("text") or ""), _speaker(each), _seconds(each.get("start")), _seconds(each.get("end")),
             each.get("confidence"))
        for each in objects(words)
    )  # fmt: skip


def _speaker(each: Row) -> str | None:
    speaker, channel = each.get("speaker"), each.get("channel")
    if speaker is None:
        return None if channel is None else f"channel {channel}"
    return f"speaker {speaker}"


def _seconds(milliseconds: Any) -> Any:
    return milliseconds / 1000 if isinstance(milliseconds, int | float) else milliseconds
