"""Which grades a judge is to learn not to give, beside the clinicians' median.

`one_higher` is the rule of Croxford et al. (2025): every grade one point higher, to make a lenient judge stricter.
At the top of the scale there is nothing higher, of which the paper does not speak: the grade stays. A dimension
with two grades is no scale to go up on: it keeps its grade unless `binary` says `change`. A dimension on which
another's "not applicable" depends keeps its grade always: the answer would be none that the instrument allows.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from medjury.instruments import Dimension, Instrument
from medjury.judging import Consensus

RejectedRule = Literal["one_higher", "one_lower", "one_better", "random", "worst_judge"]
REJECTED_RULES: tuple[RejectedRule, ...] = get_args(RejectedRule)
Binary = Literal["keep", "change"]


@dataclass(frozen=True, slots=True)
class Rejection:
    """The rule, what it does with dimensions of two grades, and the seed of random grades."""

    rule: RejectedRule = "one_higher"
    binary: Binary = "keep"
    seed: int = 0


def rejected_grades(
    chosen: Consensus, instrument: Instrument, rejection: Rejection, about: str
) -> tuple[Consensus, int]:
    """The grades to reject, with the rubric's line as the reason of each that changed; and how many stayed because
    the scale ends there. `about` names the answer, so that random grades do not depend on other answers."""
    ruling = {each.skip.dimension for each in instrument.dimensions if each.skip}
    scores: dict[str, int | None] = {}
    words: dict[str, str] = dict(chosen.explanations)
    at_the_end = 0
    for dimension in instrument.dimensions:
        grade = chosen.scores[dimension.name]
        scores[dimension.name] = grade
        if grade is None or dimension.name in ruling:
            continue
        if len(dimension.values) < 3 and rejection.binary == "keep":
            continue
        other = _other(dimension, grade, rejection, about)
        if other == grade:
            at_the_end += 1
            continue
        scores[dimension.name], words[dimension.name] = other, dimension.grades[other]
    return Consensus(scores, words), at_the_end


def _other(dimension: Dimension, grade: int, rejection: Rejection, about: str) -> int:
    values = dimension.values
    if rejection.rule == "random":
        others = [value for value in values if value != grade]
        return random.Random(f"{rejection.seed} {about} {dimension.name}").choice(others or [grade])
    upward = rejection.rule == "one_higher" or (rejection.rule == "one_better" and dimension.higher_is_better)
    place = values.index(grade) + (1 if upward else -1)
    return values[min(max(place, 0), len(values) - 1)]


def distance(instrument: Instrument, one: Mapping[str, int | None], other: Mapping[str, int | None]) -> float:
    """How far apart two answers are: the mean over dimensions of the difference as a share of the scale; whether a
    dimension applies at all counts as the whole scale."""
    parts = []
    for dimension in instrument.dimensions:
        first, second = one[dimension.name], other[dimension.name]
        span = dimension.highest - dimension.lowest or 1
        both = first is not None and second is not None
        parts.append(abs((first or 0) - (second or 0)) / span if both else float(first is not second))
    return sum(parts) / len(parts)
