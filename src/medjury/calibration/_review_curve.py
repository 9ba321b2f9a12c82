"""The review curve: of all severe errors, what share is caught when the first x % of the cases are
reviewed?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from medjury.agreement import Estimate, combined, on_columns, replicates
from medjury.calibration._calibrator import Floats
from medjury.calibration._folds import Cases
from medjury.errors import MedjuryError

FRACTIONS = tuple(round(0.05 * step, 2) for step in range(1, 20))


@dataclass(frozen=True, slots=True)
class ReviewCurve:
    """One way to order the cases. `caught[k]` belongs to the share `reviewed[k]`; `review_to_catch` is the
    share of cases to review for the wanted share of severe errors, `area` the mean of the curve (0.5: no
    better than chance). `saved_by_rule` is how much less the combined rule reviews: this order's share −
    the rule's."""

    name: str
    reviewed: tuple[float, ...]
    caught: tuple[Estimate, ...]
    review_to_catch: Estimate
    area: Estimate
    saved_by_rule: Estimate | None


def review_curves(
    priorities: Mapping[str, Floats],
    severe: NDArray[np.bool_],
    *,
    cases: Cases,
    rule: str | None = None,
    catch: float = 0.8,
    fractions: Sequence[float] = FRACTIONS,
    resamples: int = 1000,
    seed: int = 0,
    confidence: float = 0.95,
) -> dict[str, ReviewCurve]:
    """Curves of several orders on the same resamples of whole cases; higher priority is reviewed first.

    Items of equal priority are reviewed in random order, so that the curve is straight across them. A missing
    priority comes first: a case that could not be scored has to be looked at.
    """
    if not severe.any():
        raise MedjuryError(
            "no item is a severe error by this definition: there is nothing to catch. Check the threshold."
        )
    if severe.all():
        raise MedjuryError(
            "every item is a severe error by this definition: no order can help. Check the threshold."
        )
    names = list(priorities)
    rows = np.column_stack([severe, *(_codes(priorities[name]) for name in names)])
    statistics = combined(
        *(
            on_columns(_curve(tuple(fractions), catch), (0, place), f"{name} ")
            for place, name in enumerate(names, start=1)
        )
    )
    clusters = np.array([str(case) for case in cases], dtype=object)
    made = replicates(rows, statistics, clusters=clusters, resamples=resamples, seed=seed, jackknife=False)

    def read(name: str, what: str) -> Estimate:
        return made.estimate(f"{name} {what}", method="percentile", confidence=confidence)

    curves = {}
    for name in names:
        saved = None
        if rule is not None and name != rule:
            saved = made.difference(
                f"{name} review", f"{rule} review", method="percentile", confidence=confidence
            )
        caught = tuple(read(name, f"at {fraction:g}") for fraction in fractions)
        curves[name] = ReviewCurve(
            name, tuple(fractions), caught, read(name, "review"), read(name, "area"), saved
        )
    return curves


def _codes(priority: Floats) -> Floats:
    """The place of each priority in the order, 0 first; equal priorities share it, a missing one comes
    first."""
    values = np.where(np.isnan(priority), np.inf, priority)
    _, place = np.unique(-values, return_inverse=True)
    return place.astype(float)


def _curve(
    fractions: tuple[float, ...], catch: float
) -> Callable[[Floats], Callable[[Floats], dict[str, Floats]]]:
    def prepare(rows: Floats) -> Callable[[Floats], dict[str, Floats]]:
        severe, place = rows[:, 0], rows[:, 1].astype(np.int64)
        order = np.argsort(place, kind="stable")
        last = np.flatnonzero(np.diff(place[order], append=-1))

        def read(weights: Floats) -> dict[str, Floats]:
            reviewed = _from_zero(np.cumsum(weights[:, order], axis=1)[:, last])
            caught = _from_zero(np.cumsum((weights * severe)[:, order], axis=1)[:, last])
            total, errors = reviewed[:, -1:], caught[:, -1:]
            share = reviewed / total
            found = caught / np.where(errors > 0, errors, np.nan)
            values = {f"at {each:g}": _interpolate(share, found, each) for each in fractions}
            values["review"] = _interpolate(found, share, catch)
            values["area"] = ((found[:, 1:] + found[:, :-1]) / 2 * np.diff(share, axis=1)).sum(axis=1)
            return values

        return read

    return prepare


def _from_zero(values: Floats) -> Floats:
    return np.concatenate([np.zeros((len(values), 1)), values], axis=1)


def _interpolate(x: Floats, y: Floats, at: float) -> Floats:
    """y where x first reaches `at`, row by row; x rises along each row from 0 to 1."""
    after = np.clip((x < at - 1e-12).sum(axis=1), 1, x.shape[1] - 1)
    row = np.arange(len(x))
    x0, x1, y0, y1 = x[row, after - 1], x[row, after], y[row, after - 1], y[row, after]
    step = np.where(x1 > x0, x1 - x0, 1.0)
    return np.asarray(y0 + (y1 - y0) * (at - x0) / step)
