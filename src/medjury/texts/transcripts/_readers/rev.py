"""Rev: monologues of elements, in which blanks and full stops are elements too."""

from __future__ import annotations

from typing import Any

from medjury.texts.transcripts._readers.rows import Row, Rows, numbered_speaker, objects


def rev(content: Any) -> Rows | None:
    if not isinstance(content, dict) or not isinstance(content.get("monologues"), list):
        return None
    names = {each.get("id"): each.get("name") for each in objects(content.get("speakers"))}
    return [_turn(each, names) for each in objects(content["monologues"])]


def _turn(monologue: Row, names: dict[Any, Any]) -> Row:
    elements = objects(monologue.get("elements"))
    words = [each for each in elements if each.get("type") == "text"]
    sure = [each["confidence"] for each in words if each.get("confidence") is not None]
    speaker = monologue.get("speaker")
    return {
        "text": "".join(str(each.get("value") or "") for each in elements),
        "speaker": names.get(speaker) or numbered_speaker(speaker),
        "start": next((each["ts"] for each in words if each.get("ts") is not None), None),
        "end": next((each["end_ts"] for each in reversed(words) if each.get("end_ts") is not None), None),
        "confidence": sum(sure) / len(sure) if sure else None,
    }
