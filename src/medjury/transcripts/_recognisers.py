"""The JSON that recognisers write, each form as the same plain rows: text, start, end, speaker, confidence.

A form is a function that returns rows, or None where the JSON is not of its kind; another recogniser is one more.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

Row = dict[str, Any]
Rows = list[Row]


def plain_turns(content: Any) -> Rows | None:
    """A list of turns, or an object that holds one under `turns`, `utterances` or `segments` with plain texts."""
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
                "text": _first(turn, "text", "transcript"),
                "index": turn.get("index"),
                "speaker": turn.get("speaker"),
                "start": _first(turn, "start", "startedAt"),
                "end": _first(turn, "end", "endedAt"),
                "confidence": turn.get("confidence"),
                "interim": turn.get("final") is False,
            }
        )
    return rows


def deepgram(content: Any) -> Rows | None:
    """Deepgram's prerecorded answer: its utterances where there are any, else its sentences, else one turn each
    channel."""
    results = content.get("results") if isinstance(content, dict) else None
    if not isinstance(results, dict):
        return None
    if isinstance(results.get("utterances"), list):
        rows = [
            {
                "text": each.get("transcript"),
                "start": each.get("start"),
                "end": each.get("end"),
                "confidence": each.get("confidence"),
                "speaker": _numbered_speaker(each.get("speaker")),
            }
            for each in _objects(results["utterances"])
        ]
        return _by_start(rows)
    if not isinstance(results.get("channels"), list):
        return None
    rows = []
    for channel in _objects(results["channels"]):
        for best in _objects(channel.get("alternatives"))[:1]:
            sentences = [
                {"text": sentence.get("text"), "start": sentence.get("start"), "end": sentence.get("end"),
                 "speaker": _numbered_speaker(paragraph.get("speaker"))}
                for paragraph in _objects((best.get("paragraphs") or {}).get("paragraphs"))
                for sentence in _objects(paragraph.get("sentences"))
            ]  # fmt: skip
            words = _objects(best.get("words"))
            whole = {"text": best.get("transcript"), "start": words[0].get("start") if words else None,
                     "end": words[-1].get("end") if words else None}  # fmt: skip
            rows += [row | {"confidence": best.get("confidence")} for row in sentences or [whole]]
    return _by_start(rows)


def google(content: Any) -> Rows | None:
    """Google Speech-to-Text, versions 1 and 2: the first alternative of each result."""
    results = content.get("results") if isinstance(content, dict) else None
    if not isinstance(results, list):
        return None
    rows: Rows = []
    for result in _objects(results):
        for best in _objects(result.get("alternatives"))[:1]:
            words = _objects(best.get("words"))
            first, last = (words[0], words[-1]) if words else ({}, {})
            rows.append(
                {
                    "text": best.get("transcript"),
                    "start": _first(first, "startTime", "startOffset", "start_time"),
                    "end": _first(last, "endTime", "endOffset", "end_time")
                    or _first(result, "resultEndTime", "resultEndOffset"),
                    "confidence": best.get("confidence") or None,  # 0 is Google's "not set"
                    "speaker": _numbered_speaker(_first(first, "speakerTag", "speakerLabel") or None),
                    "interim": result.get("isFinal") is False,
                }
            )
    return rows


def whisper(content: Any) -> Rows | None:
    """Whisper's segments; confidence is the exponential of the mean log-probability of their tokens."""
    segments = content.get("segments") if isinstance(content, dict) else None
    if not isinstance(segments, list):
        return None
    return [
        {
            "text": each.get("text"),
            "start": each.get("start"),
            "end": each.get("end"),
            "speaker": each.get("speaker"),
            "confidence": _probability(each.get("avg_logprob")),
        }
        for each in _objects(segments)
    ]


def whisper_cpp(content: Any) -> Rows | None:
    """whisper.cpp's `transcription`, with offsets in milliseconds."""
    parts = content.get("transcription") if isinstance(content, dict) else None
    if not isinstance(parts, list):
        return None
    rows = []
    for each in _objects(parts):
        offsets = next(iter(_objects([each.get("offsets")])), {})
        times = {
            name: offsets[key] / 1000 if isinstance(offsets.get(key), int | float) else None
            for name, key in (("start", "from"), ("end", "to"))
        }
        rows.append({"text": each.get("text"), **times})
    return rows


FORMS: tuple[Callable[[Any], Rows | None], ...] = (plain_turns, deepgram, google, whisper, whisper_cpp)


def _objects(value: Any) -> list[dict[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _first(row: dict[str, Any], *names: str) -> Any:
    return next((row[name] for name in names if row.get(name) is not None), None)


def _numbered_speaker(value: Any) -> str | None:
    return None if value is None else f"speaker {value}" if isinstance(value, int) else str(value)


def _by_start(rows: Rows) -> Rows:
    """Channels side by side become one order; rows without a time stay where they are."""
    if not all(isinstance(row.get("start"), int | float) for row in rows):
        return rows
    return sorted(rows, key=lambda row: row["start"])


def _probability(logarithm: Any) -> float | None:
    if isinstance(logarithm, bool) or not isinstance(logarithm, int | float) or logarithm > 0:
        return None
    return math.exp(logarithm)
