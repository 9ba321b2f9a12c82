"""Judge, revise, judge again; the judge's own model is the final juror, which never sees the loop."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from pydantic import Field

from medjury.judging import ClosedLoop, Speaker
from medjury.studies._file import ModelPart
from medjury.studies._strategies import single
from medjury.studies._strategies._setup import Settings, Setup

# A revised text is longer than an answer of grades; a writer without a limit of its own gets this one.
_WRITER_TOKENS = 4096


class ClosedLoopSettings(Settings):
    """`loop_judge` gates and `writer` (by default the same model) revises. `pass` is the grade each named
    dimension must reach, or the share of the way from worst to best that every dimension must; at most `rounds`
    revisions are made."""

    loop_judge: ModelPart | None = None
    writer: ModelPart | None = None
    passing: dict[str, int] | float = Field(default=0.75, alias="pass")
    rounds: Annotated[int, Field(ge=1, le=20)] = 3
    same_model: bool = False
    suffix: str = "+loop"


def build(settings: ClosedLoopSettings, setup: Setup) -> ClosedLoop:
    # The final juror is the single judge of the same entry, so that the two are comparable and share replies.
    final = single.build(single.SingleSettings(name="single"), setup)
    inside = settings.loop_judge or setup.part
    model = setup.model if settings.loop_judge is None else setup.make(settings.loop_judge, "loop judge")
    loop_judge = replace(
        final,
        model=model,
        temperature=inside.temperature,
        seed=inside.seed,
        max_tokens=inside.max_tokens,
        reasks=inside.reasks,
        explain=True,  # its reasons are what the writer is given
        per_dimension=False,
    )
    how = settings.writer or inside
    writer = Speaker(
        model if settings.writer is None else setup.make(settings.writer, "writer"),
        how.temperature,
        how.seed,
        how.max_tokens if "max_tokens" in how.model_fields_set else _WRITER_TOKENS,
        how.reasks,
        setup.shows_token,
    )
    return ClosedLoop(
        final,
        loop_judge,
        writer,
        passing=settings.passing,
        rounds=settings.rounds,
        same_model=settings.same_model,
        suffix=settings.suffix,
    )
