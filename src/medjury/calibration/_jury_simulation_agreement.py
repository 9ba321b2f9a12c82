"""Agreement of several policies with the clinicians on the same resamples of whole cases."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from medjury.agreement import Replicates, correlation_statistics, replicates
from medjury.calibration._calibrator import Floats
from medjury.calibration._jury_simulation import JuryTable

_Read = Callable[[Floats], Floats]
WITHIN = " within systems"


def agreement_replicates(
    table: JuryTable,
    policies: Mapping[str, Floats],
    *,
    resamples: int,
    seed: int,
    within: bool = False,
    by_dimension: tuple[str, ...] = (),
    jackknife: bool = True,
) -> Replicates:
    """For every policy (its scores, units × dimensions) Spearman's correlation with the labels, averaged over
    the dimensions, under the policy's name; with `within` also inside each system, averaged by its number of
    units, under the name + " within systems"; for the policies of `by_dimension` also "name | dimension"."""
    width = len(table.dimensions)
    codes = np.unique(table.systems, return_inverse=True)[1].astype(float)
    rows = np.column_stack([codes, table.labels, *policies.values()])

    def prepare(rows: Floats) -> Callable[[Floats], dict[str, Floats]]:
        systems = [rows[:, 0] == code for code in np.unique(rows[:, 0])]
        reads: dict[str, list[_Read]] = {}
        for place, name in enumerate(policies, start=1):
            for column in range(width):
                pair = rows[:, [1 + column, 1 + place * width + column]]
                reads.setdefault(name, []).append(_spearman(pair))
                if within:
                    parts = [_spearman(pair, inside) for inside in systems]
                    reads.setdefault(name + WITHIN, []).append(_weighted(parts, systems))

        def read(weights: Floats) -> dict[str, Floats]:
            found = {}
            for name, each in reads.items():
                values = np.stack([one(weights) for one in each])
                found[name] = values.mean(axis=0)
                if name in by_dimension:
                    found |= {f"{name} | {table.dimensions[k]}": row for k, row in enumerate(values)}
            return found

        return read

    return replicates(
        rows, prepare, clusters=table.cases, resamples=resamples, seed=seed, jackknife=jackknife
    )


def _spearman(pair: Floats, inside: Floats | None = None) -> _Read:
    """Spearman of two columns for the bootstrap; equal rows are added up first, which is far cheaper."""
    from scipy.sparse import csr_array

    known = ~np.isnan(pair).any(axis=1)
    if inside is not None:
        known &= inside.astype(bool)
    places = np.flatnonzero(known)
    if not len(places):
        return lambda weights: np.full(len(weights), np.nan)
    distinct, cell = np.unique(pair[places], axis=0, return_inverse=True)
    together = csr_array((np.ones(len(places)), (cell.ravel(), places)), shape=(len(distinct), len(pair)))
    statistic = correlation_statistics(["spearman"])(distinct)
    return lambda weights: statistic(np.asarray((together @ weights.T).T))["spearman"]


def _weighted(parts: list[_Read], systems: list[Floats]) -> _Read:
    """The mean over systems by their number of units; one in which a side is constant says nothing."""
    inside = np.column_stack(systems).astype(float)

    def read(weights: Floats) -> Floats:
        values = np.column_stack([part(weights) for part in parts])
        size = np.where(np.isfinite(values), weights @ inside, 0.0)
        total = size.sum(axis=1)
        sums = (np.where(size > 0, values, 0.0) * size).sum(axis=1)
        return np.asarray(sums / np.where(total > 0, total, np.nan))

    return read
