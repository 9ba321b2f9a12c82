"""Two transcripts as they are found, made ready to be aligned: the turns of one speaker, or of all."""

from __future__ import annotations

from dataclasses import replace

from medjury.foundation.errors import MedjuryError
from medjury.texts.transcripts._turn import Transcript


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
