"""Agreement of several policies with the clinicians on the same resamples of whole cases."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from medjury.agreement import Replicates, correlation_statistics, replicates
from medjury.calibration._calibrator import Floats
from medjury.calibration._judged import Marks
from medjury.calibration._jury_simulation import JuryTable, fixed_scores

_Read = Callable[[Floats], Floats]
Groups = NDArray[np.int64]
WITHIN = " within systems"


def mean_spearman(scores: Floats, labels: Floats) -> float:
    """Spearman's correlation with the labels, dimension by dimension, averaged; NaN where one does not exist."""
    everything = np.zeros(len(scores), dtype=np.int64)
    return float(
        np.mean([_by_group(*pair, everything, 1)[0] for pair in zip(scores.T, labels.T, strict=True)])
    )


class Losses:
    """What scores lose against the full jury's, fast and without intervals: for searching."""

    def __init__(self, table: JuryTable) -> None:
        self._labels = table.labels
        names, self._system = np.unique(table.systems, return_inverse=True)
        self._size = np.bincount(self._system, minlength=len(names))
        full = fixed_scores(table, table.everybody)
        self._pooled, self._within = mean_spearman(full, table.labels), self._inside(full)
        # With one system the pooled agreement is the one inside it.
        self.inside = len(names) > 1 and bool(np.isfinite(self._within))

    def worst(self, scores: Floats) -> float:
        """The larger of the losses pooled and inside systems; infinite where one does not exist."""
        lost = [self._pooled - mean_spearman(scores, self._labels)]
        if self.inside:
            lost.append(self._within - self._inside(scores))
        return max(lost) if np.isfinite(lost).all() else float("inf")

    def _inside(self, scores: Floats) -> float:
        """As `agreement_replicates` has it: systems weigh by their units; a constant side says nothing."""
        means = []
        for given, wanted in zip(scores.T, self._labels.T, strict=True):
            found = _by_group(given, wanted, self._system, len(self._size))
            size = np.where(np.isfinite(found), self._size, 0)
            means.append((np.nan_to_num(found) * size).sum() / size.sum() if size.any() else np.nan)
        return float(np.mean(means))


def _by_group(given: Floats, wanted: Floats, group: Groups, groups: int) -> Floats:
    """Spearman's correlation in each group; NaN where a side is constant."""
    known = ~np.isnan(given) & ~np.isnan(wanted)
    of = group[known]
    first, second = (_centred_ranks(side[known], of, groups) for side in (given, wanted))
    together, *spread = (
        np.bincount(of, weights=product, minlength=groups)
        for product in (first * second, first * first, second * second)
    )
    both = np.sqrt(spread[0] * spread[1])
    return np.asarray(np.divide(together, both, out=np.full(groups, np.nan), where=both > 0))


def _centred_ranks(values: Floats, group: Groups, groups: int) -> Floats:
    """Mid-ranks within each group, less their mean."""
    order = np.lexsort((values, group))
    ordered, of = values[order], group[order]
    new = np.ones(len(order), dtype=bool)
    new[1:] = (np.diff(ordered) != 0) | (np.diff(of) != 0)
    run = np.cumsum(new) - 1
    first = np.flatnonzero(new)
    last = np.append(first[1:], len(order)) - 1
    size = np.bincount(group, minlength=groups)
    middle = np.cumsum(size) - size + (size - 1) / 2
    ranks = np.empty(len(order))
    ranks[order] = ((first + last) / 2)[run] - middle[of]
    return ranks


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
        inside = np.column_stack(systems).astype(float)
        pairs = {
            name: [rows[:, [1 + column, 1 + place * width + column]] for column in range(width)]
            for place, name in enumerate(policies, start=1)
        }
        pooled = {name: [_spearman(pair) for pair in each] for name, each in pairs.items()}
        by_system = {
            name: [[_spearman(pair, system) for system in systems] for pair in each]
            for name, each in (pairs if within else {}).items()
        }

        def read(weights: Floats) -> dict[str, Floats]:
            found = {}
            for name, reads in pooled.items():
                values = np.stack([one(weights) for one in reads])
                found[name] = values.mean(axis=0)
                if name in by_dimension:
                    found |= {f"{name} | {table.dimensions[k]}": row for k, row in enumerate(values)}
            size = weights @ inside
            for name, dimensions in by_system.items():
                parts = [np.column_stack([one(weights) for one in reads]) for reads in dimensions]
                found[name + WITHIN] = np.mean([_weighted(part, size) for part in parts], axis=0)
            return found

        return read

    return replicates(
        rows, prepare, clusters=table.cases, resamples=resamples, seed=seed, jackknife=jackknife
    )


def _spearman(pair: Floats, inside: Marks | None = None) -> _Read:
    """Spearman of two columns for the bootstrap; equal rows are added up first, which is far cheaper."""
    from scipy.sparse import csr_array

    known = ~np.isnan(pair).any(axis=1)
    if inside is not None:
        known &= inside
    places = np.flatnonzero(known)
    if not len(places):
        return lambda weights: np.full(len(weights), np.nan)
    distinct, cell = np.unique(pair[places], axis=0, return_inverse=True)
    together = csr_array((np.ones(len(places)), (cell.ravel(), places)), shape=(len(distinct), len(pair)))
    statistic = correlation_statistics(["spearman"])(distinct)
    return lambda weights: statistic(np.asarray((together @ weights.T).T))["spearman"]


def _weighted(values: Floats, size: Floats) -> Floats:
    """The mean over systems by their number of units; one in which a side is constant says nothing."""
    counted = np.where(np.isfinite(values), size, 0.0)
    total = counted.sum(axis=1)
    sums = (np.where(counted > 0, values, 0.0) * counted).sum(axis=1)
    return np.asarray(sums / np.where(total > 0, total, np.nan))
