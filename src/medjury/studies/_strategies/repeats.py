"""The same question several times to one model, and one rating from all of its answers."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from pydantic import Field

from medjury.foundation.errors import MedjuryError
from medjury.judging import Repeats
from medjury.studies._strategies import single
from medjury.studies._strategies._setup import Settings, Setup

# A judge is asked at temperature 0 unless its entry says otherwise; draws at 0 would all be the same.
_TEMPERATURE = 1.0


class RepeatsSettings(Settings):
    """How many draws, how they become one rating, and how many must have given a score (default: over half)."""

    n: int = Field(default=5, ge=2, le=100)
    rule: Literal["median", "mean", "majority"] = "median"
    quorum: int | None = Field(default=None, ge=1)


def build(settings: RepeatsSettings, setup: Setup) -> Repeats:
    judge = single.build(single.SingleSettings(name="single"), setup)
    if "temperature" not in setup.part.model_fields_set:
        judge = replace(judge, temperature=_TEMPERATURE)
    if judge.temperature is None and setup.part.kind == "embedded":
        raise MedjuryError("the embedded model has no temperature of its own; set `temperature` above 0")
    return Repeats(judge, settings.n, settings.rule, settings.quorum)
