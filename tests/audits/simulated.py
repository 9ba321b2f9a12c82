"""Simulated ratings with planted effects, small and seeded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

JUDGES = {"ada": "alpha", "bob": "beta", "cyd": "gamma"}
SYSTEMS = {
    "alpha-1": "alpha",
    "alpha-2": "alpha",
    "beta-1": "beta",
    "gamma-1": "gamma",
    "other-1": "delta",
    "other-2": "epsilon",
    "other-3": "zeta",
    "clinic": "none",
}


def judged(
    *,
    seed: int = 0,
    cases: int = 120,
    preference: Mapping[str, float] | None = None,
    better: Mapping[str, float] | None = None,
    spread: Mapping[str, float] | None = None,
    systems: Sequence[str] = tuple(SYSTEMS),
    judges: Sequence[str] = tuple(JUDGES),
    dimension: str = "quality",
    liking: float | Mapping[str, float] = 0.0,
) -> pl.DataFrame:
    """Scores 1 to 5 of several judges for several systems' answers to the same cases.

    `preference` adds to a judge's scores of its own vendor, `better` to the quality of a vendor's answers for
    everybody, `spread` stretches a judge's use of the scale. `liking` is the spread of what a judge sees in single
    systems whoever made them.
    """
    generator = np.random.default_rng(seed)
    likings = [liking if isinstance(liking, float) else liking.get(judge, 0.0) for judge in judges]
    taste = np.random.default_rng([seed, 1]).normal(size=(len(judges), len(systems))) * np.c_[likings]
    quality = dict(zip(SYSTEMS, (0.0, 0.0, 0.1, 0.0, -0.4, 0.3, -0.6, 0.2), strict=True))
    rows = []
    for case in range(cases):
        hard = generator.normal(0, 0.5)
        for number, system in enumerate(systems):
            vendor = SYSTEMS[system]
            worth = hard + quality[system] + (better or {}).get(vendor, 0.0) + generator.normal(0, 0.4)
            for place, judge in enumerate(judges):
                score = 3 + 0.2 * place + (spread or {}).get(judge, 1.0) * worth + generator.normal(0, 0.4)
                score += taste[place, number]
                score += (preference or {}).get(judge, 0.0) * (JUDGES[judge] == vendor)
                rows.append(
                    (f"case {case}", system, judge, "judge", dimension, float(np.clip(round(score), 1, 5)))
                )
    columns = ["item", "system", "rater", "rater_kind", "dimension", "score"]
    return pl.DataFrame(rows, schema=columns, orient="row")
