"""Agreement of several policies with the clinicians on the same resamples of whole cases."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from medjury.analysis.agreement import correlation_statistics
from medjury.analysis.calibration._jury_simulation.simulation import JuryTable, fixed_scores
from medjury.analysis.calibration._maps.calibrator import Floats
from medjury.analysis.calibration._part import Marks
from medjury.statistics import Replicates, replicates

_Read = Callable[[Floats], Floats]
Groups = NDArray[np.int64]
WITHIN = " within systems"
LOST = " lost"


def mean_spearman(scores: Floats, labels: Floats) -> float:
    """Spearman's correlation with the labels, dimension by dimension, averaged; NaN where one does not exist."""
    everything = np.zeros(len(scores), dtype=np.int64)
    return float(
        np.mean([_by_group(*pair, everything, 1)[0] for pair in zip(scores.T, labels.T, strict=True)])
    )


def loss_against(full: Floats, scores: Floats, labels: Floats) -> float:
    """What scores lose against the full jury's on the answers that both score."""
    full, scores = on_the_same(full, scores)
    return mean_spearman(full, labels) - mean_spearman(scores, labels)


def on_the_same(full: Floats, scores: Floats) -> tuple[Floats, Floats]:
    """Both, with nothing where one has nothing: else leaving out hard answers would look like agreement."""
    either = np.isnan(full) | np.isnan(scores)
    return np.where(either, np.nan, full), np.where(either, np.nan, scores)


class Losses:
    """What scores lose against the full jury's, fast and without intervals: for searching."""

    def __init__(self, table: JuryTable) -> None:
        self._labels = table.labels
        names, self._system = np.unique(table.systems, return_inverse=True)
        self._size = np.bincount(self._system, minlength=len(names))
        self._full = fixed_scores(table, table.everybody)
        self._known = self._both(self._full)
        # With one system the pooled agreement is the one inside it.
        self.inside = len(names) > 1 and bool(np.isfinite(self._known[1]))

    def worst(self, scores: Floats) -> float:
        """The larger of the losses pooled and inside systems; infinite where one does not exist."""
        full, given = on_the_same(self._full, scores)
        same = np.array_equal(np.isnan(full), np.isnan(self._full))
        lost = np.subtract(self._known if same else self._both(full), self._both(given))
        found = lost if self.inside else lost[:1]
        return float(found.max()) if np.isfinite(found).all() else float("inf")

    def _both(self, scores: Floats) -> tuple[float, float]:
        return mean_spearman(scores, self._labels), self._inside(scores)

    def _inside(self, scores: Floats) -> float:
        """As `agreement_replicates` has it: systems weigh by their units."""
        means = []
        for given, wanted in zip(scores.T, self._labels.T, strict=True):
            found = _by_group(given, wanted, self._system, len(self._size))
            differ = _by_group(np.where(np.isnan(given), np.nan, wanted), wanted, self._system, len(found))
            size = self._size[np.newaxis].astype(float)
            means.append(_weighted(found[np.newaxis], differ[np.newaxis], size)[0])
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
    units, under the name + " within systems"; for the policies of `by_dimension` also "name | dimension".
    Each of these names + " lost" is what the policy loses against the first one on the answers that both score."""
    width = len(table.dimensions)
    codes = np.unique(table.systems, return_inverse=True)[1].astype(float)
    rows = np.column_stack([codes, table.labels, *policies.values()])

    def prepare(rows: Floats) -> Callable[[Floats], dict[str, Floats]]:
        systems = [rows[:, 0] == code for code in np.unique(rows[:, 0])]
        inside = np.column_stack(systems).astype(float)
        made = _Readers(rows[:, 1 : 1 + width], systems)
        given = dict(zip(policies, np.split(rows[:, 1 + width :], len(policies), axis=1), strict=True))
        full = next(iter(given.values()))

        def read(weights: Floats) -> dict[str, Floats]:
            found: dict[str, Floats] = {}
            size, known = weights @ inside, _Known(made, weights)
            for name, scores in given.items():
                values = known.pooled(scores)
                both = on_the_same(full, scores)
                lost = known.pooled(both[0]) - known.pooled(both[1])
                found |= {name: values.mean(axis=0), name + LOST: lost.mean(axis=0)}
                if name in by_dimension:
                    for k, dimension in enumerate(table.dimensions):
                        found |= {f"{name} | {dimension}": values[k], f"{name} | {dimension}{LOST}": lost[k]}
                if within:
                    first, second = (known.inside(each, size) for each in both)
                    found |= {name + WITHIN: known.inside(scores, size), name + WITHIN + LOST: first - second}
            return found

        return read

    return replicates(
        rows, prepare, clusters=table.cases, resamples=resamples, seed=seed, jackknife=jackknife
    )


class _Readers:
    """Spearman's correlation with the labels for any weights of the rows; made once for the same scores."""

    def __init__(self, labels: Floats, systems: list[Marks]) -> None:
        self.labels, self.systems = labels, systems
        self._made: dict[tuple[bytes, int, int], _Read] = {}

    def one(self, scores: Floats, column: int, system: int = -1) -> tuple[tuple[bytes, int, int], _Read]:
        """The reader of one dimension, in one system or (−1) in all; and the name under which it is kept."""
        key = (np.ascontiguousarray(scores).tobytes(), column, system)
        if key not in self._made:
            pair = np.column_stack([self.labels[:, column], scores])
            self._made[key] = _spearman(pair, None if system < 0 else self.systems[system])
        return key, self._made[key]


class _Known:
    """What readers find with one set of weights, each read once: policies mostly score the same answers."""

    def __init__(self, readers: _Readers, weights: Floats) -> None:
        self._readers, self._weights = readers, weights
        self._read: dict[tuple[bytes, int, int], Floats] = {}

    def pooled(self, scores: Floats) -> Floats:
        """Dimensions × resamples."""
        return np.stack([self._one(column, k) for k, column in enumerate(scores.T)])

    def inside(self, scores: Floats, size: Floats) -> Floats:
        """Inside systems, averaged by their number of units and over dimensions."""
        means = []
        for k, column in enumerate(scores.T):
            wanted = np.where(np.isnan(column), np.nan, self._readers.labels[:, k])
            places = range(len(self._readers.systems))
            found, differ = (
                np.column_stack([self._one(each, k, place) for place in places]) for each in (column, wanted)
            )
            means.append(_weighted(found, differ, size))
        return np.asarray(np.mean(means, axis=0))

    def _one(self, scores: Floats, column: int, system: int = -1) -> Floats:
        key, read = self._readers.one(scores, column, system)
        if key not in self._read:
            self._read[key] = read(self._weights)
        return self._read[key]


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


def _weighted(values: Floats, differ: Floats, size: Floats) -> Floats:
    """The mean over systems by their number of units. A system in which the labels do not differ (`differ` is
    NaN) says nothing. One in which only the scores do not tells that they know nothing there: its agreement is
    0, not left out, or scores would gain by being blind where they agree least. Blind everywhere is no agreement
    at all: NaN."""
    counted = np.where(np.isfinite(differ), size, 0.0)
    total = counted.sum(axis=1)
    sums = (np.where(np.isfinite(values), values, 0.0) * counted).sum(axis=1)
    seen = (total > 0) & np.isfinite(values).any(axis=1)
    return np.asarray(sums / np.where(seen, total, np.nan))
