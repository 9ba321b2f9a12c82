"""What is ranked: whose scores, of which dimensions, brought to one scale."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from medjury.analysis.ranking._paired import whole_answers
from medjury.analysis.ranking._scores import WHOLE, Missing, SystemScores, from_items
from medjury.foundation.errors import MedjuryError
from medjury.instruments import Composite, Instrument
from medjury.tables import NOT_APPLICABLE, SCORED, UNSCORED, Grid, Measured, Names, RatingTable, answers_of

if TYPE_CHECKING:
    import polars

    from medjury.analysis.calibration import CalibrationStudy


# Composite scores: one number of several dimensions, with weights anyone can see.


def composite_answers(answers: polars.DataFrame, composite: Composite) -> polars.DataFrame:
    """The composite of every answer of every rater, as a dimension with its name.

    The weighted mean of its parts, by the same rule as an instrument's own composites: a part that is not
    applicable drops out and the other weights are rescaled; a part without a score leaves the composite without
    one, for a mean of what happens to be there would compare different things.
    """
    import polars as pl

    weights = weighty(composite)
    scored, skipped = pl.col("state") == SCORED, pl.col("state") == NOT_APPLICABLE
    needed = len(weights) if composite.needs_every_part else 1
    return (
        answers.filter(pl.col("dimension").is_in(list(weights)))
        .with_columns(pl.col("dimension").replace_strict(weights, return_dtype=pl.Float64).alias("weight"))
        .group_by("item", "system", "rater", maintain_order=True)
        .agg(
            pl.col("cluster", "benchmark", "block").first(),
            (pl.col("score") * pl.col("weight")).filter(scored).sum().alias("total"),
            pl.col("weight").filter(scored).sum().alias("weight"),
            scored.sum().alias("scored"),
            skipped.sum().alias("skipped"),
        )
        .with_columns(
            pl.lit(composite.name).alias("dimension"),
            pl.when(pl.col("scored") + pl.col("skipped") < len(weights))
            .then(UNSCORED)
            .when(pl.col("scored") < needed)
            .then(NOT_APPLICABLE)
            .otherwise(SCORED)
            .cast(pl.UInt8)
            .alias("state"),
        )
        .with_columns(pl.when(scored).then(pl.col("total") / pl.col("weight")).alias("score"))
        .select(answers.columns)
    )


def weighty(composite: Composite) -> dict[str, float]:
    """The parts that count."""
    return {part: weight for part, weight in composite.weights.items() if weight > 0}


def parts_behind(instrument: Instrument, name: str) -> list[str]:
    """The graded dimensions that a dimension follows from, itself where it is graded."""
    turned = {each.name: each.of for each in instrument.reversed}
    weights = {each.name: each.weights for each in instrument.composites}
    if name in turned:
        return [turned[name]]
    if name not in weights:
        return [name]
    found = [
        part
        for each, weight in weights[name].items()
        if weight > 0
        for part in parts_behind(instrument, each)
    ]
    return list(dict.fromkeys(found))


def composite_of(text: str) -> Composite:
    """A composite from `NAME=PART:WEIGHT,PART:WEIGHT`.

    >>> composite_of("quality=diagnosis:0.4,differential:0.2,safety:0.4").weights["differential"]
    0.2
    """
    name, equals, parts = text.partition("=")
    weights: dict[str, float] = {}
    for part in parts.split(",") if equals else ():
        dimension, _, weight = part.rpartition(":")
        try:
            weights[dimension.strip()] = float(weight)
        except ValueError:
            weights = {}
            break
    if (
        not name.strip()
        or not weights
        or "" in weights
        or min(weights.values()) < 0
        or sum(weights.values()) <= 0
    ):
        raise MedjuryError(f"{text!r} is not a composite; write NAME=DIMENSION:WEIGHT,DIMENSION:WEIGHT.")
    total = sum(weights.values())
    return Composite(name.strip(), {part: weight / total for part, weight in weights.items()})


# One scale for all that is ranked: grades where the dimensions share them, else shares of each scale.

AS_GIVEN = "scores as they are given"
SHARES = "shares of each dimension's scale, 1 is best"


def common_scale(
    dimensions: Sequence[Measured], lower_is_better: Sequence[str] = ()
) -> tuple[str, dict[str, tuple[float, float]]]:
    """The scale on which these dimensions can be averaged: what a mean score is in and, by dimension, what a score
    is multiplied by and what is then added, so that higher is better everywhere. Scores without any scale are taken
    as they are, for nobody can say that they differ; beside others that have one, or turned around, they are
    refused."""
    unknown = [name for name in lower_is_better if name not in [each.name for each in dimensions]]
    if unknown:
        raise MedjuryError(f"there is no dimension {unknown[0]!r} to turn around.")
    turned = {each.name for each in dimensions if each.name in lower_is_better or not each.higher_is_better}
    bare = [each.name for each in dimensions if each.grades is None]
    if low := [name for name in bare if name in turned]:
        raise MedjuryError(
            f"to turn {low[0]!r} around (lower is better) give the scale, such as --scale 1 5."
        )
    if bare and len(bare) < len(dimensions):
        raise MedjuryError(
            f"the scale of {bare[0]!r} is not known, and others have one, so their scores cannot be averaged: "
            "give it (--scale), or name the dimensions to rank by."
        )
    ends = {each.name: (each.grades.lowest, each.grades.highest) for each in dimensions if each.grades}
    spans = set(ends.values())
    if len(spans) < 2:
        words = "grades {:g} to {:g}".format(*spans.pop()) if spans else AS_GIVEN
        lines = {each.name: (1.0, 0.0) for each in dimensions}
        return words, lines | {name: (-1.0, float(sum(ends[name]))) for name in turned}
    lines = {}
    for name, (low_end, high_end) in ends.items():
        slope = 1.0 / (high_end - low_end)
        lines[name] = (-slope, high_end * slope) if name in turned else (slope, -low_end * slope)
    return SHARES, lines


# From the grids of a rating table to the scores that a ranking rests on.


def ranked_answers(
    grids: Iterable[Grid],
    raters: Sequence[str],
    rows: polars.DataFrame,
    lines: Mapping[str, tuple[float, float]],
    composites: Sequence[Composite] = (),
) -> polars.DataFrame:
    """The raters' scores of every system's answers, on one scale, with the benchmark of each answer.

    Every dimension is a benchmark of the same items, or, where the ratings (`rows`) have a column `benchmark`,
    every benchmark holds its dimensions. With `composites` these alone are there.
    """
    import polars as pl

    answers = answers_of(grids, raters).filter(pl.col("system") != "")
    if answers.is_empty():
        raise MedjuryError("no rating has a score, so there is nothing to rank.")
    slopes, shifts = ({name: line[part] for name, line in lines.items()} for part in (0, 1))
    turned = pl.col("score") * pl.col("dimension").replace_strict(slopes, return_dtype=pl.Float64)
    turned += pl.col("dimension").replace_strict(shifts, return_dtype=pl.Float64)
    answers = _with_benchmarks(answers.with_columns(turned.alias("score")), rows)
    if composites:
        answers = pl.concat([composite_answers(answers, each) for each in composites])
    if "benchmark" not in rows.columns:
        answers = answers.with_columns(pl.col("dimension").alias("benchmark"))
    # Numbers in place of names: sorting and grouping is then a matter of milliseconds.
    return answers.with_columns(
        pl.col(name).cast(pl.Enum(answers[name].unique().sort()))
        for name in ("item", "system", "cluster", "rater", "dimension", "benchmark", "block")
    )


def rating_scores(answers: polars.DataFrame, raters: Sequence[str], *, missing: Missing) -> SystemScores:
    """The raters' scores among the answers. Several raters are averaged, each over his own answers first; so are
    the dimensions of a benchmark, as MedHELM's jury does, and an answer that lacks one which the same item has
    for another system is left out."""
    import polars as pl

    lost = pl.col("state") == UNSCORED
    given = answers.filter(pl.col("rater").is_in(list(raters))).with_columns(lost.alias("lost"))
    rows, warnings = whole_answers(given)
    return from_items(rows, given.filter("lost"), missing=missing, warnings=warnings)


def labelled_scores(
    answers: polars.DataFrame, raters: Sequence[str], reference: Sequence[str], *, missing: Missing
) -> SystemScores:
    """The raters' mean scores of the answers that the reference scored, whichever of it did: systems unpaired, each
    on all of its labelled answers. For a reference that scored few answers, and seldom two to one case."""
    import polars as pl

    answer = ["benchmark", "item", "system"]
    lost = (pl.col("state") == UNSCORED).alias("lost")
    theirs, known = (
        whole_answers(answers.filter(pl.col("rater").is_in(list(who))).with_columns(lost))[0]
        for who in (raters, reference)
    )
    if theirs.is_empty() or known.is_empty():
        raise MedjuryError("no answer has scores of both")
    columns = [name for name in theirs.columns if name not in ("rater", "score")]
    rows = (
        theirs.join(known.select(answer).unique(), on=answer, how="semi")
        .group_by(columns)
        .agg(pl.col("score").mean())
        .with_columns(pl.lit("").alias("rater"))
    )
    return from_items(rows, rows.clear(), missing=missing, unpaired=True)


def scored_dimensions(grids: Mapping[str, Grid], raters: Sequence[str]) -> list[str]:
    """The dimensions on which any of the raters gave a score."""
    return [
        name for name, grid in grids.items() if any((grid.states[rater] == SCORED).any() for rater in raters)
    ]


def _with_benchmarks(answers: polars.DataFrame, rows: polars.DataFrame) -> polars.DataFrame:
    """Each answer with its benchmark and the block of benchmarks that share their items."""
    import polars as pl

    if "benchmark" not in rows.columns:
        return answers.with_columns(pl.lit(WHOLE).alias("benchmark"), pl.lit(WHOLE).alias("block"))
    if rows["benchmark"].null_count():
        raise MedjuryError(f"{rows['benchmark'].null_count()} ratings have no benchmark; fill the column.")
    key = ["item", "system", "dimension"]
    known = rows.select(*key, pl.col("benchmark").cast(pl.String)).unique()
    twice = known.filter(known.select(key).is_duplicated()).sort(*key, "benchmark")
    if twice.height:
        one, other = twice["benchmark"].head(2).to_list()
        raise MedjuryError(
            f"item {twice['item'][0]!r} has two benchmarks, {one!r} and {other!r}; give it one."
        )
    return answers.join(known, on=key, how="left").with_columns(pl.col("benchmark").alias("block"))


@dataclass(frozen=True, eq=False)
class Ranked:
    """The `raters` rank: the jury, or those there are without one; the `judges` are behind it. The `reference`
    gives an order to compare with. `scale` says what a mean score is in, `lines` how scores get there (see
    `common_scale`)."""

    table: RatingTable
    raters: tuple[str, ...]
    judges: tuple[str, ...]
    reference: tuple[str, ...]
    grids: Mapping[str, Grid]
    scale: str
    lines: Mapping[str, tuple[float, float]]
    composites: tuple[Composite, ...]
    missing: Missing

    def scores(self, raters: Sequence[str]) -> SystemScores:
        """What a ranking by these raters rests on."""
        if not self.table.systems:
            raise MedjuryError("a ranking needs to know who answered: the ratings have no column `system`.")
        if tuple(raters) not in self._read:
            made = rating_scores(self._answers, raters, missing=self.missing)
            unit = "patients" if self.table.by_patient else "cases"
            self._read[tuple(raters)] = replace(made, resampled=unit, scale=self.scale)
        return self._read[tuple(raters)]

    def on_labelled(self, raters: Sequence[str]) -> SystemScores:
        """The same on the answers that the reference scored, systems unpaired: see `labelled_scores`."""
        return labelled_scores(self._answers, raters, self.reference, missing=self.missing)

    @cached_property
    def _read(self) -> dict[tuple[str, ...], SystemScores]:
        return {}

    @cached_property
    def _answers(self) -> polars.DataFrame:
        everybody = list(dict.fromkeys((*self.raters, *self.judges, *self.reference)))
        return ranked_answers(self.grids.values(), everybody, self.table.rows, self.lines, self.composites)

    @property
    def calibrated_by(self) -> list[str]:
        """What is to be calibrated: what is ranked, or the parts of it that were graded. A composite is made of
        calibrated parts, as everywhere, and is calibrated itself only where a part of it is not there."""
        instrument, present = self.table.instrument, {each.name for each in self.table.dimensions}
        behind = {
            name: [name] if instrument is None else parts_behind(instrument, name) for name in self.grids
        }
        found = [parts if present.issuperset(parts) else [name] for name, parts in behind.items()]
        return list(dict.fromkeys(part for parts in found for part in parts))

    def calibrated(self, study: CalibrationStudy) -> Ranked:
        """The same with calibrated scores, each by a map that never saw its case."""
        own = {(each.rater, each.dimension): each.pairs.calibrated for each in study.calibrations}
        held = {each.dimension: each.part.grid for each in study.calibrations}
        followed = study.followed_scores(self.table.instrument) if self.table.instrument else {}
        grids: dict[str, Grid] = {}
        for name, ranked in self.grids.items():
            for rater in dict.fromkeys(rater for rater, made in (*own, *followed) if made == name):
                grid = grids.get(name, held.get(name, ranked))
                units = zip(grid.items.tolist(), grid.systems.tolist(), strict=True)
                known = followed.get((rater, name), {})
                scores = own.get((rater, name), np.array([known.get(unit, np.nan) for unit in units]))
                states = grid.states[rater]
                lost = np.isnan(scores) & (states == SCORED)
                states = np.where(lost, UNSCORED, states).astype(np.uint8)
                grids[name] = grid.with_rater(rater, scores, states)
        calibrated = f"{self.scale}, calibrated"
        words = "scores calibrated to the reference" if self.scale == AS_GIVEN else calibrated
        return replace(self, grids=grids, scale=words)


def ranked_by(
    table: RatingTable,
    raters: Names | None,
    reference: Names | None,
    dimensions: Names | None,
    composites: Sequence[Composite | str],
    lower_is_better: Sequence[str],
    missing: Missing,
) -> Ranked:
    """Who ranks, on what: see `rank`."""
    roles = table.roles(raters, reference, jury=True, need_reference=False)
    whose = (roles.jury,) if roles.jury else roles.raters
    stored = tuple(name for name in roles.raters if table.raters.get(name) == "judge")
    judges = roles.jurors or stored or (whose if len(whose) > 1 else ())
    made = tuple(composite_of(each) if isinstance(each, str) else each for each in composites)
    if made and dimensions is not None:
        raise MedjuryError("composites are ranked alone: name dimensions or composites, not both.")
    chosen = table.chosen(
        list(dict.fromkeys(part for each in made for part in weighty(each))) if made else dimensions,
        derived=False,
    )
    grids = {each.name: table.grid(each.name, roles) for each in chosen}
    if dimensions is None and not made:
        # Nobody named a dimension that those who rank never scored.
        scored = scored_dimensions(grids, whose)
        chosen = tuple(each for each in chosen if each.name in scored)
        grids = {name: grids[name] for name in scored}
    return Ranked(
        table,
        whose,
        tuple(name for name in judges if (name,) != whose),
        tuple(name for name in roles.reference if name not in whose),
        grids,
        *common_scale(chosen, lower_is_better),
        made,
        missing,
    )
