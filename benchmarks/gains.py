"""Do the intervals of a closed loop's gains hold with few cases? Published BCa beside the interval in use, on the
same `STUDIES` simulated loops (400 unless that variable says otherwise): `python -m benchmarks gains`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks._studies import GAINS, POPULATION, RESAMPLES, revised
from medjury.statistics import Estimate, Floats, Read, bootstrap
from medjury.validation._loop_gains import gain_estimates

# Not among the benchmarks that run where none is named.
ON_REQUEST = True
SIZES, LOWEST, HIGHEST, SEED = (12, 20, 50), 0.92, 0.985, 3


def run() -> Iterator[dict[str, Any]]:
    """One row for each size and gain: ours, and published BCa as the peer."""
    studies = int(os.environ.get("STUDIES", "400"))
    loop, final = revised(np.random.default_rng(1), POPULATION).mean(axis=0).tolist()
    truth = np.array([loop, final, loop - final])
    for n in SIZES:
        held = np.zeros((2, 3))
        for place in range(studies):
            gains = revised(np.random.default_rng([SEED, n, place]), 8 * n)[:n]
            ours = gain_estimates(gains, np.arange(len(gains)), span=4.0, resamples=RESAMPLES, seed=place)
            plain = bootstrap(gains, _three, method="bca", resamples=RESAMPLES, seed=place)
            held += [_hold(ours, truth), _hold([plain[name] for name in GAINS], truth)]
        for name, now, before in zip(GAINS, *(held / studies), strict=True):
            yield {
                "name": f"{name}, {n} cases",
                "ours": f"{100 * now:.1f} %",
                "peer": f"plain BCa {100 * before:.1f} %",
                "ratio": "",
                "target": "92 - 98.5 %",
                "holds": LOWEST <= now <= HIGHEST,
            }


def _three(rows: Floats) -> Read:
    columns = np.column_stack([rows, rows[:, 0] - rows[:, 1]])
    return lambda weights: dict(
        zip(GAINS, (weights @ columns / weights.sum(axis=-1)[:, None]).T, strict=True)
    )


def _hold(found: Any, truth: Floats) -> list[bool]:
    def holds(each: Estimate, true: float) -> bool:
        return each.low is not None and each.high is not None and each.low <= true <= each.high

    return [holds(each, true) for each, true in zip(found, truth, strict=True)]
