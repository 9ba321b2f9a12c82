"""A jury that only recognises good and bad systems says nothing about an answer."""

from __future__ import annotations

import numpy as np

from medjury.agreement import no_disagreement
from medjury.statistics import Floats, Read, Replicates, by_last_column, percent, replicates, shown
from medjury.tables import Measured
from medjury.validation._evidence import Evidence
from medjury.validation._rules.found import Lines, RuleFound, does_not_apply, found
from medjury.validation._trial import Trial

NAME = "The jury tells answers of one system apart"
LINES = Lines(
    "The jury sees which answers of the same system are good, and not only which system is.",
    "Pearson correlation with the clinicians' mean, both centred within systems; and the plain correlation minus "
    "that of the system means alone (adjusted R); one-sided cluster bootstrap.",
    "Improve prompt, judges or instrument on development cases, then test on new cases.",
)
DOUBT = LINES.asking("Have clinicians rate more cases: the interval is too wide to be sure.")


def within_systems(evidence: Evidence, dimension: Measured) -> tuple[RuleFound, ...]:
    trial, floor = evidence.trial(dimension), evidence.rules.within_floor
    asked = f"correlation with clinicians within systems of {floor:g} or more"
    systems = len(set(trial.grid.systems[trial.compared].tolist()))
    if systems < 2:
        said = "the answers are all of one system" if systems else "nothing to compare"
        return (does_not_apply(NAME, asked, said, lines=LINES),)
    made, level = _resampled(trial), 2 * evidence.confidence - 1
    reason = "clinicians gave every answer of a system the same score"
    inside = made.estimate("within", confidence=level, reason=reason, statistic="pearson")
    alike = no_disagreement(
        np.column_stack([trial.reference, trial.said])[trial.both],
        trial.grid.clusters[trial.both],
        groups=trial.grid.systems[trial.both],
    )
    if alike is not None:
        inside = alike.ends(inside, 1 - evidence.confidence)
    gain = made.difference("whole", "means", confidence=level)
    value, low, least = inside.value, inside.low, gain.low
    sure = None if low is None or least is None else low >= floor and least > 0
    return (
        found(
            NAME,
            asked,
            shown(value) if value is not None else shown(inside),
            None if value is None else value >= floor,
            essential=True,
            why="Clinicians gave every answer of a system the same score: nobody knows whether the jury sees more."
            if value is None
            else f"Among answers of the same system the jury hardly agrees with clinicians (correlation "
            f"{shown(value)}; {floor:g} is needed): it recognises systems, not answers.",
            numbers=f"correlation within systems {_low(value)}, {floor:g} needed",
            lines=LINES,
        ),
        found(
            "and does so better than the systems' means would, beyond doubt",
            f"one-sided {percent(evidence.confidence)}: within systems {floor:g} or more, and on the whole above a "
            "rater who knows only each system's mean",
            f"within systems at least {_low(low)}; jury {_low(made.observed['whole'])}, system means alone "
            f"{_low(made.observed['means'])}, difference at least {_low(least)}",
            sure,
            essential=False,
            why="It is not shown that the jury sees more than which system wrote the answer."
            if value is not None and value >= floor
            else "",
            numbers=f"correlation within systems at worst {_low(low)}, {floor:g} needed"
            if low is None or low < floor
            else f"at worst {_low(least)} above the systems' means, more than 0 needed",
            lines=DOUBT,
        ),
    )


def _low(value: float | None) -> str:
    return "not known" if value is None or not np.isfinite(value) else shown(float(value))


def _resampled(trial: Trial) -> Replicates:
    system = np.unique(trial.grid.systems[trial.compared], return_inverse=True)[1]
    rows = np.column_stack([trial.reference[trial.compared], trial.said[trial.compared], system])
    weights = trial.of(trial.compared)
    return replicates(
        rows if weights is None else np.column_stack([rows, weights]),
        _correlations if weights is None else by_last_column(_correlations),
        clusters=trial.grid.clusters[trial.compared],
        resamples=trial.resamples,
        seed=trial.seed,
    )


def _correlations(rows: Floats) -> Read:
    """`within`: pooled correlation of reference and rater about their system means; 0 for a rater that has one
    score for a system. `whole`: the plain correlation. `means`: that of the reference with its own system means,
    adjusted for their number."""
    x, y = (rows[:, column] - rows[:, column].mean() for column in (0, 1))
    inside = np.eye(int(rows[:, 2].max()) + 1)[rows[:, 2].astype(np.int64)]
    parts = [inside * each[:, np.newaxis] for each in (x, y, x * x, y * y, x * y)]

    def read(weights: Floats) -> dict[str, Floats]:
        n = weights @ inside
        sum_x, sum_y, xx, yy, xy = (weights @ each for each in parts)
        size = np.where(n > 0, n, 1.0)

        def centred(product: Floats, first: Floats, second: Floats) -> Floats:
            return np.asarray((product - first * second / size).sum(axis=1))

        within = [centred(xx, sum_x, sum_x), centred(yy, sum_y, sum_y), centred(xy, sum_x, sum_y)]
        total = n.sum(axis=1)
        whole = [
            product.sum(axis=1) - first.sum(axis=1) * second.sum(axis=1) / total
            for product, first, second in ((xx, sum_x, sum_x), (yy, sum_y, sum_y), (xy, sum_x, sum_y))
        ]
        spare = total - (n > 0).sum(axis=1)
        unexplained = within[0] / whole[0] * (total - 1.0) / np.where(spare > 0, spare, np.nan)
        return {
            "within": _correlation(*within),
            "whole": _correlation(*whole),
            "means": np.sqrt(np.clip(1.0 - unexplained, 0.0, 1.0)),
        }

    return read


def _correlation(first: Floats, second: Floats, both: Floats) -> Floats:
    exists, varies = first > 1e-9, second > 1e-9
    root = np.sqrt(np.where(exists & varies, first * second, 1.0))
    return np.where(exists, np.where(varies, both / root, 0.0), np.nan)
