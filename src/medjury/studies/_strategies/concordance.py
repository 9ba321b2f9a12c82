"""Concordance with a specialist's answer and, where the instrument asks for it, which of the two is preferred."""

from __future__ import annotations

from medjury.foundation.errors import MedjuryError
from medjury.judging import Concordance
from medjury.studies._strategies._setup import Settings, Setup


class ConcordanceSettings(Settings):
    """`examples: false` leaves out the instrument's worked examples, one concordant and one discordant; those drawn
    from clinicians' ratings stand in the entry itself."""

    examples: bool = True


def build(settings: ConcordanceSettings, setup: Setup) -> Concordance:
    if setup.part.per_dimension:
        raise MedjuryError(
            "`per_dimension` has no meaning for the strategy `concordance`, which asks for concordance in one call "
            "and for preference in two more; take it out"
        )
    return Concordance(
        setup.speaker(),
        setup.instrument,
        explain=setup.part.explain,
        examples=None if settings.examples else (),
        drawn=setup.drawn,
    )
