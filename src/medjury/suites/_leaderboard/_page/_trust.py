"""The section on items and memory: gold answers out of reach, benchmarks known by heart, and what nobody tried."""

from __future__ import annotations

from collections.abc import Sequence

from medjury.report import Html, bullets, joined, paragraph, table_html
from medjury.statistics import Printable, counted
from medjury.suites._leaderboard._board import Board
from medjury.suites._leaderboard._checks import not_probed, reach_effects

_FOUND = {True: "known by heart", False: "no sign", None: "cannot be told"}


def trust_section(board: Board) -> Html:
    """Both checks, and first of all for whom they were not made."""
    return joined([*_reach(board), *_memory(board)])


def _reach(board: Board) -> list[Html]:
    titles = {each.name: each.title for each in board.results.benchmarks}
    effects = reach_effects(board)
    rows: list[Sequence[Printable]] = [
        (
            titles[each.benchmark],
            one.candidate,
            one.score,
            one.kept_score,
            one.left_out_score,
            one.rank,
            one.kept_rank,
            "moves" if one.rank != one.kept_rank else "",
        )
        for each in effects
        if each.effect is not None
        for one in each.effect.candidates
    ]
    parts = []
    if rows:
        parts.append(
            table_html(
                ("benchmark", "candidate", "score", "on items in reach", "on the others", "rank", "rank in reach",
                 ""),
                rows,
                caption="Gold answers that cannot be reached from what a candidate is shown, by a judge's word: "
                "what scores and ranks are without them. The standings above count all items",
            )
        )  # fmt: skip
    said = [
        f"{titles[each.benchmark]}, by {each.judge}: {each.effect.text() if each.effect else each.why}."
        for each in effects
    ]
    unasked = [title for name, title in titles.items() if name not in {each.benchmark for each in effects}]
    if unasked:
        said.append(f"Nobody asked whether the gold answers can be reached: {_some(unasked)}.")
    return [*parts, bullets(said)]


def _memory(board: Board) -> list[Html]:
    titles = {each.name: each.title for each in board.results.benchmarks}
    rows: list[Sequence[Printable]] = [
        (each.candidate, titles[each.benchmark], each.test, _FOUND[each.memorised], each.text)
        for each in board.results.memory
    ]
    parts = []
    if rows:
        parts.append(
            table_html(
                ("candidate", "benchmark", "test", "found", "in words"),
                rows,
                caption="Is a benchmark known by heart? No sign of memory is no proof that there is none",
            )
        )
    lacking = not_probed(board)
    if not rows:
        parts.append(paragraph("Nobody tried whether a candidate knows a benchmark by heart."))
    elif lacking:
        parts.append(bullets(f"{name} was not tried on {_some(those)}." for name, those in lacking))
    return parts


def _some(titles: Sequence[str]) -> str:
    shown = ", ".join(titles[:6])
    return shown if len(titles) <= 6 else f"{shown} and {counted(len(titles) - 6, 'more benchmark')}"
