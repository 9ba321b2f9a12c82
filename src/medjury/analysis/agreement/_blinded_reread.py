"""A small blinded re-read: how many answers settle whether clinicians were drawn towards the jury's scores?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import ceil, sqrt

import numpy as np
from scipy import special

from medjury.analysis.agreement._pair_statistics import two_rater_statistics
from medjury.foundation.errors import MedjuryError
from medjury.statistics import (
    Floats,
    Printable,
    Result,
    Row,
    combined,
    on_columns,
    percent,
    replicates,
    shown,
    text_table,
)
from medjury.tables import Measured, Names, RatingTable, Roles, rating_table

READERS = 2


@dataclass(frozen=True, slots=True)
class RereadRow(Row):
    """One dimension: `answers` to re-read, and `noticed`, the anchoring that all `available` answers would show."""

    rater: str
    dimension: str
    statistic: str
    answers: int
    available: int
    noticed: float


@dataclass(frozen=True, slots=True)
class BlindedReread(Result[RereadRow]):
    """The plan; `blinded` is what the run states of its clinicians so far."""

    rows: tuple[RereadRow, ...]
    anchoring: float
    power: float
    confidence: float
    blinded: bool | None = None
    warnings: tuple[str, ...] = ()

    @property
    def answers(self) -> int:
        """Enough for every dimension."""
        return max(row.answers for row in self.rows)

    def text(self) -> str:
        if self.blinded:
            return (
                "These clinicians rated without seeing the judges' scores, as the run states: nothing is left to "
                "settle."
            )
        statistics = ", ".join(dict.fromkeys(row.statistic for row in self.rows))
        known = "saw" if self.blinded is False else "may have seen"
        lines = [
            f"The clinicians of this run {known} the judges' scores before they rated. Whoever sees a score is "
            "drawn towards it, and then agrees with the jury more than they would by themselves.",
            f"To settle it, two clinicians who do not see the jury's scores re-read {self.answers:,} "
            f"answers, drawn at "
            "random among those that were rated, of different cases where possible.",
            "Compare how far they agree with the jury with how far the first clinicians did on the same answers. "
            f"If that was {self.anchoring:g} too high ({statistics}), a one-sided test at "
            f"{percent(1 - self.confidence)} notices it in {round(100 * self.power)} of 100 such re-reads.",
        ]
        few = [row for row in self.rows if row.answers > row.available]
        lines += [
            f"! {row.dimension}: only {row.available:,} answers were rated. All of them would show an anchoring of "
            f"{shown(row.noticed)} or more."
            for row in few
        ]
        return "\n".join(
            [*(f"! {warning}" for warning in self.warnings), *lines, "", *text_table(self.shown_rows())]
        )

    def shown_rows(self) -> Sequence[Mapping[str, Printable]]:
        return [
            {
                "rater": row.rater,
                "dimension": row.dimension,
                "agreement in": row.statistic,
                "answers to re-read": row.answers,
                "answers rated": row.available,
                "noticed with all of them": row.noticed,
            }
            for row in self.rows
        ]


def plan_blinded_reread(
    table: object,
    *,
    anchoring: float = 0.1,
    power: float = 0.8,
    raters: Names | None = None,
    reference: Names | None = None,
    dimensions: Names | None = None,
    confidence: float = 0.95,
    resamples: int | None = None,
    seed: int | None = None,
) -> BlindedReread:
    """How many answers two blinded clinicians re-read, so that an `anchoring` of this size is noticed: by so much
    the first clinicians' agreement with the jury, in the study's coefficient, is above that of blinded ones.

    n = W · ((z_confidence + z_power) / anchoring)², one-sided, where W/n is the variance of the difference on n
    answers. Two clinicians a and b on the same answers tell it: with exchangeable ones, var(κ_a − κ_b) = 2(v − c),
    and the mean of two blinded less the mean of m others has (v − c)(1/2 + 1/m). A single clinician tells v alone;
    c, what the two share by rating the same answers, is then taken as 0, which asks for too many answers.
    """
    if not 0 < anchoring < 1 or not 0 < power < 1:
        raise MedjuryError(f"anchoring and power are between 0 and 1, not {anchoring} and {power}.")
    ratings = rating_table(table)
    roles = ratings.roles(raters, reference)
    if not roles.jury:
        raise MedjuryError(
            "no jury and no single judge is compared with clinicians; name whom to compare (raters=RATER)."
        )
    reach = float(special.ndtri(confidence)) + float(special.ndtri(power))
    rows = []
    for each in ratings.chosen(dimensions, derived=dimensions is not None):
        found = _spread(ratings, roles, each, ratings.resamples(resamples), ratings.seed(seed))
        if found is not None:
            spread, available, statistic = found
            rows.append(
                RereadRow(
                    roles.jury,
                    each.name,
                    statistic,
                    max(10, ceil(spread * (reach / anchoring) ** 2)),
                    available,
                    reach * sqrt(spread / available),
                )
            )
    if not rows:
        raise MedjuryError("too few answers have a clinician's score and the jury's to plan a re-read by.")
    humans = None if ratings.run.manifest is None else ratings.run.manifest.humans
    blinded = None if humans is None else humans.blinded
    return BlindedReread(tuple(rows), anchoring, power, confidence, blinded, ratings.warnings)


def _spread(
    table: RatingTable, roles: Roles, dimension: Measured, resamples: int, seed: int
) -> tuple[float, int, str] | None:
    """W, the answers that were rated, and the coefficient; None where nothing can be told."""
    grid = table.grid(dimension.name, roles)
    statistic = table.rules.statistic if dimension.grades is not None else "icc_2_1"
    scores = np.column_stack([grid.scores[roles.jury], *(grid.scores[name] for name in roles.reference)])
    if dimension.grades is not None and statistic == "kappa_quadratic":
        scores = dimension.grades.grade(scores)
    rated = ~np.isnan(scores[:, 0]) & ~np.isnan(scores[:, 1:]).all(axis=1)
    if not rated.any():
        return None
    measure = two_rater_statistics([statistic], dimension.grades)
    each = (~np.isnan(scores[rated, 1:])).sum(axis=1)

    def variance(columns: Sequence[int]) -> tuple[float, int]:
        """Of the difference of two clinicians, or of one alone, on one answer; and on how many it was found."""
        kept = ~np.isnan(scores[:, [0, *columns]]).any(axis=1)
        if kept.sum() < 10:
            return np.nan, 0
        made = replicates(
            scores[kept][:, [0, *columns]],
            combined(*(on_columns(measure, [0, 1 + place], f"{place} ") for place in range(len(columns)))),
            clusters=grid.clusters[kept],
            resamples=resamples,
            seed=seed,
            jackknife=False,
        ).resampled
        values: Floats = made[f"0 {statistic}"]
        if len(columns) > 1:
            values = values - made[f"1 {statistic}"]
        return float(np.nanvar(values)) * int(kept.sum()), int(kept.sum())

    people = range(1, scores.shape[1])
    pairs = [found for pair in combinations(people, 2) if np.isfinite((found := variance(pair))[0])]
    alone = [] if pairs else [found for one in people if np.isfinite((found := variance([one]))[0])]
    if not pairs and not alone:
        return None
    values, weights = zip(*(pairs or alone), strict=True)
    own = float(np.average(values, weights=weights)) / (2 if pairs else 1)
    return own * (1 / READERS + float(np.mean(1 / each))), int(rated.sum()), statistic
