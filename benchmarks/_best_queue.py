"""The best queue that there could be: what it would save to know how far clinicians depart from the judges.

The variance of an estimate is Σ ψ²/π over the answers, ψ being what each adds to its error; with the help of a
prediction m of ψ it is Σ (ψ − m)²(1/π − 1) + Σ ψ², and what answers of one case share. It is least for π in
proportion to the root of the mean square of ψ (of ψ − m) among all answers that look the same. Here these means are
taken from the world itself, which nobody who plans a review can know: so no queue saves more.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks._reviews import GAP, THRESHOLD, Floats, World, grade
from medjury.analysis.calibration._review_queue import inclusion_probabilities

# Fewer answers that look the same are put with others, so that their mean square is not chance.
_ALIKE = 50


@dataclass(frozen=True)
class Limit:
    """The largest saving of ratings beside a random review by labels alone: of a queue for this aim alone, of one
    queue for all three, of one that also reads all that the jury calls dangerous; and that of the first beside a
    random review with the jury's help."""

    alone: float
    for_all: float
    with_dangerous: float
    beside_help: float


def limits(world: World, share: float) -> Mapping[str, Limit]:
    """The limits of reviews that read a `share` of the answers, by aim."""
    influences, looks = _influences(world), _looks(world)
    same = {name: _mean_of(each, looks) for name, each in influences.items()}
    rest = {name: _mean_of((each - same[name]) ** 2, looks) for name, each in influences.items()}
    plain = np.full(len(looks), share)
    labels = {name: _variance(world, each, 0.0 * each, plain) for name, each in influences.items()}
    every = np.sum([rest[name] / labels[name] for name in rest], axis=0)
    together, reading = (_best(every, share), _best(every, share, world.jury <= THRESHOLD))
    found = {}
    for name, influence in influences.items():
        helped, *queues = (
            _variance(world, influence, same[name], each)
            for each in (plain, _best(rest[name], share), together, reading)
        )
        alone, for_all, with_dangerous = (1.0 - each / labels[name] for each in queues)
        found[name] = Limit(alone, for_all, with_dangerous, 1.0 - queues[0] / helped)
    return found


def _influences(world: World) -> dict[str, Floats]:
    """What each answer adds to quadratic kappa, to the mean and to the rate of severe errors, on their scales."""
    x, y = world.clinician, grade(world.jury)
    apart = float(((x - y) ** 2).mean())
    chance = float(x.var() + y.var() + (x.mean() - y.mean()) ** 2)
    habits = (x - y.mean()) ** 2 + y.var() + (y - x.mean()) ** 2 + x.var()
    kappa = -((x - y) ** 2 - apart) / chance + apart / chance**2 * (habits - 2.0 * chance)
    danger = x <= THRESHOLD
    severe = danger & (world.jury - x >= GAP - 1e-9)
    errors = (severe - severe.sum() / danger.sum() * danger) / danger.mean()
    return {"kappa": kappa, "mean": x - x.mean(), "severe errors": errors}


def _looks(world: World) -> NDArray[np.int64]:
    """Which answers look the same: the same scores in any order, and case mates of the same grade; as far as there
    are enough of them, else the same scores, else the same grade of the jury."""
    scores = np.sort(world.judges, axis=0)
    own = np.unique(scores, axis=1, return_inverse=True)[1].ravel()
    count = np.bincount(world.cases)[world.cases]
    others = (np.bincount(world.cases, world.jury)[world.cases] - world.jury) / np.maximum(count - 1, 1)
    both = np.unique(np.stack([own, grade(others)]), axis=1, return_inverse=True)[1].ravel()
    found = np.full(len(own), -1, dtype=np.int64)
    start = 0
    for each in (both, own, grade(world.jury).astype(np.int64)):
        many = np.bincount(each)[each] >= _ALIKE
        found = np.where((found < 0) & many, each + start, found)
        start += int(each.max()) + 1
    return np.asarray(np.unique(found, return_inverse=True)[1], dtype=np.int64)


def _mean_of(values: Floats, looks: NDArray[np.int64]) -> Floats:
    found: Floats = (np.bincount(looks, values) / np.bincount(looks))[looks]
    return found


def _best(squares: Floats, share: float, certain: NDArray[np.bool_] | None = None) -> Floats:
    sizes = np.sqrt(squares)
    sure = np.zeros(len(sizes), dtype=bool) if certain is None else certain
    # Of answers that never surprise nobody need be read; a size above 0 is asked for all the same.
    return inclusion_probabilities(np.maximum(sizes, 1e-3 * sizes.mean()), sure, share * len(sizes))


def _variance(world: World, influence: Floats, foretold: Floats, probability: Floats) -> float:
    """Per answer: that of reading, and that of the cases themselves."""
    reading = ((influence - foretold) ** 2 * (1.0 / probability - 1.0)).mean()
    cases = (np.bincount(world.cases, influence) ** 2).sum() / len(influence)
    return float(reading + cases)
