"""The model behind the impact estimate: how much each kind of difference weighs, and how it was learned.

Coefficients come with the package as JSON, with their provenance. `fit_impact_model` is how they were made, and
how a site with labelled pairs of its own makes others.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from medjury.foundation.errors import MedjuryError
from medjury.statistics import fit_ordinal

FORMAT = "medjury impact model 1"
# What each feature is worth before any data, on the logit scale: a symptom or drug lost or invented, a denial
# turned round or an answer that is gone counts twice as much as a lost word; a denial that only echoes the
# question, or a changed "quite" or "often", half; how much of the characters is lost counts nothing by itself.
PRIOR = {
    "loaded_lost": 2.0,
    "loaded_added": 2.0,
    "echo_lost": 0.5,
    "qualifier_changed": 0.5,
    "content_changed": 1.0,
    "polarity_reversed": 2.0,
    "negation_changed": 1.0,
    "answer_lost": 2.0,
    "acknowledgement_lost": 1.0,
    "everything_lost": 1.0,
    "share_lost": 1.0,
    "chrf_lost": 0.0,
}
MODEL_FEATURES = tuple(PRIOR)
PRIOR_SPREAD = 0.5
# A level is given from the probability on at which it costs less than its omission: to miss a significant error
# is taken to be six times as bad as a false alarm, to miss any impact twice as bad.
SIGNIFICANT_FROM = 1 / 7
ANY_FROM = 1 / 3

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ImpactModel:
    """A small ordinal regression over MODEL_FEATURES: P(level ≥ k) = σ(x·β − αₖ), α₁ < α₂ (McCullagh 1980), with
    the probabilities from which on a level is given. With a hundred labelled rows the prior matters: each
    coefficient is drawn to a value that was written down before the data were seen, with a stated spread."""

    coefficients: tuple[float, ...]
    cuts: tuple[float, float]
    significant_from: float = SIGNIFICANT_FROM
    any_from: float = ANY_FROM
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def probabilities(self, features: Floats) -> Floats:
        """The probability of each level, one row per row of features."""
        line = features @ np.asarray(self.coefficients)
        at_least_one, two = (special.expit(line - cut) for cut in self.cuts)
        return np.stack([1.0 - at_least_one, at_least_one - two, two], axis=1)

    def levels(self, probabilities: Floats) -> NDArray[np.int64]:
        """2 where a significant impact is probable enough, else 1 where any impact is, else 0."""
        any_impact = np.where(1.0 - probabilities[:, 0] >= self.any_from, 1, 0)
        return np.where(probabilities[:, 2] >= self.significant_from, 2, any_impact)

    def to_json(self) -> str:
        return json.dumps(
            {
                "format": FORMAT,
                "coefficients": {
                    name: round(value, 6)
                    for name, value in zip(MODEL_FEATURES, self.coefficients, strict=True)
                },
                "cuts": [round(cut, 6) for cut in self.cuts],
                "significant_from": self.significant_from,
                "any_from": self.any_from,
                "provenance": dict(self.provenance),
            },
            indent=2,
            ensure_ascii=False,
        )


def fit_impact_model(
    features: Floats,
    levels: Sequence[int] | NDArray[np.int64],
    *,
    provenance: Mapping[str, Any] | None = None,
) -> ImpactModel:
    """Learn the coefficients from labelled pairs (levels 0, 1, 2; all three must occur)."""
    labels = np.asarray(levels, dtype=np.int64)
    if set(labels.tolist()) != {0, 1, 2}:
        raise MedjuryError(
            f"The labels are {sorted(set(labels.tolist()))}; the model is learned from pairs of all three "
            "levels, 0, 1 and 2."
        )
    prior = np.array(list(PRIOR.values()))[:, np.newaxis]
    cuts, slopes = fit_ordinal(
        features.T[:, :, np.newaxis], np.eye(3)[labels][:, :, np.newaxis], (prior, PRIOR_SPREAD)
    )
    ends = (float(cuts[0, 0]), float(cuts[1, 0]))
    return ImpactModel(tuple(slopes[:, 0].tolist()), ends, provenance=provenance or {})


def read_impact_model(text: str, name: str = "impact model") -> ImpactModel:
    """The model in a JSON text; `name` is what to call it in a complaint."""
    try:
        data = json.loads(text)
        if data["format"] != FORMAT:
            raise MedjuryError(f"{name}: its format is {data['format']!r}, this version reads {FORMAT!r}.")
        found = data["coefficients"]
        if set(found) != set(MODEL_FEATURES):
            odd = ", ".join(sorted(set(found) ^ set(MODEL_FEATURES)))
            raise MedjuryError(f"{name}: its features are not those of this version ({odd}); fit it again.")
        low, high = (float(cut) for cut in data["cuts"])
        return ImpactModel(
            tuple(float(found[feature]) for feature in MODEL_FEATURES),
            (low, high),
            float(data["significant_from"]),
            float(data["any_from"]),
            data["provenance"],
        )
    except (KeyError, TypeError, ValueError) as error:
        raise MedjuryError(f"{name}: this is not an impact model: {error}") from None


def load_impact_model(path: str | Path) -> ImpactModel:
    """The model in a JSON file."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise MedjuryError(f"{path}: cannot be read: {error}") from None
    return read_impact_model(text, str(path))


@cache
def shipped_model() -> ImpactModel:
    """The model that comes with the package."""
    file = resources.files("medjury.texts.metrics").joinpath("impact_model.json")
    return read_impact_model(file.read_text(encoding="utf-8"), "impact_model.json")
