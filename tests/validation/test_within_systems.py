"""The correlation among answers of one system made a second time, with the lower end of its interval."""

from __future__ import annotations

import re

import numpy as np
import pytest
from tests.recipes.same_draws import ends, same_draws
from tests.validation.on_trial import ruled

from medjury.validation._rules.within_systems import within_systems

SYSTEMS = ("alpha", "beta", "gamma")


def inside(rows: np.ndarray, counts: np.ndarray) -> float:
    """Each answer as often as it was drawn, less the mean of its system; then numpy's own correlation."""
    drawn = np.repeat(rows, counts.astype(int), axis=0)
    for system in np.unique(drawn[:, 2]):
        here = drawn[:, 2] == system
        drawn[here, :2] -= drawn[here, :2].mean(axis=0)
    return float(np.corrcoef(drawn[:, 0], drawn[:, 1])[0, 1])


@pytest.mark.parametrize(("noise", "confidence"), [(0.1, 0.95), (0.5, 0.95), (0.9, 0.9)])
def test_the_least_correlation_within_systems_is_read_on_the_scale_of_a_correlation(
    noise: float, confidence: float
) -> None:
    generator = np.random.default_rng(2)
    better = np.tile([-0.5, 0.0, 0.6], 24)
    quality = 3.6 + better + generator.normal(size=72)
    clinician, jury = (
        np.clip(np.rint(quality + spread * generator.normal(size=72)), 1, 5) for spread in (0.2, noise)
    )
    told = ruled(
        within_systems,
        {"clinician a": clinician.tolist(), "jury": jury.tolist()},
        systems=SYSTEMS,
        confidence=confidence,
    )[1].found
    rows = np.column_stack([clinician, jury, np.tile(np.arange(3.0), 24)])
    draws = same_draws(rows, np.repeat(np.arange(24), 3).tolist(), 200)
    made, without = (
        np.array([inside(rows, each) for each in counts]) for counts in (draws.resampled, draws.left_out)
    )
    low, _ = ends(inside(rows, np.ones(72)), made, without, "coefficient", "BCa-t", 2 * confidence - 1)
    said = re.match(r"within systems at least (-?[\d.]+);", told.replace("−", "-"))
    assert said is not None and float(said[1]) == pytest.approx(low, abs=6e-4)
