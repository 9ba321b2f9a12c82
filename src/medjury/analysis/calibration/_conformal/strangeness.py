"""The engine of conformal prediction: how strange is a candidate answer beside labelled cases?

A strangeness measure ranks how badly a label fits a judge's score. A candidate stays in the set while it is
not among the strangest share α: its p-value, the share of labelled items at least as strange, itself
counted in, exceeds α. Vovk, Gammerman & Shafer (2005), Algorithmic Learning in a Random World.

Items of one case are not exchangeable with items of another, cases are. Every case therefore weighs the
same, 1 / (K + 1) with K labelled cases, shared by its items (hierarchical conformal prediction: Lee, Barber
& Willett 2023, arXiv:2306.06342). With one item per case this is the ordinary method.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from medjury.analysis.calibration._maps.calibrator import Floats
from medjury.analysis.calibration._maps.folds import Cases
from medjury.foundation.errors import MedjuryError


def check_level(level: float) -> None:
    """A level of coverage is a share of half or more; 90 is refused, not taken for 0.9."""
    if not 0.5 <= level < 1:
        raise MedjuryError(f"a level of coverage lies between 0.5 and 1, such as 0.9, not {level}.")


@dataclass(frozen=True, slots=True, eq=False)
class Strangeness:
    """Labelled items' strangeness, sorted, with their cumulated weight; `new` is the weight of the new item."""

    values: Floats
    cumulated: Floats
    new: float

    def p_values(self, candidates: Floats, tie_breaks: Floats) -> Floats:
        """(weight of stranger items) + u · (weight of equally strange ones and of the candidate itself).

        With u = 1 this is the conservative p-value; with u uniform on (0, 1) coverage is exact.
        """
        stranger, equal = self.masses(candidates)
        return stranger + tie_breaks * (equal + self.new)

    def masses(self, candidates: Floats) -> tuple[Floats, Floats]:
        """The weight of labelled items stranger than each candidate, and of those exactly as strange."""
        tolerance = 1e-12
        below = self.cumulated[np.searchsorted(self.values, candidates - tolerance, side="left")]
        through = self.cumulated[np.searchsorted(self.values, candidates + tolerance, side="right")]
        return self.cumulated[-1] - through, through - below

    def quantile(self, level: float) -> float:
        """The strangeness that a new item stays below with probability `level`; infinite for too few cases."""
        place = int(np.searchsorted(self.cumulated[1:], level - 1e-12))
        return float(self.values[place]) if place < len(self.values) else float("inf")


def strangeness(values: Floats, cases: NDArray[np.object_], total_cases: int | None = None) -> Strangeness:
    """Weigh items so that every case counts the same. `total_cases` is K where the values are one part of all."""
    _, codes, sizes = np.unique(cases.astype(str), return_inverse=True, return_counts=True)
    every = len(sizes) if total_cases is None else total_cases
    weights = 1.0 / ((every + 1) * sizes[codes]) if len(values) else np.empty(0)
    order = np.argsort(values, kind="stable")
    cumulated = np.concatenate([[0.0], np.cumsum(weights[order])])
    return Strangeness(values[order], cumulated, 1.0 / (every + 1))


def case_uniforms(cases: Cases, seed: int) -> Floats:
    """A number in (0, 1) for each item from its case's name and the seed: a tie is broken alike each time."""
    known: dict[str, float] = {}
    for name in map(str, cases):
        if name not in known:
            digest = hashlib.sha256(f"tie\0{seed}\0{name}".encode()).digest()
            known[name] = (int.from_bytes(digest[:7], "big") + 0.5) / 2**56
    return np.array([known[str(name)] for name in cases])


def first_share(cases: Cases, share: float, seed: int) -> NDArray[np.bool_]:
    """Which items belong to the randomly first `share` of the cases, the same for any order of rows."""
    names = [str(case) for case in cases]
    known = sorted(set(names), key=lambda name: _place(seed, name))
    chosen = set(known[: round(share * len(known))])
    return np.array([name in chosen for name in names], dtype=bool)


@lru_cache(maxsize=1 << 16)
def _place(seed: int, name: str) -> bytes:
    """What a case is sorted by; a triage splits the same cases many times."""
    return hashlib.sha256(f"split\0{seed}\0{name}".encode()).digest()
