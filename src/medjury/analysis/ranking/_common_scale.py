"""One scale for all that is ranked: grades where the dimensions share them, else shares of each scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from medjury.foundation.errors import MedjuryError
from medjury.tables import Measured

AS_GIVEN = "scores as they are given"
SHARES = "shares of each dimension's scale, 1 is best"


@dataclass(frozen=True, slots=True)
class CommonScale:
    """`words` says what a mean score is in; `lines` holds, by dimension, what a score is multiplied by and what is
    then added, so that higher is better everywhere."""

    words: str
    lines: Mapping[str, tuple[float, float]]


def common_scale(dimensions: Sequence[Measured], lower_is_better: Sequence[str] = ()) -> CommonScale:
    """The scale on which these dimensions can be averaged. Scores without any scale are taken as they are, for
    nobody can say that they differ; beside others that have one, or turned around, they are refused."""
    unknown = [name for name in lower_is_better if name not in [each.name for each in dimensions]]
    if unknown:
        raise MedjuryError(f"there is no dimension {unknown[0]!r} to turn around.")
    turned = {each.name for each in dimensions if each.name in lower_is_better or not each.higher_is_better}
    bare = [each.name for each in dimensions if each.grades is None]
    if low := [name for name in bare if name in turned]:
        raise MedjuryError(
            f"to turn {low[0]!r} around (lower is better) give the scale, such as --scale 1 5."
        )
    if bare and len(bare) < len(dimensions):
        raise MedjuryError(
            f"the scale of {bare[0]!r} is not known, and others have one, so their scores cannot be averaged: "
            "give it (--scale), or name the dimensions to rank by."
        )
    ends = {each.name: (each.grades.lowest, each.grades.highest) for each in dimensions if each.grades}
    spans = set(ends.values())
    if len(spans) < 2:
        words = "grades {:g} to {:g}".format(*spans.pop()) if spans else AS_GIVEN
        lines = {each.name: (1.0, 0.0) for each in dimensions}
        return CommonScale(words, lines | {name: (-1.0, float(sum(ends[name]))) for name in turned})
    lines = {}
    for name, (low_end, high_end) in ends.items():
        slope = 1.0 / (high_end - low_end)
        lines[name] = (-slope, high_end * slope) if name in turned else (slope, -low_end * slope)
    return CommonScale(SHARES, lines)
