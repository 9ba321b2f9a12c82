"""Least squares on every resample of cases at once: the slopes of a score on features of the answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from medjury.analysis.audits._regressions.columns import identified, independent
from medjury.analysis.audits._resampled import Floats, sums_by_cluster
from medjury.statistics import Read

SLOPE, GIVEN, BEYOND = "slope", "slope_given_reference", "slope_beyond_reference"


def slopes(
    score: Floats,
    features: Floats,
    labels: Sequence[str],
    *,
    reference: Floats | None,
    systems: Sequence[str] | None,
    clusters: Sequence[object],
) -> tuple[Floats, Callable[[Floats], Read]]:
    """Of every case the sums that the slopes are made of, and how to read those of all features at once, named
    `STATISTIC FEATURE`.

    `slope` is that of the score; with a `reference` score `slope_given_reference` holds it fixed and
    `slope_beyond_reference` is the slope of score − reference. With `systems`, each has its own level. A feature
    that does not vary, or that the others make up, has no slope (NaN) and leaves the others alone.
    """
    # Centred and scaled once: normal equations lose digits otherwise.
    deviation = features.std(axis=0)
    unit = np.where(deviation > 0, deviation, 1.0)
    scaled = (features - features.mean(axis=0)) / unit
    levels = sorted(set(systems or ()))[1:]
    levels_in = [np.array([name == level for name in systems or ()], dtype=np.float64) for level in levels]
    base = np.column_stack([np.ones(len(score)), *levels_in, scaled])
    told_apart, kept = identified(base), independent(base)
    first = 1 + len(levels)
    place_of = {
        label: kept.index(first + place) for place, label in enumerate(labels) if told_apart[first + place]
    }
    unit_of = dict(zip(labels, unit.tolist(), strict=True))
    columns = [base[:, kept], (score - score.mean())[:, np.newaxis]]
    if reference is not None:
        gap = score - reference
        columns += [(gap - gap.mean())[:, np.newaxis], (reference - reference.mean())[:, np.newaxis]]
    design = np.hstack(columns)
    width, plain = design.shape[1], list(range(len(kept)))
    target, beyond, given = len(kept), len(kept) + 1, len(kept) + 2
    products = (design[:, :, np.newaxis] * design[:, np.newaxis, :]).reshape(len(design), -1)

    def statistics(rows: Floats) -> Read:
        def read(weights: Floats) -> Mapping[str, Floats]:
            cross = (weights @ rows).reshape(-1, width, width)
            fits = {SLOPE: _solve(cross, plain, target)}
            if reference is not None:
                fits[GIVEN] = _solve(cross, [*plain, given], target)
                fits[BEYOND] = _solve(cross, plain, beyond)
            nothing = np.full(len(weights), np.nan)
            return {
                f"{name} {label}": fit[:, place_of[label]] / unit_of[label] if label in place_of else nothing
                for name, fit in fits.items()
                for label in labels
            }

        return read

    return sums_by_cluster(products, clusters), statistics


def _solve(cross: Floats, columns: Sequence[int], target: int) -> Floats:
    """Coefficients for every resample; NaN where a resample cannot tell the columns apart."""
    left = cross[:, columns][:, :, columns]
    right = cross[:, columns, target]
    size = np.sqrt(np.maximum(np.einsum("bii->bi", left), 1e-300))
    correlation = left / (size[:, :, np.newaxis] * size[:, np.newaxis, :])
    exists = np.linalg.eigvalsh(correlation)[:, 0] > 1e-9
    found = np.full(right.shape, np.nan)
    if exists.any():
        solved = np.linalg.solve(correlation[exists], (right[exists] / size[exists])[..., np.newaxis])
        found[exists] = solved[..., 0] / size[exists]
    return found
