"""Bradley and Terry's model of paired comparisons, with Davidson's ties and an effect of the place.

Of two systems with the strengths a and b (in log-odds), the first shown being a:

    P(first wins) ∝ exp(a + g/2)     P(tie) ∝ exp((a + b)/2 + t)     P(second wins) ∝ exp(b − g/2)

g is what the first place is worth. Without ties exp(t) is 0. The log-likelihood is concave, so Newton's steps find
its only maximum: for the data and for all their resamples at once.

Bradley & Terry (1952) Biometrika 39:324-345; Davidson (1970) J Am Stat Assoc 65:317-328; Davidson & Beaver (1977)
Biometrics 33:693-702. When a maximum exists: Ford (1957) Am Math Mon 64:28-33; for this model, with its further
parameters, the linear programmes of Konis (2007, DPhil thesis, Oxford).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from medjury.statistics import Floats

FIRST, TIE, SECOND = 0, 1, 2
# A log-odds ratio beyond this is on its way to infinity: one against three million.
_INFINITE = 15.0
_STEPS = 60
_FLAT = 1e-9
_SMALL = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class Comparisons:
    """Who met whom: for every ordered pair (a cell) the system shown first and second, and whether ties and the
    place have parameters."""

    systems: tuple[str, ...]
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    ties: bool
    order: bool

    @property
    def design(self) -> Floats:
        """`(cells, 3 outcomes, parameters)`: what each outcome's log-odds are made of. The last system is 0."""
        cells, systems = len(self.first), len(self.systems)
        made = np.zeros((cells, 3, systems + 2))
        rows = np.arange(cells)
        made[rows, FIRST, self.first] = 1.0
        made[rows, SECOND, self.second] = 1.0
        for side in (self.first, self.second):
            made[rows, TIE, side] += 0.5
        made[:, TIE, systems] = 1.0
        made[:, FIRST, systems + 1], made[:, SECOND, systems + 1] = 0.5, -0.5
        kept = [
            *range(systems - 1),
            *([systems] if self.ties else []),
            *([systems + 1] if self.order else []),
        ]
        return made[:, :, kept]

    @property
    def offset(self) -> Floats:
        """A tie that never happens has no probability."""
        return np.where(np.arange(3) == TIE, 0.0 if self.ties else -np.inf, 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class Strengths:
    """Fits: `strengths` `(fits, systems)` with the mean 0, log-odds of a tie between equals `tie` and of the place
    `order` (NaN where they are no parameters). What has no finite maximum is far out; `finite` has NaN there.
    `compared` and `place` say where the verdicts tell strengths from each other and from the place at all: not
    where a resample has no case of a system."""

    strengths: Floats
    tie: Floats
    order: Floats
    decided: NDArray[np.bool_]
    compared: NDArray[np.bool_]
    place: NDArray[np.bool_]

    @property
    def finite(self) -> Floats:
        lost = (np.ptp(self.strengths, axis=1) > _INFINITE) | ~self.decided | ~self.compared
        return np.where(lost[:, np.newaxis], np.nan, self.strengths)

    @property
    def first_place(self) -> Floats:
        """Of two equals, the share of decided verdicts that the first place wins."""
        return np.where(self.decided & self.place, special.expit(self.order), np.nan)


def fit_strengths(compared: Comparisons, counts: Floats) -> Strengths:
    """Maximum likelihood for each row of `counts` `(fits, cells, 3 outcomes)`: first wins, tie, second wins."""
    found = _newton(compared.design, compared.offset, counts)
    systems = len(compared.systems)
    values = np.concatenate([found[:, : systems - 1], np.zeros((len(found), 1))], axis=1)
    nothing = np.full(len(found), np.nan)
    return Strengths(
        values - values.mean(axis=1, keepdims=True),
        found[:, systems - 1] if compared.ties else nothing,
        found[:, -1] if compared.order else nothing,
        # Where nobody ever won nothing is known of who is better.
        counts[:, :, [FIRST, SECOND]].sum(axis=(1, 2)) > 0,
        *_told(compared, counts.sum(axis=2) > 0),
    )


def _told(compared: Comparisons, met: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Whether strengths, and the place, can be told by who `met` `(fits, cells)`, whatever the verdicts: no
    direction that changes them leaves the chances of all outcomes as they are."""
    design = compared.design if compared.ties else compared.design[:, [FIRST, SECOND]]
    apart = design - design.mean(axis=1, keepdims=True)
    cells = np.einsum("cop,coq->cpq", apart, apart)
    bends, vectors = np.linalg.eigh(np.einsum("bc,cpq->bpq", met.astype(np.float64), cells))
    free = (np.abs(vectors) * (bends < _FLAT)[:, np.newaxis, :] > _SMALL).any(axis=2)
    known: NDArray[np.bool_] = ~free[:, : len(compared.systems) - 1].any(axis=1)
    return known, ~free[:, -1] if compared.order else known


def _newton(design: Floats, offset: Floats, counts: Floats) -> Floats:
    size = design.shape[2]
    outer = np.einsum("cop,coq->copq", design, design)
    totals = counts.sum(axis=2)
    observed = np.einsum("bco,cop->bp", counts, design)
    beta = np.zeros((len(counts), size))
    scale = np.maximum(totals.sum(axis=1), 1e-300)
    for _ in range(_STEPS):
        share = special.softmax(np.einsum("cop,bp->bco", design, beta) + offset, axis=2)
        mean = np.einsum("bco,cop->bcp", share, design)
        slope = observed - np.einsum("bc,bcp->bp", totals, mean)
        bend = np.einsum("bco,copq->bpq", totals[:, :, np.newaxis] * share, outer)
        bend -= np.einsum("bc,bcp,bcq->bpq", totals, mean, mean)
        bend += _FLAT * scale[:, np.newaxis, np.newaxis] * np.eye(size)
        step = np.linalg.solve(bend, slope[:, :, np.newaxis])[:, :, 0]
        # Long steps overshoot; far out nothing is decided any more.
        length = np.abs(step).max(axis=1, initial=0.0)
        step *= np.minimum(1.0, 2.0 / np.maximum(length, 1e-300))[:, np.newaxis]
        beta = (
            beta
            + np.where(np.abs(beta).max(axis=1, initial=0.0) > 3 * _INFINITE, 0.0, 1.0)[:, np.newaxis] * step
        )
        if (length < 1e-10).all():
            break
    return beta


def chances(compared: Comparisons, fit: Strengths) -> Floats:
    """`(fits, systems, systems)`: the expected share of wins of one over the other, a tie being half of one, with
    no place better than the other; NaN where the systems cannot be compared."""
    strengths = np.where(fit.compared[:, np.newaxis], fit.strengths, np.nan)
    one, other = strengths[:, :, np.newaxis], strengths[:, np.newaxis, :]
    if not compared.ties:
        return np.asarray(special.expit(one - other))
    log_odds = np.stack(
        np.broadcast_arrays(one, (one + other) / 2 + fit.tie[:, np.newaxis, np.newaxis], other)
    )
    share = special.softmax(log_odds, axis=0)
    return np.asarray(share[0] + share[1] / 2)


def information(compared: Comparisons, fit: Strengths, one: int, other: int) -> float:
    """Fisher information of one verdict on two systems about the difference of their strengths (first fit)."""
    values = fit.strengths[0]
    tied = (values[one] + values[other]) / 2 + fit.tie[0] if compared.ties else -np.inf
    share = special.softmax([values[one], tied, values[other]])
    return float((share[0] + share[2] - (share[0] - share[2]) ** 2) / 4)


def without_end(compared: Comparisons, counts: Floats) -> NDArray[np.bool_]:
    """`(systems, systems)`: whether the likelihood rises, or stays, as the strength of one over the other goes to
    infinity. Nowhere: every strength has a finite estimate. One way only: that one was never worse. Both ways:
    nothing fixes which of the two is better.

    A direction in which no observed outcome becomes less likely leads there; linear programmes find how far each
    two systems part in one.
    """
    from scipy.optimize import linprog

    design, systems = compared.design, len(compared.systems)
    possible = [FIRST, TIE, SECOND] if compared.ties else [FIRST, SECOND]
    rows = [
        design[cell, other] - design[cell, seen]
        for cell in range(len(counts))
        for seen in possible
        if counts[cell, seen] > 0
        for other in possible
        if other != seen
    ]
    size = design.shape[2]
    strength = np.zeros((systems, size))
    strength[: systems - 1, : systems - 1] = np.eye(systems - 1)
    found = np.zeros((systems, systems), dtype=bool)
    for one in range(systems):
        for other in range(systems):
            if one == other:
                continue
            made = linprog(
                strength[other] - strength[one],
                A_ub=np.asarray(rows) if rows else None,
                b_ub=np.zeros(len(rows)) if rows else None,
                bounds=[(-1.0, 1.0)] * size,
                method="highs",
            )
            found[one, other] = -float(made.fun or 0.0) > 1e-7
    return found


def has_order(systems: Sequence[str], first: NDArray[np.int64], second: NDArray[np.int64]) -> bool:
    """Whether the effect of the place can be told from the systems' strengths: not where each pair was shown in one
    order alone, unless the pairs make a circle."""
    if not len(first):
        return False
    rows = np.zeros((len(first), len(systems) + 1))
    rows[np.arange(len(first)), first] = 1.0
    rows[np.arange(len(first)), second] -= 1.0
    rows[:, -1] = 1.0
    return bool(np.linalg.matrix_rank(rows) > np.linalg.matrix_rank(rows[:, :-1]))
