"""Stability: does a judge say the same when it is asked the same again, and how often must one ask?"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Unpack

import numpy as np
from scipy import special

from medjury.analysis.audits._finding import Audit, Finding
from medjury.analysis.audits._what_is_audited import JUDGES, Asked, Audited, audited, sums_by_cluster
from medjury.foundation.errors import MedjuryError
from medjury.statistics import Estimate, Floats, Read, Replicates, counted_share, side_by_side
from medjury.tables import RatingTable, rating_table

if TYPE_CHECKING:
    import polars


# Draws: a judge that takes one rating from several answers of its model has them all in the run's records.

# Of one record: what makes a row of ratings of every draw.
COLUMNS = ("item", "system", "rater", "dimension", "repeat", "score", "status")


def with_draws(table: RatingTable) -> RatingTable:
    """The table with every draw (`strategy: repeats`) in place of the rating that was taken from them: how far
    the model differs from itself is seen in the draws alone."""
    if not table.run.records.kinds():
        return table
    import polars as pl

    from medjury.judging import RepeatsBody

    draws = [
        (
            record.item,
            record.system,
            record.rater,
            dimension,
            record.repeat * record.body.n + number,
            outcome.score,
            outcome.status,
        )
        for record in table.run.records.of(RepeatsBody)
        for number, draw in enumerate(record.body.draws)
        for dimension, outcome in draw.outcomes.items()
    ]
    if not draws:
        return table
    # Only held-out cases have rows, and so a cluster.
    clusters = table.rows.select("item", "cluster").unique()
    schema = {name: table.rows.schema[name] for name in COLUMNS}
    drawn = pl.DataFrame(draws, schema=schema, orient="row").join(clusters, on="item")
    rated = table.rows.join(drawn, on=["rater", "dimension"], how="anti")
    return table.where(pl.concat([rated, drawn], how="diagonal"))


FLIPS = ("flip_rate", "changed_share")
STATISTICS = ("sd", "within_sd", "cv", *FLIPS)
METHOD = "repeats of the same judge on the same answer; intervals resample cases"
# From repeats of fewer cases an interval is rough.
FEW_CASES = 10
# A spread that fewer cases show is known from too few of them.
FEW_DIFFERING = 5
AMONG_CLINICIANS = "clinicians among themselves"


def stability(
    table: object,
    *,
    width: float = 0.5,
    threshold: float | None = None,
    **asked: Unpack[Asked],
) -> Audit:
    """Audit every judge that rated the same answers more than once, per dimension. Of a run folder the draws of
    judges that ask several times for one rating count too (see `with_draws`).

    Findings: `sd`, the mean over answers of the standard deviation of the repeats (n − 1); `within_sd`, the
    root of the mean variance, which does not shrink with few repeats; `cv`, the mean of SD / mean over
    answers whose mean is above zero; `flip_rate`, the probability that two repeats differ (with a
    `threshold`: that they fall on different sides of it, "score ≥ threshold"); `changed_share`, the share of
    answers whose repeats are not all alike (it grows with the number of repeats); `repeats_needed`, the
    smallest number of repeats r for which the interval of an answer's mean, 2·z·within_sd/√r, is at most
    `width` wide; `repeats_needed_worst_tenth`, the same for the answer at the 90th percentile of the standard
    deviation.

    Beside the judges there are people, unless raters are named: each clinician who rated an answer again, and
    `AMONG_CLINICIANS`, in which the scores of different clinicians for one answer are the repeats, as Rouillard et
    al. (2026) put the panels' standard deviation and coefficient of variation beside the judges'. A second reading
    by the same person and one by another are different things: the second holds their disagreement too."""
    import polars as pl

    if width <= 0:
        raise MedjuryError(f"The width of an interval is above zero, not {width:g}.")
    about = audited(with_draws(rating_table(table)), **asked, kinds=JUDGES, formed_jury=False)
    scored = pl.concat([about.rows, *([] if asked.get("raters") else [_people(about)])]).filter(
        pl.col("status") == "scored"
    )
    answers = _answers(scored, threshold)
    repeated = answers.filter(pl.col("repeats") > 1)
    if not repeated.filter(pl.col("rater").is_in(about.raters)).height:
        raise MedjuryError(
            "no rater rated any answer twice, so stability cannot be seen. Run the judges with 2 repeats or "
            "more, and number them in the column `repeat`."
        )
    found = side_by_side(
        [
            partial(_findings, about, part, str(rater), str(dimension), width, threshold)
            for (rater, dimension), part in repeated.group_by("rater", "dimension", maintain_order=True)
        ],
        answers=about.units,
    )
    findings = [finding for each in found for finding in each]
    used = int(repeated.filter(pl.col("rater").is_in(about.raters))["repeats"].sum())
    return about.result("stability", findings, METHOD, _warnings(about, answers, repeated), n=used)


def spread_by_answer(table: object) -> polars.DataFrame:
    """Every answer that a judge scored more than once, per dimension: how often, and the mean and the standard
    deviation (n − 1) of its scores. Of a run folder the draws of one rating count too, as in `stability`."""
    import polars as pl

    about = audited(with_draws(rating_table(table)), kinds=JUDGES, formed_jury=False)
    found = _answers(about.rows.filter(pl.col("status") == "scored"), None)
    return found.filter(pl.col("repeats") > 1).drop("alike", "levels", "cluster")


def _people(about: Audited) -> polars.DataFrame:
    """Rows of clinicians who rated an answer again, and those of all clinicians as the repeats of one rater. An
    adjudicator, who has read the others' scores, is none of them."""
    import polars as pl

    here = about.table.rows.filter(
        pl.col("rater_kind") == "clinician",
        pl.col("rater") != about.table.people.adjudicator,
        pl.col("dimension").is_in(about.dimensions),
    )
    key = ["rater", "dimension", "item", "system"]
    again = here.filter(pl.struct(key).is_duplicated())
    means = (
        here.filter(pl.col("status") == "scored")
        .with_columns(pl.col("score").mean().over(key))
        .unique(key, keep="first", maintain_order=True)
    )
    several = means.filter(pl.struct(key[1:]).is_duplicated())
    return pl.concat([again, several.with_columns(pl.lit(AMONG_CLINICIANS).alias("rater"))])


def _answers(scored: polars.DataFrame, threshold: float | None) -> polars.DataFrame:
    """One row per rater, dimension and answer: its repeats, and how many ordered pairs of them are alike."""
    import polars as pl

    decision = pl.col("score") if threshold is None else (pl.col("score") >= threshold)
    level = scored.with_columns(decision.alias("level"))
    key = ["rater", "dimension", "item", "system"]
    same = (
        level.group_by(*key, "level")
        .len()
        .group_by(key)
        .agg((pl.col("len") * (pl.col("len") - 1)).sum().alias("alike"), pl.len().alias("levels"))
    )
    return (
        level.group_by(key)
        .agg(
            pl.len().alias("repeats"),
            pl.col("score").mean().alias("mean"),
            pl.col("score").std().alias("sd"),
            pl.col("cluster").first(),
        )
        .join(same, on=key)
        .sort(key)
    )


def _findings(
    about: Audited,
    part: polars.DataFrame,
    rater: str,
    dimension: str,
    width: float,
    threshold: float | None,
) -> list[Finding]:
    crossing = "" if threshold is None else f"score ≥ {threshold:g}"
    found = steadiness(part, about.drawn(*sums_of(part)), about.confidence)
    needed = repeats_needed(found["within_sd"], part["sd"].to_numpy(), width, about.confidence)
    return [
        *(
            Finding(name, estimate, rater, dimension, crossing if name in FLIPS else "")
            for name, estimate in found.items()
        ),
        *(
            Finding(name, estimate, rater, dimension, f"interval ≤ {width:g} wide")
            for name, estimate in needed.items()
        ),
    ]


def steadiness(part: polars.DataFrame, drawn: Replicates, confidence: float) -> dict[str, Estimate]:
    """Every statistic of one rater and dimension. Where each case has one answer, the share that changed is a share
    of counted answers. A spread that rests on fewer than five cases has no interval: most of such samples hold
    none of the answers on which the judge wavers most."""
    reason = "every answer's mean score is zero"
    found = {
        name: replace(drawn.estimate(name, confidence=confidence, reason=reason), n=part.height)
        for name in STATISTICS
    }
    cases, changed = part["cluster"].to_numpy(), part["levels"].to_numpy() > 1
    if len(np.unique(cases)) == part.height:
        found["changed_share"] = counted_share(changed, confidence=confidence)
    for name in STATISTICS[:-1]:
        differing = len(np.unique(cases[changed if name in FLIPS else part["sd"].to_numpy() > 0]))
        if differing < FEW_DIFFERING and found[name].low is not None:
            why = f"repeats differ in {differing} cases, at least {FEW_DIFFERING} are needed"
            found[name] = found[name].without_interval(why)
    return found


def _warnings(about: Audited, answers: polars.DataFrame, repeated: polars.DataFrame) -> list[str]:
    import polars as pl

    warnings = []
    own = pl.col("rater").is_in(about.raters)
    if single := answers.filter(own).height - repeated.filter(own).height:
        warnings.append(
            f"{single} answers were scored only once by their rater and say nothing about stability"
        )
    if silent := [rater for rater in about.raters if rater not in set(repeated["rater"].to_list())]:
        warnings.append(f"without any repeat: {', '.join(silent)}")
    cases = repeated.group_by("rater", "dimension").agg(pl.col("cluster").n_unique())["cluster"]
    if (cases < FEW_CASES).any():
        warnings.append("fewer than 10 cases have repeats for some raters: their intervals are rough")
    return warnings


def sums_of(part: polars.DataFrame) -> tuple[Floats, Callable[[Floats], Read]]:
    """Of every case the sums that the statistics are made of, and how to read them."""
    repeats = part["repeats"].to_numpy().astype(np.float64)
    sd, mean = part["sd"].to_numpy(), part["mean"].to_numpy()
    flips = 1.0 - part["alike"].to_numpy() / (repeats * (repeats - 1.0))
    changed = (part["levels"].to_numpy() > 1).astype(np.float64)
    has_mean = mean > 0
    cv = np.where(has_mean, sd / np.where(has_mean, mean, 1.0), 0.0)
    # Rounded, so that equal spreads are equal: the order of repeats, seen in the last digit, draws no other cases.
    features = np.column_stack([np.ones_like(sd), sd, sd**2, cv, has_mean, flips, changed]).round(12)

    def statistics(rows: Floats) -> Read:
        def read(weights: Floats) -> Mapping[str, Floats]:
            n, sd, variance, cv, with_cv, flips, changed = (weights @ rows).T
            return {
                "sd": sd / n,
                "within_sd": np.sqrt(variance / n),
                "cv": cv / with_cv,
                "flip_rate": flips / n,
                "changed_share": changed / n,
            }

        return read

    return sums_by_cluster(features, part["cluster"].to_list()), statistics


def repeats_needed(within: Estimate, spreads: Floats, width: float, confidence: float) -> dict[str, Estimate]:
    """How often to ask, of a usual answer and of one of the most unsteady tenth: whole numbers, and no interval."""
    z = float(special.ndtri(0.5 + confidence / 2.0))

    def repeats(sd: float | None) -> float | None:
        # Rounded first, so that an exact whole number does not become the next one.
        return None if sd is None else float(max(1, math.ceil(round((2.0 * z * sd / width) ** 2, 9))))

    worst = float(np.quantile(spreads, 0.9))
    return {
        "repeats_needed": Estimate(
            repeats(within.value),
            None,
            None,
            within.n,
            "no interval: (2·z·within_sd/width)² rounded up is a step; within_sd has one",
        ),
        "repeats_needed_worst_tenth": Estimate(
            repeats(worst),
            None,
            None,
            within.n,
            "no interval: (2·z·SD/width)² at the 90th percentile of the SD",
        ),
    }
