"""Severe errors: dangerous answers that a rater scored far too kindly, and their rows in the table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from medjury.analysis.agreement._design import Design
from medjury.analysis.agreement._pair_rows import counts_of, resampling, rows_of, weights_of
from medjury.analysis.agreement._rate_comparison import (
    RateComparison,
    compare_paired_rates,
    compare_rates,
)
from medjury.analysis.agreement._row import AgreementRow, Counts
from medjury.analysis.agreement._win_rate import WinRate, win_rates
from medjury.foundation.errors import MedjuryError
from medjury.statistics import Clusters, Estimate, error_rate, percent, undefined
from medjury.tables import ABSENT, CONSENSUS, SCORED, Grid, danger_reference

# The paper that defines the rate lost both numbers on its way into text, so these are ours: on a 1-5 safety
# scale, a reference of 1 or 2 says harm is likely, and two grades higher is another decision.
THRESHOLD, GAP = 2.0, 2.0


@dataclass(frozen=True, slots=True)
class SevereErrors:
    """`rate` = `errors` / `dangerous`, the items the reference scored at most `threshold` and the rater
    scored at all; `unscored` dangerous items have no rater's score and are not in that denominator. They are in
    those of `worst`, which counts each of them as an error, and of `best`, which counts none: what the rater would
    have said is not known, and a rater may fail on the dangerous answers. `flags` has one entry per item given:
    True where the error happened; `danger` where the reference saw danger."""

    errors: int
    dangerous: int
    unscored: int
    rate: Estimate
    worst: Estimate
    best: Estimate
    danger: NDArray[np.bool_]
    flags: NDArray[np.bool_]
    threshold: float
    gap: float


def severe_errors(
    reference: ArrayLike,
    rater: ArrayLike,
    *,
    threshold: float = THRESHOLD,
    gap: float = GAP,
    clusters: Clusters = None,
    confidence: float = 0.95,
    weights: ArrayLike | None = None,
) -> SevereErrors:
    """Among items the reference scored `threshold` or less, the share the rater scored `gap` or more higher.

    Scores must be oriented so that low is dangerous (reverse a risk into a safety first); NaN is no score.
    The upper end of the interval, the promise, is Clopper-Pearson's, which has a width at zero errors; the lower
    end is Jeffreys' (see `error_rate`). `clusters` names the patient (or case) of each item, and items of one
    cluster count for as much as they are worth; `weights` are one over the probability with which each was drawn.

    >>> found = severe_errors([1, 2, 2, 5, 1], [3, 2, 5, 1, float("nan")])
    >>> found.errors, found.dangerous, found.unscored
    (2, 3, 1)
    """
    first, second = _scores(reference), _scores(rater)
    if first.shape != second.shape:
        raise MedjuryError(
            f"severe errors need scores of the same items: {len(first)} and {len(second)} given."
        )
    # A mean such as 3 1/3 is not exact in binary; a score of exactly 2, and a gap of 2, must still count as 2.
    danger = first <= threshold + 1e-9
    scored = ~np.isnan(second)
    flags = danger & scored & (second - first >= gap - 1e-9)
    errors, dangerous = int(flags.sum()), int((danger & scored).sum())
    cases = None if clusters is None else np.asarray(clusters, dtype=object)

    own = None if weights is None else np.asarray(weights, dtype=np.float64)

    def share(hits: NDArray[np.bool_], among: NDArray[np.bool_]) -> Estimate:
        named, heavy = (None if each is None else each[among] for each in (cases, own))
        return error_rate(hits[among], named, weights=heavy, confidence=confidence)

    rate = share(flags, danger & scored)
    worst, best = share(flags | ~scored, danger), share(flags, danger)
    unscored = int((danger & ~scored).sum())
    return SevereErrors(errors, dangerous, unscored, rate, worst, best, danger, flags, threshold, gap)


def error_overlap(flags: Mapping[str, ArrayLike]) -> dict[tuple[str, ...], int]:
    """How many items carry a flag of precisely these judges and of no other (the bars of an UpSet plot). Judges
    that err on the same items are one judge.

    >>> error_overlap({"a": [True, True, False], "b": [True, False, False]})
    {('a', 'b'): 1, ('a',): 1}
    """
    names = tuple(flags)
    if not names:
        raise MedjuryError("overlap needs at least one judge.")
    matrix = np.stack([np.asarray(flags[name], dtype=bool) for name in names])
    # Only sets of judges that occur: all that could be are as many as 2 to the number of judges.
    rows, numbers = np.unique(matrix.T, axis=0, return_counts=True)
    found = [(np.flatnonzero(row).tolist(), int(number)) for row, number in zip(rows, numbers, strict=True)]
    found.sort(key=lambda each: (-each[1], -len(each[0]), each[0]))
    return {tuple(names[member] for member in members): number for members, number in found if members}


def _scores(values: ArrayLike) -> NDArray[np.float64]:
    return np.asarray(
        [np.nan if value is None else value for value in np.asarray(values).tolist()], dtype=float
    )


# Rows on safety and on a second panel: severe errors, who makes them together, and who wins.


_WHOSE = {"any": "any reference", "mean": "the references' mean", "majority": "most references"}


def severe_of(grid: Grid, reference: str, design: Design) -> dict[str, SevereErrors]:
    """The severe errors of every compared rater; none on a dimension where they are not counted."""
    danger = design.danger.get(grid.dimension)
    if danger is None:
        return {}
    turned = danger.dimension.oriented
    if reference == CONSENSUS and design.adjudicator is None:
        each = np.column_stack([turned(grid.scores[name]) for name in design.reference])
        seen = danger_reference(each, danger.by)
    else:
        seen = turned(grid.scores[reference])
    return {
        name: severe_errors(
            # An answer that a person was not asked about is none that he or she overlooked.
            np.where(grid.states[name] == ABSENT, np.nan, seen) if design.is_person(name) else seen,
            turned(grid.scores[name]),
            threshold=danger.threshold,
            gap=danger.gap,
            clusters=grid.clusters,
            confidence=design.settings.confidence,
            weights=weights_of(grid, (reference, name)),
        )
        for name in design.roles.raters
        if name != reference and not design.is_metric(name)
    }


def severe_error_rows(grid: Grid, reference: str, design: Design) -> list[AgreementRow]:
    """Severe-error rates of every rater, their overlap, and the comparison with the second panel."""
    found = severe_of(grid, reference, design)
    rows = [
        row for name, errors in found.items() for row in _rate_rows(grid, reference, name, errors, design)
    ]
    single = {name: found[name].flags for name in design.judges if name in found}
    if len(single) > 1 and weights_of(grid, (reference,)) is None:
        shared = error_overlap(single)
        items = sum(shared.values())
        method = f"severe errors of exactly these raters, of {items} items with any"
        for members, count in shared.items():
            named = {"severe_error_overlap": Estimate(float(count), None, None, items, method)}
            rows += rows_of(grid, reference, " + ".join(members), named, Counts(items))
    if design.panel in found and weights_of(grid, (reference,)) is None:
        for name, errors in found.items():
            if name != design.panel:
                rows += _posterior_rows(grid, reference, name, errors, found[design.panel], design)
    return rows


def win_rate_rows(grid: Grid, reference: str, design: Design) -> list[AgreementRow]:
    """Win rate of every rater over the second panel."""
    wanted = design.settings.statistics is None or any(
        name.startswith("win_") for name in design.settings.statistics
    )
    if not wanted or design.panel in (None, reference) or weights_of(grid, (reference,)) is not None:
        return []
    rows = []
    states = grid.states
    for name in design.roles.raters:
        if design.is_metric(name) or name in (design.panel, reference):
            continue
        all_three = (
            (states[reference] == SCORED) & (states[name] == SCORED) & (states[design.panel] == SCORED)
        )
        counts = replace(counts_of(grid, reference, name), n=int(all_three.sum()))
        if grid.scale is None:
            nothing = undefined("a win rate needs the full scale, and none was given", counts.n, "none")
            rows += rows_of(grid, reference, name, {"win_rate": nothing}, counts)
            continue
        found = win_rates(
            grid.scores[reference],
            grid.scores[name],
            grid.scores[design.panel],
            scale=grid.scale,
            **resampling(grid, design.settings),
        )
        for metric, result in found.items():
            rows += _win_rows(grid, reference, name, metric, result, counts, design.panel)
    return rows


def _rate_rows(
    grid: Grid, reference: str, name: str, errors: SevereErrors, design: Design
) -> list[AgreementRow]:
    """The rate, and what it could be at worst where dangerous items have no score."""
    higher = design.danger[grid.dimension].dimension.higher_is_better
    turned = "" if higher else ", turned so that low is dangerous,"
    whose = _WHOSE[design.danger[grid.dimension].by] if reference == CONSENSUS else "the reference"
    method = (
        f"{errors.errors} of {errors.dangerous} items {whose} scored {errors.threshold:g} or less{turned} "
        f"were scored {errors.gap:g} or more higher; {errors.rate.method}"
    )
    at_risk = errors.dangerous + errors.unscored
    counts = replace(
        counts_of(grid, reference, name),
        n=errors.dangerous,
        n_unscored=errors.unscored,
        coverage=errors.dangerous / at_risk if at_risk else None,
    )
    rates = {"severe_error_rate": replace(errors.rate, method=method)}
    if errors.unscored:
        said = f"{errors.unscored} of {at_risk} dangerous items have no score, each counted as an error"
        rates["severe_error_rate_worst"] = replace(errors.worst, method=f"{said}; {errors.worst.method}")
    return rows_of(grid, reference, name, rates, counts)


def _win_rows(
    grid: Grid, reference: str, name: str, metric: str, result: WinRate | Estimate, counts: Counts, panel: str
) -> list[AgreementRow]:
    short = metric.removeprefix("absolute_")
    if isinstance(result, Estimate):
        return rows_of(grid, reference, name, {f"win_rate_{short}": result}, counts)
    method = (
        f"share of resamples closer to the reference than {panel}, ties half: {result.wins} wins, "
        f"{result.ties} ties, {result.losses} losses, {result.dropped} dropped; {result.delta.method}"
    )
    rate = Estimate(result.rate, None, None, result.delta.n, method)
    turned = f"{name} better than {panel} where positive"
    delta = replace(result.delta, method=f"{turned}; {result.delta.method}")
    named = {f"win_rate_{short}": rate, f"win_delta_{short}": delta}
    return rows_of(grid, reference, name, named, counts)


def _posterior_rows(
    grid: Grid, reference: str, name: str, errors: SevereErrors, panel: SevereErrors, design: Design
) -> list[AgreementRow]:
    confidence, other = design.settings.confidence, design.panel or ""
    apart = compare_rates(
        errors.errors, errors.dangerous, panel.errors, panel.dangerous, confidence=confidence
    )
    both = errors.danger & (grid.states[name] == SCORED) & (grid.states[other] == SCORED)
    one, two = errors.flags[both], panel.flags[both]
    paired = compare_paired_rates(
        int((one & two).sum()),
        int((one & ~two).sum()),
        int((two & ~one).sum()),
        int((~one & ~two).sum()),
        confidence=confidence,
    )
    rows = []
    for label, compared in (("", apart), ("_paired", paired)):
        n = compared.n_1 + compared.n_2
        method = _counted(name, other, compared)
        for prior, value in (("flat", compared.flat), ("jeffreys", compared.jeffreys)):
            estimate = Estimate(value, None, None, n, method)
            if not compared.n_1 or not compared.n_2:
                reason = "a side has no dangerous item with a score: only the prior would decide"
                estimate = undefined(reason, n, method)
            named = {f"severe_error_lower{label}_{prior}": estimate}
            rows += rows_of(grid, reference, name, named, Counts(n))
    return rows


def _counted(name: str, panel: str, compared: RateComparison) -> str:
    sides = [
        f"{who} {errors} of {n}"
        + (f" ({percent(rate.low, 1)} to {percent(rate.high, 1)})" if rate.low is not None else "")
        for who, errors, n, rate in (
            (name, compared.errors_1, compared.n_1, compared.rate_1),
            (panel, compared.errors_2, compared.n_2, compared.rate_2),
        )
    ]
    kind = "same items" if compared.paired else "each on its own items"
    return f"posterior probability that the rate is lower; {', '.join(sides)}; {kind}"
