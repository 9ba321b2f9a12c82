"""From an alignment to pairs: which of them to judge, and the cases of a study of clinical impact."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from itertools import groupby

from medjury.foundation.errors import MedjuryError
from medjury.intake.cases import Case
from medjury.texts.transcripts import NOTHING, Alignment, Transcript

# What a clinician needs to read a turn as an answer: so many turns of the others before it, and of the speaker's.
_OTHERS, _OWN = 2, 1


def context_before(conversation: Transcript, place: int) -> str:
    """The last two turns of the others and the speaker's latest, before the turn at `place`, in their order, one to
    a line: `Doctor: Any pain?`.

    Consecutive turns of one speaker count as one. Turns that nobody is named for are not context.
    """
    speaker = conversation.turns[place].speaker
    if speaker is None:
        return ""
    known = [turn for turn in conversation.turns[:place] if turn.speaker and turn.text]
    said = [
        (who, " ".join(turn.text for turn in run)) for who, run in groupby(known, lambda turn: turn.speaker)
    ]
    chosen: list[str] = []
    wanted = {True: _OWN, False: _OTHERS}
    for who, words in reversed(said):
        mine = who == speaker
        if wanted[mine]:
            wanted[mine] -= 1
            chosen.append(f"{who}: {words}")
    return "\n".join(chosen[::-1])


def impact_cases(
    conversation: Transcript,
    golden: Transcript,
    recognised: Transcript,
    alignment: Alignment,
    *,
    call: str,
    system: str,
) -> list[Case]:
    """A case for the instrument `transcript_impact` for every match and every missed turn, in the order of the
    conversation: what was said, what was recognised, and the conversation before it. One call is one patient: it is
    never split.

    `conversation` is the whole gold transcript, `golden` its turns of the speaker in question. Spurious segments
    have no reference and are no cases; the alignment lists them.
    """
    places = _places(conversation, golden)
    said, heard = ({turn.index: turn.text for turn in each.turns} for each in (golden, recognised))
    found: list[tuple[tuple[int, ...], tuple[int, ...], str, float | None]] = [
        (match.golden_indices, match.asr_indices, match.match_type, match.similarity)
        for match in alignment.matches
    ]
    found += [((index,), (), "missed", None) for index in alignment.missed if said[index]]
    cases = []
    for rows, columns, kind, alike in sorted(found, key=lambda each: places[each[0][0]]):
        context = context_before(conversation, places[rows[0]])
        cases.append(
            Case(
                id=f"{call}-{'-'.join(map(str, rows))}",
                system=system,
                patient=call,
                reference=" ".join(said[index] for index in rows if said[index]),
                candidate=" ".join(heard[index] for index in columns if heard[index]) or NOTHING,
                texts={"context": context} if context else {},
                metadata={
                    "match_type": kind,
                    **({} if alike is None else {"similarity": round(alike, 4)}),
                },
            )
        )
    return cases


def _places(conversation: Transcript, golden: Transcript) -> dict[int, int]:
    """Where each gold turn stands in the whole conversation: its turns are the same, in the same order."""
    speakers = {turn.speaker for turn in golden.turns}
    whole = [place for place, turn in enumerate(conversation.turns) if turn.speaker in speakers]
    return {turn.index: place for turn, place in zip(golden.turns, whole, strict=True)}


# Which pairs to judge: some from every band of word error rate, so that clear and garbled speech are both seen.
# Up to a fifth of the words wrong is what recognisers usually reach; from two fifths on the published study took
# pairs on purpose; from 1 on the recogniser wrote more wrong words than were said (or nothing at all).
EDGES = (0.2, 0.4, 1.0)


def sample_by_band(
    rates: Sequence[float | None],
    *,
    edges: Sequence[float] = EDGES,
    per_band: int | None = None,
    keep_perfect: bool = False,
    seed: int = 0,
) -> list[tuple[str, int, tuple[int, ...]]]:
    """Each band in words, how many pairs lie in it, and the places of those that were drawn with the seed: at most
    `per_band` of each band (all, where None).

    Pairs without an error (rate 0) are left out unless `keep_perfect`: they cannot have harmed anybody. A pair
    whose rate is None has none (nothing was said) and is in no band.

    >>> sample_by_band([0.0, 0.1, 0.5, 1.2, None])
    [('0 to 0.2', 1, (1,)), ('0.2 to 0.4', 0, ()), ('0.4 to 1', 1, (2,)), ('1 and more', 1, (3,))]
    """
    if list(edges) != sorted(set(edges)) or any(not 0 < edge < math.inf for edge in edges):
        raise MedjuryError("bands of word error rate must be rising numbers above 0, such as 0.2 0.4 1")
    if per_band is not None and per_band < 1:
        raise MedjuryError("a band needs at least 1 pair; leave the number out to take all")
    draw = random.Random(seed)
    bands = []
    for low, high in zip((0.0, *edges), (*edges, math.inf), strict=True):
        places = [
            place
            for place, rate in enumerate(rates)
            if rate is not None and low <= rate < high and (rate > 0 or keep_perfect)
        ]
        chosen = places if per_band is None or len(places) <= per_band else draw.sample(places, per_band)
        name = f"{low:g} and more" if math.isinf(high) else f"{low:g} to {high:g}"
        bands.append((name, len(places), tuple(sorted(chosen))))
    return bands
