"""One question per case (or per dimension) to one model: the judge that every other way is compared with."""

from __future__ import annotations

from medjury.judging import Judge
from medjury.studies._strategies._setup import Settings, Setup


class SingleSettings(Settings):
    """It has none of its own."""


def build(settings: SingleSettings, setup: Setup) -> Judge:
    part = setup.part
    return Judge(
        setup.model,
        setup.instrument,
        temperature=part.temperature,
        seed=part.seed,
        max_tokens=part.max_tokens,
        explain=part.explain,
        per_dimension=part.per_dimension,
        reasks=part.reasks,
        examples=setup.instrument.examples if setup.use_examples else (),
        drawn=setup.drawn,
        prompt=setup.prompt,
    )
