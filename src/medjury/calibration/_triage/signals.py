"""Signals that a case needs a clinician, each larger where review is more urgent.

- `expected_harm`: Σ P(grade) · harm(grade), with harm = ((highest − grade) / (highest − lowest))²;
- `disagreement`: the standard deviation of the judges' scores;
- `boundary`: minus the distance of the calibrated score from the decision boundary;
- `conformal_width`: how many grades the clinician might still give.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from medjury.calibration._conformal.sets import ConformalSets, GradeSets
from medjury.calibration._maps.calibrator import Floats
from medjury.calibration._maps.folds import case_folds
from medjury.calibration._maps.ordinal import Ordinal
from medjury.tables import mean_of_raters

SIGNALS = ("expected_harm", "disagreement", "boundary", "conformal_width")


@dataclass(frozen=True, slots=True, eq=False)
class Items:
    """Items to be triaged: the jury's score and the judges' spread, the label and whether it is one to catch."""

    jury: Floats
    spread: Floats
    labels: Floats
    target: NDArray[np.bool_]
    cases: NDArray[np.object_]
    grades: tuple[float, ...]
    boundary: float
    level: float
    seed: int

    def part(self, chosen: NDArray[np.bool_]) -> Items:
        by_item = ("jury", "spread", "labels", "target", "cases")
        return replace(self, **{name: getattr(self, name)[chosen] for name in by_item})


def signals_of(target: Items, training: Items) -> tuple[dict[str, Floats], GradeSets]:
    """The four signals of the target and its conformal sets, from models fitted on the training items."""
    span = (target.grades[0], target.grades[-1])
    model = Ordinal.fit(training.jury, training.labels, scale=span)
    harm = ((span[1] - np.asarray(model.grades)) / (span[1] - span[0])) ** 2
    sets = ConformalSets.fit(
        training.jury,
        training.labels,
        cases=training.cases,
        grades=target.grades,
        level=target.level,
        method="split",
        ties="conservative",
        seed=target.seed,
    ).predict(target.jury, cases=target.cases)
    probabilities = model.probabilities(target.jury)
    signals = {
        "expected_harm": probabilities @ harm,
        "disagreement": target.spread,
        "boundary": -np.abs(model.expected(probabilities) - target.boundary),
        "conformal_width": sets.width,
    }
    return signals, sets


def held_out_signals(training: Items, folds: int) -> dict[str, Floats]:
    """The training items' own signals, each from the other training folds."""
    fold = case_folds(training.cases, folds=folds, seed=training.seed + 1, minimum=2)
    signals = {name: np.full(len(training.jury), np.nan) for name in SIGNALS}
    for number in range(folds):
        here = fold == number
        for name, values in signals_of(training.part(here), training.part(~here))[0].items():
            signals[name][here] = values
    return signals


def signals_without_labels(items: Items) -> dict[str, Floats]:
    """The three signals that the judges' own scores give."""
    low, high = items.grades[0], items.grades[-1]
    return {
        "expected_harm": ((high - items.jury) / (high - low)) ** 2,
        "disagreement": items.spread,
        "boundary": -np.abs(items.jury - items.boundary),
    }


def mean_rank(signals: Mapping[str, Floats], among: Mapping[str, Floats]) -> Floats:
    """The mean, over signals, of the share of items in `among` that lie below (and half of those that tie)."""
    shares = []
    for name, values in signals.items():
        known = np.sort(among[name][~np.isnan(among[name])])
        below = np.searchsorted(known, values - 1e-12) + np.searchsorted(known, values + 1e-12, side="right")
        shares.append(np.where(np.isnan(values), np.nan, below / max(2 * known.size, 1)))
    return np.asarray(np.mean(shares, axis=0))


def spread_of(table: Floats) -> Floats:
    """Standard deviation of the judges who scored each item (items x judges); NaN where none did."""
    apart = (table - mean_of_raters(table)[:, np.newaxis]) ** 2
    return np.sqrt(mean_of_raters(apart))
