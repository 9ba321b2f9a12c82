"""Win rates and macro averages of all systems on the same resamples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

import numpy as np

from medjury.analysis.ranking._scores import Block, SystemScores, block_means
from medjury.foundation.errors import MedjuryError
from medjury.statistics import Floats, Read, Replicates, replicates

# Win rate: how often a system does better than its rivals, benchmark by benchmark.

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


Measure = Literal["win_rate", "macro_average"]
WIN: Measure = "win_rate"
MACRO: Measure = "macro_average"


def value_name(measure: str, system: str) -> str:
    """The measure comes last: by it a value's scale is known, whatever the system is called."""
    return f"{system}\0{measure}"


def draw_measures(scores: SystemScores, *, ties: Ties, resamples: int, seed: int) -> tuple[Replicates, int]:
    """Every value by its `value_name`, and the number of resampled units less the number of blocks they were drawn
    from. Benchmarks are resampled where nothing else is known, else cases: jointly for benchmarks that share their
    cases, benchmark by benchmark where they do not."""
    if not scores.blocks:
        return _draw_benchmarks(scores, ties, resamples, seed)
    if len(scores.blocks) == 1:
        block = scores.blocks[0]

        def statistics(rows: Floats) -> Read:
            return lambda weights: _measures(_means(weights, rows, block, scores), scores, ties)

        table = np.hstack([block.sums, block.counts])
        drawn = replicates(table, statistics, clusters=block.clusters, resamples=resamples, seed=seed)
        return drawn, len(block.clusters) - 1
    return _draw_blocks(scores, ties, resamples, seed)


def _draw_benchmarks(scores: SystemScores, ties: Ties, resamples: int, seed: int) -> tuple[Replicates, int]:
    table = np.vstack([win_shares(scores.means, ties), scores.means]).T
    names = [value_name(measure, system) for measure in (WIN, MACRO) for system in scores.systems]

    def statistics(rows: Floats) -> Read:
        def read(weights: Floats) -> Mapping[str, Floats]:
            means = weights @ rows / weights.sum(axis=1, keepdims=True)
            return dict(zip(names, means.T, strict=True))

        return read

    drawn = replicates(table, statistics, clusters=scores.benchmarks, resamples=resamples, seed=seed)
    return drawn, len(scores.benchmarks) - 1


def _draw_blocks(scores: SystemScores, ties: Ties, resamples: int, seed: int) -> tuple[Replicates, int]:
    """Each block has its own cases, drawn apart from the others'; leaving out one case leaves the rest alone."""
    parts = [
        _block_replicates(block, scores, resamples, [seed, number])
        for number, block in enumerate(scores.blocks)
    ]
    observed = [
        _cube(part.observed, block, scores, 1) for part, block in zip(parts, scores.blocks, strict=True)
    ]
    resampled = [
        _cube(part.resampled, block, scores, resamples if len(block.clusters) > 1 else 0)
        for part, block in zip(parts, scores.blocks, strict=True)
    ]
    # A block of one case cannot be resampled: it stays as it is in every resample.
    drawn = [
        each if len(each) else np.repeat(there, resamples, axis=0)
        for each, there in zip(resampled, observed, strict=True)
    ]
    left_out: dict[str, list[Floats]] = {}
    for place, (part, block) in enumerate(zip(parts, scores.blocks, strict=True)):
        size = len(part.multiplicity)
        if not size:
            continue
        cubes = [np.repeat(each, size, axis=0) for each in observed]
        cubes[place] = _cube(part.left_out, block, scores, size)
        for name, values in _measures(np.concatenate(cubes, axis=2), scores, ties).items():
            left_out.setdefault(name, []).append(values)
    cases = sum(len(block.clusters) for block in scores.blocks)
    at = _measures(np.concatenate(observed, axis=2), scores, ties)
    moved = (
        _measures(np.concatenate(drawn, axis=2), scores, ties)
        if resamples
        else {name: np.empty(0) for name in at}
    )
    whole = replace(
        parts[0],
        observed={name: float(values[0]) for name, values in at.items()},
        resampled=moved,
        left_out={name: np.concatenate(each) for name, each in left_out.items()},
        multiplicity=np.concatenate([part.multiplicity for part in parts]),
        n=cases,
        units=cases,
        design=f"{resamples} resamples of {cases} clusters within {len(parts)} benchmarks, seed {seed}",
    )
    return whole, cases - len(parts)


def _block_replicates(block: Block, scores: SystemScores, resamples: int, seed: list[int]) -> Replicates:
    table = np.hstack([block.sums, block.counts])

    def statistics(rows: Floats) -> Read:
        def read(weights: Floats) -> Mapping[str, Floats]:
            means = _means(weights, rows, block, scores).reshape(len(weights), -1)
            return {str(place): column for place, column in enumerate(means.T)}

        return read

    number = int(np.random.default_rng(seed).integers(1 << 31))
    return replicates(table, statistics, clusters=block.clusters, resamples=resamples, seed=number)


def _cube(values: Mapping[str, object], block: Block, scores: SystemScores, size: int) -> Floats:
    shape = (size, len(scores.systems), len(block.benchmarks))
    columns = [np.atleast_1d(np.asarray(values[str(place)])) for place in range(shape[1] * shape[2])]
    return np.column_stack(columns).reshape(shape) if size else np.empty((0, *shape[1:]))


def _means(weights: Floats, rows: Floats, block: Block, scores: SystemScores) -> Floats:
    half = rows.shape[1] // 2
    here = Block(block.benchmarks, block.clusters, rows[:, :half], rows[:, half:])
    return block_means(weights, here, len(scores.raters), len(scores.systems))


def _measures(means: Floats, scores: SystemScores, ties: Ties) -> dict[str, Floats]:
    """From `(resamples, systems, benchmarks)` to named values; NaN where a resample lacks a system."""
    wins = win_shares(means, ties).mean(axis=2)
    wins[~np.isfinite(means.sum(axis=(1, 2)))] = np.nan
    macro = means.mean(axis=2)
    found = {value_name(WIN, system): wins[:, place] for place, system in enumerate(scores.systems)}
    return found | {value_name(MACRO, system): macro[:, place] for place, system in enumerate(scores.systems)}
