"""Is a jury worth more than its best judge? Its effective votes, the jury beside its best judge, and copies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from medjury.analysis.agreement._pair_statistics import two_rater_statistics
from medjury.foundation.errors import MedjuryError
from medjury.statistics import (
    Estimate,
    Floats,
    Printable,
    Read,
    Replicates,
    Result,
    Statistics,
    combined,
    ends,
    on_columns,
    replicates,
    shown,
)
from medjury.tables import Measured, Names, RatingTable, Roles, rating_table

ERRORS = "icc_of_errors"
# Judges are copies where they give the same score this often, or err alike beyond this correlation; and where the
# lower end of that correlation's interval is above the third number.
COPY_SHARE, COPY_CORRELATION, _COPY_SURE = 0.95, 0.95, 0.9
# Two who are nearly always right say the same, too: copies say the same more often than either is right, by this.
_APART = 0.05
# What a clinician's own level is, is estimated from this many answers that a colleague rated too.
_FEWEST_FOR_LEVEL = 10
_FEWEST_FOR_COPIES = 20


@dataclass(frozen=True, slots=True)
class JuryWorthRow:
    """One jury on one dimension. `correlation` is that of its judges' errors, `votes` = K/(1 + (K − 1)·correlation)
    how many judges with unrelated errors would do as well, at most K. `corrected`: the clinicians' own noise, which
    all errors share, is taken out; without it `votes` is too low. `difference` is the jury's agreement less that of
    the `best` judge, each with the clinicians' consensus; its interval holds whichever judge is truly the best.
    `copies` are groups of judges that repeat one another."""

    jury: str
    dimension: str
    jurors: tuple[str, ...]
    n: int
    correlation: Estimate
    votes: Estimate
    corrected: bool
    statistic: str
    best: str
    jury_agreement: Estimate
    best_agreement: Estimate
    difference: Estimate
    copies: tuple[tuple[str, ...], ...]

    @property
    def better(self) -> bool | None:
        """True or False where the jury is shown to agree more, or less, than its best judge; None where neither."""
        low, high = self.difference.low, self.difference.high
        return True if low is not None and low > 0 else False if high is not None and high < 0 else None

    def as_dict(self) -> dict[str, Any]:
        return {
            "jury": self.jury,
            "dimension": self.dimension,
            "judges": len(self.jurors),
            "n": self.n,
            **ends(self.votes, "effective_votes"),
            **ends(self.correlation, "error_correlation"),
            "corrected": self.corrected,
            "statistic": self.statistic,
            **ends(self.jury_agreement, "jury"),
            "best": self.best,
            **ends(self.best_agreement, "best_judge"),
            **ends(self.difference, "difference"),
            "copies": "; ".join(" = ".join(group) for group in self.copies),
        }


@dataclass(frozen=True, slots=True)
class JuryWorth(Result[JuryWorthRow]):
    """What every jury is worth beside its best judge, dimension by dimension."""

    rows: tuple[JuryWorthRow, ...]
    warnings: tuple[str, ...] = ()

    def shown_rows(self) -> Sequence[Mapping[str, Printable]]:
        return [
            {
                "jury": row.jury,
                "dimension": row.dimension,
                "judges": len(row.jurors),
                "n": row.n,
                "effective votes": _with_ends(row.votes),
                "jury agrees": _with_ends(row.jury_agreement),
                "best judge": row.best,
                "it agrees": _with_ends(row.best_agreement),
                "difference": _with_ends(row.difference),
                "copies": "; ".join(" = ".join(group) for group in row.copies),
            }
            for row in self.rows
        ]


def jury_worth(
    table: object,
    *,
    raters: Names | None = None,
    reference: Names | None = None,
    dimensions: Names | None = None,
    confidence: float = 0.95,
    resamples: int | None = None,
    seed: int | None = None,
) -> JuryWorth:
    """How many effective votes each jury of two or more judges has, whether it agrees with clinicians more than its
    best judge, and which judges are copies of one another.

    A judge's error is its score less the mean of the clinicians. With the covariance Σ of the errors of K judges,
    the mean of K is as good as K_eff = (tr Σ/K) / (1'Σ1/K²) = K/(1 + (K − 1)·r) judges with unrelated errors, where
    r is the mean covariance over the mean variance (Clemen & Winkler 1985, Oper Res 33:427-442). The clinicians'
    own noise is in every judge's error and makes errors look alike. Where two or more clinicians rated an answer,
    its variance is known from their differences (each one's own level taken out), and is taken from every entry of
    Σ. Votes above K, errors that cancel, are given as K.

    The best judge is chosen on the very answers on which it is compared, which flatters it. So the interval of the
    difference is that of the least over all judges k of (jury − k): its low end is the least of their low ends (an
    intersection-union bound, Berger 1982, Technometrics 24:295-300), its high end the least of their high ends at
    1 − α/K (Bonferroni). Answers count that the clinicians, the jury and every one of its judges scored; whole
    patients, else cases, are resampled.

    >>> import polars as pl
    >>> truth = [1 + i % 5 for i in range(40)]
    >>> scores = {"clinician": truth, "one": [min(t + (i % 3 == 0), 5) for i, t in enumerate(truth)]}
    >>> scores["two"] = scores["one"]
    >>> rows = [(str(i), who, "accuracy", s) for who, all in scores.items() for i, s in enumerate(all)]
    >>> frame = pl.DataFrame(rows, schema=["item", "rater", "dimension", "score"], orient="row")
    >>> found = jury_worth(
    ...     rating_table(frame, scale=(1, 5), jury="mean"), reference="clinician", resamples=200
    ... )
    >>> found.rows[0].votes.value, found.rows[0].copies
    (1.0, (('one', 'two'),))
    """
    ratings = rating_table(table)
    roles = ratings.roles(raters, reference)
    made = [
        row
        for each in ratings.chosen(dimensions, derived=dimensions is not None)
        for jury, members in _juries(ratings, roles).items()
        if (
            row := _row(
                ratings,
                roles,
                jury,
                [name for name in members if name in ratings.seats.get(each.name, ())],
                each,
                (confidence, ratings.resamples(resamples), ratings.seed(seed)),
            )
        )
        is not None
    ]
    if not made:
        raise MedjuryError(
            "no jury of two or more judges shares answers with the clinicians, so its worth is not known."
        )
    return JuryWorth(tuple(made), ratings.warnings)


def _juries(table: RatingTable, roles: Roles) -> dict[str, tuple[str, ...]]:
    """Each jury and its judges; judges who stand side by side are none."""
    if roles.jurors:
        return {roles.jury: roles.jurors}
    juries = [name for name in roles.on_trial if table.raters.get(name) == "jury"]
    return {name: table.members_of(name) or table.judges for name in juries}


def _row(
    table: RatingTable,
    roles: Roles,
    jury: str,
    jurors: Sequence[str],
    dimension: Measured,
    options: tuple[float, int, int],
) -> JuryWorthRow | None:
    if len(jurors) < 2:
        return None
    grid = table.grid(dimension.name, roles)
    said = np.column_stack([grid.scores[name] for name in jurors])
    together = grid.scores[jury]
    consensus = table.reference_scores(grid, roles.reference)
    people = np.column_stack([grid.scores[name] for name in roles.reference])
    kept = (
        ~np.isnan(said).any(axis=1)
        & ~np.isnan(together)
        & ~np.isnan(consensus)
        & ~np.isnan(people).all(axis=1)
    )
    if not kept.any():
        return None
    said, together, consensus, people = (each[kept] for each in (said, together, consensus, people))
    clusters = grid.clusters[kept]
    confidence, resamples, seed = options
    noise, corrected = _noise(people)
    # Means differ in the sixteenth digit by the order in which they are added up.
    rows = np.round(np.column_stack([said - noise[:, :1], noise[:, 1:]]), 9)
    errors = replicates(
        rows, error_statistics(len(jurors), corrected), clusters=clusters, resamples=resamples, seed=seed
    )
    why = "the judges' errors are no larger than the clinicians' own noise" if corrected else "no judge errs"
    correlation = errors.estimate(ERRORS, confidence=confidence, reason=why)
    statistic = table.rules.statistic if dimension.grades is not None else "icc_2_1"
    scores = np.column_stack([together, said, consensus])
    if dimension.grades is not None and statistic == "kappa_quadratic":
        scores = dimension.grades.grade(scores)
    measure = two_rater_statistics([statistic], dimension.grades)
    places = range(len(jurors))
    columns = {"jury": 0} | {f"{place}": 1 + place for place in places}
    found = replicates(
        scores,
        combined(*(on_columns(measure, [at, len(jurors) + 1], f"{name} ") for name, at in columns.items())),
        clusters=clusters,
        resamples=resamples,
        seed=seed,
    )
    agreed = [found.observed[f"{place} {statistic}"] for place in places]
    best = int(np.argmax(np.where(np.isfinite(agreed), agreed, -np.inf)))
    return JuryWorthRow(
        jury,
        dimension.name,
        tuple(jurors),
        len(said),
        correlation,
        _votes(correlation, len(jurors)),
        corrected,
        statistic,
        jurors[best],
        found.estimate(f"jury {statistic}", confidence=confidence),
        found.estimate(f"{best} {statistic}", confidence=confidence),
        _from_the_best(found, statistic, best, len(jurors), confidence),
        _copies(dimension, jurors, said, consensus, errors if corrected else None),
    )


def error_statistics(judges: int, corrected: bool) -> Statistics:
    """The correlation of errors, of all judges and of every two, for the bootstrap engine. Rows are the judges'
    errors, then of the clinicians on the answer: the squared deviations from their mean, the degrees of freedom of
    these, and one over their number."""
    pairs = list(combinations(range(judges), 2))

    def prepare(rows: Floats) -> Read:
        errors = rows[:, :judges]
        products = np.column_stack([errors**2, *(errors[:, one] * errors[:, two] for one, two in pairs)])
        squares, freedom, share = rows[:, judges:].T

        def read(weights: Floats) -> dict[str, Floats]:
            n = weights.sum(axis=-1)
            means = weights @ errors / n[:, np.newaxis]
            own = np.column_stack([means**2, *(means[:, one] * means[:, two] for one, two in pairs)])
            found = (weights @ products / n[:, np.newaxis] - own) * (n / (n - 1.0))[:, np.newaxis]
            if corrected:
                found = (
                    found - ((weights @ squares) / (weights @ freedom) * (weights @ share) / n)[:, np.newaxis]
                )
            variances, shared = found[:, :judges], found[:, judges:]
            spread = variances.mean(axis=1)
            values = {ERRORS: np.where(spread > 1e-9, shared.mean(axis=1) / spread, np.nan)}
            for place, (one, two) in enumerate(pairs):
                both = np.minimum(variances[:, one], variances[:, two])
                size = np.sqrt(np.maximum(variances[:, one] * variances[:, two], 0.0))
                values[f"{one},{two} pearson"] = np.where(both > 1e-9, shared[:, place] / size, np.nan)
            return values

        return read

    return prepare


def _noise(people: Floats) -> tuple[Floats, bool]:
    """Of every answer the mean of its clinicians, each one's own level taken out where it is known; what tells
    their noise (see `error_statistics`); and whether that can be told at all."""
    known = ~np.isnan(people)
    counts = known.sum(axis=1)
    several = counts > 1
    steady = (known & several[:, np.newaxis]).sum(axis=0) >= _FEWEST_FOR_LEVEL
    scores = np.where(known, people, 0.0)
    means = scores.sum(axis=1) / counts
    own = np.where(known, people - means[:, np.newaxis], 0.0)[several][:, steady]
    seen = known[several][:, steady].astype(np.float64)
    # Least squares of level and answer together: x = answer + level + noise.
    normal = np.diag(seen.sum(axis=0)) - (seen / counts[several][:, np.newaxis]).T @ seen
    sizes, vectors = np.linalg.eigh(normal)
    told = sizes > 1e-6  # the mean of all levels cannot be told from the answers'; rounding leaves it near 0
    levels = np.zeros(people.shape[1])
    levels[steady] = vectors[:, told] @ ((vectors[:, told].T @ own.sum(axis=0)) / sizes[told])
    scores = np.where(known, scores - levels, 0.0)
    means = scores.sum(axis=1) / counts
    squares = np.where(known, (scores - means[:, np.newaxis]) ** 2, 0.0).sum(axis=1)
    freedom = (counts - 1).astype(np.float64)
    left = freedom.sum() - told.sum()
    if left < _FEWEST_FOR_LEVEL:
        return np.column_stack([np.nanmean(people, axis=1), squares, freedom, 1.0 / counts]), False
    return np.column_stack([means, squares, freedom * (left / freedom.sum()), 1.0 / counts]), True


def _votes(correlation: Estimate, judges: int) -> Estimate:
    def votes(r: float | None) -> float | None:
        return None if r is None else judges / (1.0 + (judges - 1) * min(max(r, 0.0), 1.0))

    return replace(
        correlation, value=votes(correlation.value), low=votes(correlation.high), high=votes(correlation.low)
    )


def _from_the_best(found: Replicates, statistic: str, best: int, judges: int, confidence: float) -> Estimate:
    """Jury less the best judge, with an interval that holds although the best was found on these answers."""
    names = [
        f"{place} {statistic}"
        for place in range(judges)
        if np.isfinite(found.observed[f"{place} {statistic}"])
    ]
    first = f"jury {statistic}"
    value = found.difference(first, f"{best} {statistic}", confidence=confidence)
    lows = [found.difference(first, name, confidence=confidence).low for name in names]
    wide = 1.0 - (1.0 - confidence) / judges
    highs = [found.difference(first, name, confidence=wide).high for name in names]
    if value.low is None or None in lows or None in highs:
        return replace(value, low=None, high=None)
    return replace(
        value,
        low=min(each for each in lows if each is not None),
        high=min(each for each in highs if each is not None),
        method=f"{value.method}, least over {judges} judges",
    )


def _copies(
    dimension: Measured,
    jurors: Sequence[str],
    said: Floats,
    consensus: Floats,
    errors: Replicates | None,
) -> tuple[tuple[str, ...], ...]:
    """Groups of judges that repeat one another, where the clinicians' grades vary."""
    if len(said) < _FEWEST_FOR_COPIES:
        return ()
    graded = said if dimension.grades is None else dimension.grades.grade(said)
    truth = consensus if dimension.grades is None else dimension.grades.grade(consensus)
    if np.unique(truth, return_counts=True)[1].max() >= COPY_SHARE * len(truth):
        return ()
    right = (np.abs(graded - truth[:, np.newaxis]) < 1e-9).mean(axis=0)
    alike: dict[int, set[int]] = {place: {place} for place in range(len(jurors))}
    for one, two in combinations(range(len(jurors)), 2):
        same = float((np.abs(said[:, one] - said[:, two]) < 1e-9).mean())
        copied = same >= COPY_SHARE and same >= max(right[one], right[two]) + _APART
        if not copied and errors is not None:
            found = errors.estimate(f"{one},{two} pearson")
            copied = (
                found.value is not None
                and found.low is not None
                and found.value > COPY_CORRELATION
                and found.low > _COPY_SURE
            )
        if copied:
            group = alike[one] | alike[two]
            for place in group:
                alike[place] = group
    groups = {tuple(sorted(group)) for group in alike.values() if len(group) > 1}
    return tuple(tuple(jurors[place] for place in group) for group in sorted(groups))


def _with_ends(found: Estimate) -> str:
    if found.value is None:
        return found.reason or ""
    return shown(found.value) + ("" if found.low is None else f" ({shown(found.low)} to {shown(found.high)})")
