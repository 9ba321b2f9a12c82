"""Rows on safety and on a second panel: severe errors, who makes them together, and who wins."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from medjury.agreement._agreement_table import AgreementRow, Counts
from medjury.agreement._design import Design
from medjury.agreement._pairs.beta_binomial import (
    RateComparison,
    compare_paired_rates,
    compare_rates,
)
from medjury.agreement._pairs.rows import counts_of
from medjury.agreement._pairs.severe_errors import SevereErrors, error_overlap, severe_errors
from medjury.agreement._pairs.win_rate import WinRate, win_rates
from medjury.statistics import Estimate, undefined
from medjury.tables import SCORED, Grid


def severe_error_rows(
    grid: Grid, reference: str, raters: tuple[str, ...], design: Design
) -> list[AgreementRow]:
    """Severe-error rates of every rater, their overlap, and the comparison with the second panel."""
    if grid.dimension not in design.severe:
        return []
    found = {
        name: severe_errors(
            grid.scores[reference], grid.scores[name], threshold=design.threshold, gap=design.gap
        )
        for name in raters
        if name not in design.metrics and name != reference
    }
    rows = []
    for name, errors in found.items():
        text = (
            f"{errors.errors} of {errors.dangerous} items the reference scored {design.threshold:g} or less "
            f"were scored {design.gap:g} or more higher; {errors.rate.method}"
        )
        at_risk = errors.dangerous + errors.unscored
        share = errors.dangerous / at_risk if at_risk else None
        counts = replace(
            counts_of(grid, reference, name), n=errors.dangerous, n_unscored=errors.unscored, coverage=share
        )
        estimate = replace(errors.rate, method=text)
        rows.append(AgreementRow(grid.dimension, reference, name, "severe_error_rate", estimate, counts))
    single = {name: found[name].flags for name in design.judges if name in found and name != design.panel}
    if len(single) > 1:
        shared = error_overlap(single)
        for members, count in shared.intersections.items():
            method = f"severe errors of exactly these raters, of {shared.items} items with any"
            estimate = Estimate(float(count), None, None, shared.items, method)
            label = " + ".join(members)
            rows.append(
                AgreementRow(
                    grid.dimension, reference, label, "severe_error_overlap", estimate, Counts(shared.items)
                )
            )
    if design.panel in found:
        for name, errors in found.items():
            if name != design.panel:
                rows += _posterior_rows(grid, reference, name, errors, found[design.panel], design.panel)
    return rows


def win_rate_rows(grid: Grid, reference: str, raters: tuple[str, ...], design: Design) -> list[AgreementRow]:
    """Win rate of every rater over the second panel."""
    if design.panel is None or reference == design.panel:
        return []
    rows = []
    states = grid.states
    clusters = grid.clusters if len(np.unique(grid.clusters)) < len(grid.clusters) else None
    for name in raters:
        if name in design.metrics or name in (design.panel, reference):
            continue
        all_three = np.logical_and.reduce(
            [states[each] == SCORED for each in (reference, name, design.panel)]
        )
        counts = replace(counts_of(grid, reference, name), n=int(all_three.sum()))
        if grid.scale is None:
            nothing = undefined("a win rate needs the full scale, and none was given", counts.n, "none")
            rows.append(AgreementRow(grid.dimension, reference, name, "win_rate", nothing, counts))
            continue
        found = win_rates(
            grid.scores[reference],
            grid.scores[name],
            grid.scores[design.panel],
            scale=grid.scale,
            clusters=clusters,
            resamples=design.settings.resamples,
            seed=design.settings.seed,
        )
        for metric, result in found.items():
            rows += _win_rows(grid, reference, name, metric, result, counts, design.panel)
    return rows


def _win_rows(
    grid: Grid, reference: str, name: str, metric: str, result: WinRate | Estimate, counts: Counts, panel: str
) -> list[AgreementRow]:
    short = metric.removeprefix("absolute_")
    if isinstance(result, Estimate):
        return [AgreementRow(grid.dimension, reference, name, f"win_rate_{short}", result, counts)]
    method = (
        f"share of resamples closer to the reference than {panel}, ties half: {result.wins} wins, "
        f"{result.ties} ties, {result.losses} losses, {result.dropped} dropped; {result.delta.method}"
    )
    rate = Estimate(result.rate, None, None, result.delta.n, method)
    turned = f"{name} better than {panel} where positive"
    delta = replace(result.delta, method=f"{turned}; {result.delta.method}")
    return [
        AgreementRow(grid.dimension, reference, name, f"win_rate_{short}", rate, counts),
        AgreementRow(grid.dimension, reference, name, f"win_delta_{short}", delta, counts),
    ]


def _posterior_rows(
    grid: Grid, reference: str, name: str, errors: SevereErrors, panel: SevereErrors, panel_name: str
) -> list[AgreementRow]:
    apart = compare_rates(errors.errors, errors.dangerous, panel.errors, panel.dangerous)
    danger = grid.scores[reference] <= errors.threshold
    both = danger & ~np.isnan(grid.scores[name]) & ~np.isnan(grid.scores[panel_name])
    one, two = errors.flags[both], panel.flags[both]
    paired = compare_paired_rates(
        int((one & two).sum()), int((one & ~two).sum()), int((two & ~one).sum()), int((~one & ~two).sum())
    )
    rows = []
    for label, compared in (("", apart), ("_paired", paired)):
        for prior, value in (("flat", compared.flat), ("jeffreys", compared.jeffreys)):
            statistic = f"severe_error_lower{label}_{prior}"
            estimate = Estimate(
                value, None, None, compared.n_1 + compared.n_2, _counted(name, panel_name, compared)
            )
            if not compared.n_1 or not compared.n_2:
                reason = "a side has no dangerous item with a score: only the prior would speak"
                estimate = undefined(reason, compared.n_1 + compared.n_2, estimate.method)
            rows.append(
                AgreementRow(
                    grid.dimension, reference, name, statistic, estimate, Counts(compared.n_1 + compared.n_2)
                )
            )
    return rows


def _counted(name: str, panel: str, compared: RateComparison) -> str:
    sides = [
        f"{who} {errors} of {n}" + (f" ({rate.low:.1%} to {rate.high:.1%})" if rate.low is not None else "")
        for who, errors, n, rate in (
            (name, compared.errors_1, compared.n_1, compared.rate_1),
            (panel, compared.errors_2, compared.n_2, compared.rate_2),
        )
    ]
    kind = "same items" if compared.paired else "each on its own items"
    return f"posterior probability that the rate is lower; {', '.join(sides)}; {kind}"
