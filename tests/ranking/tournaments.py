"""Tournaments drawn from the model itself: who wins between two answers to a case, with ties and a better place."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

COLUMNS = ["item", "first", "second", "preferred", "rater"]


def drawn(
    strengths: Sequence[float],
    *,
    cases: int,
    order: float = 0.0,
    tie: float | None = -0.5,
    raters: Sequence[str] = ("judge",),
    both: bool = True,
    case_spread: float = 0.0,
    seed: int = 0,
) -> pl.DataFrame:
    """Judgements of every two systems `a, b, …` on every case, in both orders or, by turns, in one. `tie` is the
    log-odds of a tie between equals (None: never); `case_spread` is how much systems differ from case to case,
    which makes the verdicts on one case alike."""
    generator = np.random.default_rng(seed)
    names = [chr(ord("a") + at) for at in range(len(strengths))]
    rows = []
    for case in range(cases):
        own = np.asarray(strengths) + generator.normal(0.0, case_spread, len(names))
        for one in range(len(names)):
            for other in range(one + 1, len(names)):
                orders = [(one, other), (other, one)]
                for rater in raters:
                    for first, second in orders if both else [orders[(case + one + other) % 2]]:
                        log_odds = np.array([own[first] + order / 2, 0.0, own[second] - order / 2])
                        log_odds[1] = -np.inf if tie is None else (own[first] + own[second]) / 2 + tie
                        chance = np.exp(log_odds) / np.exp(log_odds).sum()
                        verdict = ("first", "tie", "second")[generator.choice(3, p=chance)]
                        rows.append((f"case {case}", names[first], names[second], verdict, rater))
    return pl.DataFrame(rows, schema=COLUMNS, orient="row")
