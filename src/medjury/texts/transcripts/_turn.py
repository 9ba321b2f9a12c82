"""The turn: what one speaker said, or one segment that a recogniser wrote."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from medjury.foundation.errors import MedjuryError

NOTHING = "[nothing was recognised]"  # what a clinician reads where a turn has no counterpart


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn. `start` and `end` are seconds on the file's own clock; `index` is how results name the turn."""

    index: int
    text: str
    speaker: str | None = None
    start: float | None = None
    end: float | None = None
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class Transcript:
    """The turns of one file, in its order. `notes` says what is to be known of how it was read, `left_out` counts
    what was not; `numbered` that the file itself gives the indices; `form` what kind of file it is."""

    turns: tuple[Turn, ...]
    file: str = ""
    notes: tuple[str, ...] = ()
    numbered: bool = False
    form: str = ""
    left_out: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        twice = [index for index, count in Counter(turn.index for turn in self.turns).items() if count > 1]
        if twice:
            raise MedjuryError(
                f"{self.file or 'transcript'}: index {twice[0]} is on more than one turn; number the turns "
                "from 0, or leave `index` out"
            )

    def speakers_text(self) -> list[str]:
        """Who speaks, how often, and their first words: a look that shows whether a file was read rightly."""
        lines = []
        for name in dict.fromkeys(turn.speaker for turn in self.turns):
            own = [turn for turn in self.turns if turn.speaker == name]
            words = next((turn.text for turn in own if turn.text), "").split()
            first = f", first “{' '.join(words[:4])}{'…' if len(words) > 4 else ''}”" if words else ""
            count = f"{len(own):,} turn{'' if len(own) == 1 else 's'}"
            lines.append(f"{name or 'no speaker named'}: {count}{first}")
        return lines

    def of_speaker(self, name: str) -> Transcript:
        """Only the turns of one speaker (case does not matter), numbered anew from 0 unless the file numbers
        them. A file without speakers is that speaker's own channel and stays whole."""
        if not any(turn.speaker for turn in self.turns):
            return self
        kept = [turn for turn in self.turns if (turn.speaker or "").casefold() == name.casefold()]
        if not kept:
            known = ", ".join(sorted({turn.speaker for turn in self.turns if turn.speaker}))
            raise MedjuryError(
                f"{self.file or 'transcript'}: nobody here is called {name!r}; speakers: {known} (choose one with "
                "--speaker, or --speaker all)"
            )
        nameless = sum(turn.speaker is None for turn in self.turns)
        notes = self.notes
        if nameless:
            turns = "1 turn names" if nameless == 1 else f"{nameless:,} turns name"
            notes = (*notes, f"{self.file or 'transcript'}: {turns} no speaker: left out")
        others = {"turns of nobody": nameless, "turns of others": len(self.turns) - len(kept) - nameless}
        if not self.numbered:
            kept = [replace(turn, index=number) for number, turn in enumerate(kept)]
        left_out = {**self.left_out, **{what: count for what, count in others.items() if count}}
        return replace(self, turns=tuple(kept), notes=notes, left_out=left_out)


def mean_confidence(turns: Sequence[Turn]) -> float | None:
    known = [turn.confidence for turn in turns if turn.confidence is not None]
    return sum(known) / len(known) if known else None


# Two transcripts as they are found, made ready to be aligned: the turns of one speaker, or of all.


def turns_of(golden: Transcript, recognised: Transcript, speaker: str) -> tuple[Transcript, Transcript]:
    """Both transcripts with the turns of this speaker alone; `all` keeps everybody's. A recogniser that names other
    speakers keeps all of its turns, and says so in a note."""
    if speaker != "all":
        golden = golden.of_speaker(speaker)
        named = {(turn.speaker or "").casefold() for turn in recognised.turns}
        if speaker.casefold() in named:
            recognised = recognised.of_speaker(speaker)
        elif named - {""}:
            note = f"{recognised.file}: names speakers, but no {speaker!r}: everybody's turns are aligned"
            recognised = replace(recognised, notes=(*recognised.notes, note))
    if not golden.turns and not recognised.turns:
        raise MedjuryError(f"{golden.file} and {recognised.file}: neither has a turn to align")
    return golden, recognised
