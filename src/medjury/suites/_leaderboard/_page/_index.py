"""The first page: who leads, how sure that is, every cell, what it cost, and what the marks mean."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files

from medjury.report import Html, bullets, document, element, joined, paragraph
from medjury.statistics import counted, moment
from medjury.suites._leaderboard._board import Board
from medjury.suites._leaderboard._page import _sections as sections
from medjury.suites._leaderboard._page._chooser import chooser
from medjury.suites._leaderboard._page._cost import cost_section
from medjury.suites._leaderboard._page._data import page_data
from medjury.suites._leaderboard._page._heat import heat_map
from medjury.suites._leaderboard._page._overall import overall_table
from medjury.suites._leaderboard._page._trust import trust_section

_SAMPLE = "NOT A MEASUREMENT"


def index_page(board: Board, pages: Mapping[str, str]) -> str:
    """The page; `pages` has the file name of every benchmark and candidate."""
    results = board.results
    parts = (
        counted(len(results.candidates), "candidate"),
        counted(len(results.benchmarks), "benchmark"),
        counted(len(results.items), "item"),
        *([moment(results.made_at)] if results.made_at else []),
    )
    made = [
        ("standings", "Standings", joined([chooser(board), overall_table(board)])),
        ("scores", "Scores by benchmark", heat_map(board, pages)),
        ("categories", "By category", sections.categories(board)),
        ("coverage", "What was answered, and what is missing", sections.coverage(board)),
        ("differences", "What these benchmarks can show", sections.detectable(board)),
        ("trust", "Items out of reach, and memory", trust_section(board)),
        ("jury", "May the jury be trusted?", sections.jury(board)),
        ("cost", "What it cost", cost_section(board)),
        ("reading", "How to read this page", sections.reading(board)),
        ("data", "The data behind it", sections.sources(board)),
    ]
    shown = [(name, title, body) for name, title, body in made if body]
    links = [element("li", element("a", title, href=f"#{name}")) for name, title, _ in shown]
    main = joined(
        [
            element("header", element("h1", results.suite), paragraph(" · ".join(parts), class_="soft")),
            *_banners(board),
            element("nav", element("ul", *links), aria_label="Sections of this page"),
            *(
                element(
                    "section", element("h2", title, id=f"{name}-title"), body, id=name,
                    aria_labelledby=f"{name}-title",
                )
                for name, title, body in shown
            ),
        ]
    )  # fmt: skip
    data = Html(f'<script type="application/json" id="leaderboard-data">{page_data(board)}</script>')
    whole = joined([element("main", main, class_="board"), data])
    return document(f"Leaderboard: {results.suite}", whole, style=_own("board.css"), script=_own("board.js"))


def _banners(board: Board) -> list[Html]:
    """What must be read before any number."""
    found = []
    if board.samples:
        which = (
            "Every benchmark here was"
            if len(board.samples) == len(board.results.benchmarks)
            else f"{', '.join(board.samples)}: each was"
        )
        found.append(
            element(
                "div",
                element("p", _SAMPLE, class_="word"),
                paragraph(
                    f"{which} run on the made-up rows that show its format, not on its data. Their scores say that "
                    "everything works, and nothing about any model. Name the data of a benchmark to measure with "
                    "it."
                ),
                class_="verdict not-validated",
            )
        )
    if board.incomplete:
        missing = sum(sum(cell.missing.values()) for cell in board.incomplete)
        # Why it was stopped may name a host or a path: that is told where it was run, not where it is published.
        stopped = [f"{each.name} was stopped before its end" for each in board.results.candidates if each.why]
        found.append(
            element(
                "div",
                element("p", "INCOMPLETE", class_="word"),
                paragraph(
                    f"{counted(len(board.incomplete), 'cell')} of {len(board.cells)} lack {missing:,} answers "
                    "that the endpoint or the jury failed to give. They count neither as right nor as wrong. Run "
                    "again to go on."
                ),
                bullets(stopped),
                class_="verdict incomplete",
            )
        )
    return found


def _own(name: str) -> str:
    return files("medjury.suites._leaderboard._page").joinpath(name).read_text(encoding="utf-8")
