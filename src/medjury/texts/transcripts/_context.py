"""The conversation before a turn: what a clinician needs to read it as an answer."""

from __future__ import annotations

from collections.abc import Sequence

from medjury.texts.transcripts._turn import Turn, merge_speaker_turns


def context_before(turns: Sequence[Turn], place: int, *, others: int = 2, own: int = 1) -> list[Turn]:
    """The last two turns of the others and the speaker's latest, before the turn at `place`, in their order.

    Consecutive turns of one speaker count as one. Turns that nobody is named for are not context.

    >>> talk = [Turn(0, "Hello.", "Doctor"), Turn(1, "Any pain?", "Doctor"), Turn(2, "No.", "Patient"),
    ...         Turn(3, "Fever?", "Doctor"), Turn(4, "Yes.", "Patient")]
    >>> [turn.text for turn in context_before(talk, 4)]
    ['Hello. Any pain?', 'No.', 'Fever?']
    """
    speaker = turns[place].speaker
    if speaker is None:
        return []
    chosen: list[Turn] = []
    wanted = {True: own, False: others}
    for turn in reversed(merge_speaker_turns([turn for turn in turns[:place] if turn.speaker and turn.text])):
        mine = turn.speaker == speaker
        if wanted[mine]:
            wanted[mine] -= 1
            chosen.append(turn)
    return chosen[::-1]


def context_text(turns: Sequence[Turn]) -> str:
    """`Doctor: Any pain?`, one turn to a line."""
    return "\n".join(f"{turn.speaker}: {turn.text}" for turn in turns)
