"""Agreement of many raters corrected for chance: Gwet, Fleiss, Conger, Brennan-Prediger.

All are (p_a − p_e)/(1 − p_e) with one observed agreement p_a and different ideas of chance p_e. Missing cells
are allowed: an item with one score still tells how often a level is used, an item with none is left out.
Gwet (2014), Handbook of Inter-Rater Reliability, 4th ed., chapters 2-5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Unpack, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from medjury.analysis.agreement._kappa import WeightName, agreement_weights
from medjury.analysis.agreement._options import Analytic, Options, estimates
from medjury.analysis.agreement._scores import (
    Level,
    Scale,
    Scores,
    level_codes,
    read_scale,
    read_scores,
    refuse_off_scale,
)
from medjury.statistics import Estimate, Floats, Read, Statistics, fewest_items

# Gwet's standard errors: each coefficient as a mean of one number per item, and the spread of those numbers.
#
# Gwet (2014), Handbook of Inter-Rater Reliability, 4th ed., chapter 5: the coefficient is linearised in the
# items' contributions to observed and chance agreement, with infinitely many items and these raters.
#
# As published, an item scored once contributes zero to the observed agreement and is then compared with the
# coefficient, which adds spread that is not there: with such items the standard error is too large. We give
# Gwet's number and, beside it, the same linearisation with p_a taken as the ratio it is; without such items the
# two are one.


@dataclass(frozen=True, slots=True)
class ChanceCorrected:
    """(observed − chance)/(1 − chance) over `n` items; None where undefined.

    `standard_error` is Gwet's, `ratio_error` the one that items scored once do not inflate.
    """

    value: float | None
    standard_error: float | None
    observed: float | None
    chance: float | None
    n: int
    ratio_error: float | None = None


def linearised(table: Floats, scale: Scale, credit: Floats) -> dict[str, ChanceCorrected]:
    """All four coefficients of a table of items by raters in which every item has a score."""
    present = ~np.isnan(table)
    codes = level_codes(scale.positions, np.where(present, table, scale.positions[0]))
    given = np.eye(len(scale))[codes] * present[:, :, np.newaxis]
    counts = given.sum(axis=1)
    rated = counts.sum(axis=1)
    n, size = len(table), len(scale)
    several = rated > 1
    nothing = ChanceCorrected(None, None, None, None, n)
    if not several.any():
        return dict.fromkeys(get_args(Coefficient), nothing)
    agreeing = (counts * (counts @ credit - 1.0)).sum(axis=1)
    agreement = np.where(several, agreeing / np.where(several, rated * (rated - 1.0), 1.0), 0.0)
    share = counts / rated[:, np.newaxis]
    pooled = share.mean(axis=0)
    spread = credit.sum() / (size * (size - 1.0))
    chance = {
        "gwet": (float(spread * (pooled * (1.0 - pooled)).sum()), spread * share @ (1.0 - pooled)),
        "fleiss": (float(pooled @ credit @ pooled), share @ credit @ pooled),
        "conger": _conger(given, credit),
        "brennan_prediger": (float(credit.sum() / size**2), np.full(n, credit.sum() / size**2)),
    }
    found = {}
    for name, (expected, by_item) in chance.items():
        if not expected < 1.0 - 1e-12:
            found[name] = nothing
            continue
        observed = float(agreement[several].mean())
        value = (observed - expected) / (1.0 - expected)
        share_paired = float(several.mean())
        by_chance = 2.0 * (1.0 - value) * (by_item - expected) / (1.0 - expected)
        published = (agreement - expected * several) / share_paired / (1.0 - expected) - by_chance - value
        ratio = (agreement - observed * several) / share_paired / (1.0 - expected) - by_chance
        errors = _standard_error(published), _standard_error(ratio)
        found[name] = ChanceCorrected(value, errors[0], observed, expected, n, errors[1])
    return found


def _conger(given: Floats, credit: Floats) -> tuple[float, Floats]:
    """Chance agreement of two different raters, and each item's part in it."""
    n, raters, _ = given.shape
    if raters < 2:
        return float("nan"), np.zeros(n)
    scored = given.sum(axis=2)
    per_rater = scored.sum(axis=0)
    habits = given.sum(axis=0) / per_rater[:, np.newaxis]
    together = habits.sum(axis=0)
    own = ((habits @ credit) * habits).sum()
    expected = float(together @ credit @ together - own) / (raters * (raters - 1.0))
    # Each item moves a rater's shares by its own level, less what its being scored adds below.
    moved = given - (scored - per_rater / n)[:, :, np.newaxis] * habits
    felt = (moved @ credit) * (n / per_rater)[:, np.newaxis] * (together - habits)
    return expected, felt.sum(axis=(1, 2)) / (raters * (raters - 1.0))


def _standard_error(deviations: Floats) -> float | None:
    n = len(deviations)
    return None if n < 2 else float(np.sqrt((deviations**2).sum() / (n * (n - 1.0))))


Coefficient = Literal["gwet", "fleiss", "conger", "brennan_prediger"]
# 1 − p_e closer to zero than this is zero: chance agreement is complete.
NO_ROOM = 1e-12
# Its interval needs more items than those of the others.
QUADRATIC = "gwet_ac2_quadratic"


def gwet_ac(
    scores: Scores,
    *,
    scale: Sequence[Level] | ArrayLike,
    weights: WeightName = "identity",
    **options: Unpack[Options],
) -> Estimate:
    """Gwet's AC1 (identity weights) or AC2: chance is raters guessing where they do not know.

    p_e = (Σ w)/(q(q − 1)) · Σ π(1 − π), π the mean share of each of the q levels. Unlike kappa it stays high
    where nearly all items are of one level. Gwet (2008) Br J Math Stat Psychol 61:29-48; Gwet (2014).

    The default interval is the bootstrap. interval="gwet" is his: Student's t on n − 1 degrees, symmetric, cut at
    1, as in irrCAC. With 40 items it covers 90 to 93 % instead of 95, and it is too wide where items were scored
    once. "analytic" takes t on the scale of log(1 − AC); with weights and grades that pile up at one end it covers
    87 to 94 %.

    >>> table = [[1, 1], [2, 2], [3, 3], [3, 2], [None, 1]]
    >>> round(gwet_ac(table, scale=[1, 2, 3], weights="quadratic").value, 3)
    0.816
    """
    return _coefficient("gwet", scores, scale, weights, **options)


def fleiss_kappa(
    scores: Scores,
    *,
    scale: Sequence[Level] | ArrayLike,
    weights: WeightName = "identity",
    **options: Unpack[Options],
) -> Estimate:
    """Fleiss' kappa: chance is two raters drawing levels from the pooled shares, p_e = Σ w π π'.

    For two raters this is Scott's pi. Fleiss (1971) Psychol Bull 76:378-382.

    >>> round(fleiss_kappa([[1, 1], [2, 2], [1, 2], [2, 2]], scale=[1, 2]).value, 3)
    0.467
    """
    return _coefficient("fleiss", scores, scale, weights, **options)


def conger_kappa(
    scores: Scores,
    *,
    scale: Sequence[Level] | ArrayLike,
    weights: WeightName = "identity",
    **options: Unpack[Options],
) -> Estimate:
    """Conger's kappa: chance is two different raters, each drawing from his or her own shares.

    For two raters this is Cohen's kappa. Conger (1980) Psychol Bull 88:322-328.

    >>> round(conger_kappa([[1, 1], [2, 2], [1, 2], [2, 2]], scale=[1, 2]).value, 3)
    0.5
    """
    return _coefficient("conger", scores, scale, weights, **options)


def brennan_prediger(
    scores: Scores,
    *,
    scale: Sequence[Level] | ArrayLike,
    weights: WeightName = "identity",
    **options: Unpack[Options],
) -> Estimate:
    """Brennan & Prediger's coefficient: chance is every level equally likely, p_e = Σ w / q².

    Brennan & Prediger (1981) Educ Psychol Meas 41:687-699.

    >>> brennan_prediger([[1, 1], [2, 2], [1, 2], [2, 2]], scale=[1, 2]).value
    0.5
    """
    return _coefficient("brennan_prediger", scores, scale, weights, **options)


def chance_statistics(
    levels: Sequence[Level] | ArrayLike | Scale,
    weights: WeightName,
    names: Sequence[Coefficient] = get_args(Coefficient),
) -> Statistics:
    """The coefficients for the bootstrap engine; rows are items by raters, NaN where missing."""
    scale = read_scale(levels)
    credit = agreement_weights(scale.positions, weights)

    def prepare(rows: Floats) -> Read:
        refuse_off_scale(rows, scale, placed=False)
        size, raters = len(scale), rows.shape[1]
        present = ~np.isnan(rows)
        codes = level_codes(scale.positions, np.where(present, rows, scale.positions[0]))
        given = np.eye(size)[codes] * present[:, :, np.newaxis]
        counts = given.sum(axis=1)
        rated = counts.sum(axis=1)
        agreeing = (counts * (counts @ credit - 1.0)).sum(axis=1)
        pairs = np.where(rated > 1, rated * (rated - 1.0), 1.0)
        share = counts / np.where(rated > 0, rated, 1.0)[:, np.newaxis]
        common = np.column_stack([rated > 0, rated > 1, np.where(rated > 1, agreeing / pairs, 0.0), share])
        by_rater = given.reshape(len(rows), raters * size)

        def read(drawn: Floats) -> dict[str, Floats]:
            sums = drawn @ common
            n, paired = sums[..., 0], np.where(sums[..., 1] > 0, sums[..., 1], np.nan)
            observed = sums[..., 2] / paired
            pooled = sums[..., 3:] / n[..., np.newaxis]
            values: dict[str, Floats] = {}
            for name in names:
                if name == "gwet":
                    chance = credit.sum() * (pooled * (1.0 - pooled)).sum(axis=-1) / (size * (size - 1))
                elif name == "fleiss":
                    chance = ((pooled @ credit) * pooled).sum(axis=-1)
                elif name == "brennan_prediger":
                    chance = np.full_like(observed, credit.sum() / size**2)
                else:
                    chance = _conger_chance((drawn @ by_rater).reshape(len(drawn), raters, size), credit)
                room = 1.0 - chance
                values[name] = (observed - chance) / np.where(room > NO_ROOM, room, np.nan)
            return values

        return read

    return prepare


def _conger_chance(given: Floats, credit: Floats) -> Floats:
    habits = given / given.sum(axis=-1, keepdims=True)
    raters = habits.shape[-2]
    together = habits.sum(axis=-2)
    everyone = ((together @ credit) * together).sum(axis=-1)
    oneself = ((habits @ credit) * habits).sum(axis=(-2, -1))
    return np.asarray((everyone - oneself) / (raters * (raters - 1.0)))


def _coefficient(
    name: Coefficient,
    scores: Scores,
    scale: Sequence[Level] | ArrayLike,
    weights: WeightName,
    **options: Unpack[Options],
) -> Estimate:
    known = read_scale(scale)
    full = read_scores(scores, known, 2)
    table, kept, note = _rated(full)

    def analytic() -> dict[str, Analytic]:
        details = linearised(table, known, agreement_weights(known.positions, weights))
        if options.get("interval") == "gwet":
            return {name: _student(details[name])}
        return {name: _log_student(details[name], QUADRATIC if weights == "quadratic" else name)}

    return estimates(
        # Only Conger asks who gave a score; for the others sorted rows leave fewer distinct ones to resample.
        table if name == "conger" else np.sort(table, axis=1),
        chance_statistics(known, weights, [name]),
        kept=kept,
        analytic=analytic,
        reason=lambda _: _reason(table),
        note=note,
        known_as={name: QUADRATIC} if name == "gwet" and weights == "quadratic" else None,
        **options,
    )[name]


def _rated(table: Floats) -> tuple[Floats, np.ndarray[tuple[int], np.dtype[np.bool_]], str]:
    """The items with a score and the raters with one, and a note on the items without."""
    kept = np.asarray((~np.isnan(table)).any(axis=1))
    lost = int(np.count_nonzero(~kept))
    rows = table[kept]
    rows = rows[:, (~np.isnan(rows)).any(axis=0)] if rows.size else rows
    return rows, kept, f"; {lost} of {len(table)} items without a score left out" if lost else ""


def _student(found: ChanceCorrected) -> Analytic:
    """Gwet's symmetric interval, cut at 1."""

    def ends(value: float, confidence: float) -> tuple[float, float, str] | None:
        if not found.standard_error:
            return None
        half = float(special.stdtrit(found.n - 1, 0.5 + confidence / 2.0)) * found.standard_error
        return value - half, min(value + half, 1.0), "Student t (Gwet 2014)"

    return ends


def _log_student(found: ChanceCorrected, name: str) -> Analytic:
    """Student's t for log(1 − coefficient), where the distribution is nearer to symmetric."""

    def ends(value: float, confidence: float) -> tuple[float, float, str] | None:
        if not found.ratio_error or not value < 1.0 or found.n < fewest_items(name):
            return None
        room = 1.0 - value
        factor = float(
            np.exp(special.stdtrit(found.n - 1, 0.5 + confidence / 2.0) * found.ratio_error / room)
        )
        return 1.0 - room * factor, 1.0 - room / factor, "Student t of log(1 − coefficient)"

    return ends


def _reason(table: Floats) -> str:
    if not table.size or not ((~np.isnan(table)).sum(axis=1) >= 2).any():
        return "no item was scored by two raters"
    return "chance agreement is already complete: every score is the same"
