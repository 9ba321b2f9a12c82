"""What it cost: tokens and money per candidate and per model, and who gives most for the price."""

from __future__ import annotations

from collections.abc import Sequence

from medjury.report import Figure, Html, element, joined, paragraph, table_html
from medjury.statistics import Printable
from medjury.suites._leaderboard._board import Board
from medjury.suites._leaderboard._spent import candidate_costs, payer_costs

_POINT, _FRONT = "#0072b2", "#d55e00"


def cost_section(board: Board) -> Html:
    """Tokens and money, per candidate and per model, the bound before and what it came to."""
    results = board.results
    if not results.spending:
        return Html("")
    unit = results.currency
    by_candidate: list[Sequence[Printable]] = [
        (
            each.candidate,
            each.vendor or "–",
            each.window,
            each.benchmark_tokens,
            each.jury_tokens,
            each.benchmark_money,
            each.jury_money,
            each.money,
            each.expected_money,
            each.bound_money,
        )
        for each in candidate_costs(results)
    ]
    by_model: list[Sequence[Printable]] = [
        (
            each.payer,
            each.role,
            each.calls,
            each.tokens_in,
            each.tokens_out,
            each.money,
            each.expected_tokens,
            each.expected_money,
            each.bound_tokens,
            each.bound_money,
        )
        for each in payer_costs(results)
    ]
    prices: list[Sequence[Printable]] = [
        (each.name, each.model or "–", *each.price) for each in results.candidates if each.price is not None
    ]
    parts = [
        _cost_picture(board),
        table_html(
            ("candidate", "made by", "window", "benchmark tokens", "jury tokens", f"benchmark {unit}", f"jury "
             f"{unit}",
             f"total {unit}", f"expected {unit}", f"bound {unit}"),
            by_candidate,
            caption="Each candidate: tokens and money of its own answers and of judging them. The bound, stated "
            "before the run, counts the input and the longest answer allowed",
            digits=4,
        ),
        table_html(
            ("model", "role", "calls", "tokens in", "tokens out", unit, "expected tokens", f"expected {unit}",
             "bound tokens", f"bound {unit}"),
            by_model,
            caption="Each model that was asked, as a candidate or as a judge",
            digits=4,
        ),
    ]  # fmt: skip
    if prices:
        parts.append(
            table_html(
                ("candidate", "model", f"input {unit} per million", f"output {unit} per million"),
                prices,
                caption=f"Prices, as of {results.prices_as_of or 'a day that is not known'}",
                digits=2,
            )
        )
    if results.paid is not None:
        parts.append(
            paragraph(
                f"Paid in all, failed and repeated calls included: {results.paid:,.4f} {unit}.", class_="soft"
            )
        )
    return joined(parts)


def _cost_picture(board: Board) -> Html:
    """Win rate against the cost of a candidate's own answers, with the front that nobody is better and cheaper
    than."""
    part = board.overall.cost
    if part is None or not any(each.cost > 0 for each in part.rows):
        return paragraph(
            "There is no picture of cost and performance: a price is not known, or nothing was paid."
        )
    figure = Figure((7.5, 3.6))
    axes = figure.axes(
        x_name=f"cost of its answers, {board.results.currency}",
        y_name="win rate, ties count half",
        y_limits=(0.0, 1.0),
    )
    front = sorted((each for each in part.rows if each.on_front), key=lambda each: each.cost)
    axes.line(
        [each.cost for each in front], [each.performance for each in front], _FRONT, dash="--",
        label="nobody is better and cheaper",
    )  # fmt: skip
    for each in part.rows:
        axes.points([each.cost], [each.performance], _FRONT if each.on_front else _POINT, size=4)
        axes.text(each.cost, each.performance + 0.04, each.system, shift=4)
    words = "; ".join(f"{each.system}: {each.performance:.2f} for {each.cost:.4g}" for each in part.rows)
    careful = [each.system for each in part.rows if each.cheapest_of_best]
    said = f"Cheapest candidate that is not separated from the best: {', '.join(careful)}." if careful else ""
    return element(
        "figure",
        element("div", Html(figure.svg(words)), class_="picture"),
        element("figcaption", "Win rate against what a candidate's own answers cost. ", said),
    )
