"""AWS Transcribe and AWS HealthScribe."""

from __future__ import annotations

from typing import Any

from medjury.texts.transcripts._readers.rows import Row, Rows, Word, by_start, objects, turns_of_words


def transcribe(content: Any) -> Rows | None:
    """Words with the speaker that is told with each, in the list of speakers' segments, or by the channel."""
    results = content.get("results") if isinstance(content, dict) else None
    if not isinstance(results, dict) or not isinstance(results.get("items"), list):
        return None
    items = objects(results["items"])
    channels = objects((results.get("channel_labels") or {}).get("channels"))
    if channels:
        rows = [
            row
            for channel in channels
            for row in turns_of_words(
                _word(item, {}, str(channel.get("channel_label"))) for item in objects(channel.get("items"))
            )
        ]
        return by_start([row | {"start": _number(row["start"]), "end": _number(row["end"])} for row in rows])
    by_time = {
        item.get("start_time"): item.get("speaker_label") or segment.get("speaker_label")
        for segment in objects((results.get("speaker_labels") or {}).get("segments"))
        for item in objects(segment.get("items"))
    }
    segments = objects((results.get("speaker_labels") or {}).get("segments"))
    if not by_time:
        by_time = {item.get("start_time"): _whose(item, segments) for item in items}
    return turns_of_words(_word(item, by_time, None) for item in items)


def _whose(item: Row, segments: list[Row]) -> Any:
    """The speaker of the segment in which a word begins, where segments do not list their words."""
    if item.get("start_time") is None:
        return None
    at = float(item["start_time"])
    inside = {
        each.get("speaker_label")
        for each in segments
        if float(each.get("start_time", "inf")) <= at < float(each.get("end_time", "-inf"))
    }
    return inside.pop() if len(inside) == 1 else None


def _word(item: Row, by_time: dict[Any, Any], channel: str | None) -> Word:
    best = next(iter(objects(item.get("alternatives"))), {})
    speaker = channel or item.get("speaker_label") or by_time.get(item.get("start_time"))
    return Word(
        str(best.get("content") or ""),
        None if speaker is None else str(speaker),
        item.get("start_time"),
        item.get("end_time"),
        best.get("confidence"),
        glued=item.get("type") == "punctuation",
    )


def _number(time: Any) -> float | None:
    return None if time is None else float(time)


def healthscribe(content: Any) -> Rows | None:
    """The segments of a conversation, each with the role of who spoke."""
    conversation = content.get("Conversation") if isinstance(content, dict) else None
    if not isinstance(conversation, dict) or not isinstance(conversation.get("TranscriptSegments"), list):
        return None
    rows: Rows = []
    for each in objects(conversation["TranscriptSegments"]):
        who = next(iter(objects([each.get("ParticipantDetails")])), {})
        rows.append(
            {
                "text": each.get("Content"),
                "speaker": who.get("ParticipantRole"),
                "start": each.get("BeginAudioTime"),
                "end": each.get("EndAudioTime"),
            }
        )
    return rows
