"""The JSON of recognisers, by the names people know them by. Another one is a function and a line."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from medjury.texts.transcripts._rows import (
    Row,
    Rows,
    Word,
    by_start,
    first_of,
    numbered_speaker,
    objects,
    plain_turns,
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
        if len({_google_speaker(word) for word in words}) > 1:
            rows += turns_of_words(_google_words(words))
            continue
        first, last = (words[0], words[-1]) if words else ({}, {})
        rows.append(
            {
                "text": alternative.get("transcript"),
                "start": _google_start(first),
                "end": first_of(last, "endTime", "endOffset", "end_time")
                or first_of(result, "resultEndTime", "resultEndOffset"),
                "confidence": alternative.get("confidence") or None,  # 0 is Google's "not set"
                "speaker": _google_speaker(first) or _google_channel(result),
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
    if any(map(_google_speaker, others)) and list(map(_google_start, others)) != list(
        map(_google_start, last[: len(others)])
    ):
        return None  # the same words were said again, at another time
    return _google_words(last) if all(_google_speaker(word) for word in last) else None


def _google_channel(result: Row) -> str | None:
    channel = first_of(result, "channelTag", "channel_tag")
    return f"channel {channel}" if channel else None


def _google_words(words: list[Row]) -> list[Word]:
    return [
        Word(
            str(word.get("word") or ""),
            _google_speaker(word),
            _google_start(word),
            first_of(word, "endTime", "endOffset", "end_time"),
            word.get("confidence") or None,
        )
        for word in words
    ]


def _google_start(word: Row) -> Any:
    return first_of(word, "startTime", "startOffset", "start_time")


def _google_speaker(word: Row) -> str | None:
    return numbered_speaker(first_of(word, "speakerTag", "speakerLabel", "speaker_tag") or None)


# The forms of JSON that are known, each by the name people know it by. Another recogniser is one more line.


# Deepgram's prerecorded answer.


def deepgram(content: Any) -> Rows | None:
    """Its utterances where there are any, else its sentences, else its words by speaker, else one turn a channel.
    Where nobody is told apart but there are several channels, each channel is a speaker."""
    results = content.get("results") if isinstance(content, dict) else None
    if not isinstance(results, dict):
        return None
    if isinstance(results.get("utterances"), list) and results["utterances"]:
        rows = [
            _timed(each, each.get("transcript"), numbered_speaker(each.get("speaker")))
            | {"channel": each.get("channel")}
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
        _timed(sentence, sentence.get("text"), numbered_speaker(paragraph.get("speaker")))
        for paragraph in objects((best.get("paragraphs") or {}).get("paragraphs"))
        for sentence in objects(paragraph.get("sentences"))
    ]
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
    used = {_deepgram_number(row.get("channel")) for row in rows} - {None}
    if len(used) < 2:
        return rows
    for row in rows:
        channel = f"channel {_deepgram_number(row.get('channel'))}"
        row["speaker"] = channel if row.get("speaker") is None else f"{channel}, {row['speaker']}"
    return rows


def _deepgram_number(channel: Any) -> Any:
    return channel[0] if isinstance(channel, list) and channel else channel


# AWS Transcribe and AWS HealthScribe.


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
                _amazon_word(item, {}, str(channel.get("channel_label")))
                for item in objects(channel.get("items"))
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
    return turns_of_words(_amazon_word(item, by_time, None) for item in items)


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


def _amazon_word(item: Row, by_time: dict[Any, Any], channel: str | None) -> Word:
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


# Whisper, WhisperX and whisper.cpp.


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
        speaker = next(iter(named), None) if named else _spoken({}, each)
        sure = _probability(each.get("avg_logprob"))
        rows.append(_timed(each, each.get("text"), speaker) | {"confidence": sure})
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


# Azure Speech: batch transcription, whose times are ticks of 100 ns, and fast transcription, in milliseconds.

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
    times = _span(each.get("offsetInTicks"), each.get("durationInTicks"), _TICKS)
    said = best.get("display") or best.get("lexical")
    return _timed({**best, **times}, said, numbered_speaker(each.get("speaker")))


def _fast(each: Row) -> Row:
    times = _span(each.get("offsetMilliseconds"), each.get("durationMilliseconds"), 1000)
    return _timed({**each, **times}, each.get("text"), numbered_speaker(each.get("speaker")))


def _span(start: Any, length: Any, unit: int) -> Row:
    end = None if start is None or length is None else (start + length) / unit
    return {"start": None if start is None else start / unit, "end": end}


# AssemblyAI, whose times are milliseconds.


def assemblyai(content: Any) -> Rows | None:
    """Its utterances, or, where speakers were not asked for, its words as one turn."""
    if not isinstance(content, dict) or not ("utterances" in content or "audio_duration" in content):
        return None
    utterances, words = content.get("utterances"), content.get("words")
    if isinstance(utterances, list) and utterances:
        return [
            _timed(each, each.get("text"), _speaker(each))
            | {name: _seconds(each.get(name)) for name in ("start", "end")}
            for each in objects(utterances)
        ]
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


# Speechmatics: words and punctuation, each with its speaker.

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


# Rev: monologues of elements, in which blanks and full stops are elements too.


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


def _timed(each: Row, text: Any, speaker: str | None) -> Row:
    """A turn of an object that has its times and its confidence under these very names."""
    return {
        "text": text,
        "speaker": speaker,
        **{name: each.get(name) for name in ("start", "end", "confidence")},
    }


# A form returns None where the JSON is not of its kind; the narrower ones are asked first.
FORMS: Mapping[str, Callable[[Any], Rows | None]] = {
    "list of turns": plain_turns,
    "AWS Transcribe": transcribe,
    "AWS HealthScribe": healthscribe,
    "Azure Speech": azure,
    "Rev": rev,
    "Speechmatics": speechmatics,
    "Deepgram": deepgram,
    "Google Speech-to-Text": google,
    "Whisper": whisper,
    "whisper.cpp": whisper_cpp,
    "AssemblyAI": assemblyai,
}
