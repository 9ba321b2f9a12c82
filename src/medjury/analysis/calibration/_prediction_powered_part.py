"""One system or stratum of a prediction-powered estimate: its means, and what each case adds to their errors."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from medjury.analysis.calibration._maps import Cases
from medjury.foundation.errors import MedjuryError
from medjury.statistics import Floats

LABELLED_CASES = 5
UNLABELLED_CASES = 5
FEW_CASES = 30


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """One system's means, and what each case adds to their errors: `label` + λ · (`jury` + `rest`), `jury`
    through the labelled items and `rest` through the others, with a column for each prediction: the jury's score,
    and that it gave none. A column is zero where it may not be used."""

    whose: str
    labels: float
    gap: Floats
    jury_all: float
    label: Floats
    jury: Floats
    rest: Floats
    naive: Floats
    n_labelled: int
    n_unlabelled: int
    n_unscored: int
    n_unscored_labelled: int
    n_rest_cases: int
    n_scored_cases: tuple[int, int]
    missing: tuple[float, float]
    unscored_apart: tuple[float, float] | None
    labelled_cases: NDArray[np.bool_]
    scored_cases: NDArray[np.bool_]

    @property
    def powered(self) -> bool:
        """Whether enough cases have a jury score, labelled and not, for its means to have a standard error."""
        return self.n_scored_cases[0] >= LABELLED_CASES and self.n_scored_cases[1] >= UNLABELLED_CASES

    @property
    def borrowed(self) -> float:
        """What the error of the jury's mean over few unlabelled cases lacks beside the variance pooled with
        the labelled cases; both are draws from the same cases."""
        if not self.powered or self.n_rest_cases >= FEW_CASES:
            return 0.0
        cases = int(self.labelled_cases.sum())
        own = float((self.rest[:, 0] ** 2).sum())
        other = float((self.jury[:, 0] ** 2).sum()) * cases / self.n_rest_cases
        pooled = np.average([own, other], weights=[self.n_rest_cases - 1, cases - 1])
        return math.sqrt(max(float(pooled) - own, 0.0))

    @property
    def imbalance(self) -> float:
        """How many standard errors the jury's mean on labelled items lies from that on the others."""
        error = (float(((self.jury[:, 0] + self.rest[:, 0]) ** 2).sum()) + self.borrowed**2) ** 0.5
        return -float(self.gap[0]) / error if error > 0 else 0.0


def part_of(labels: Floats, jury: Floats, codes: NDArray[np.int64], size: int, whose: str) -> Part:
    if labels.shape != jury.shape or labels.ndim != 1 or len(codes) != len(labels):
        raise MedjuryError("give one label (or NaN), one jury score and one case per item.")
    if np.isinf(labels).any() or np.isinf(jury).any():
        raise MedjuryError(f"{whose}: a score is infinite; leave it out where there is none.")
    scored, labelled = ~np.isnan(jury), ~np.isnan(labels)
    label_cases, rest_cases = _present(codes[labelled], size), _present(codes[~labelled], size)
    n, m = int(labelled.sum()), int((~labelled).sum())
    if label_cases.sum() < LABELLED_CASES:
        raise MedjuryError(
            f"{whose}: {int(label_cases.sum())} cases have a clinician's label; at least {LABELLED_CASES} are "
            f"needed, and {FEW_CASES} for an interval to lean on. Label more cases."
        )
    own, other = _stretch(int(label_cases.sum())), _stretch(int(rest_cases.sum()))
    jury_mean = float(jury[scored].mean()) if scored.any() else math.nan
    both, alone = scored & labelled, scored & ~labelled
    enough = [
        _present(codes[each], size).sum() for each in (both, alone, ~scored & labelled, ~scored & ~labelled)
    ]
    powered = bool(enough[0] >= LABELLED_CASES and enough[1] >= UNLABELLED_CASES)
    told_apart = bool(enough[2] >= LABELLED_CASES and rest_cases.sum() >= FEW_CASES)
    columns = np.column_stack(
        [np.where(scored, jury - jury_mean, 0.0) * powered, ~scored * float(told_apart)]
    )
    gap = np.zeros(2)
    on_labelled, on_rest = np.zeros_like(columns), np.zeros_like(columns)
    if n and m:
        first, second = columns[labelled].mean(axis=0), columns[~labelled].mean(axis=0)
        gap = second - first
        on_labelled = np.where(labelled[:, np.newaxis], columns - first, 0.0) * (-own / n)
        on_rest = np.where(labelled[:, np.newaxis], 0.0, columns - second) * (other / m)
    label = np.where(labelled, labels - labels[labelled].mean(), 0.0) * (own / n)
    scored_cases = _present(codes[scored], size)
    everything = _stretch(int(scored_cases.sum()))
    naive = np.where(scored, jury - jury_mean, 0.0) * (everything / max(int(scored.sum()), 1))
    return Part(
        whose=whose,
        labels=float(labels[labelled].mean()),
        gap=gap,
        jury_all=jury_mean,
        label=_sums(codes, label, size),
        jury=np.column_stack([_sums(codes, each, size) for each in on_labelled.T]),
        rest=np.column_stack([_sums(codes, each, size) for each in on_rest.T]),
        naive=_sums(codes, naive, size),
        n_labelled=n,
        n_unlabelled=int(alone.sum()),
        n_unscored=int((~scored).sum()),
        n_unscored_labelled=int((~scored & labelled).sum()),
        n_rest_cases=int(rest_cases.sum()),
        n_scored_cases=(int(enough[0]), int(enough[1])),
        missing=(float((~scored)[labelled].mean()), float((~scored)[~labelled].mean()) if m else 0.0),
        unscored_apart=_apart(labels, scored, codes, size),
        labelled_cases=label_cases,
        scored_cases=scored_cases,
    )


def _apart(
    labels: Floats, scored: NDArray[np.bool_], codes: NDArray[np.int64], size: int
) -> tuple[float, float] | None:
    """How much lower clinicians score what the jury left unscored, and its cluster-robust standard error."""
    known = ~np.isnan(labels)
    sides = (known & ~scored, known & scored)
    if any(_present(codes[side], size).sum() < LABELLED_CASES for side in sides):
        return None
    means = [float(labels[side].mean()) for side in sides]
    errors = [
        _sums(codes, np.where(side, labels - mean, 0.0) / side.sum(), size)
        for side, mean in zip(sides, means, strict=True)
    ]
    return means[0] - means[1], float(((errors[0] - errors[1]) ** 2).sum()) ** 0.5


def codes_of(cases: Cases) -> tuple[NDArray[np.int64], int]:
    known: dict[str, int] = {}
    codes = np.array([known.setdefault(str(case), len(known)) for case in cases], dtype=np.int64)
    return codes, len(known)


def _sums(codes: NDArray[np.int64], values: Floats, size: int) -> Floats:
    return np.bincount(codes, weights=values, minlength=size).astype(np.float64)


def _present(codes: NDArray[np.int64], size: int) -> NDArray[np.bool_]:
    return np.bincount(codes, minlength=size) > 0


def _stretch(cases: int) -> float:
    """The small-sample factor √(G / (G − 1)) of cluster-robust errors."""
    return float((cases / (cases - 1)) ** 0.5) if cases > 1 else 1.0
