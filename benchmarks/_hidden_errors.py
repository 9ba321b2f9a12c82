"""Severe errors that hide: dangerous answers of which some are always read and the others seldom, with error rates
of their own. Of all such settings the worst coverage of the weighted share counts, which no interval escapes."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from medjury.statistics import error_rate

ANSWERS, ALWAYS_READ, ONE_IN = (60, 200), (0.4, 0.8, 0.95), (8, 13)
# Error rates among answers that are always read, and among the others.
RATES = ((0.02, 0.02), (0.1, 0.1), (0.3, 0.3), (0.5, 0.5), (0.05, 0.3), (0.3, 0.05), (0.0, 0.2), (0.9, 0.9))


@dataclass(frozen=True)
class Setting:
    """So many dangerous answers, the share of them that is always read, how seldom the others are, both rates."""

    answers: int
    always: float
    one_in: int
    rates: tuple[float, float]


SETTINGS = tuple(Setting(*each) for each in product(ANSWERS, ALWAYS_READ, ONE_IN, RATES))


def coverage(setting: Setting, reviews: int, seed: int) -> float:
    """How often the interval holds the true share of errors, among reviews that read an answer."""
    generator = np.random.default_rng([seed, SETTINGS.index(setting)])
    truth = setting.always * setting.rates[0] + (1.0 - setting.always) * setting.rates[1]
    held = []
    for _ in range(reviews):
        always = generator.random(setting.answers) < setting.always
        probability = np.where(always, 1.0, 1.0 / setting.one_in)
        read = generator.random(setting.answers) < probability
        errors = generator.random(setting.answers) < np.where(always, *setting.rates)
        if read.any():
            found = error_rate(errors[read], weights=1.0 / probability[read])
            assert found.low is not None and found.high is not None
            held.append(found.low <= truth <= found.high)
    return float(np.mean(held))
