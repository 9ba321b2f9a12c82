"""Whatever dialogue is written in a known form is read back word for word and speaker by speaker, or is refused."""

from __future__ import annotations

import csv
import io
import json
import tempfile
from collections.abc import Callable
from html import escape
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from medjury.foundation.errors import MedjuryError
from medjury.texts.transcripts import read_transcript
from medjury.texts.transcripts._read import ENDINGS
from medjury.texts.transcripts._recognisers import FORMS as JSON_FORMS
from medjury.texts.transcripts._speaker_names import is_heading

Dialogue = list[tuple[str, str]]

NAMES = st.one_of(
    st.sampled_from(
        ["Doctor", "patient", "Jane Roe (she/her)", "O’Brien, Pat", "Speaker 2", "Dr. 3", "Note", "Aspirin", "R2",
         "李医生", "SUBJECT",
         "D'Arcy", "Maria van der Berg", "anna", "Patient said", "Daughter", "Unknown", "One thing", "Smith & Co"]
    ),
    st.text(st.characters(whitelist_categories=("Lu", "Ll", "Nd")), min_size=1, max_size=8),
)  # fmt: skip
WORDS = st.sampled_from(
    ["pain", "no", "Daughter", "Doctor", "10:30", "well: yes", "[inaudible]", "Note: rest", "two–three", "<5 mg",
     "&c",
     "Patient", "(coughs)", "a--b", "It is.", "3", "why?"]
)  # fmt: skip
SENTENCES = st.lists(WORDS, min_size=1, max_size=5).map(" ".join)
DIALOGUES = st.lists(NAMES, min_size=2, max_size=3, unique=True).flatmap(
    lambda names: st.lists(st.tuples(st.sampled_from(names), SENTENCES), min_size=2, max_size=8)
)


def _clock(at: int) -> str:
    return f"00:{at // 60:02}:{at % 60:02}.000"


def _cues(dialogue: Dialogue, cue: Callable[[str, str], str], comma: bool = False) -> str:
    parts = []
    for at, (name, words) in enumerate(dialogue):
        times = f"{_clock(2 * at)} --> {_clock(2 * at + 2)}"
        parts.append(f"{at + 1}\n{times.replace('.', ',') if comma else times}\n{cue(name, words)}\n")
    return "\n".join(parts)


def _speechmatics(dialogue: Dialogue) -> str:
    return json.dumps({"format": "2.9", "results": [
        {"type": "word", "start_time": at, "end_time": at + 1, "alternatives": [{"content": word, "speaker": name}]}
        for at, (name, words) in enumerate(dialogue) for word in words.split()]})  # fmt: skip


def _transcribe(dialogue: Dialogue) -> str:
    return json.dumps({"results": {"items": [
        {"type": "pronunciation", "start_time": f"{at}.0", "end_time": f"{at}.9", "speaker_label": name,
         "alternatives": [{"content": word, "confidence": "0.9"}]}
        for at, (name, words) in enumerate(dialogue) for word in words.split()]}})  # fmt: skip


def _table(dialogue: Dialogue) -> str:
    lines = io.StringIO()
    csv.writer(lines).writerows([("speaker", "text"), *dialogue])
    return lines.getvalue()


def _deepgram(dialogue: Dialogue) -> str:
    return json.dumps({"results": {"utterances": [
        {"transcript": words, "speaker": name, "start": 2 * at, "end": 2 * at + 1}
        for at, (name, words) in enumerate(dialogue)]}})  # fmt: skip


def _deepgram_words(dialogue: Dialogue) -> str:
    words = [{"word": word, "speaker": name, "start": at, "end": at + 0.9}
             for at, (name, words) in enumerate(dialogue) for word in words.split()]  # fmt: skip
    said = " ".join(words for _, words in dialogue)
    return json.dumps({"results": {"channels": [{"alternatives": [{"transcript": said, "words": words}]}]}})


def _google(dialogue: Dialogue) -> str:
    """Version 2: a result for each turn, the speaker with each word."""
    return json.dumps({"results": [
        {"alternatives": [{"transcript": words, "words": [
            {"word": word, "speakerLabel": name, "startOffset": f"{at}s", "endOffset": f"{at + 1}s"}
            for word in words.split()]}]}
        for at, (name, words) in enumerate(dialogue)]})  # fmt: skip


def _google_again(dialogue: Dialogue) -> str:
    """Version 1: what was said, and in the last result all words again, with their speakers."""
    words = [{"word": word, "speakerTag": name} for name, words in dialogue for word in words.split()]
    plain = [{"alternatives": [{"transcript": words}]} for _, words in dialogue]
    return json.dumps({"results": [*plain, {"alternatives": [{"words": words}]}]})


def _azure(dialogue: Dialogue) -> str:
    return json.dumps({"recognizedPhrases": [
        {"speaker": name, "channel": 0, "offsetInTicks": 20_000_000 * at, "durationInTicks": 10_000_000,
         "nBest": [{"display": words}]} for at, (name, words) in enumerate(dialogue)]})  # fmt: skip


def _azure_fast(dialogue: Dialogue) -> str:
    return json.dumps({"phrases": [
        {"speaker": name, "offsetMilliseconds": 2000 * at, "durationMilliseconds": 1000, "text": words}
        for at, (name, words) in enumerate(dialogue)]})  # fmt: skip


def _whisper_cpp(dialogue: Dialogue) -> str:
    return json.dumps({"transcription": [
        {"text": words, "speaker": name, "offsets": {"from": 2000 * at, "to": 2000 * at + 1000}}
        for at, (name, words) in enumerate(dialogue)]})  # fmt: skip


def _timed_words(dialogue: Dialogue) -> dict[str, str]:
    """Words in one file, who speaks when in the other. Names there are single words."""
    words, spans = [], []
    for at, (name, said) in enumerate(dialogue):
        spans.append(f"SPEAKER call 1 {100 * at} 99 <NA> <NA> {name} <NA> <NA>")
        words += [f"call 1 {100 * at + 1 + n} 0.5 {word}" for n, word in enumerate(said.split())]
    return {".ctm": "\n".join(words), ".rttm": "\n".join(spans)}


FORMS: dict[str, tuple[str, Callable[[Dialogue], str]]] = {
    "names and colons": ("t.txt", lambda d: "\n".join(f"{name}: {words}" for name, words in d)),
    "time and name": ("t.txt", lambda d: "\n".join(f"[00:0{at}] {n}: {w}" for at, (n, w) in enumerate(d))),
    "name and time": ("t.txt", lambda d: "\n".join(f"{n} (00:0{at}): {w}" for at, (n, w) in enumerate(d))),
    "Otter": ("t.txt", lambda d: "\n\n".join(f"{name}  0:0{at}\n{words}" for at, (name, words) in enumerate(d))),
    "Word": ("t.txt", lambda d: "\n".join(f"00:00:0{at} {name}\n{words}" for at, (name, words) in enumerate(d))),
    "WebVTT voices": ("t.vtt", lambda d: "WEBVTT\n\n" + _cues(d, lambda n, w: f"<v {escape(n)}>{escape(w)}</v>")),
    "WebVTT names": ("t.vtt", lambda d: "WEBVTT\n\n" + _cues(d, lambda n, w: f"{n}: {escape(w)}")),
    "SubRip": ("t.srt", lambda d: _cues(d, lambda n, w: f"{n}: {escape(w)}", comma=True)),
    "WhisperX": ("t.srt", lambda d: _cues(d, lambda n, w: f"[{n}]: {escape(w)}", comma=True)),
    "list of turns": ("t.json", lambda d: json.dumps([{"speaker": name, "text": words} for name, words in d])),
    "AssemblyAI": ("t.json", lambda d: json.dumps({"utterances": [
        {"speaker": name, "text": words, "start": 2000 * at, "end": 2000 * at + 1000}
        for at, (name, words) in enumerate(d)]})),
    "HealthScribe": ("t.json", lambda d: json.dumps({"Conversation": {"TranscriptSegments": [
        {"Content": words, "ParticipantDetails": {"ParticipantRole": name}} for name, words in d]}})),
    "Speechmatics": ("t.json", _speechmatics),
    "AWS Transcribe": ("t.json", _transcribe),
    "WhisperX JSON": ("t.json", lambda d: json.dumps({"segments": [
        {"text": words, "start": 2 * at, "end": 2 * at + 1, "speaker": name}
        for at, (name, words) in enumerate(d)]})),
    "Rev": ("t.json", lambda d: json.dumps({"monologues": [
        {"speaker": at, "elements": [{"type": "text", "value": words, "ts": at, "end_ts": at + 1}]}
        for at, (_, words) in enumerate(d)],
        "speakers": [{"id": at, "name": name} for at, (name, _) in enumerate(d)]})),
    "table of turns": ("t.csv", _table),
    "Deepgram": ("t.json", _deepgram),
    "Deepgram words": ("t.json", _deepgram_words),
    "Google Speech-to-Text": ("t.json", _google),
    "Google version 1": ("t.json", _google_again),
    "Azure Speech": ("t.json", _azure),
    "Azure fast": ("t.json", _azure_fast),
    "whisper.cpp": ("t.json", _whisper_cpp),
    "CTM and RTTM": ("t.ctm", lambda d: _timed_words(d)[".ctm"]),
}  # fmt: skip
# Where the words stand on lines of their own nothing tells a name from them but the colon or the time.
PREFIXED = {"AssemblyAI": "speaker ", "whisper.cpp": "speaker "}


def _merged(dialogue: Dialogue) -> list[tuple[str, str]]:
    """The dialogue with a speaker's turns in a row as one: who recognises single words cannot tell them apart."""
    found: list[tuple[str, str]] = []
    for name, words in dialogue:
        if found and found[-1][0] == name:
            found[-1] = (name, f"{found[-1][1]} {words}")
        else:
            found.append((name, words))
    return found


def _write(form: str, dialogue: Dialogue, file: Path) -> None:
    file.write_text(FORMS[form][1](dialogue), encoding="utf-8", newline="")
    if file.suffix == ".ctm":
        file.with_suffix(".rttm").write_text(_timed_words(dialogue)[".rttm"], encoding="utf-8")


@pytest.mark.parametrize("form", FORMS)
@given(dialogue=DIALOGUES)
def test_a_dialogue_is_read_back_or_refused(form: str, dialogue: Dialogue) -> None:
    name, _ = FORMS[form]
    # `Date: ` above the first who speaks is the head of a page, whoever may be called so.
    assume(name != "t.txt" or not any(is_heading(each) for each, _ in dialogue))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / name
        _write(form, dialogue, file)
        try:
            found = read_transcript(file)
        except MedjuryError:
            return
    before = PREFIXED.get(form, "")
    read = _merged([((turn.speaker or "").removeprefix(before), turn.text) for turn in found.turns])
    expected = _merged(dialogue)
    if file.suffix == ".ctm":  # a name there ends at the first blank
        expected = _merged([(name.split()[0], words) for name, words in dialogue])
    assert read == expected


@pytest.mark.parametrize("name", [*JSON_FORMS, *ENDINGS])
def test_every_form_that_is_read_is_among_these(name: str, tmp_path: Path) -> None:
    """A new reader needs a line in FORMS. The form is what the reader itself says that it read."""
    dialogue = [("Doctor", "Any pain?"), ("Patient", "No."), ("Doctor", "Good.")]
    found = set()
    for form, (file, _) in FORMS.items():
        _write(form, dialogue, tmp_path / file)
        found |= {read_transcript(tmp_path / file).form, Path(file).suffix}
    assert name in found | {".rttm"}


@pytest.mark.parametrize("form", [form for form in FORMS if FORMS[form][0] != "t.json"])
def test_an_ordinary_dialogue_is_not_refused(form: str, tmp_path: Path) -> None:
    dialogue = [("Doctor", "Any pain?"), ("Patient", "No."), ("Doctor", "Good."), ("Patient", "Thanks.")]
    name, _ = FORMS[form]
    _write(form, dialogue, tmp_path / name)
    assert [(turn.speaker, turn.text) for turn in read_transcript(tmp_path / name).turns] == dialogue
