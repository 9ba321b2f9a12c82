"""The deterministic aligner: merges, splits, misses, and the two real consultations."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from medjury.foundation.errors import MedjuryError
from medjury.texts.transcripts import Alignment, align, evaluate_alignment, read_transcript
from medjury.texts.transcripts._turn import Turn

REAL = Path(__file__).parents[3] / "shared" / "data" / "transcript_impact" / "alignment"
needs_real_data = pytest.mark.skipif(not REAL.is_dir(), reason="the published consultations are not here")


def turns(*texts: str, starts: list[float] | None = None) -> list[Turn]:
    return [Turn(number, text, start=starts[number] if starts else None) for number, text in enumerate(texts)]


def pairs(alignment: Alignment) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    return [(match.golden_indices, match.asr_indices) for match in alignment.matches]


def test_one_to_one_with_fillers_spelling_and_numbers() -> None:
    found = align(
        turns("Um, OK.", "Yeah, uh, 2 days.", "It's itchy."), turns("okay", "yes two days", "its itchy")
    )
    assert pairs(found) == [((0,), (0,)), ((1,), (1,)), ((2,), (2,))]
    assert {match.match_type for match in found.matches} == {"exact"}
    assert [match.similarity for match in found.matches] == [1.0, 1.0, 1.0]


def test_a_turn_split_by_the_recogniser() -> None:
    segments = [
        Turn(0, "i have some swelling", start=4.0, end=6.0, confidence=0.9),
        Turn(1, "on my elbow", start=7.0, end=8.0, confidence=0.7),
    ]
    (match,) = align(turns("I have some swelling on my elbow."), segments).matches
    assert match.asr_indices == (0, 1) and match.match_type == "multi_fragment" and match.similarity == 1.0
    assert match.confidence == pytest.approx(0.8)
    assert (match.start, match.end, match.time) == (4.0, 8.0, pytest.approx(6.25))


def test_two_turns_run_together() -> None:
    (match,) = align(turns("I stopped the tablets", "because of the rash"),
                     turns("i stopped the tablets because of the rash")).matches  # fmt: skip
    assert match.golden_indices == (0, 1) and match.match_type == "multi_golden"


def test_many_to_many_where_the_cut_lies_inside_a_turn() -> None:
    gold = turns("It hurts at night and I cannot sleep", "so I am tired at work every day")
    heard = turns("it hurts at night", "and i cannot sleep so i am", "tired at work every day")
    assert pairs(align(gold, heard)) == [((0, 1), (0, 1, 2))]


def test_what_has_no_counterpart_is_missed_or_spurious() -> None:
    found = align(
        turns("I am a doctor.", "Yes.", "In plastic surgery."), turns("i am a doctor", "in plastic surgery")
    )
    assert pairs(found) == [((0,), (0,)), ((2,), (1,))] and found.missed == (1,)
    found = align(turns("Four days ago."), turns("four days ago", "exactly"))
    assert pairs(found) == [((0,), (0,))] and found.spurious == (1,)


def test_a_misheard_word_is_still_the_same_turn() -> None:
    assert pairs(align(turns("Itchy?"), turns("itching"))) == [((0,), (0,))]
    assert align(turns("No."), turns("seventy five")).matches == ()


def test_time_settles_which_okay_is_meant_and_nothing_more() -> None:
    gold = turns("It began on Monday.", "OK.", "My chest hurts.", "It burns too.", starts=[0, 10, 20, 30])
    early = [1000.0, 1010.0, 1014.0, 1020.0, 1030.0]
    late = [1000.0, 1006.0, 1010.0, 1020.0, 1030.0]
    texts = ("it began on monday", "okay", "okay", "my chest hurts", "it burns too")
    assert align(gold, turns(*texts, starts=early)).spurious == (2,)
    assert align(gold, turns(*texts, starts=late)).spurious == (1,)
    # A segment that begins when the turn begins, but holds none of its words, stays out of it.
    heard = turns(
        "it began on monday", "my chest hurts", "yes exactly", "it burns too", starts=[0, 20, 30, 36]
    )
    assert align(gold, heard).spurious == (2,)


def test_an_empty_side_is_all_missed_or_all_spurious() -> None:
    assert align([], turns("a", "b")).spurious == (0, 1)
    assert align(turns("a", "b"), []).missed == (0, 1)
    assert align([], []) == Alignment((), (), (), ())


def test_mixed_scripts_are_aligned_where_they_can_be() -> None:
    found = align(
        turns("头很痛已经三天了", "Нет, не курю.", "no fever"),
        turns("头很痛三天了", "нет не курю", "no fever"),
    )
    assert pairs(found) == [((0,), (0,)), ((1,), (1,)), ((2,), (2,))]
    other = align(turns("I have a headache"), turns("голова болит"))
    assert other.missed == (0,) and other.spurious == (0,) and "script" in other.notes[0]


def test_a_turn_of_thirty_thousand_words() -> None:
    few = ["pain", "in", "the", "left", "arm", "since", "last", "week", "and", "not", "better"]
    words = [few[number % 11] + few[number // 11 % 11] for number in range(30_000)]
    gold = turns("Before that.", " ".join(words), "And after.")
    assert pairs(align(gold, turns("before that", " ".join(words[5:]), "and after"))) == [
        ((0,), (0,)), ((1,), (1,)), ((2,), (2,))]  # fmt: skip
    pieces = [" ".join(words[at : at + 600]) for at in range(0, 30_000, 600)]
    (match,) = align(turns(" ".join(words)), turns(*pieces)).matches
    assert match.asr_indices == tuple(range(50)) and match.similarity == 1.0


def test_overlapping_and_running_back_times_do_no_harm() -> None:
    gold = turns("I smoke a little", "about five a day", "since I was twenty", starts=[5, 5, 4])
    heard = turns("i smoke a little", "about five a day", "since i was twenty", starts=[9, 8, 8])
    assert pairs(align(gold, heard)) == [((0,), (0,)), ((1,), (1,)), ((2,), (2,))]


def test_a_problem_too_large_is_refused_with_advice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("medjury.texts.transcripts._align.MOST_CELLS", 3)
    with pytest.raises(MedjuryError, match="cut both into parts"):
        align(turns("a", "b"), turns("c", "d"))


def test_anchors_do_not_change_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    gold = turns("Yes.", "I have had it for a week", "No.", "it is worse at night in bed", "Thanks.")
    heard = turns("yes", "i have had it for a week", "no", "it is worse at night in bed", "thanks")
    cut = align(gold, heard)
    monkeypatch.setattr("medjury.texts.transcripts._align.LEAST_WORDS", 10**6)
    assert align(gold, heard) == cut


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.text("abc .", max_size=12), max_size=6), st.lists(st.text("abc .", max_size=12), max_size=6)
)
def test_every_turn_is_accounted_for_once_and_groups_never_cross(said: list[str], heard: list[str]) -> None:
    found = align(turns(*said), turns(*heard))
    gold = [index for match in found.matches for index in match.golden_indices]
    asr = [index for match in found.matches for index in match.asr_indices]
    assert gold == sorted(gold) and asr == sorted(asr)
    assert sorted([*gold, *found.missed]) == list(range(len(said)))
    assert sorted([*asr, *found.spurious]) == list(range(len(heard)))
    for match in found.matches:
        for side in (match.golden_indices, match.asr_indices):
            assert side[-1] - side[0] == len(side) - 1
        assert 0 < match.similarity <= 1


@needs_real_data
@pytest.mark.parametrize("call", ["day1-consultation02", "day2-consultation05"])
@pytest.mark.parametrize(
    "change",
    [{}, {"MISSED": 0.25, "SPURIOUS": 0.25}, {"EXTRA_GOLDEN": 2.2}, {"TIME": 0.0}, {"TIME_REACH": 30.0}],
)
def test_real_consultations_whatever_the_exact_weights(
    call: str, change: dict[str, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in change.items():
        monkeypatch.setattr(f"medjury.texts.transcripts._weights.{name}", value)
    gold = (
        read_transcript(REAL / "asr-transcripts" / f"golden_{call}-combined.json").of_speaker("patient").turns
    )
    heard = read_transcript(REAL / "asr-transcripts" / f"patient_{call}-combined_deepgram.json").turns
    truth = Alignment.read(
        REAL / "groundtruth-alignments" / f"groundtruth_alignment_{call}-combined_deepgram.json"
    )
    quality = evaluate_alignment(
        align(gold, heard),
        truth,
        golden=[turn.index for turn in gold],
        asr=[turn.index for turn in heard],
    )
    assert quality.structural is not None and quality.structural >= 0.95, quality.faults
    assert quality.golden_classification is not None and quality.golden_classification >= 0.98
    assert quality.asr_classification is not None and quality.asr_classification >= 0.98
