"""Cohen's kappa, plain and weighted, on the full scale."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, Unpack, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from medjury.analysis.agreement._options import Analytic, Options, estimates
from medjury.analysis.agreement._scores import (
    Complete,
    Level,
    Scale,
    Scores,
    complete_rows,
    level_codes,
    read_pairs,
    read_scale,
    refuse_off_scale,
)
from medjury.foundation.documents import choose
from medjury.foundation.errors import MedjuryError
from medjury.statistics import SAME, Estimate, Floats, Read, Statistics

KappaWeights = Literal["none", "linear", "quadratic"]
NAMES: dict[KappaWeights, str] = {
    "none": "kappa",
    "linear": "kappa_linear",
    "quadratic": "kappa_quadratic",
}


def cohen_kappa(
    first: Scores,
    second: Scores,
    *,
    scale: Sequence[Level] | ArrayLike,
    weights: KappaWeights = "none",
    **options: Unpack[Options],
) -> Estimate:
    """Agreement of two raters beyond what their own habits would give by chance.

    κ = 1 − Σ v·p / Σ v·(row share)(column share), with v = [i ≠ j], |i − j| or (i − j)² between the levels'
    values. `scale` lists every level that could be given, used or not: with the observed levels alone, as in
    irr or scikit-learn without `labels`, a weighted kappa changes with the data.

    Cohen (1960) Educ Psychol Meas 20:37-46; Cohen (1968) Psychol Bull 70:213-220. The analytic interval is
    Fleiss, Cohen & Everitt's (1969) Psychol Bull 72:323-327; the default is a BCa bootstrap.

    >>> estimate = cohen_kappa([1, 2, 3, 3, 1], [1, 2, 3, 2, 2], scale=[1, 2, 3], weights="quadratic")
    >>> round(estimate.value, 4)
    0.6667
    """
    choose(weights, NAMES, "weighting of kappa")
    known = read_scale(scale)
    pairs = read_pairs(first, second, known)
    return kappas(pairs, known, [weights], **options)[NAMES[weights]]


def kappas(
    pairs: Complete, scale: Scale, weights: Iterable[KappaWeights], **options: Unpack[Options]
) -> dict[str, Estimate]:
    """Several kappas of the same pairs, from one joint table."""
    rows, kept, note = pairs
    chosen = list(weights)

    def analytic() -> dict[str, Analytic]:
        table = _joint_table(rows, scale)
        return {NAMES[each]: large_sample_interval(table, _disagreement(scale, each)) for each in chosen}

    return estimates(
        rows,
        kappa_statistics(scale, chosen),
        kept=kept,
        analytic=analytic,
        reason=lambda _: undefined_reason(rows),
        note=note,
        **options,
    )


def kappa_statistics(
    levels: Sequence[Level] | ArrayLike | Scale, weights: Iterable[KappaWeights]
) -> Statistics:
    """Kappas for the bootstrap engine; rows are (first, second), incomplete ones do not count."""
    scale = read_scale(levels)
    penalties = {NAMES[each]: _disagreement(scale, each) for each in weights}

    def prepare(rows: Floats) -> Read:
        refuse_off_scale(rows, scale, placed=False)
        complete = complete_rows(rows)
        first, second = (
            level_codes(scale.positions, np.where(complete, column, scale.positions[0])) for column in rows.T
        )
        size = len(scale)
        present = complete[:, np.newaxis].astype(np.float64)
        margins = np.hstack([np.eye(size)[first], np.eye(size)[second]]) * present
        paid = {name: penalty[first, second] * present[:, 0] for name, penalty in penalties.items()}
        # One product gives everything: both margins, and the disagreement paid under each weighting. Each is a row
        # of its own along the resamples: numpy is slow at many short rows.
        features = np.vstack([margins.T, *paid.values()])

        def read(counts: Floats) -> dict[str, Floats]:
            sums = features @ counts.T
            rows_total, columns_total = sums[:size], sums[size : 2 * size]
            n = rows_total.sum(axis=0)
            # A rater who always says the same has a kappa of 0 with anybody: it tells nothing, so there is none.
            varied = ((rows_total > 0).sum(axis=0) > 1) & ((columns_total > 0).sum(axis=0) > 1)
            values = {}
            for place, (name, penalty) in enumerate(penalties.items()):
                expected = ((penalty.T @ rows_total) * columns_total).sum(axis=0) / n
                values[name] = np.where(
                    varied & (expected > 0), 1.0 - sums[2 * size + place] / expected, np.nan
                )
            return values

        return read

    return prepare


def confusion_matrix(first: Scores, second: Scores, *, scale: Sequence[Level] | ArrayLike) -> Floats:
    """How often each level of one rater (rows) met each level of the other (columns), over the full scale.

    >>> confusion_matrix(["a", "b", "b"], ["a", "b", "a"], scale=["a", "b"]).tolist()
    [[1.0, 0.0], [1.0, 1.0]]
    """
    known = read_scale(scale)
    return _joint_table(read_pairs(first, second, known)[0], known)


def _joint_table(rows: Floats, scale: Scale) -> Floats:
    size = len(scale)
    first, second = (level_codes(scale.positions, column) for column in rows.T)
    return np.bincount(first * size + second, minlength=size * size).reshape(size, size).astype(np.float64)


def undefined_reason(rows: Floats) -> str:
    if not len(rows):
        return "no item was scored by both raters"
    never = [place for place, column in zip(("first", "second"), rows.T, strict=True) if np.ptp(column) == 0]
    if len(never) == 1:
        return (
            f"the {never[0]} rater gave every item the same level, so kappa would be 0 whoever the "
            f"other rater is"
        )
    return "both raters gave every item the same level, so chance agreement is already complete"


def large_sample_interval(table: Floats, disagreement: Floats) -> Analytic:
    """κ ± z·SE with the standard error of Fleiss, Cohen & Everitt (1969), for any weights; none where that
    error is 0, as at perfect agreement, since no width would be certainty."""

    def ends(kappa: float, confidence: float) -> tuple[float, float, str] | None:
        n = table.sum()
        share = table / n
        credit = 1.0 - disagreement / disagreement.max()
        by_row, by_column = share.sum(axis=1), share.sum(axis=0)
        expected = float(by_row @ credit @ by_column)
        habit = (credit @ by_column)[:, np.newaxis] + (by_row @ credit)[np.newaxis, :]
        spread = float((share * (credit - habit * (1.0 - kappa)) ** 2).sum())
        left = spread - (kappa - expected * (1.0 - kappa)) ** 2
        if left <= SAME:
            return None
        half = float(special.ndtri(0.5 + confidence / 2.0)) * float(np.sqrt(left / n)) / (1.0 - expected)
        return max(kappa - half, -1.0), min(kappa + half, 1.0), "large-sample (Fleiss, Cohen & Everitt 1969)"

    return ends


def _disagreement(scale: Scale, weights: KappaWeights) -> Floats:
    name = "identity" if weights == "none" else weights
    return np.asarray(1.0 - agreement_weights(scale.positions, name))


# Agreement weights: how much credit a pair of levels gets, 1 on the diagonal and less with distance.
#
# Gwet (2014), Handbook of Inter-Rater Reliability, 4th ed., table 2.11 and chapter 3, with the distances taken
# between the levels' own values, so that a scale 0, 1, 3 is not treated as 0, 1, 2.


WeightName = Literal["identity", "linear", "quadratic", "ordinal", "radical", "ratio", "circular", "bipolar"]


def agreement_weights(positions: Floats, name: WeightName) -> Floats:
    """The matrix of weights for a scale, by name.

    >>> agreement_weights(np.array([1.0, 2.0, 3.0]), "quadratic").tolist()
    [[1.0, 0.75, 0.0], [0.75, 1.0, 0.75], [0.0, 0.75, 1.0]]
    """
    choose(name, get_args(WeightName), "weighting")
    size = len(positions)
    first, second = positions[:, np.newaxis], positions[np.newaxis, :]
    low, high = float(positions.min()), float(positions.max())
    distance = np.abs(first - second)
    if name == "identity":
        return np.eye(size)
    if name == "linear":
        return np.asarray(1.0 - distance / (high - low))
    if name == "quadratic":
        return np.asarray(1.0 - (distance / (high - low)) ** 2)
    if name == "radical":
        return 1.0 - np.sqrt(distance / (high - low))
    if name == "ordinal":
        # The number of pairs of levels that lie between the two, both included.
        between = np.abs(np.subtract.outer(np.arange(size), np.arange(size))) + 1.0
        pairs = between * (between - 1.0) / 2.0
        return np.asarray(1.0 - pairs / pairs.max())
    if name == "ratio":
        if low < 0 or high + low == 0:
            raise MedjuryError("Ratio weights need a scale without negative levels.")
        total = first + second
        relative = np.divide(distance, total, out=np.zeros_like(distance), where=total > 0) ** 2
        return 1.0 - relative / ((high - low) / (high + low)) ** 2
    if name == "circular":
        sines = np.sin(np.pi * distance / (high - low + 1.0)) ** 2
        return np.asarray(1.0 - sines / sines.max())
    # Bipolar: the same distance weighs more towards the ends of the scale.
    total = first + second
    room = (total - 2.0 * low) * (2.0 * high - total)
    polar = np.divide(distance**2, room, out=np.zeros_like(distance), where=distance > 0)
    return np.asarray(1.0 - polar / polar.max())
