"""Repair: whatever is proposed, what comes out is legal."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from medjury.texts.transcripts._repair import repair
from medjury.texts.transcripts._turn import Turn

WORDS = [
    "yes",
    "no pain at all",
    "two days ago",
    "it burns and it itches",
    "okay",
    "at night in bed",
    "thanks",
]
places = st.lists(st.integers(-1, 7), max_size=4)


@settings(deadline=None)
@given(st.lists(st.tuples(places, places), max_size=8))
def test_any_proposals_become_a_legal_alignment(proposals: list[tuple[list[int], list[int]]]) -> None:
    gold = [Turn(10 + number, text) for number, text in enumerate(WORDS)]
    heard = [Turn(20 + number, text) for number, text in enumerate(WORDS)]
    found = repair(gold, heard, proposals, method="any")
    said = [index for match in found.matches for index in match.golden_indices]
    written = [index for match in found.matches for index in match.asr_indices]
    assert said == sorted(set(said)) and written == sorted(set(written))
    assert sorted([*said, *found.missed]) == [turn.index for turn in gold]
    assert sorted([*written, *found.spurious]) == [turn.index for turn in heard]
    for match in found.matches:
        for side in (match.golden_indices, match.asr_indices):
            assert side[-1] - side[0] == len(side) - 1


def test_a_missed_turn_is_given_to_the_segment_like_it_and_only_from_the_threshold_on() -> None:
    gold, heard = [Turn(0, "about two days ago")], [Turn(0, "about two days")]
    assert repair(gold, heard, [], method="any").matches[0].similarity > 0.65
    assert repair(gold, [Turn(0, "two weeks maybe")], [], method="any").missed == (0,)


def test_the_order_of_proposals_does_not_matter() -> None:
    turns = [Turn(number, text) for number, text in enumerate(WORDS)]
    proposals = [([number], [number]) for number in range(len(WORDS))]
    assert repair(turns, turns, proposals, method="any") == repair(
        turns, turns, proposals[::-1], method="any"
    )
