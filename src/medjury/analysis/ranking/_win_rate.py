"""Win rate: how often a system does better than its rivals, benchmark by benchmark."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from medjury.foundation.errors import MedjuryError

Floats = NDArray[np.float64]
Ties = Literal["half", "win"]
# Two scores closer than this are the same score, computed in another order.
SAME = 1e-12


def win_shares(scores: Floats, ties: Ties = "half") -> Floats:
    """For scores `(…, systems, benchmarks)`, the share of rivals each system beats on each benchmark.

    A system's win rate is the mean over benchmarks. A tie counts half, so that win rates average to one half;
    with `ties="win"` (MedHELM's rule, score ≥ rival's) a tie is a win for both and they average to more.

    >>> win_shares(np.array([[0.9, 0.5], [0.7, 0.5], [0.8, 0.1]])).tolist()
    [[1.0, 0.75], [0.0, 0.75], [0.5, 0.0]]
    """
    if ties not in ("half", "win"):
        raise MedjuryError(f"A tie counts as 'half' or as 'win', not {ties!r}.")
    rivals = scores.shape[-2] - 1
    if rivals < 1:
        raise MedjuryError("A win rate needs two systems or more.")
    mine, theirs = scores[..., :, np.newaxis, :], scores[..., np.newaxis, :, :]
    beaten = (mine > theirs + SAME).sum(axis=-2, dtype=np.float64)
    # A system ties with itself, which is no comparison.
    tied = (np.abs(mine - theirs) <= SAME).sum(axis=-2, dtype=np.float64) - 1.0
    return np.asarray((beaten + (tied if ties == "win" else tied / 2.0)) / rivals)


def rival_win_rates(scores: Floats, ties: Ties = "half") -> Floats:
    """Systems by rivals: the share of benchmarks on which the system does better; NaN on the diagonal."""
    mine, theirs = scores[:, np.newaxis, :], scores[np.newaxis, :, :]
    tied = np.abs(mine - theirs) <= SAME
    wins = (mine > theirs + SAME) + tied * (1.0 if ties == "win" else 0.5)
    rates = wins.mean(axis=-1)
    np.fill_diagonal(rates, np.nan)
    return np.asarray(rates)
