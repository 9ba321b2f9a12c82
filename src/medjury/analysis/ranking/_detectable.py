"""The smallest difference a benchmark can show: is it large enough for what is claimed of it?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from medjury.analysis.ranking._scores import Block, SystemScores
from medjury.foundation.errors import MedjuryError
from medjury.statistics import Printable

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class DetectableEffect:
    """Minimum detectable effect (MDE) of one benchmark: mean and standard deviation over pairs of systems, the
    largest and whose it is, and how many pairs differ by more than their own MDE. `n` is the smallest number of
    cases that a pair shares, or that one of it has where they share none."""

    benchmark: str
    mde: float
    mde_sd: float | None
    largest: float
    largest_pair: tuple[str, str]
    beyond: int
    pairs: int
    n: int
    method: str

    def as_dict(self) -> dict[str, Any]:
        return {
            "benchmark": self.benchmark,
            "mde": self.mde,
            "mde_sd": self.mde_sd,
            "largest": self.largest,
            "largest_pair": list(self.largest_pair),
            "pairs_beyond": self.beyond,
            "pairs": self.pairs,
            "n": self.n,
            "method": self.method,
        }

    def shown(self) -> dict[str, Printable]:
        flat = {name: value for name, value in self.as_dict().items() if name != "method"}
        return flat | {"largest_pair": " − ".join(self.largest_pair)}


def detectable_effects(
    scores: SystemScores, *, alpha: float = 0.05, power: float = 0.8
) -> tuple[DetectableEffect, ...]:
    """The MDE of every benchmark, from the paired differences of every two systems on the same cases.

    MDE = (z₁₋α/₂ + z_power) · σ_d / √n, with σ_d the standard deviation of the difference over cases; averaged
    over pairs, with the standard deviation over pairs beside it. (MedHELM, appendix E; its sum over pairs is
    divided by the number of pairs here.) Systems that answered different cases have √(s₁²/n₁ + s₂²/n₂) in the
    place of σ_d / √n. It looks at one pair at a time: comparing all pairs needs more.
    """
    if not scores.blocks:
        raise MedjuryError("a detectable effect needs the scores of single items: add a column `item`.")
    if not 0.0 < alpha < 1.0 or not 0.0 < power < 1.0:
        raise MedjuryError(f"alpha and power are shares between 0 and 1, not {alpha} and {power}.")
    factor = float(special.ndtri(1.0 - alpha / 2.0) + special.ndtri(power))
    found = []
    for block in scores.blocks:
        for place, benchmark in enumerate(block.benchmarks):
            found.append(_one(scores, _case_scores(scores, block, place), benchmark, factor, alpha, power))
    return tuple(found)


def _case_scores(scores: SystemScores, block: Block, place: int) -> Floats:
    """Cases by systems: the mean over raters of each rater's mean; NaN where one of them has none."""
    shape = (len(block.clusters), len(scores.raters), len(scores.systems), len(block.benchmarks))
    sums, counts = block.sums.reshape(shape)[..., place], block.counts.reshape(shape)[..., place]
    takes_part = counts.any(axis=(0, 2))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray((sums / counts)[:, takes_part].mean(axis=1))


def _one(
    scores: SystemScores, table: Floats, benchmark: str, factor: float, alpha: float, power: float
) -> DetectableEffect:
    effects: list[tuple[float, float, int, tuple[str, str]]] = []
    for one in range(len(scores.systems)):
        for other in range(one + 1, len(scores.systems)):
            pair = scores.systems[one], scores.systems[other]
            made = _of_pair if scores.paired else _of_two_samples
            error, seen, cases = made(table[:, one], table[:, other])
            if cases < 2:
                held = f"share {cases} scored cases" if scores.paired else "have fewer than two scored cases"
                raise MedjuryError(
                    f"{pair[0]!r} and {pair[1]!r} {held} on {benchmark!r}; a detectable effect needs two or more."
                )
            effects.append((factor * error, abs(seen), cases, pair))
    sizes = np.array([effect for effect, *_ in effects])
    largest = effects[int(sizes.argmax())]
    return DetectableEffect(
        benchmark=benchmark,
        mde=float(sizes.mean()),
        mde_sd=float(sizes.std(ddof=1)) if len(sizes) > 1 else None,
        largest=largest[0],
        largest_pair=largest[3],
        beyond=sum(seen > effect for effect, seen, *_ in effects),
        pairs=len(effects),
        n=min(count for _, _, count, _ in effects),
        method=f"(z + z)·{'SD of the paired difference/√n' if scores.paired else '√(SD₁²/n₁ + SD₂²/n₂)'}, "
        f"alpha {alpha:g}, power {power:g}",
    )


def _of_pair(first: Floats, second: Floats) -> tuple[float, float, int]:
    """Standard error of the mean difference on the cases that both have, the difference, and their number."""
    difference = first - second
    difference = difference[np.isfinite(difference)]
    if len(difference) < 2:
        return 0.0, 0.0, len(difference)
    error = float(difference.std(ddof=1)) / float(np.sqrt(len(difference)))
    return error, float(difference.mean()), len(difference)


def _of_two_samples(first: Floats, second: Floats) -> tuple[float, float, int]:
    """The same of systems that answered different cases: √(s₁²/n₁ + s₂²/n₂), and the smaller number of cases."""
    sides = [side[np.isfinite(side)] for side in (first, second)]
    least = min(len(side) for side in sides)
    if least < 2:
        return 0.0, 0.0, least
    error = float(np.sqrt(sum(side.var(ddof=1) / len(side) for side in sides)))
    return error, float(sides[0].mean() - sides[1].mean()), least
