"""The heat map: benchmarks down, candidates across; every cell leads to its items."""

from __future__ import annotations

from collections.abc import Mapping

from medjury.report import Html, element, joined
from medjury.statistics import counted
from medjury.suites._leaderboard._board import Board
from medjury.suites._leaderboard._cells import Cell
from medjury.suites._leaderboard._names import metric_name
from medjury.suites._leaderboard._page._items import page_name
from medjury.suites._leaderboard._results import BenchmarkResult

# From white to blue: people with any kind of colour vision see which is darker, and dark words can be read on all.
_STOPS = ((255, 255, 255), (222, 235, 247), (178, 210, 236), (107, 174, 214))


def heat_map(board: Board, pages: Mapping[str, str]) -> Html:
    """Scores from 0 to 1 with their intervals, the best trivial answer beside them."""
    candidates = [each.name for each in board.results.candidates]
    head = joined(
        [
            element("th", "benchmark", scope="col"),
            *(
                element("th", name, scope="col", class_="number", data_candidate=str(place))
                for place, name in enumerate(candidates)
            ),
            element("th", "best trivial answer", scope="col", class_="number"),
        ]
    )
    rows: list[Html] = []
    for category in board.categories:
        rows.append(_category(board, category))
        rows += [
            _row(board, benchmark, place, pages)
            for place, benchmark in enumerate(board.results.benchmarks)
            if benchmark.category == category
        ]
    caption = (
        "Scores from 0 (light) to 1 (dark), with intervals. Press a score to read its items. ▽ marks a score that "
        "is not above the best trivial answer, ? one that is not shown to be; INCOMPLETE is a cell with answers "
        "missing, between the bounds below it."
    )
    table = element(
        "table",
        element("caption", element("span", caption)),
        element("thead", element("tr", head)),
        element("tbody", *rows),
        id="heat",
        class_="heat stacked",
    )
    return element(
        "div", table, class_="scroll", role="region", aria_label="Scores by benchmark", tabindex="0"
    )


def _category(board: Board, category: str) -> Html:
    """The mean of each candidate over a category, above its benchmarks."""
    standings = board.categories[category]
    cells = []
    for place, each in enumerate(board.results.candidates):
        found = standings.find(each.name)
        value = None if found is None else found.macro.value
        cells.append(
            element(
                "td", "–" if value is None else f"{value:.2f}", class_="number", data_candidate=str(place)
            )
        )
    return element(
        "tr", element("th", category, scope="row"), *cells, element("td", ""), class_="category",
        data_category=category,
    )  # fmt: skip


def _row(board: Board, benchmark: BenchmarkResult, place: int, pages: Mapping[str, str]) -> Html:
    cells = [board.cells[each.name, benchmark.name] for each in board.results.candidates]
    told = [metric_name(benchmark.metric), counted(cells[0].items if cells else 0, "item")]
    if benchmark.jury is not None:
        told[0] = f"jury, {benchmark.jury.word}"
    if benchmark.sample:
        told.append("MADE-UP ROWS")
    if benchmark.access != "public":
        told.append(benchmark.access)
    title = element("th", benchmark.title, element("span", " · ".join(told), class_="interval"), scope="row")
    shown = [
        _cell(cell, f"items/{pages[benchmark.name]}/{page_name(pages[cell.candidate])}", number)
        for number, cell in enumerate(cells)
    ]
    trivial = next((cell for cell in cells if cell.baseline_score is not None), None)
    last = "–"
    if trivial is not None and trivial.baseline_score is not None:
        last = joined([f"{trivial.baseline_score:.2f}", element("span", trivial.baseline, class_="interval")])
    return element(
        "tr", title, *shown, element("td", last, class_="number"), data_benchmark=str(place),
        data_category=benchmark.category,
    )  # fmt: skip


def _cell(cell: Cell, page: str, number: int) -> Html:
    parts: list[object] = []
    value = cell.score.value
    if value is None:
        parts.append(element("a", "none", href=page))
    else:
        mark = {"no": " ▽", "not shown": " ?"}.get(cell.beats_baseline, "")
        said = {
            "no": "not above the best trivial answer",
            "not shown": "not shown to beat the best trivial answer",
        }
        title = said.get(cell.beats_baseline)
        parts.append(element("a", f"{value:.2f}{mark}", href=page, title=title))
        if cell.score.low is not None and cell.score.high is not None:
            parts.append(element("span", f"{cell.score.low:.2f}–{cell.score.high:.2f}", class_="interval"))
    silent = sum(cell.unanswered.values())
    if silent:
        parts.append(element("span", f"{silent:,} unanswered", class_="interval"))
    if not cell.complete:
        between = "" if cell.worst is None or cell.best is None else f" {cell.worst:.2f}–{cell.best:.2f}"
        parts.append(element("span", f"INCOMPLETE{between}", class_="flag"))
    style = None if value is None else f"background:{_shade(value)}"
    return element("td", *parts, class_="number", style=style, data_candidate=str(number))


def _shade(value: float) -> str:
    place = min(max(value, 0.0), 1.0) * (len(_STOPS) - 1)
    first = min(int(place), len(_STOPS) - 2)
    part = place - first
    mixed = (round(a + (b - a) * part) for a, b in zip(_STOPS[first], _STOPS[first + 1], strict=True))
    return "#" + "".join(f"{each:02x}" for each in mixed)
