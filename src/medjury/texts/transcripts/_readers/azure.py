"""Azure Speech: batch transcription, whose times are ticks of 100 ns, and fast transcription, in milliseconds."""

from __future__ import annotations

from typing import Any

from medjury.texts.transcripts._readers.rows import Row, Rows, by_start, numbered_speaker, objects

_TICKS = 10_000_000


def azure(content: Any) -> Rows | None:
    """The phrases in the order of their times; where no speakers are told apart, the channel is the speaker."""
    if not isinstance(content, dict):
        return None
    if isinstance(content.get("recognizedPhrases"), list):
        phrases = [(_batch(each), each) for each in objects(content["recognizedPhrases"])]
    elif isinstance(content.get("phrases"), list):
        phrases = [(_fast(each), each) for each in objects(content["phrases"])]
    else:
        return None
    several = len({each.get("channel") for _, each in phrases}) > 1
    for row, each in phrases:
        if row["speaker"] is None and several:
            row["speaker"] = f"channel {each.get('channel')}"
    return by_start([row for row, _ in phrases])


def _batch(each: Row) -> Row:
    best = next(iter(objects(each.get("nBest"))), {})
    start, length = each.get("offsetInTicks"), each.get("durationInTicks")
    return {
        "text": best.get("display") or best.get("lexical"),
        "speaker": numbered_speaker(each.get("speaker")),
        "start": None if start is None else start / _TICKS,
        "end": None if start is None or length is None else (start + length) / _TICKS,
        "confidence": best.get("confidence"),
    }


def _fast(each: Row) -> Row:
    start, length = each.get("offsetMilliseconds"), each.get("durationMilliseconds")
    return {
        "text": each.get("text"),
        "speaker": numbered_speaker(each.get("speaker")),
        "start": None if start is None else start / 1000,
        "end": None if start is None or length is None else (start + length) / 1000,
        "confidence": each.get("confidence"),
    }
