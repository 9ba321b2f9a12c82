"""Deepgram's prerecorded answer."""

from __future__ import annotations

from typing import Any

from medjury.texts.transcripts._readers.rows import (
    Row,
    Rows,
    Word,
    by_start,
    numbered_speaker,
    objects,
    turns_of_words,
)


def deepgram(content: Any) -> Rows | None:
    """Its utterances where there are any, else its sentences, else its words by speaker, else one turn a channel.
    Where nobody is told apart but there are several channels, each channel is a speaker."""
    results = content.get("results") if isinstance(content, dict) else None
    if not isinstance(results, dict):
        return None
    if isinstance(results.get("utterances"), list) and results["utterances"]:
        rows = [
            {
                "text": each.get("transcript"),
                "start": each.get("start"),
                "end": each.get("end"),
                "confidence": each.get("confidence"),
                "speaker": numbered_speaker(each.get("speaker")),
                "channel": each.get("channel"),
            }
            for each in objects(results["utterances"])
        ]
    elif isinstance(results.get("channels"), list):
        rows = [
            row | {"channel": number}
            for number, channel in enumerate(objects(results["channels"]))
            for best in objects(channel.get("alternatives"))[:1]
            for row in _channel(best)
        ]
    else:
        return None
    return by_start(_by_channel(rows))


def _channel(best: Row) -> Rows:
    sentences = [
        {"text": sentence.get("text"), "start": sentence.get("start"), "end": sentence.get("end"),
         "speaker": numbered_speaker(paragraph.get("speaker"))}
        for paragraph in objects((best.get("paragraphs") or {}).get("paragraphs"))
        for sentence in objects(paragraph.get("sentences"))
    ]  # fmt: skip
    words = objects(best.get("words"))
    unnamed = not any(sentence["speaker"] for sentence in sentences)
    if unnamed and any(word.get("speaker") is not None for word in words):
        return turns_of_words(
            Word(str(word.get("punctuated_word") or word.get("word") or ""), numbered_speaker(word.get("speaker")),
                 word.get("start"), word.get("end"), word.get("confidence"))
            for word in words
        )  # fmt: skip
    whole = {
        "text": best.get("transcript"),
        "start": words[0].get("start") if words else None,
        "end": words[-1].get("end") if words else None,
    }
    return [row | {"confidence": best.get("confidence")} for row in sentences or [whole]]


def _by_channel(rows: Rows) -> Rows:
    """The same rows with the channel as their speaker, where nobody is named and there are several. Where speakers
    are told apart within each channel, both are named, as `speaker 0` is somebody else on each."""
    used = {_number(row.get("channel")) for row in rows} - {None}
    if len(used) < 2:
        return rows
    for row in rows:
        channel = f"channel {_number(row.get('channel'))}"
        row["speaker"] = channel if row.get("speaker") is None else f"{channel}, {row['speaker']}"
    return rows


def _number(channel: Any) -> Any:
    return channel[0] if isinstance(channel, list) and channel else channel
