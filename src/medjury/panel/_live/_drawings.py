"""What the State page draws: agreement with its interval as it grows, and how long a case takes. Tables behind them
hold the same numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from medjury.analysis.agreement import krippendorff_alpha
from medjury.statistics import Estimate
from medjury.tables import Grid

FEWEST = 10  # answers that two raters share, before anything is said of their agreement
_STEPS = 5  # points of a drawing, the last of them all that is rated
_RESAMPLES = 1000
WIDTH, HEIGHT = 260, 120
_LEFT, _TOP, _BOTTOM = 34.0, 8.0, 96.0
_LOWEST = -0.2  # of alpha; what is below is drawn there
_UNTIL = ((15, "15 s"), (30, "30 s"), (60, "1 min"), (120, "2 min"), (300, "5 min"), (600, "10 min"))

When = Mapping[tuple[str, str, str, str], str]  # item, system, rater, dimension -> when it was given


@dataclass(frozen=True)
class Step:
    """Alpha of the first `shared` answers that two raters or more had rated, and where it is drawn."""

    shared: int
    alpha: Estimate
    x: float
    y: float
    top: float
    bottom: float


def growing_agreement(grid: Grid, when: When) -> list[Step]:
    """Alpha after a fifth, two fifths … of the answers, in the order in which their second rater came."""
    scores = np.column_stack(list(grid.scores.values()))
    places = np.flatnonzero(np.sum(~np.isnan(scores), axis=1) >= 2)
    places = places[np.argsort([_second(grid, int(at), when) for at in places], kind="stable")]
    counts = sorted({round(len(places) * part / _STEPS) for part in range(1, _STEPS + 1)})
    steps = []
    for count in (each for each in counts if each >= FEWEST):
        first = places[:count]
        alpha = krippendorff_alpha(
            scores[first], "ordinal", clusters=grid.clusters[first], resamples=_RESAMPLES
        )
        if alpha.value is None or alpha.low is None or alpha.high is None:
            continue
        x = _LEFT + 12 + (WIDTH - _LEFT - 24) * count / len(places)
        steps.append(
            Step(count, alpha, round(x, 1), height(alpha.value), height(alpha.high), height(alpha.low))
        )
    return steps


def _second(grid: Grid, at: int, when: When) -> str:
    place = (str(grid.items[at]), str(grid.systems[at]))
    times = [
        when.get((*place, rater, grid.dimension), "")
        for rater, own in grid.scores.items()
        if not np.isnan(own[at])
    ]
    return sorted(times)[1]


def height(alpha: float) -> float:
    """Where this alpha is drawn."""
    return round(_BOTTOM - (_BOTTOM - _TOP) * (max(alpha, _LOWEST) - _LOWEST) / (1 - _LOWEST), 1)


@dataclass(frozen=True)
class Bar:
    """How many cases took about so long."""

    label: str
    cases: int
    x: float
    y: float
    height: float


BAR_WIDTH = 30


def time_bars(seconds: Sequence[float]) -> list[Bar]:
    """The cases by the time they took; none where nothing was measured."""
    edges = [edge for edge, _ in _UNTIL]
    places = np.searchsorted(edges, seconds, side="right")
    counts = [int((places == at).sum()) for at in range(len(edges) + 1)]
    labels = [f"to {words}" for _, words in _UNTIL] + [f"over {_UNTIL[-1][1]}"]
    most = max(counts) or 1
    tall = [round(72 * count / most, 1) for count in counts]
    return [
        Bar(label, count, 8 + at * (BAR_WIDTH + 22), round(_BOTTOM - each, 1), each)
        for at, (label, count, each) in enumerate(zip(labels, counts, tall, strict=True))
    ]
