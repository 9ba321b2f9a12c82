"""The scores a ranking rests on: systems by benchmarks, with the items behind them where there are any."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from medjury.analysis.ranking._paired import (
    ANSWER,
    Coded,
    enough_cases,
    one_system_each,
    refuse_strangers,
    shared_items,
)
from medjury.foundation.errors import MedjuryError
from medjury.statistics import Floats
from medjury.tables import read_plain_table

if TYPE_CHECKING:
    import polars


Missing = Literal["refuse", "common"]
WHOLE = ""


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Benchmarks that share their items. A row is a cluster (case): the sums of its scores and their numbers,
    each `(clusters, raters × systems × benchmarks)`. Clusters are what is resampled."""

    benchmarks: tuple[str, ...]
    clusters: tuple[str, ...]
    sums: Floats
    counts: Floats


@dataclass(frozen=True, slots=True, eq=False)
class SystemScores:
    """What each system scored on each benchmark; higher is better.

    `means` is systems by benchmarks. `blocks` hold the item-level scores; without them only the benchmarks can
    be resampled. `counts` and `unscored` are per system: scores used, answers without one. `resampled` says what a
    cluster is, and `scale` what the scores are in ("": as the benchmarks have them). They are not `paired` where
    every case has the answer of one system.
    """

    systems: tuple[str, ...]
    benchmarks: tuple[str, ...]
    raters: tuple[str, ...]
    means: Floats
    blocks: tuple[Block, ...]
    counts: tuple[int, ...]
    unscored: tuple[int, ...]
    warnings: tuple[str, ...]
    resampled: str = "cases"
    scale: str = ""
    paired: bool = True

    @property
    def unit(self) -> str:
        """What the intervals resample."""
        if not self.blocks:
            return "benchmarks"
        return self.resampled if len(self.blocks) == 1 else f"{self.resampled} within each benchmark"


def cases_of_systems(scores: SystemScores) -> Floats:
    """How many clusters hold an answer of each system, on the benchmark where that is least."""
    found = np.full(len(scores.systems), np.inf)
    for block in scores.blocks:
        shape = (len(block.clusters), len(scores.raters), len(scores.systems), len(block.benchmarks))
        clusters = (block.counts.reshape(shape).sum(axis=1) > 0).sum(axis=0)
        found = np.minimum(found, np.where(clusters > 0, clusters, np.inf).min(axis=1))
    return found


def block_means(weights: Floats, block: Block, raters: int, systems: int) -> Floats:
    """Mean scores `(resamples, systems, benchmarks)`: over a rater's answers first, then over raters.

    So a rater who left some answers out does not change who is compared with whom. A rater who never scored a
    benchmark has no part in it; NaN where one who did has no score of a system in the resample.
    """
    shape = (raters, systems, len(block.benchmarks))
    takes_part = block.counts.sum(axis=0).reshape(shape).any(axis=1)[:, np.newaxis, :]
    with np.errstate(divide="ignore", invalid="ignore"):
        means = ((weights @ block.sums) / (weights @ block.counts)).reshape(-1, *shape)
        return np.asarray(np.where(takes_part, means, 0.0).sum(axis=1) / takes_part.sum(axis=0))


def from_benchmark_scores(table: polars.DataFrame, *, missing: Missing) -> SystemScores:
    """Scores from one row per system and benchmark."""
    import polars as pl

    twice = table.group_by("system", "benchmark").len().filter(pl.col("len") > 1).sort("system", "benchmark")
    if twice.height:
        system, benchmark, count = twice.row(0)
        raise MedjuryError(
            f"there are {count} scores of {system!r} on {benchmark!r}. Keep one, or add a column `item` if they "
            "are the scores of single items."
        )
    coded = Coded(table)
    systems, benchmarks = coded.names("system"), coded.names("benchmark")
    means = np.full((len(systems), len(benchmarks)), np.nan)
    means[coded.codes("system"), coded.codes("benchmark")] = table["score"].cast(pl.Float64).to_numpy()
    known = np.isfinite(means)
    counts, unscored = (tuple(each.sum(axis=1).tolist()) for each in (known, ~known))
    scores = SystemScores(systems, benchmarks, (), means, (), counts, unscored, ())
    return complete(scores, missing)


def from_items(
    rows: polars.DataFrame,
    unscored: polars.DataFrame,
    *,
    missing: Missing,
    warnings: Sequence[str] = (),
    unpaired: bool = False,
) -> SystemScores:
    """Scores from clean rows `block, benchmark, item, cluster, rater, system, score`, and `weight` where they have
    one.

    Rows of one `block` share their items: its benchmarks are resampled together. Systems are compared on the
    items that all of them have from a rater; a warning counts what that leaves out. Where every item was answered
    by one system alone, or where that is asked for, they are compared `unpaired`, each on all of its items.
    """
    if not rows.height:
        raise MedjuryError("no rating has a score, so there is nothing to rank.")
    coded = Coded(rows)
    unpaired = unpaired or one_system_each(coded)
    if not unpaired:
        refuse_strangers(coded)
    silent = sorted({str(name) for name in unscored["system"].to_list()} - set(coded.names("system")))
    if silent and len(coded.names("system")) == 1:
        raise MedjuryError(
            f"a ranking needs two systems or more; there is only {rows['system'][0]!r}, for no answer of "
            f"{', '.join(map(str, silent))} has a score."
        )
    coded, notes = enough_cases(rows) if unpaired else shared_items(coded)
    rows = coded.rows
    if silent:
        notes = (
            f"not ranked, because none of their ratings has a score: {', '.join(map(str, silent))}",
            *notes,
        )
    systems, raters = coded.names("system"), coded.names("rater")
    used = np.bincount(coded.codes("system"))
    # An answer scored more than once counts once, or it would weigh more than the others' answer to the item.
    answer = coded.together(*ANSWER)
    first = np.unique(answer, return_index=True)[1]
    often = np.bincount(answer)
    scores = np.bincount(answer, rows["score"].to_numpy()) / often
    weights = (
        np.bincount(answer, rows["weight"].to_numpy()) / often
        if "weight" in rows.columns
        else np.ones(len(often))
    )
    block_of = coded.codes("block")[first]
    blocks = []
    for block in range(len(coded.names("block"))):
        here = first[block_of == block]
        (benchmarks, benchmark), (clusters, cluster) = (
            _among(coded, column, here) for column in ("benchmark", "cluster")
        )
        size = len(raters) * len(systems) * len(benchmarks)
        columns = (coded.codes("rater")[here] * len(systems) + coded.codes("system")[here]) * len(benchmarks)
        cells = cluster * size + columns + benchmark
        shape = (len(clusters), size)
        weight = weights[block_of == block]
        sums, counts = (
            np.bincount(cells, each, len(clusters) * size).reshape(shape).astype(np.float64)
            for each in (scores[block_of == block] * weight, weight)
        )
        blocks.append(Block(benchmarks, clusters, sums, counts))
    means = [block_means(np.ones((1, len(b.clusters))), b, len(raters), len(systems))[0] for b in blocks]
    lost = Counter(map(str, unscored["system"].to_list()))
    by_patient = len(coded.names("cluster")) < len(coded.names("item"))
    found = SystemScores(
        systems,
        tuple(name for block in blocks for name in block.benchmarks),
        raters,
        np.hstack(means),
        tuple(blocks),
        tuple(used.tolist()),
        tuple(lost[system] for system in systems),
        (*warnings, *notes),
        "patients" if by_patient else "cases",
        paired=not unpaired,
    )
    return complete(found, missing)


def _among(coded: Coded, column: str, rows: NDArray[np.int64]) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """The names of a column that these rows have, and each row's place among them."""
    names, (present, places) = coded.names(column), np.unique(coded.codes(column)[rows], return_inverse=True)
    return tuple(names[place] for place in present.tolist()), places.astype(np.int64)


def complete(scores: SystemScores, missing: Missing) -> SystemScores:
    """Every system on every benchmark: refused where a cell is empty, or cut to the benchmarks all share."""
    if len(scores.systems) < 2:
        raise MedjuryError(f"a ranking needs two systems or more; there is only {scores.systems[0]!r}.")
    _refuse_absent_raters(scores)
    known = np.isfinite(scores.means)
    for place, system in enumerate(scores.systems):
        others = np.delete(known, place, axis=0).any(axis=0)
        if not (known[place] & others).any():
            raise MedjuryError(
                f"the system {system!r} shares no benchmark with any other system, so it cannot be compared. "
                "Remove it, or score it on the others' benchmarks."
            )
    shared = np.asarray(known.all(axis=0))
    if shared.all():
        return scores
    if missing == "refuse":
        row, column = (int(each[0]) for each in np.nonzero(~known))
        raise MedjuryError(
            f"{int((~known).sum())} of {known.size} cells are empty, first {scores.systems[row]!r} on "
            f"{scores.benchmarks[column]!r}. An average over different benchmarks compares different things: "
            "fill the cells, or use only the benchmarks that all systems have (--missing common)."
        )
    if not shared.any():
        raise MedjuryError("no benchmark has a score of every system.")
    kept = tuple(name for name, whole in zip(scores.benchmarks, shared, strict=True) if whole)
    dropped = [name for name in scores.benchmarks if name not in kept]
    warning = f"{len(dropped)} of {len(scores.benchmarks)} benchmarks lack a system and are left out: "
    return replace(
        scores,
        benchmarks=kept,
        means=scores.means[:, shared],
        blocks=tuple(cut for block in scores.blocks if (cut := _cut(block, kept, scores)) is not None),
        warnings=(*scores.warnings, warning + ", ".join(dropped[:8]) + (" …" if len(dropped) > 8 else "")),
    )


def _cut(block: Block, kept: Sequence[str], scores: SystemScores) -> Block | None:
    chosen = [place for place, name in enumerate(block.benchmarks) if name in kept]
    if not chosen:
        return None
    shape = (len(block.clusters), len(scores.raters) * len(scores.systems), len(block.benchmarks))
    cut = [
        each.reshape(shape)[:, :, chosen].reshape(len(block.clusters), -1)
        for each in (block.sums, block.counts)
    ]
    return Block(tuple(block.benchmarks[place] for place in chosen), block.clusters, cut[0], cut[1])


def _refuse_absent_raters(scores: SystemScores) -> None:
    """A rater who scored other systems there but not this one would change who is compared with whom."""
    for block in scores.blocks:
        shape = (len(scores.raters), len(scores.systems), len(block.benchmarks))
        scored = block.counts.sum(axis=0).reshape(shape) > 0
        absent = np.argwhere(~scored & scored.any(axis=0) & scored.any(axis=1)[:, np.newaxis, :])
        if len(absent):
            rater, system, benchmark = (int(place) for place in absent[0])
            raise MedjuryError(
                f"the rater {scores.raters[rater]!r} has no score of {scores.systems[system]!r} on "
                f"{block.benchmarks[benchmark]!r}, though others have. Name the raters that scored every system."
            )


# Benchmark scores: a table `system, benchmark, score`, one row each, or one per `item`.

RATING, BENCHMARK = ("item", "rater", "dimension", "score"), ("system", "benchmark", "score")


def score_table(source: object) -> polars.DataFrame | None:
    """The table where `source`, a frame or a file, holds benchmark scores; None where it holds ratings."""
    import polars as pl

    frame = read_plain_table(source) if isinstance(source, str | os.PathLike) else source
    if not isinstance(frame, pl.DataFrame) or "rater" in frame.columns:
        return None
    return frame if set(BENCHMARK) <= set(frame.columns) else None


def benchmark_scores(
    table: polars.DataFrame,
    *,
    lower_is_better: Sequence[str] = (),
    scale: Sequence[float] | None = None,
    missing: Missing = "refuse",
) -> SystemScores:
    """The scores of every system on every benchmark; `lower_is_better` benchmarks are turned around on the
    `scale`. A column `weight` says how much an item's score counts in the mean of its system, as in a micro
    average, which sums the parts of all items first."""
    import polars as pl

    absent = [name for name in BENCHMARK if name not in table.columns]
    if absent:
        raise MedjuryError(
            f"the table has the columns {', '.join(table.columns)}; a ranking needs {', '.join(BENCHMARK)}, or "
            f"ratings with {', '.join(RATING)} and system."
        )
    columns = ("system", "benchmark", *(name for name in ("item", "patient") if name in table.columns))
    weight = pl.col("weight").cast(pl.Float64) if "weight" in table.columns else pl.lit(1.0)
    rows = table.select(*columns, "score", weight.alias("weight")).with_row_index("row", offset=1)
    rows = rows.with_columns(*(pl.col(name).cast(pl.String).str.strip_chars() for name in columns))
    if "item" in columns:
        _refuse_weights(rows)
    for name in ("system", "benchmark", *(["item"] if "item" in columns else [])):
        empty = rows.filter(pl.col(name).is_null() | (pl.col(name) == ""))
        if empty.height:
            raise MedjuryError(f"row {empty['row'][0]}: there is no {name}.")
    rows = _turn(rows.with_columns(_numbers(rows).alias("score")), lower_is_better, scale)
    words = "" if scale is None else f"scores from {min(scale):g} to {max(scale):g}"
    if "item" not in columns:
        return replace(from_benchmark_scores(rows, missing=missing), scale=words)
    # A prefix keeps a patient called 7 apart from an item called 7.
    cluster = pl.lit("item ") + pl.col("item")
    if "patient" in columns:
        cluster = pl.coalesce(pl.lit("patient ") + pl.col("patient"), cluster)
    rows = rows.with_columns(
        pl.col("benchmark").alias("block"), pl.lit(WHOLE).alias("rater"), cluster.alias("cluster")
    )
    scored = pl.col("score").is_not_null()
    return replace(from_items(rows.filter(scored), rows.filter(~scored), missing=missing), scale=words)


def _refuse_weights(rows: polars.DataFrame) -> None:
    import polars as pl

    odd = rows.filter(pl.col("weight").is_null() | ~pl.col("weight").is_finite() | (pl.col("weight") <= 0))
    if odd.height:
        raise MedjuryError(
            f"row {odd['row'][0]}: the weight must be a number above 0, not {odd['weight'][0]}."
        )


def _numbers(rows: polars.DataFrame) -> polars.Series:
    import polars as pl

    raw = rows["score"]
    numbers = raw.cast(pl.String).str.strip_chars().cast(pl.Float64, strict=False)
    words = raw.cast(pl.String).str.strip_chars()
    odd = rows.filter(numbers.is_null() & words.is_not_null() & (words != ""))
    if odd.height:
        raise MedjuryError(f"row {odd['row'][0]}: the score {odd['score'][0]!r} is not a number.")
    wrong = rows.filter(numbers.is_nan() | numbers.is_infinite())
    if wrong.height:
        raise MedjuryError(
            f"row {wrong['row'][0]}: the score is not finite; leave it empty where there is none."
        )
    return numbers


def _turn(frame: polars.DataFrame, names: Sequence[str], scale: Sequence[float] | None) -> polars.DataFrame:
    import polars as pl

    if not names:
        return frame
    unknown = [name for name in names if name not in set(frame["benchmark"].to_list())]
    if unknown:
        raise MedjuryError(f"there is no benchmark {unknown[0]!r} to turn around.")
    if scale is None:
        raise MedjuryError(
            f"to turn {names[0]!r} around (lower is better) give the scale, such as --scale 1 5."
        )
    ends = min(scale) + max(scale)
    turned = pl.when(pl.col("benchmark").is_in(list(names))).then(ends - pl.col("score"))
    return frame.with_columns(turned.otherwise(pl.col("score")).alias("score"))
