"""Whisper, WhisperX and whisper.cpp."""

from __future__ import annotations

import math
from typing import Any

from medjury.texts.transcripts._readers.rows import (
    Row,
    Rows,
    Word,
    first_of,
    numbered_speaker,
    objects,
    turns_of_words,
)


def whisper(content: Any) -> Rows | None:
    """Whisper's segments; confidence is the exponential of the mean log-probability of their tokens. A segment in
    which WhisperX hears several speakers is cut where the speaker changes."""
    segments = content.get("segments") if isinstance(content, dict) else None
    if not isinstance(segments, list):
        return None
    rows: Rows = []
    for each in objects(segments):
        words = [word for word in objects(each.get("words")) if isinstance(word.get("word"), str)]
        named = {_spoken(word, each) for word in words}
        if len(named) > 1:
            rows += turns_of_words(
                Word(word["word"].strip(), _spoken(word, each), word.get("start"),
                     word.get("end"), word.get("score"))
                for word in words
            )  # fmt: skip
            continue
        rows.append(
            {
                "text": each.get("text"),
                "start": each.get("start"),
                "end": each.get("end"),
                "speaker": next(iter(named), None) if named else _spoken({}, each),
                "confidence": _probability(each.get("avg_logprob")),
            }
        )
    return rows


def whisper_cpp(content: Any) -> Rows | None:
    """whisper.cpp's `transcription`, with offsets in milliseconds and, where it was asked for, a `speaker`."""
    parts = content.get("transcription") if isinstance(content, dict) else None
    if not isinstance(parts, list):
        return None
    rows = []
    for each in objects(parts):
        offsets = next(iter(objects([each.get("offsets")])), {})
        times = {
            name: offsets[key] / 1000 if isinstance(offsets.get(key), int | float) else None
            for name, key in (("start", "from"), ("end", "to"))
        }
        speaker = each.get("speaker")
        named = f"speaker {speaker}" if speaker not in (None, "", "?") else None
        rows.append({"text": each.get("text"), "speaker": named, **times})
    return rows


def _spoken(word: Row, segment: Row) -> str | None:
    """Who speaks a word: as is told with it, else as is told of its segment, under whatever name."""
    return numbered_speaker(first_of({**segment, **word}, "speaker", "speaker_id", "speaker_label"))


def _probability(logarithm: Any) -> float | None:
    if isinstance(logarithm, bool) or not isinstance(logarithm, int | float) or logarithm > 0:
        return None
    return math.exp(logarithm)
