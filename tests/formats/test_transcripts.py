"""Transcripts as recognisers and people write them: every word and speaker is read, or the file is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.formats.readable import reads

from medjury.foundation.errors import MedjuryError
from medjury.texts.transcripts import Transcript, read_transcript

TEXTS = {
    "names and colons": ("t.txt", "Doctor: Any pain?\nPatient: No.\n"),
    "bold names": ("t.txt", "**Doctor:** Any pain?\n\n**Patient:** No.\n"),
    "names in brackets": ("t.txt", "[doctor] Any pain?\n[patient] No.\n"),
    "name and time in brackets": ("t.txt", "Doctor (00:03): Any pain?\nPatient (00:05): No.\n"),
    "time before the name": ("t.txt", "00:03 Doctor: Any pain?\n00:05 Patient: No.\n"),
    "time in brackets": ("t.txt", "[00:03] Doctor: Any pain?\n[00:05] Patient: No.\n"),
    "names and dashes": ("t.txt", "Doctor - Any pain?\nPatient - No.\n"),
    "names and tabs": ("t.txt", "DOCTOR\tAny pain?\nPATIENT\tNo.\n"),
    "roles above the words": ("t.txt", "DOCTOR\nAny pain?\n\nPATIENT\nNo.\n"),
    "Otter": ("t.txt", "Doctor  0:03  \nAny pain?\n\nPatient  0:05  \nNo.\n"),
    "Word": ("t.txt", "00:00:03 Doctor\nAny pain?\n00:00:05 Patient\nNo.\n"),
    "whisper.cpp lines": (
        "t.txt",
        "[00:00:03.000 --> 00:00:04.000]   (doctor) Any pain?\n[00:00:05.000 --> 00:00:06.000]   (patient) No.\n",
    ),
    "WebVTT, voices": (
        "t.vtt",
        "WEBVTT\n\n00:03.000 --> 00:04.000\n<v Doctor>Any pain?</v>\n\n"
        "00:05.000 --> 00:06.000\n<v Patient>No.</v>\n",
    ),
    "WebVTT, two voices in a cue": (
        "t.vtt", "WEBVTT\n\n00:03.000 --> 00:06.000\n<v Doctor>Any pain?</v> <v Patient>No.</v>\n"),
    "WebVTT, names": (
        "t.vtt", "WEBVTT\n\n00:03.000 --> 00:04.000\nDoctor: Any pain?\n\n00:05.000 --> 00:06.000\nPatient: No.\n"),
    "WhisperX": (
        "t.srt",
        "1\n00:00:03,000 --> 00:00:04,000\n[Doctor]: Any pain?\n\n"
        "2\n00:00:05,000 --> 00:00:06,000\n[Patient]: No.\n",
    ),
    "two lines of one cue": (
        "t.srt", "1\n00:00:03,000 --> 00:00:06,000\nDoctor: Any\npain?\nPatient: No.\n"),
    "no empty line between cues": (
        "t.srt",
        "1\n00:00:03,000 --> 00:00:04,000\nDoctor: Any pain?\n2\n00:00:05,000 --> 00:00:06,000\nPatient: No.\n",
    ),
}  # fmt: skip


@pytest.fixture
def read(tmp_path: Path) -> Any:
    def read(content: Any, name: str = "t.json", **options: Any) -> Transcript:
        file = tmp_path / name
        file.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return read_transcript(file, **options)

    return read


def said(transcript: Transcript) -> list[tuple[str | None, str]]:
    return [(turn.speaker, turn.text) for turn in transcript.turns]


@reads(
    "Transcripts",
    "text with names",
    ".txt",
    "names and colons, brackets, dashes or tabs, `Q.` and `A.`, with or without times; Otter, Word, whisper.cpp",
    "marks that look like speakers and cannot all be read",
)
@reads("Transcripts", "subtitles", ".vtt, .srt", "WebVTT voices and names, SubRip, WhisperX", "the same")
@pytest.mark.parametrize("layout", TEXTS)
def test_text_layouts(read: Any, layout: str) -> None:
    name, text = TEXTS[layout]
    found = [((speaker or "").casefold(), words) for speaker, words in said(read(text, name))]
    assert found == [("doctor", "Any pain?"), ("patient", "No.")]


def test_times_of_text_layouts(read: Any) -> None:
    for layout in ("name and time in brackets", "time before the name", "Otter", "Word", "whisper.cpp lines"):
        name, text = TEXTS[layout]
        assert [turn.start for turn in read(text, name).turns] == [3.0, 5.0], layout


@pytest.mark.parametrize(
    "name",
    ["Jane Roe (she/her)", "O’Brien, Pat", "Speaker 2", "D'Arcy-Lee", "Dr. 3", "SPEAKER_01", "李医生", "R2"],
)
def test_names_of_all_kinds(read: Any, name: str) -> None:
    vtt = "WEBVTT\n\n" + "".join(
        f"00:0{at}.000 --> 00:0{at}.900\n{who}: {words}\n\n"
        for at, (who, words) in enumerate([(name, "Any pain?"), ("Patient", "No: none."), (name, "Good.")])
    )
    assert said(read(vtt, "t.vtt")) == [(name, "Any pain?"), ("Patient", "No: none."), (name, "Good.")]


def test_one_cue_without_a_name_takes_nobody_elses_away(read: Any) -> None:
    cues = ["Doctor: Any pain?", "Patient: No.", "uh", "Doctor: Good.", "Patient: Thanks."]
    vtt = "WEBVTT\n\n" + "".join(f"00:0{at}.000 --> 00:0{at}.900\n{cue}\n\n" for at, cue in enumerate(cues))
    found = read(vtt, "t.vtt")
    assert [turn.speaker for turn in found.turns] == ["Doctor", "Patient", None, "Doctor", "Patient"]
    assert found.turns[2].text == "uh"
    assert any("1 turn names no speaker" in note for note in found.of_speaker("patient").notes)


def test_a_line_of_blanks_does_not_end_a_cue(read: Any) -> None:
    vtt = "WEBVTT\n\n00:01.000 --> 00:02.000\n<v Doctor>Any\n \npain?</v>\n"
    assert said(read(vtt, "t.vtt")) == [("Doctor", "Any pain?")]


def test_what_patients_say_is_no_speaker(read: Any) -> None:
    text = (
        "Doctor: Who came with you?\nPatient: My family:\nDaughter\nCan you hear me: well?\n"
        "Doctor: [patient coughs] One thing: take it daily.\n"
    )
    assert said(read(text, "t.txt")) == [
        ("Doctor", "Who came with you?"),
        ("Patient", "My family: Daughter Can you hear me: well?"),
        ("Doctor", "[patient coughs] One thing: take it daily."),
    ]
    timed = "00:03 Who came with you?\n00:05 Daughter\n00:07 Good.\n"
    assert said(read(timed, "t.txt")) == [(None, "Who came with you?"), (None, "Daughter"), (None, "Good.")]
    remarks = "[Laughter] Hello.\n[inaudible] Yes.\n[Laughter] Bye.\n"
    assert [speaker for speaker, _ in said(read(remarks, "t.txt"))] == [None, None, None]


def test_a_name_that_may_be_none_is_refused_with_its_line_and_the_cure(read: Any) -> None:
    text = "Doctor: Any pain?\nPatient: No.\nAspirin: twice a day.\nDoctor: Good.\n"
    with pytest.raises(MedjuryError, match=r"t.txt, line 3: is 'Aspirin' a speaker\? .*--speakers"):
        read(text, "t.txt")
    assert said(read(text, "t.txt", speakers=["Doctor", "patient"])) == [
        ("Doctor", "Any pain?"), ("Patient", "No. Aspirin: twice a day."), ("Doctor", "Good.")]  # fmt: skip
    assert [speaker for speaker, _ in said(read(text, "t.txt", speakers=[]))] == [None] * 4
    vtt = "WEBVTT\n\n00:01.000 --> 00:02.000\nDoctor: Any pain?\n\n00:03.000 --> 00:04.000\nAspirin: twice.\n"
    assert said(read(vtt, "all-named.vtt")) == [
        ("Doctor", "Any pain?"),
        ("Aspirin", "twice."),
    ]  # every cue has one
    with pytest.raises(MedjuryError, match=r"line 7: is 'Aspirin' a speaker"):
        read(vtt + "\n00:05.000 --> 00:06.000\nuh\n", "t.vtt")


@reads("Transcripts", "Deepgram", ".json", "paragraphs, words or channels, with speakers")
def test_deepgram_without_paragraphs_and_with_channels(read: Any) -> None:
    def word(text: str, at: float, speaker: int | None = None) -> dict[str, Any]:
        said = {"word": text.lower().strip(".?"), "punctuated_word": text, "start": at, "end": at + 0.5}
        return said | ({} if speaker is None else {"speaker": speaker})

    words = [word("Any", 0, 0), word("pain?", 1, 0), word("No.", 2, 1)]
    one = {"results": {"channels": [{"alternatives": [{"transcript": "any pain no", "words": words}]}]}}
    assert said(read(one)) == [("speaker 0", "Any pain?"), ("speaker 1", "No.")]
    two = {"results": {"channels": [
        {"alternatives": [{"transcript": "Any pain?", "words": [word("Any", 0), word("pain?", 1)]}]},
        {"alternatives": [{"transcript": "No.", "words": [word("No.", 2)]}]},
    ]}}  # fmt: skip
    assert said(read(two)) == [("channel 0", "Any pain?"), ("channel 1", "No.")]
    same = {"results": {"utterances": [
        {"transcript": "Any pain?", "start": 0, "end": 1, "speaker": 0, "channel": 0},
        {"transcript": "No.", "start": 2, "end": 3, "speaker": 0, "channel": 1},
    ]}}  # fmt: skip
    assert len({speaker for speaker, _ in said(read(same))}) == 2


@reads("Transcripts", "Google v1 and v2", ".json", "results with speakers")
def test_google_with_speakers(read: Any) -> None:
    def word(text: str, at: int, **tag: Any) -> dict[str, Any]:
        return {"word": text, "startTime": f"{at}s", "endTime": f"{at + 1}s", **tag}

    mixed = [
        word("any", 0, speakerLabel="1"),
        word("pain", 1, speakerLabel="1"),
        word("no", 2, speakerLabel="2"),
    ]
    second = {"results": [{"alternatives": [{"transcript": "any pain no", "words": mixed}]}]}
    assert said(read(second)) == [("1", "any pain"), ("2", "no")]
    first = {"results": [
        {"alternatives": [{"transcript": "any pain", "words": [word("any", 0), word("pain", 1)]}]},
        {"alternatives": [{"transcript": "no", "words": [word("no", 2)]}]},
        {"alternatives": [{"words": [
            word("any", 0, speakerTag=1), word("pain", 1, speakerTag=1), word("no", 2, speakerTag=2)]}]},
    ]}  # fmt: skip
    assert said(read(first)) == [("speaker 1", "any pain"), ("speaker 2", "no")]  # and nothing twice


@reads("Transcripts", "Speechmatics", ".json", "words with speakers")
def test_speechmatics(read: Any) -> None:
    def part(content: str, kind: str, at: float, speaker: str) -> dict[str, Any]:
        return {"type": kind, "start_time": at, "end_time": at + 0.5,
                "alternatives": [{"content": content, "confidence": 0.9, "speaker": speaker}]}  # fmt: skip

    found = read({"format": "2.9", "results": [
        part("Any", "word", 0, "S1"), part("pain", "word", 1, "S1"),
        part("?", "punctuation", 1.5, "S1") | {"attaches_to": "previous"},
        part("No", "word", 2, "S2"), part(".", "punctuation", 2.5, "S2"), part("uh", "word", 3, "UU"),
    ]})  # fmt: skip
    assert said(found) == [("S1", "Any pain?"), ("S2", "No."), (None, "uh")]
    assert (found.form, found.turns[0].start, found.turns[0].end) == ("Speechmatics", 0.0, 1.5)


@reads("Transcripts", "AssemblyAI", ".json", "utterances; its milliseconds as seconds")
def test_assemblyai_counts_in_milliseconds(read: Any) -> None:
    spoken = {"speaker": "A", "text": "Any pain at all?", "start": 250, "end": 2250, "confidence": 0.9}
    found = read({"audio_duration": 9, "text": "…", "utterances": [spoken], "words": []})
    assert (found.turns[0].start, found.turns[0].end, found.turns[0].speaker) == (0.25, 2.25, "speaker A")
    with pytest.raises(MedjuryError, match="are they milliseconds"):
        read([spoken])


@reads("Transcripts", "AWS Transcribe", ".json", "items with speaker labels")
def test_aws_transcribe(read: Any) -> None:
    def item(content: str, at: str | None, **more: Any) -> dict[str, Any]:
        timed = {} if at is None else {"start_time": at, "end_time": f"{float(at) + 0.5}"}
        kind = "punctuation" if at is None else "pronunciation"
        return {"type": kind, "alternatives": [{"content": content, "confidence": "0.8"}], **timed, **more}

    own = [item("Any", "0.0", speaker_label="spk_0"), item("pain", "1.0", speaker_label="spk_0"),
           item("?", None), item("No", "2.0", speaker_label="spk_1")]  # fmt: skip
    found = read({"jobName": "j", "results": {"transcripts": [], "items": own}})
    assert said(found) == [("spk_0", "Any pain?"), ("spk_1", "No")]
    assert (found.turns[0].end, found.turns[0].confidence) == (1.5, pytest.approx(0.8))
    older = {"segments": [
        {"speaker_label": "spk_0", "items": [{"start_time": "0.0"}, {"start_time": "1.0"}]},
        {"speaker_label": "spk_1", "items": [{"start_time": "2.0"}]},
    ]}  # fmt: skip
    plain = [{key: value for key, value in each.items() if key != "speaker_label"} for each in own]
    assert said(read({"results": {"items": plain, "speaker_labels": older}})) == said(found)
    channels = {
        "channels": [
            {"channel_label": "ch_0", "items": plain[:3]},
            {"channel_label": "ch_1", "items": plain[3:]},
        ]
    }
    assert said(read({"results": {"items": plain, "channel_labels": channels}})) == [
        ("ch_0", "Any pain?"),
        ("ch_1", "No"),
    ]


@reads("Transcripts", "AWS HealthScribe", ".json", "segments with the role of who speaks")
def test_aws_healthscribe(read: Any) -> None:
    segment = {"Content": "Any pain?", "BeginAudioTime": 1.5, "EndAudioTime": 2.5,
               "ParticipantDetails": {"ParticipantRole": "CLINICIAN"}}  # fmt: skip
    found = read({"Conversation": {"TranscriptSegments": [segment]}})
    assert said(found) == [("CLINICIAN", "Any pain?")] and found.turns[0].start == 1.5


@reads("Transcripts", "Azure Speech", ".json", "phrases with speakers")
def test_azure(read: Any) -> None:
    batch = {"recognizedPhrases": [
        {"channel": 0, "speaker": 2, "offsetInTicks": 20_000_000, "durationInTicks": 5_000_000,
         "nBest": [{"display": "No.", "confidence": 0.7}, {"display": "Know."}]},
        {"channel": 0, "speaker": 1, "offsetInTicks": 0, "durationInTicks": 10_000_000,
         "nBest": [{"display": "Any pain?"}]},
    ]}  # fmt: skip
    found = read(batch)
    assert said(found) == [("speaker 1", "Any pain?"), ("speaker 2", "No.")] and found.turns[1].start == 2.0
    fast = {"phrases": [
        {"channel": 0, "offsetMilliseconds": 0, "durationMilliseconds": 900, "text": "Any pain?"},
        {"channel": 1, "offsetMilliseconds": 1000, "durationMilliseconds": 500, "text": "No."},
    ]}  # fmt: skip
    assert said(read(fast)) == [("channel 0", "Any pain?"), ("channel 1", "No.")]


@reads("Transcripts", "Rev", ".json", "monologues with speakers")
def test_rev(read: Any) -> None:
    def text(value: str, at: float) -> dict[str, Any]:
        return {"type": "text", "value": value, "ts": at, "end_ts": at + 0.5, "confidence": 0.5}

    found = read({"monologues": [
        {"speaker": 0, "elements": [text("Any", 0), {"type": "punct", "value": " "}, text("pain", 1),
                                    {"type": "punct", "value": "?"}]},
        {"speaker": 1, "elements": [text("No", 2), {"type": "punct", "value": "."}]},
    ], "speakers": [{"id": 0, "name": "Doctor"}]})  # fmt: skip
    assert said(found) == [("Doctor", "Any pain?"), ("speaker 1", "No.")]
    assert (found.turns[0].start, found.turns[0].end, found.turns[0].confidence) == (0, 1.5, 0.5)


@reads("Transcripts", "Whisper, WhisperX", ".json", "segments, with speakers where there are any")
def test_whisperx_segments_of_two_speakers(read: Any) -> None:
    words = [{"word": " Any", "start": 0, "end": 1, "speaker": "SPEAKER_00"},
             {"word": " pain?", "start": 1, "end": 2, "speaker": "SPEAKER_00"},
             {"word": " No.", "start": 2, "end": 3, "speaker": "SPEAKER_01"}]  # fmt: skip
    found = read(
        {
            "segments": [
                {"text": " Any pain? No.", "start": 0, "end": 3, "speaker": "SPEAKER_00", "words": words}
            ]
        }
    )
    assert said(found) == [("SPEAKER_00", "Any pain?"), ("SPEAKER_01", "No.")]


@reads(
    "Transcripts",
    "CTM and RTTM",
    ".ctm, .rttm",
    "words, and who spoke when where both are there",
    "an RTTM file without its CTM file",
)
def test_ctm_with_and_without_rttm(read: Any, tmp_path: Path) -> None:
    ctm = ";; words\nc 1 0.0 0.5 any 0.9\nc 1 0.6 0.4 pain 0.9\nc 1 3.0 0.5 no 0.9\nc 1 9.0 0.5 uh 0.9\n"
    alone = read(ctm, "c.ctm")
    assert said(alone) == [(None, "any pain"), (None, "no"), (None, "uh")]
    assert "no c.rttm is beside it" in alone.notes[0]
    (tmp_path / "c.rttm").write_text(
        "SPEAKER c 1 0.0 1.5 <NA> <NA> doctor <NA> <NA>\nSPEAKER c 1 2.9 1.0 <NA> <NA> patient <NA> <NA>\n"
    )
    both = read(ctm, "c.ctm")
    assert said(both) == [("doctor", "any pain"), ("patient", "no"), (None, "uh")]
    assert "1 words are in no speaker's time" in both.notes[0]
    with pytest.raises(MedjuryError, match=r"x\.ctm must be beside it"):
        read("SPEAKER", "x.rttm")
    with pytest.raises(MedjuryError, match=r"y\.ctm, line 1: must be `file channel start length word`"):
        read("c 1 zero 0.5 any", "y.ctm")


def test_what_was_read_is_told(read: Any) -> None:
    found = read("Doctor: Any pain in the chest today?\nPatient: No.\nDoctor: Good.\n", "t.txt")
    assert found.speakers_text() == [
        "Doctor: 2 turns, first “Any pain in the…”",
        "Patient: 1 turn, first “No.”",
    ]


# What an outsider's files showed: words and speakers that were lost, or given to somebody else.


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("a.csv", "speaker,text\nDoctor,Yes, take two tablets daily\n", r"line 2: has more cells than the header"),
        ("a.csv", "speaker,text,text\nDoctor,old,new\n", r"the column 'text' appears twice"),
        ("b.srt", "1\n00:00:01,000 --> 00:00:02,000\nPatient: Yes.\n\nTo penicillin.\n\n2\n"
         "00:00:03,000 --> 00:00:04,000\nDoctor: Thank you.\n", r"line 5: these words are in no cue"),
        ("u.vtt", "WEBVTT\n\n00:01.000 --> 00:02.000\n<v Dr Smith>Do you smoke?</v>\n\n"
         "00:03.000 --> 00:04.000\nPatient: No.\n", r"line 7: is 'Patient' a speaker"),
        ("r.txt", "Dr Smith 0:03\nWhen?\n\nJane Doe 0:06\nCan we say\nMonday 10:30\n\nDr Smith 0:12\nStop.\n",
         r"the time 0:12 is earlier than 10:30"),
        ("v.txt", "Doctor\nWho is it?\nPatient\nMy\nWife\nand son\nDoctor\nOk\n", r"line 5: is 'Wife' a speaker"),
        ("f.json", '[{"role": "doctor", "text": "Do you smoke?"}]', r"turn 1: `role` may say who speaks"),
        ("g.json", '[{"Speaker": "Doctor", "text": "Do you smoke?"}]', r"turn 1: `Speaker` may say who speaks"),
        ("h.csv", "role,text\nDoctor,Do you smoke?\n", r"turn 1: `role` may say who speaks"),
        ("k.json", '{"turns": [{"text": "hi", "speaker": {"name": "Doctor"}}]}', r"`speaker` must be a name"),
        ("q.ctm", "v1 1 0.0 0.4 chest\nv2 1 0.0 0.4 no\n", r"line 2: holds words of several recordings"),
        ("q.ctm", "v A 0.0 0.4 any\nv B 0.3 0.4 yes\n", r"line 2: holds words of several recordings or channels"),
    ],
)  # fmt: skip
def test_what_would_be_lost_or_mixed_is_refused(read: Any, name: str, content: str, complaint: str) -> None:
    with pytest.raises(MedjuryError, match=complaint):
        read(content, name)


def test_words_of_another_recording_are_not_joined(read: Any, tmp_path: Path) -> None:
    (tmp_path / "c.rttm").write_text("SPEAKER other 1 0.0 1.5 <NA> <NA> doctor <NA> <NA>\n")
    with pytest.raises(MedjuryError, match=r"speaks of the recording 'other', and the words are of 'c'"):
        read("c 1 0.0 0.5 any\n", "c.ctm")


def test_signs_that_are_no_tags_stay_words(read: Any) -> None:
    srt = (
        "1\n00:00:01,000 --> 00:00:04,000\n{\\an8}Doctor: <i>Sugar</i> <10 after meals and >4 before.\n\n2\n"
    )
    srt += "00:00:05,000 --> 00:00:06,000\n{\\an8}Patient: Yes.\n"
    assert said(read(srt, "t.srt")) == [
        ("Doctor", "Sugar <10 after meals and >4 before."),
        ("Patient", "Yes."),
    ]


def test_a_number_is_an_answer_where_cues_have_no_numbers(read: Any) -> None:
    srt = "00:00:01,000 --> 00:00:02,000\nDoctor: From 1 to 10?\n00:00:03,000 --> 00:00:04,000\nPatient: Well\n8\n"
    srt += "00:00:05,000 --> 00:00:06,000\nDoctor: Thank you.\n"
    assert [text for _, text in said(read(srt, "t.srt"))] == ["From 1 to 10?", "Well 8", "Thank you."]


def test_words_after_a_closed_voice_are_nobodys(read: Any) -> None:
    vtt = "WEBVTT\n\n00:05.000 --> 00:06.000\n<v Dr Smith>Good.</v>\nthank you doctor\n"
    assert said(read(vtt, "t.vtt")) == [("Dr Smith", "Good."), (None, "thank you doctor")]


def test_marks_of_captions_and_tabs(read: Any) -> None:
    assert said(read(">> Doctor: Smoke?\n>> Patient: No.\n", "t.txt")) == [
        ("Doctor", "Smoke?"),
        ("Patient", "No."),
    ]
    tabs = "Smith\tSmoke?\nJones\tNo.\nSmith\tDrink?\nJones\tNo.\n"
    assert [speaker for speaker, _ in said(read(tabs, "t.txt"))] == ["Smith", "Jones", "Smith", "Jones"]


def test_speaker_0_and_interim_results_of_lists(read: Any) -> None:
    turns = [
        {"speaker": 0, "text": "Smoke?"},
        {"speaker": 1, "text": "N", "is_final": False},
        {"speaker": 1, "text": "No"},
    ]
    assert said(read(turns)) == [("speaker 0", "Smoke?"), ("speaker 1", "No")]
    assert said(read({"segments": [{"speaker": 0, "text": "Smoke?"}, {"speaker_id": "p", "text": "No"}]})) == [
        ("speaker 0", "Smoke?"), ("p", "No")]  # fmt: skip


def test_channels_are_speakers(read: Any) -> None:
    google = {"results": [
        {"alternatives": [{"transcript": "do you smoke"}], "channelTag": 1},
        {"alternatives": [{"transcript": "no never"}], "channelTag": 2}]}  # fmt: skip
    assert said(read(google)) == [("channel 1", "do you smoke"), ("channel 2", "no never")]
    spoken = [
        {
            "type": "word",
            "start_time": at,
            "end_time": at,
            "channel": who,
            "alternatives": [{"content": content}],
        }
        for at, who, content in ((0.0, "doctor", "smoke"), (1.0, "patient", "no"))
    ]
    assert said(read({"results": spoken})) == [("doctor", "smoke"), ("patient", "no")]


def test_words_are_not_doubled_and_keep_their_speakers(read: Any) -> None:
    def word(text: str, at: float, tag: int) -> dict[str, Any]:
        return {"word": text, "startTime": f"{at}s", "endTime": f"{at + 0.4}s", "speakerTag": tag}

    google = {"results": [
        {"alternatives": [{"transcript": "do you smoke"}]}, {"alternatives": [{"transcript": " no never"}]},
        {"alternatives": [{"words": [word("do", 0, 1), word("you", 0.5, 1), word("smoke", 1, 1), word("no", 2, 2),
                                     word("never", 2.5, 2)]}]}]}  # fmt: skip
    assert said(read(google)) == [("speaker 1", "do you smoke"), ("speaker 2", "no never")]
    labels = {"segments": [{"speaker_label": "spk_0", "start_time": "0.0", "end_time": "1.0"},
                           {"speaker_label": "spk_1", "start_time": "1.0", "end_time": "2.0"}]}  # fmt: skip
    items = [{"type": "pronunciation", "start_time": at, "end_time": at, "alternatives": [{"content": content}]}
             for at, content in (("0.1", "smoke"), ("1.1", "no"))]  # fmt: skip
    assert said(read({"results": {"items": items, "speaker_labels": labels}})) == [
        ("spk_0", "smoke"),
        ("spk_1", "no"),
    ]
    words = [
        {"word": "smoke", "start": 0, "end": 0.9, "speaker": 0},
        {"word": "no", "start": 1, "end": 1.2, "speaker": 1},
    ]
    paragraphs = {"paragraphs": [{"sentences": [{"text": "Smoke? No.", "start": 0, "end": 1.2}]}]}
    alternative = {"transcript": "smoke no", "words": words, "paragraphs": paragraphs}
    assert said(read({"results": {"channels": [{"alternatives": [alternative]}]}})) == [
        ("speaker 0", "smoke"), ("speaker 1", "no")]  # fmt: skip


def test_questions_and_answers_have_speakers(read: Any) -> None:
    found = read("Q. Do you smoke?\nA. No. A pipe,\nnow and then.\nQ. And drink?\nA. Water.\n", "t.txt")
    assert said(found) == [
        ("Q", "Do you smoke?"),
        ("A", "No. A pipe, now and then."),
        ("Q", "And drink?"),
        ("A", "Water."),
    ]
    assert said(read("I take\nA. vitamin\nevery day\nand sleep.\n", "t.txt"))[0][0] is None, (
        "one line is no turn"
    )
    with pytest.raises(MedjuryError, match="line 3: is 'A' a speaker"):
        read("Doctor: Which vitamin?\nPatient: It is vitamin\nA. I believe.\n", "t.txt")


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("t.txt", "Doctor: Hi Patient: Hello\nDoctor: Bye\nPatient: Ok\n", "line 1: does 'Patient' begin to"),
        ("t.srt", "1\n00:00:01,000 --> 00:00:02,000\nDoctor: Hi Patient: Hello\n\n"
         "2\n00:00:02,000 --> 00:00:03,000\nPatient: Ok\n", "t.srt, line 3: does 'Patient' begin"),
        ("t.json", '[{"speaker": "A", "speaker": "B", "text": "x"}]', "t.json: the key 'speaker' appears twice"),
        ("t.json", '{"results": {"items": [{"type": "pronunciation", "start_time": "x", "alternatives": []}]}}',
         "t.json: looks like the output of AWS Transcribe, but one of its fields"),
    ],
)  # fmt: skip
def test_what_would_be_taken_for_anothers_words_is_refused(
    name: str, content: str, words: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(MedjuryError, match=words):
        read_transcript(tmp_path / name)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.csv", b"speaker;text\nDoctor;Hi, there\nPatient;Hello\n"),
        ("t.txt", "Doctor: Hi, there\r\nPatient: Hello\r\n".encode("utf-16")),
        ("t.json", b'{"recognizedPhrases": [{"speaker": "Doctor", "nBest": [{"lexical": "Hi, there"}]}, '
                   b'{"speaker": "Patient", "nBest": [{"display": "Hello"}]}]}'),
    ],
)  # fmt: skip
def test_other_ways_to_write_the_same_are_read(name: str, content: bytes, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    found = read_transcript(tmp_path / name)
    assert [(each.speaker, each.text) for each in found.turns] == [
        ("Doctor", "Hi, there"),
        ("Patient", "Hello"),
    ]


def test_a_word_of_headings_that_is_said_again_and_again_is_somebody(tmp_path: Path) -> None:
    """`Subject:` is a line of a letter once, and who is interviewed where it comes back."""
    (tmp_path / "t.txt").write_text("[SUBJECT]: pain\n[SUBJECT]: none\n", encoding="utf-8")
    with pytest.raises(MedjuryError, match=r"t.txt, line 1: is 'SUBJECT' a speaker"):
        read_transcript(tmp_path / "t.txt")
