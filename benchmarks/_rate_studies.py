"""Simulated studies of counted answers: shares that promise nothing, and two error rates on the same answers."""

from __future__ import annotations

import numpy as np

from benchmarks._studies import SEVERE_TOGETHER, Truthful
from medjury.statistics import counted_share, paired_rate_difference

SHARES = (0.1, 0.3, 0.6, 0.9)
RATES = (0.10, 0.18)


def share_study(seed: list[int], cases: int, answers: int) -> dict[str, Truthful]:
    """The share of answers that are right, passed or preferred, where those of one case go together."""
    generator = np.random.default_rng(seed)
    found: dict[str, Truthful] = {}
    for share in SHARES:
        hits, whose = together(generator, share, cases, answers)
        found[f"counted share of {share:g}"] = (counted_share(hits, whose), share)
    return found


def paired_study(seed: list[int], cases: int, answers: int) -> dict[str, Truthful]:
    """How much more often the second run errs than the first, on the same answers; half of its errors are the
    first one's too."""
    generator = np.random.default_rng(seed)
    one, whose = together(generator, RATES[0], cases, answers)
    alone, _ = together(generator, (RATES[1] - RATES[0] / 2) / (1 - RATES[0]), cases, answers)
    again = generator.random(len(one)) < 0.5
    two = np.where(one, again, alone)
    return {"difference of two error rates": (paired_rate_difference(one, two, whose), RATES[1] - RATES[0])}


def together(
    generator: np.random.Generator, share: float, cases: int, answers: int
) -> tuple[np.ndarray, np.ndarray]:
    room = 1 / SEVERE_TOGETHER - 1
    of_case = (
        generator.beta(share * room, (1 - share) * room, cases) if answers > 1 else np.full(cases, share)
    )
    whose = np.repeat(np.arange(cases), answers)
    return generator.random(len(whose)) < of_case[whose], whose
