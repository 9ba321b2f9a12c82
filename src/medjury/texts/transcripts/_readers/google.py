"""Google Speech-to-Text, versions 1 and 2."""

from __future__ import annotations

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


def google(content: Any) -> Rows | None:
    """The first alternative of each result. Where words have speakers, a result is cut where the speaker changes;
    version 1 repeats all words with their speakers in its last result, which then stands for the others."""
    if isinstance(content, dict) and isinstance(content.get("response"), dict):
        content = content["response"]
    results = content.get("results") if isinstance(content, dict) else None
    if not isinstance(results, list):
        return None
    best = [
        (result, alternative)
        for result in objects(results)
        for alternative in objects(result.get("alternatives"))[:1]
    ]
    if (whole := _all_words_again(best)) is not None:
        return turns_of_words(whole)
    rows: Rows = []
    for result, alternative in best:
        words = objects(alternative.get("words"))
        if len({_speaker(word) for word in words}) > 1:
            rows += turns_of_words(_words(words))
            continue
        first, last = (words[0], words[-1]) if words else ({}, {})
        rows.append(
            {
                "text": alternative.get("transcript"),
                "start": _start(first),
                "end": first_of(last, "endTime", "endOffset", "end_time")
                or first_of(result, "resultEndTime", "resultEndOffset"),
                "confidence": alternative.get("confidence") or None,  # 0 is Google's "not set"
                "speaker": _speaker(first) or _channel(result),
                "interim": result.get("isFinal") is False,
            }
        )
    return rows


def _all_words_again(best: list[tuple[Row, Row]]) -> list[Word] | None:
    """The words of the last result, where it repeats those of all others and names the speaker of each."""
    if len(best) < 2:
        return None
    *before, last = [objects(alternative.get("words")) for _, alternative in best]
    others = [word for words in before for word in words]
    said = [word.get("word") for word in others]
    if not said:
        # Without words of their own the others are compared by what they say.
        said = [word for _, each in best[:-1] for word in str(each.get("transcript") or "").split()]
    if not said or [word.get("word") for word in last][: len(said)] != said:
        return None
    if any(map(_speaker, others)) and list(map(_start, others)) != list(map(_start, last[: len(others)])):
        return None  # the same words were said again, at another time
    return _words(last) if all(_speaker(word) for word in last) else None


def _channel(result: Row) -> str | None:
    channel = first_of(result, "channelTag", "channel_tag")
    return f"channel {channel}" if channel else None


def _words(words: list[Row]) -> list[Word]:
    return [
        Word(
            str(word.get("word") or ""),
            _speaker(word),
            _start(word),
            first_of(word, "endTime", "endOffset", "end_time"),
            word.get("confidence") or None,
        )
        for word in words
    ]


def _start(word: Row) -> Any:
    return first_of(word, "startTime", "startOffset", "start_time")


def _speaker(word: Row) -> str | None:
    return numbered_speaker(first_of(word, "speakerTag", "speakerLabel", "speaker_tag") or None)
