"""Is a case as far from the validated cases as they are from one another? A conformal test.

One half of the validated patients gives the measure: a case's distance is its mean distance to the five nearest of
them, in standardised features. The other half gives the distances to compare with. The p-value of a new case is the
share of those patients at least as far away, itself counted in. So of new patients who are exchangeable with the
validated ones at most a share `alpha` is flagged, on average over validations, however the features are distributed
(split conformal p-value: Vovk, Gammerman & Shafer 2005; patients weigh alike: Lee, Barber & Willett 2023).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from medjury.analysis.calibration import first_share, strangeness
from medjury.foundation.errors import MedjuryError
from medjury.in_use.passports._features import FEATURES, common_words, features
from medjury.intake.cases import Case
from medjury.store.runs import RunPart

Array = np.ndarray[Any, np.dtype[np.float64]]
_MOST_KEPT, _NEIGHBOURS = 400, 5


class Novelty(RunPart):
    """The measure of distance: the spread of each feature, the features of the `measure` cases, the common words'
    hashes; and, for each `compared` case, its distance and the number of its patient."""

    alpha: float
    spreads: dict[str, float]
    measure: tuple[tuple[float, ...], ...]
    common_words: tuple[str, ...]
    compared: tuple[float, ...]
    compared_patients: tuple[int, ...]


class NoveltyTest:
    """Distances and p-values of new cases."""

    def __init__(self, novelty: Novelty) -> None:
        self.alpha = novelty.alpha
        self._common = frozenset(novelty.common_words)
        self._measure = np.array(novelty.measure, dtype=float)
        self._spreads = np.array([novelty.spreads[name] for name in FEATURES])
        patients = np.array(novelty.compared_patients, dtype=object)
        self._known = strangeness(np.array(novelty.compared), patients)

    def look(self, case: Case) -> tuple[float, float, str]:
        """The distance of a case, its p-value, and the feature by which it lies farthest away."""
        own = np.array(features(case, self._common))
        distance = distances(own[None, :], self._measure, self._spreads)
        p_value = float(self._known.p_values(distance, np.array([1.0]))[0])
        apart = np.abs(own - np.median(self._measure, axis=0)) / self._spreads
        return float(distance[0]), min(1.0, p_value), list(FEATURES)[int(np.argmax(apart))]


def novelty_of(cases: Sequence[Case], patients: Sequence[str], alpha: float, seed: int = 0) -> Novelty:
    """The measure and the distances of these validated cases; refused where they are too few for `alpha`."""
    if not 0.0 < alpha <= 0.5:
        raise MedjuryError(f"the level of the novelty test lies above 0 and at most at 0.5, not at {alpha:g}")
    known, needed = len(set(patients)), 2 * math.ceil(1 / alpha)
    if known < needed:
        raise MedjuryError(
            f"{known:,} validated patients are too few to tell at the level {alpha:g} whether a new case is "
            f"like them; {needed:,} are needed, or a higher level (--alpha)"
        )
    first = first_share(patients, 0.5, seed)
    measuring = [(case, name) for case, name, own in zip(cases, patients, first, strict=True) if own]
    compared = [(case, name) for case, name, own in zip(cases, patients, first, strict=True) if not own]
    common = common_words(measuring)
    words = frozenset(common)
    measure = np.array([features(case, words) for case, _ in measuring])
    spreads = np.maximum(measure.std(axis=0), list(FEATURES.values()))
    measure = measure[:: max(1, math.ceil(len(measuring) / _MOST_KEPT))]
    others = np.array([features(case, words) for case, _ in compared])
    numbers: dict[str, int] = {}
    return Novelty(
        alpha=alpha,
        spreads=dict(zip(FEATURES, spreads.tolist(), strict=True)),
        measure=tuple(map(tuple, measure.tolist())),
        common_words=common,
        compared=tuple(distances(others, measure, spreads).tolist()),
        compared_patients=tuple(numbers.setdefault(name, len(numbers)) for _, name in compared),
    )


def distances(points: Array, measure: Array, spreads: Array) -> Array:
    """The mean distance of each point to the nearest of the measuring cases, in standardised features."""
    near = min(_NEIGHBOURS, len(measure))
    found = []
    for point in points:
        apart = np.sqrt((((measure - point) / spreads) ** 2).mean(axis=1))
        found.append(float(np.sort(apart)[:near].mean()))
    return np.array(found)
