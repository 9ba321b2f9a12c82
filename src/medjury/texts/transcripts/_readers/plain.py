"""A list of turns, the plainest form: {text, speaker?, start?, end?, index?, confidence?}."""

from __future__ import annotations

from typing import Any

from medjury.foundation.errors import MedjuryError
from medjury.texts.transcripts._readers.rows import Rows, first_of

# Names under which people write who speaks and is not read here; what is under them would be lost.
_LIKE_SPEAKERS = ("role", "speaker_id", "speakerid", "speaker_name", "speakername", "speaker_label", "name", "who",
                  "participant", "channel", "from", "author")  # fmt: skip


def plain_turns(content: Any, file: str = "transcript") -> Rows | None:
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
        if any(name in turn for name in ("text", "transcript")):
            _refuse_unread_speakers(turn, f"{file}, turn {len(rows) + 1}")
        rows.append(
            {
                "text": first_of(turn, "text", "transcript"),
                "index": turn.get("index"),
                "speaker": turn.get("speaker"),
                "start": first_of(turn, "start", "startedAt"),
                "end": first_of(turn, "end", "endedAt"),
                "confidence": turn.get("confidence"),
                "interim": _is_interim(first_of(turn, "final", "is_final", "isFinal", "isfinal")),
            }
        )
    return rows


def _is_interim(final: Any) -> bool:
    """True where a turn says that it is not final, as JSON or as a table writes it."""
    return final is False or (isinstance(final, str) and final.strip().casefold() in ("false", "0", "no"))


def _refuse_unread_speakers(turn: dict[str, Any], place: str) -> None:
    """Refuse a turn that says who speaks under another name than `speaker`: it would be taken for nobody's."""
    if turn.get("speaker") not in (None, ""):
        return
    for name, value in turn.items():
        if str(name).strip().casefold() in (*_LIKE_SPEAKERS, "speaker") and name != "speaker" and value:
            raise MedjuryError(f"{place}: `{name}` may say who speaks; call it `speaker`, or leave it out")
