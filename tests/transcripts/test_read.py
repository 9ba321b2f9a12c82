"""Readers: whatever a recogniser writes becomes the same turns; what cannot be read is named."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from medjury.foundation.errors import MedjuryError
from medjury.texts.transcripts import Transcript, read_transcript
from medjury.texts.transcripts._turn import Turn


@pytest.fixture
def read(tmp_path: Path) -> Any:
    def read(content: Any, name: str = "t.json") -> Transcript:
        file = tmp_path / name
        file.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return read_transcript(file)

    return read


def test_plain_turns_keep_their_own_index(read: Any) -> None:
    found = read(
        [{"index": 4, "text": " Hi ", "start": 1, "end": "2.5", "confidence": 0.5}, {"index": 7, "text": "x"}]
    )
    assert found.turns == (Turn(4, "Hi", None, 1.0, 2.5, 0.5), Turn(7, "x"))
    assert found.numbered
    assert [turn.index for turn in read({"turns": ["a", "b"]}).turns] == [0, 1]


def test_a_table(read: Any) -> None:
    found = read('Speaker,Text,start\nDoctor,Any pain?,0:01\nPatient,"No, none",00:00:03.5\n', "t.csv")
    assert found.turns == (Turn(0, "Any pain?", "Doctor", 1.0), Turn(1, "No, none", "Patient", 3.5))
    with pytest.raises(MedjuryError, match="needs a column `text`"):
        read("words\nhi\n", "t.csv")


def test_lines_with_time_and_speaker(read: Any) -> None:
    text = (
        "[00:00] Doctor: Hello?\n[00:03] Patient: Hello.\nCan you hear me: well?\n\n[01:00:02] Patient: OK."
    )
    expected = (Turn(0, "Hello?", "Doctor", 0.0), Turn(1, "Hello. Can you hear me: well?", "Patient", 3.0),
                Turn(2, "OK.", "Patient", 3602.0))  # fmt: skip
    assert read({"call": 1, "transcript_golden_anonymized": text}).turns == expected
    assert read(text, "t.txt").turns == expected
    patient = read(text, "t.txt").of_speaker("PATIENT")
    assert [turn.index for turn in patient.turns] == [0, 1]
    assert [turn.text for turn in read("one\ntwo", "t.txt").turns] == ["one", "two"]


def test_streamed_results_with_wall_clock_times_leave_interim_ones_out(read: Any) -> None:
    found = read([
        {"text": "hel", "final": False, "startedAt": "2025-10-02T12:00:00Z"},
        {"text": "hello", "final": True, "confidence": 1, "startedAt": "2025-10-02T12:00:00Z",
         "endedAt": "2025-10-02T14:00:01.500+02:00"},
    ])  # fmt: skip
    (turn,) = found.turns
    assert turn.end is not None and turn.start is not None and turn.end - turn.start == 1.5
    assert found.notes == ("t.json: 1 interim results left out",)


def test_deepgram(read: Any) -> None:
    said = {"transcript": "yes", "start": 5.0, "end": 6.0, "confidence": 0.9, "speaker": 1}
    earlier = {"transcript": "any pain", "start": 1.0, "end": 2.0, "confidence": 0.8, "speaker": 0}
    found = read({"results": {"channels": [], "utterances": [said, earlier]}})
    assert found.turns == (
        Turn(0, "any pain", "speaker 0", 1.0, 2.0, 0.8),
        Turn(1, "yes", "speaker 1", 5.0, 6.0, 0.9),
    )
    whole = {
        "transcript": "any pain",
        "confidence": 0.7,
        "words": [{"start": 1, "end": 2}, {"start": 2, "end": 3}],
    }
    channels = {"results": {"channels": [{"alternatives": [whole, {"transcript": "anne pain"}]}]}}
    assert read(channels).turns == (Turn(0, "any pain", None, 1.0, 3.0, 0.7),)
    whole["paragraphs"] = {
        "paragraphs": [{"speaker": 0, "sentences": [{"text": "Any pain?", "start": 1, "end": 3}]}]
    }
    assert read(channels).turns == (Turn(0, "Any pain?", "speaker 0", 1.0, 3.0, 0.7),)


def test_google(read: Any) -> None:
    words = [{"startTime": "1.300s", "endTime": "2s", "word": "no"}, {"startTime": "2s", "endTime": "2.500s"}]
    found = read({"results": [
        {"alternatives": [{"transcript": "no pain", "confidence": 0.9, "words": words}, {"transcript": "nope"}]},
        {"alternatives": [{"transcript": "thanks", "confidence": 0}], "resultEndOffset": "4s"},
        {"alternatives": []},
    ]})  # fmt: skip
    assert found.turns == (Turn(0, "no pain", None, 1.3, 2.5, 0.9), Turn(1, "thanks", None, None, 4.0))


def test_whisper(read: Any) -> None:
    found = read(
        {
            "text": "a b",
            "segments": [{"id": 0, "start": 0.0, "end": 2.0, "text": " Hi.", "avg_logprob": -0.5}],
        }
    )
    assert found.turns == (Turn(0, "Hi.", None, 0.0, 2.0, math.exp(-0.5)),)
    cpp = {"transcription": [{"offsets": {"from": 0, "to": 1500}, "text": " Hi."}]}
    assert read(cpp).turns == (Turn(0, "Hi.", None, 0.0, 1.5),)


def test_subtitles(read: Any) -> None:
    vtt = (
        "WEBVTT\n\nNOTE made by hand\n\n1\n00:01.000 --> 00:02.500 align:start\n<v Patient>It &amp; <i>that</i>\n"
        "hurts.</v>\n\n00:01:03.000 --> 00:01:04.000\n<v Doctor>OK."
    )
    assert read(vtt, "t.vtt").turns == (
        Turn(0, "It & that hurts.", "Patient", 1.0, 2.5), Turn(1, "OK.", "Doctor", 63.0, 64.0))  # fmt: skip
    srt = "1\n00:00:01,000 --> 00:00:02,500\nPatient: It hurts.\n\n2\n00:00:03,000 --> 00:00:04,000\nDoctor: OK.\n"
    assert [turn.speaker for turn in read(srt, "t.srt").turns] == ["Patient", "Doctor"]
    with pytest.raises(MedjuryError, match=r"t.srt, line 2: a cue's times"):
        read("1\nnow --> then\nHi\n", "t.srt")


def test_overlapping_times_and_silent_turns_are_noted_and_kept(read: Any) -> None:
    found = read([{"text": "a", "start": 0, "end": 9}, {"text": "b", "start": 5, "end": 6}, {"text": " "}])
    assert [turn.text for turn in found.turns] == ["a", "b", ""]
    assert "1 turns begin before an earlier one ends" in found.notes[1] and "without text" in found.notes[0]


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ([{"text": "a", "start": 3, "end": 2}], "turn 1: ends before it starts"),
        ([{"text": "a", "start": "soon"}], "turn 1: `start` must be"),
        ([{"text": 3}], "`text` must be text"),
        ([{"text": "a", "confidence": 95}], "`confidence` must be between 0 and 1"),
        ([{"text": "a", "index": 0}, {"text": "b"}], "turn 2: `index` must be a whole number"),
        ([{"text": "a", "index": 0}, {"text": "b", "index": 0}], "index 0 is on more than one turn"),
        ({"words": 3}, "holds no transcript that is known here"),
        ("{", "line 1: is not valid JSON"),
    ],
)
def test_what_cannot_be_read_is_named(read: Any, content: Any, complaint: str) -> None:
    with pytest.raises(MedjuryError, match=complaint):
        read(content)


def test_files_that_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(MedjuryError, match="no such file"):
        read_transcript(tmp_path / "none.json")
    (tmp_path / "t.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(MedjuryError, match="not UTF-8"):
        read_transcript(tmp_path / "t.json")
    (tmp_path / "t.doc").write_text("x")
    with pytest.raises(MedjuryError, match=r"give a .json"):
        read_transcript(tmp_path / "t.doc")


def test_a_speaker_nobody_knows(read: Any) -> None:
    found = read([{"text": "a", "speaker": "Doctor"}, {"text": "b", "speaker": "Nurse"}])
    with pytest.raises(MedjuryError, match="nobody here is called 'patient'; speakers: Doctor, Nurse"):
        found.of_speaker("patient")
