"""Resamples as weights: how often each distinct row of the data occurs when whole clusters are drawn again.

Clusters that look the same are exchangeable, so drawing how often each *pattern* comes up is exactly the
ordinary bootstrap, and on an ordinal scale there are few patterns however many cases there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from medjury.foundation.errors import MedjuryError

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# How often to resample where nobody says otherwise: the ends of a 95 % interval are then steady to about a tenth of
# its half-width.
RESAMPLES = 2_000
# One block of weights holds at most this many numbers: 4 MB, so that memory does not grow with the resamples.
BLOCK = 1 << 19
# A binomial draw costs about as much as this many draws of an index (measured).
BINOMIAL_COST = 17
# Above this many clusters the jackknife leaves out groups of clusters, not single ones.
JACKKNIFE_GROUPS = 1000


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """The data as the bootstrap sees them: distinct rows, and which of them each cluster holds.

    `held[q, p]` tells how often a cluster of pattern p holds the distinct row q, and `multiplicity[p]` how many
    clusters have that pattern; `held` is None where every cluster is a single row, so that patterns and distinct
    rows are the same thing.
    """

    rows: Floats
    counts: Floats
    inverse: Integers
    multiplicity: Integers
    held: Any | None
    n: int
    clusters: int
    clustered: bool

    def row_weights(self, drawn: Floats) -> Floats:
        """From how often each pattern was drawn to how often each distinct row occurs."""
        return drawn if self.held is None else np.asarray((self.held @ drawn.T).T)


def sample(rows: ArrayLike, clusters: Sequence[object] | NDArray[Any] | None = None) -> Sample:
    """Collapse `rows` (one per item, NaN = missing) to distinct rows; `clusters` names each row's case."""
    table = np.asarray(rows, dtype=np.float64)
    if table.ndim == 1:
        table = table[:, np.newaxis]
    if table.ndim != 2:
        raise MedjuryError(f"The rows to resample form a table of items by columns, not {table.ndim} axes.")
    representative, inverse, counts = _distinct(table)
    labels = None if clusters is None else cluster_codes(clusters, len(table))
    multiplicity, held, size = counts, None, len(table)
    if labels is not None:
        size = int(labels.max()) + 1 if labels.size else 0
        if size < len(table):
            held, multiplicity = _cluster_patterns(labels, inverse, size, len(counts))
    return Sample(
        rows=table[representative],
        counts=counts.astype(np.float64),
        inverse=inverse,
        multiplicity=multiplicity,
        held=held,
        n=len(table),
        clusters=size,
        clustered=clusters is not None,
    )


def cluster_codes(clusters: Sequence[object] | NDArray[Any] | None, n: int) -> Integers:
    """Numbers 0, 1, 2… for cluster names of any kind, in order of first appearance; without names each item is a
    cluster of its own."""
    if clusters is None:
        return np.arange(n, dtype=np.int64)
    names = clusters if isinstance(clusters, np.ndarray) else np.fromiter(clusters, dtype=object)
    if names.shape != (n,):
        raise MedjuryError(f"There are {n} items but {names.size} cluster names. Give one name per item.")
    if names.dtype.kind in "iub":
        _, codes = np.unique(names, return_inverse=True)
        return np.asarray(codes, dtype=np.int64)
    listed = names.tolist()
    known = {name: place for place, name in enumerate(dict.fromkeys(listed))}
    for name in () if names.dtype.kind == "U" else known:  # a column of text has a text everywhere
        if name is None or name != name:
            raise MedjuryError(
                f"Item {listed.index(name) + 1} has no cluster name. Name the case of every item."
            )
    if len(known) == n:
        return np.arange(n, dtype=np.int64)
    return np.array([known[name] for name in listed], dtype=np.int64)


def draw(drawn_from: Sample, resamples: int, seed: int) -> Iterator[Floats]:
    """Blocks of resamples, each (resamples in the block, distinct rows): how often each row occurs.

    A seed draws the same clusters for every pair of raters: what was drawn is kept for the next pair, and added up
    by its patterns."""
    multiplicity = drawn_from.multiplicity
    patterns, clusters = len(multiplicity), drawn_from.clusters
    block = min(resamples, max(1, BLOCK // max(len(drawn_from.counts), patterns, 1)))
    if resamples * clusters > BLOCK or _by_pattern(patterns, clusters):
        return map(drawn_from.row_weights, _blocks_of_counts(multiplicity, resamples, block, seed))
    drawn = _kept_clusters(clusters, resamples, seed)
    if patterns < clusters:
        drawn = _added_up(drawn, multiplicity)
    # Blocks of one size, in eights as processors like it, are read quicker than a large one and what is left.
    step = 8 * -(-resamples // (8 * -(-resamples // block)))
    return (drawn_from.row_weights(drawn[:, start : start + step].T) for start in range(0, resamples, step))


@lru_cache(maxsize=16)
def _kept_clusters(clusters: int, resamples: int, seed: int) -> Floats:
    """How often each cluster is drawn: a row for each cluster, which is how patterns and products add them up."""
    each = np.ones(clusters, dtype=np.int64)
    kept = np.ascontiguousarray(_pattern_counts(each, resamples, np.random.default_rng(seed)).T)
    kept.flags.writeable = False
    return kept


def _added_up(drawn: Floats, multiplicity: Integers) -> Floats:
    """Rows of clusters added up by pattern; the clusters of a pattern stand together. Row by row, since numpy's
    `reduceat` goes down one column after the other and takes six times as long."""
    found = np.empty((len(multiplicity), drawn.shape[1]))
    ends = np.cumsum(multiplicity)
    for own, start, end in zip(found, (ends - multiplicity).tolist(), ends.tolist(), strict=True):
        np.add.reduce(drawn[start:end], axis=0, out=own)
    return found


def _blocks_of_counts(multiplicity: Integers, resamples: int, block: int, seed: int) -> Iterator[Floats]:
    generator = np.random.default_rng(seed)
    for start in range(0, resamples, block):
        yield _pattern_counts(multiplicity, min(block, resamples - start), generator)


def leave_one_out(drawn_from: Sample, seed: int) -> tuple[Iterator[Floats], Floats, int]:
    """Blocks of weights that leave out one cluster of each pattern, the multiplicity of each row of them, and
    how many groups were left out instead of single clusters (0 where none were).

    With more than a thousand patterns, random groups of clusters are left out: the skewness that the
    acceleration needs shrinks with the root of the group's size exactly as the number of groups does.
    """
    patterns = len(drawn_from.multiplicity)
    if patterns <= 2 * JACKKNIFE_GROUPS:
        return _without_each(drawn_from), drawn_from.multiplicity.astype(np.float64), 0
    return _without_groups(drawn_from, seed), np.ones(JACKKNIFE_GROUPS), JACKKNIFE_GROUPS


def index_weights(drawn_from: Sample, indices: ArrayLike) -> Floats:
    """The weights of given resamples: each row of `indices` lists the (0-based) items of one resample."""
    chosen = drawn_from.inverse[np.asarray(indices, dtype=np.int64)]
    width = len(drawn_from.counts)
    flat = chosen + np.arange(len(chosen))[:, np.newaxis] * width
    return np.bincount(flat.ravel(), minlength=len(chosen) * width).reshape(-1, width).astype(np.float64)


def _distinct(table: Floats) -> tuple[Integers, Integers, Integers]:
    """A representative of each distinct row, each row's place among them, their counts; NaN equals NaN."""
    n = len(table)
    codes = np.zeros(n, dtype=np.int64)
    span = 1
    for column, levels in zip(*_column_codes(table), strict=True):
        if span * levels > 1 << 62:
            _, codes = np.unique(codes, return_inverse=True)
            span = int(codes.max()) + 1
        codes = codes * levels + column
        span *= levels
    if span > max(4 * n, 1024):
        _, codes = np.unique(codes, return_inverse=True)
        span = int(codes.max()) + 1 if n else 0
    occurrences = np.bincount(codes, minlength=span)
    present = np.flatnonzero(occurrences)
    representative = np.zeros(span, dtype=np.int64)
    representative[codes] = np.arange(n)
    place = np.cumsum(occurrences > 0) - 1
    return representative[present], place[codes].astype(np.int64), occurrences[present].astype(np.int64)


def _cluster_patterns(labels: Integers, inverse: Integers, size: int, width: int) -> tuple[Any, Integers]:
    """Which distinct rows the clusters of each pattern hold, and how many clusters have that pattern.

    Clusters are told apart by the sum of random 64-bit numbers of their rows: equal for equal contents in any
    order, and, for a million clusters, different for different ones but for a chance in 10⁷. They are sorted
    by it too, so that neither names nor order of the items decide which resample comes first.
    """
    from scipy.sparse import csc_array

    tokens = np.random.default_rng(0).integers(0, 1 << 64, size=width, dtype=np.uint64, endpoint=False)
    order = np.argsort(labels, kind="stable")
    cluster, row = labels[order], inverse[order]
    starts = np.searchsorted(cluster, np.arange(size))
    _, first, multiplicity = np.unique(
        np.add.reduceat(tokens[row], starts), return_index=True, return_counts=True
    )
    patterns = len(first)
    pattern_of = np.full(size, patterns)
    pattern_of[first] = np.arange(patterns)
    pattern = pattern_of[cluster]
    shown = pattern < patterns  # one cluster of each pattern stands for the others
    cells, counts = np.unique(pattern[shown] * width + row[shown], return_counts=True)
    ends = np.searchsorted(cells, np.arange(patterns + 1) * width)
    held = csc_array((counts.astype(np.float64), cells % width, ends), shape=(width, patterns))
    return held, np.asarray(multiplicity, dtype=np.int64)


def _column_codes(table: Floats) -> tuple[list[Integers], list[int]]:
    """Every column as whole numbers from 0, of which NaN is one, and how many of them there may be."""
    if not table.size:
        return [np.zeros(len(table), dtype=np.int64)] * table.shape[1], [2] * table.shape[1]
    columns = table.T
    missing = np.isnan(columns)
    holes = bool(missing.any())
    filled = np.where(missing, 0.0, columns) if holes else columns
    low, high = filled.min(axis=1), filled.max(axis=1)
    whole = (high - low < 4096) & (filled == np.rint(filled)).all(axis=1)
    # Whole numbers, as on a rating scale: the level is its own code and nothing needs sorting.
    counted = (filled[whole] - low[whole, np.newaxis]).astype(np.int64) + 1
    if holes:
        counted[missing[whole]] = 0
    known = iter(zip(counted, (high - low)[whole].tolist(), strict=True))
    codes, levels = [], []
    for column, is_whole in zip(columns, whole.tolist(), strict=True):
        if is_whole:
            own, reach = next(known)
            size = int(reach) + 2
        else:
            values, own = np.unique(column, return_inverse=True, equal_nan=True)
            size = max(len(values), 1)
        codes.append(np.asarray(own, dtype=np.int64))
        levels.append(size)
    return codes, levels


def _by_pattern(patterns: int, clusters: int) -> bool:
    """Whether so few patterns are drawn as such, not cluster by cluster."""
    return patterns * BINOMIAL_COST < clusters


def _pattern_counts(multiplicity: Integers, resamples: int, generator: np.random.Generator) -> Floats:
    patterns, clusters = len(multiplicity), int(multiplicity.sum())
    if _by_pattern(patterns, clusters):
        drawn = generator.multinomial(clusters, multiplicity / clusters, size=resamples)
        return drawn.astype(np.float64)
    pattern_of = np.repeat(np.arange(patterns), multiplicity)
    counts = np.empty((resamples, patterns))
    cells: NDArray[Any]
    if clusters > 1 << 14:
        group, flat_of = max(1, BLOCK // clusters), None
    else:
        # A 16-bit number holds the place in a small group of resamples and the cluster, so that one table
        # look-up gives the cell to count in.
        group = (1 << 16) // clusters
        flat_of = (np.arange(group)[:, np.newaxis] * patterns + pattern_of).ravel()
    for start in range(0, resamples, group):
        size = min(group, resamples - start)
        if flat_of is not None:
            index = generator.integers(0, clusters, size=(size, clusters), dtype=np.uint16)
            index += (np.arange(size, dtype=np.uint16) * np.uint16(clusters))[:, np.newaxis]
            cells = flat_of.take(index) if patterns < clusters else index
        else:
            cells = generator.integers(0, clusters, size=(size, clusters))
            if patterns < clusters:
                cells = pattern_of.take(cells)
            cells += (np.arange(size) * patterns)[:, np.newaxis]
        counted = np.bincount(cells.ravel(), minlength=size * patterns)
        counts[start : start + size] = counted.reshape(size, patterns)
    return counts


def _without_each(drawn_from: Sample) -> Iterator[Floats]:
    patterns, width = len(drawn_from.multiplicity), len(drawn_from.counts)
    block = max(1, BLOCK // max(width, 1))
    for start in range(0, patterns, block):
        stop = min(start + block, patterns)
        if drawn_from.held is None:
            weights = np.repeat(drawn_from.counts[np.newaxis], stop - start, axis=0)
            weights[np.arange(stop - start), np.arange(start, stop)] -= 1.0
            yield weights
        else:
            gone = drawn_from.held if stop - start == patterns else drawn_from.held[:, start:stop]
            yield drawn_from.counts - gone.toarray(order="F").T


def _without_groups(drawn_from: Sample, seed: int) -> Iterator[Floats]:
    pattern_of = np.repeat(np.arange(len(drawn_from.multiplicity)), drawn_from.multiplicity)
    # Its own stream, so that the resamples stay the same whether or not there is a jackknife.
    np.random.default_rng([seed, JACKKNIFE_GROUPS]).shuffle(pattern_of)
    width = max(len(drawn_from.counts), len(drawn_from.multiplicity))
    block = max(1, BLOCK // width)
    groups = np.array_split(pattern_of, JACKKNIFE_GROUPS)
    for start in range(0, JACKKNIFE_GROUPS, block):
        some = groups[start : start + block]
        gone = np.stack([np.bincount(one, minlength=len(drawn_from.multiplicity)) for one in some])
        yield drawn_from.counts - drawn_from.row_weights(gone.astype(np.float64))
