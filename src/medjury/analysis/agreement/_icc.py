"""Intraclass correlation: the share of the scores' variance that belongs to the items, in six forms."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal, Unpack, get_args

import numpy as np
from scipy import special

from medjury.analysis.agreement._options import Analytic, Options, estimates
from medjury.analysis.agreement._scores import Scores, complete_rows, read_scores
from medjury.analysis.agreement._variance_components import variance_components
from medjury.foundation.documents import choose
from medjury.foundation.errors import MedjuryError
from medjury.statistics import Estimate, Floats, Read, Statistics, undefined

# A sum of squares this small beside the numbers it was made from is rounding, not spread.
NEGLIGIBLE = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class MeanSquares:
    """Mean squares between items, between raters, of error, and within items, with any batch axis; `n` items,
    `k` raters."""

    items: Floats
    raters: Floats
    error: Floats
    within: Floats
    n: Floats
    k: int


def mean_squares(rows: Floats) -> Callable[[Floats], MeanSquares]:
    """Prepare the complete rows of a table of items by raters; the result reads mean squares from weights."""
    complete = complete_rows(rows)
    # Mean squares do not change with a shift, and near zero their sums do not cancel.
    shift = rows[complete].mean() if complete.any() else 0.0
    scores = np.where(complete[:, np.newaxis], rows - shift, 0.0)
    features = np.vstack(
        [complete.astype(np.float64), scores.sum(axis=1) ** 2, (scores**2).sum(axis=1), scores.T]
    )

    def read(weights: Floats) -> MeanSquares:
        sums = features @ weights.T
        return from_sums(sums[0], sums[1], sums[2], sums[3:])

    return read


def from_sums(n: Floats, totals: Floats, squares: Floats, by_rater: Floats) -> MeanSquares:
    """Mean squares from Σ 1, Σ (item total)², Σ x² and each rater's Σ x, a row for each rater."""
    k = len(by_rater)
    n = np.where(n > 1, n, np.nan)
    correction = by_rater.sum(axis=0) ** 2 / (n * k)
    between_items = totals / k - correction
    between_raters = (by_rater**2).sum(axis=0) / n - correction
    error = squares - correction - between_items - between_raters

    def mean(sum_of_squares: Floats, freedom: Floats | float) -> Floats:
        return np.where(sum_of_squares > NEGLIGIBLE * squares, sum_of_squares, 0.0) / freedom

    missing = np.full_like(n, np.nan)
    if k < 2:
        return MeanSquares(missing, missing, missing, missing, n, k)
    return MeanSquares(
        items=mean(between_items, n - 1.0),
        raters=mean(between_raters, k - 1.0),
        error=mean(error, (n - 1.0) * (k - 1.0)),
        within=mean(between_raters + error, n * (k - 1.0)),
        n=n,
        k=k,
    )


# Intraclass correlation: the share of the scores' variance that belongs to the items, in six forms.


IccForm = Literal["icc_1_1", "icc_2_1", "icc_3_1", "icc_1_k", "icc_2_k", "icc_3_k"]
FORMS: tuple[IccForm, ...] = get_args(IccForm)
Missing = Literal["complete_items", "all_cells"]


def icc(
    scores: Scores,
    form: IccForm = "icc_3_k",
    *,
    missing: Missing = "complete_items",
    **options: Unpack[Options],
) -> Estimate:
    """One form of the intraclass correlation of a table of items by raters; see `intraclass_correlations`.

    >>> table = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    >>> estimate = icc(table, "icc_2_1", interval="analytic")
    >>> round(estimate.value, 3), round(estimate.low, 3), round(estimate.high, 3)
    (0.29, 0.019, 0.761)
    """
    return intraclass_correlations(scores, [form], missing=missing, **options)[form]


def intraclass_correlations(
    scores: Scores,
    forms: Iterable[IccForm] = FORMS,
    *,
    missing: Missing = "complete_items",
    **options: Unpack[Options],
) -> dict[str, Estimate]:
    """All six forms from one analysis of variance. B, J, E, W: mean squares of items, raters, error, within.

    icc_1_1 = (B − W)/(B + (k − 1)W): every item has its own raters.
    icc_2_1 = (B − E)/(B + (k − 1)E + k(J − E)/n): same raters, absolute agreement, raters random.
    icc_3_1 = (B − E)/(B + (k − 1)E): same raters, consistency; a rater's constant offset does not count.
    icc_x_k: the same for the mean of the k raters, (B − W)/B, (B − E)/(B + (J − E)/n), (B − E)/B.

    The default interval is the bootstrap. Analytic ones are the F intervals of Shrout & Fleiss (1979) Psychol
    Bull 86:420-428 and McGraw & Wong (1996) Psychol Methods 1:30-46; they take scores as normal and, with grades
    that pile up at one end, cover 88 to 92 % instead of 95, however many items there are. There icc_2_k is
    icc_2_1 stepped up by Spearman-Brown, ends included, as in R's psych and pingouin; irr's differs, because its
    degrees of freedom for the average are not McGraw & Wong's.

    Missing cells: "complete_items" uses items that every rater scored, and the result says how many were left
    out; "all_cells" fits variance components by restricted maximum likelihood to every cell (psych's
    `lmer=TRUE`), with F intervals as if the table were complete, which is approximate.

    >>> found = intraclass_correlations([[1, 2], [2, 3], [3, 4], [4, 6]])
    >>> round(found["icc_2_1"].value, 3), round(found["icc_3_1"].value, 3)
    (0.712, 0.945)
    """
    chosen = list(forms)
    for form in chosen:
        choose(form, FORMS, "form of ICC")
    choose(missing, get_args(Missing), "treatment of missing cells")
    table = read_scores(scores, None, 2)
    kept = complete_rows(table) if table.size else np.zeros(len(table), dtype=np.bool_)
    lost = int(np.count_nonzero(~kept))
    if missing == "all_cells" and lost:
        return _from_all_cells(table, chosen, **options)
    rows = table[kept]

    def analytic() -> dict[str, Analytic]:
        observed = mean_squares(rows)(np.ones((1, len(rows))))
        return {form: f_interval(observed, form) for form in chosen}

    return estimates(
        rows,
        icc_statistics(chosen),
        kept=kept,
        analytic=analytic,
        reason=lambda _: undefined_reason(rows, lost),
        note=f"; {lost} of {len(table)} items with missing scores left out" if lost else "",
        **options,
    )


def icc_statistics(forms: Iterable[IccForm]) -> Statistics:
    """ICCs for the bootstrap engine; rows are items by raters, incomplete ones do not count."""
    chosen = list(forms)

    def prepare(rows: Floats) -> Read:
        squares = mean_squares(rows)

        def read(weights: Floats) -> dict[str, Floats]:
            found = squares(weights)
            return {form: coefficient(found, form) for form in chosen}

        return read

    return prepare


def coefficient(squares: MeanSquares, form: IccForm) -> Floats:
    """The ICC from its mean squares; NaN where its denominator is not positive beyond rounding."""
    noise = squares.within if form in ("icc_1_1", "icc_1_k") else squares.error
    raters = (squares.raters - squares.error) / squares.n if form in ("icc_2_1", "icc_2_k") else 0.0
    if form.endswith("_1"):
        below = squares.items + (squares.k - 1) * noise + squares.k * raters
    else:
        below = squares.items + raters
    rounding = 1e-9 * (squares.items + squares.raters + noise)
    return np.asarray((squares.items - noise) / np.where(below > rounding, below, np.nan))


def f_interval(squares: MeanSquares, form: IccForm) -> Analytic:
    """The F interval of one form, from the observed mean squares."""

    def ends(value: float, confidence: float) -> tuple[float, float, str] | None:
        n, k = float(squares.n[0]), squares.k
        items, raters, error, within = (
            float(each[0]) for each in (squares.items, squares.raters, squares.error, squares.within)
        )
        upper = 0.5 + confidence / 2.0
        noise, freedom = (within, n * (k - 1)) if form.startswith("icc_1") else (error, (n - 1) * (k - 1))
        single = float(coefficient(squares, "icc_2_1")[0])
        if noise <= 0 or items <= 0 or not single < 1.0:
            return None
        if form.startswith("icc_2"):
            a = k * single / (n * (1.0 - single))
            b = 1.0 + a * (n - 1.0)
            spread = (a * raters) ** 2 / (k - 1) + (b * error) ** 2 / ((n - 1) * (k - 1))
            freedom = (a * raters + b * error) ** 2 / spread if spread > 0 else 0.0
            if freedom <= 0:
                return None
            beyond, before = (
                float(special.fdtri(n - 1, freedom, upper)),
                float(special.fdtri(freedom, n - 1, upper)),
            )
            others = k * raters + (k * n - k - n) * error
            low = n * (items - beyond * error) / (beyond * others + n * items)
            high = n * (before * items - error) / (others + n * before * items)
        else:
            ratio = items / noise
            low, high = (
                float((each - 1.0) / (each + k - 1.0))
                for each in (
                    ratio / special.fdtri(n - 1, freedom, upper),
                    ratio * special.fdtri(freedom, n - 1, upper),
                )
            )
        if form.endswith("_k"):
            if low * (k - 1) <= -1.0:
                return None
            low, high = (k * each / (1.0 + (k - 1) * each) for each in (low, high))
        if not low - 1e-9 <= value <= high + 1e-9:
            return None  # McGraw & Wong's degrees of freedom break down below zero agreement
        source = "McGraw & Wong 1996" if form.startswith("icc_2") else "Shrout & Fleiss 1979"
        return float(low), float(high), f"F interval ({source})"

    return ends


def undefined_reason(rows: Floats, lost: int) -> str:
    if rows.ndim < 2 or rows.shape[1] < 2:
        return "there are fewer than two raters"
    if len(rows) < 2:
        return f"fewer than two items were scored by every rater ({lost} have missing scores)"
    return "the items do not differ" if np.ptp(rows) > 0 else "every score is the same"


def _from_all_cells(table: Floats, forms: list[IccForm], **options: Unpack[Options]) -> dict[str, Estimate]:
    if options.get("interval", "analytic") not in ("analytic", "none") or options.get("clusters") is not None:
        raise MedjuryError("ICC from all cells has no bootstrap. Ask for missing='complete_items'.")
    shared = (~np.isnan(table)).sum(axis=1) >= 2
    present = table[~np.isnan(table).all(axis=1)]
    n, confidence = len(present), options.get("confidence", 0.95)
    method = f"REML on all cells, {int(np.isnan(present).sum())} of {present.size} missing"
    if table.shape[1] < 2 or n < 2 or not shared.any() or np.nanmax(table) == np.nanmin(table):
        reason = "all-cells ICC needs two raters, two items, an item scored twice and some spread"
        return {form: undefined(reason, n, method) for form in forms}
    squares = _all_cells_mean_squares(present)
    found: dict[str, Estimate] = {}
    for form in forms:
        value = float(coefficient(squares, form)[0])
        ends = f_interval(squares, form)(value, confidence) if options.get("interval") != "none" else None
        if not np.isfinite(value) or squares.items[0] <= 1e-9 * np.nanvar(present):
            found[form] = undefined("the items do not differ", n, method)
        elif ends is None:
            found[form] = Estimate(value, None, None, n, method)
        else:
            low, high, name = ends
            found[form] = Estimate(
                value, low, high, n, f"{100 * confidence:g} % approximate {name}, {method}"
            )
    return found


def _all_cells_mean_squares(scores: Floats) -> MeanSquares:
    """Mean squares that a complete table with the same variance components would have."""
    n, k = scores.shape
    item, rater, error = variance_components(scores)
    return MeanSquares(
        items=np.array([k * item + error]),
        raters=np.array([n * rater + error]),
        error=np.array([error]),
        within=np.array([error + rater]),
        n=np.array([float(n)]),
        k=k,
    )
