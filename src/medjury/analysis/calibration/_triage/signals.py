"""Signals that a case needs a clinician, each larger where review is more urgent.

- `expected_harm`: Σ P(grade) · harm(grade), with harm = ((highest − grade) / (highest − lowest))²;
- `disagreement`: the standard deviation of the judges' scores;
- `boundary`: minus the distance of the calibrated score from the decision boundary;
- `conformal_width`: how many grades the clinician might still give.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from medjury.analysis.calibration._conformal.sets import GradeSets, Taught, fit_sets
from medjury.analysis.calibration._maps.calibrator import Floats
from medjury.analysis.calibration._maps.ordinal import Ordinal
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


Signals = tuple[dict[str, Floats], GradeSets]


def signals_of_each(several: Sequence[tuple[Items, Items]]) -> list[Signals]:
    """The four signals of each target and its conformal sets, from models fitted on its training items."""
    span = several[0][0].grades[0], several[0][0].grades[-1]
    models = Ordinal.fit_each([(training.jury, training.labels) for _, training in several], scale=span)
    sets = fit_sets(
        [
            Taught.by(
                training.jury,
                training.labels,
                cases=training.cases,
                grades=target.grades,
                level=target.level,
                method="split",
                ties="conservative",
                seed=target.seed,
            )
            for target, training in several
        ]
    )
    return [
        _signals(target, model, conformal.predict(target.jury, cases=target.cases))
        for (target, _), model, conformal in zip(several, models, sets, strict=True)
    ]


def _signals(target: Items, model: Ordinal, sets: GradeSets) -> Signals:
    low, high = target.grades[0], target.grades[-1]
    harm = ((high - np.asarray(model.grades)) / (high - low)) ** 2
    probabilities = model.probabilities(target.jury)
    signals = {
        "expected_harm": probabilities @ harm,
        "disagreement": target.spread,
        "boundary": -np.abs(model.expected(probabilities) - target.boundary),
        "conformal_width": sets.width,
    }
    return signals, sets


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
