"""Real answers as a world to review: mental-health counselling, graded by a person and by four language models.

500 conversations, ten systems' answers to each, seven attributes from 1 to 5 (MentalBench-Align). The data are no
part of this repository: `shared/` beside the checkout holds them, and without them the benchmark says so and goes
on.
"""

from __future__ import annotations

import csv
import re
from functools import lru_cache
from pathlib import Path

import numpy as np

from benchmarks._reviews import Floats, World

JUDGES = ("claude", "gemini", "gpt-4o", "o4-mini")
DATA = Path(__file__).parents[2] / "shared" / "data" / "mental_health_judges"
ATTRIBUTES = ("Guidance", "Safety")


def there() -> bool:
    return (DATA / "human.csv").is_file()


@lru_cache
def everything(attribute: str) -> World:
    """All answers that the person graded and at least one judge did."""
    human = _grades("human", attribute)
    judges = np.stack([_grades(name, attribute).ravel() for name in JUDGES])
    cases = np.repeat(np.arange(len(human)), human.shape[1])
    known = ~np.isnan(human.ravel()) & ~np.isnan(judges).all(axis=0)
    return World(cases[known], human.ravel()[known], judges[:, known])


def some(cases: int, seed: int, attribute: str) -> World:
    """As many conversations, drawn with replacement from all of them: each with all its answers."""
    whole = everything(attribute)
    starts = np.searchsorted(whole.cases, np.arange(whole.cases[-1] + 2))
    chosen = np.random.default_rng([seed, 17]).integers(0, len(starts) - 1, cases)
    places = np.concatenate([np.arange(starts[each], starts[each + 1]) for each in chosen])
    sizes = starts[chosen + 1] - starts[chosen]
    return World(np.repeat(np.arange(cases), sizes), whole.clinician[places], whole.judges[:, places])


def _grades(name: str, attribute: str) -> Floats:
    """Conversations by systems; NaN where there is no grade from 1 to 5, however the answer was wrapped."""
    pattern = re.compile(rf'"?{attribute}"?\s*:\s*"?(-?\d+(?:\.\d+)?)', re.IGNORECASE)
    with (DATA / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))[1:]
    found = np.full((len(rows), len(rows[0]) - 1), np.nan)
    for row, cells in enumerate(rows):
        for column, cell in enumerate(cells[1:]):
            if (said := pattern.search(cell)) and 1.0 <= float(said[1]) <= 5.0:
                found[row, column] = float(said[1])
    return found
