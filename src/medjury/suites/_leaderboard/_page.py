"""The first page: who leads, how sure that is, every cell, what it cost; and the folder in which it is written."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from medjury.analysis.ranking import Standing
from medjury.foundation.files import private_folder, write_whole
from medjury.report import (
    Html,
    bullets,
    document,
    element,
    joined,
    paragraph,
    section_html,
    table_html,
    table_of,
)
from medjury.statistics import Estimate, Printable, counted, moment, shown
from medjury.suites._leaderboard import _sections as sections
from medjury.suites._leaderboard._data import (
    board_json,
    board_text,
    cells_csv,
    checks_csv,
    costs_csv,
    not_probed,
    page_data,
    reach_effects,
    standings_csv,
)
from medjury.suites._leaderboard._item_pages import item_pages, own_file
from medjury.suites._leaderboard._names import slugs
from medjury.suites._leaderboard._results import AnswerResult, Results
from medjury.suites._leaderboard._sections import cost_section, heat_map
from medjury.suites._leaderboard._standings import Board, CandidateStanding, board_of

# The table of standings, complete without script; the script fills the same cells anew for another choice.

_HEAD = (
    ("rank", "rank", "The rank, and the ranks that the data leave open"),
    ("candidate", "candidate", ""),
    ("tie group", "letters", "Candidates that share a letter are not told apart by these data"),
    ("win rate (tie = ½)", "win_half", ""),
    ("win rate (tie = win)", "win_or_tie", "A tie is a win for both: score ≥ rival's"),
    ("win SD", "win_sd", "Standard deviation of the win rate over benchmarks"),
    ("macro average", "macro", "Mean of the scores, each benchmark weighing the same"),
    ("SD", "macro_sd", "Standard deviation of the score over benchmarks"),
)


def overall_table(board: Board) -> Html:
    """The candidates from best to worst over all benchmarks, then the trivial answers."""
    overall = board.overall
    numbers = {each.name: place for place, each in enumerate(board.results.candidates)}
    rows = [
        _line(_row(each), each.candidate, data_candidate=str(numbers[each.candidate]))
        for each in overall.rows
    ]
    rows += [
        _line({}, name, " ", element("span", why, class_="flag"), data_candidate=str(numbers[name]))
        for name, why in overall.unranked.items()
    ]
    if (baseline := board.baseline_macro()) is not None:
        (score, over), benchmarks = baseline, len(board.results.benchmarks)
        there = "" if over == benchmarks else f", on {over} of {benchmarks} benchmarks"
        rows.append(_line({"macro": shown(score)}, f"best trivial answers{there}", class_="baseline"))
    head = joined(
        element(
            "th", words, scope="col", title=title or None, class_=None if key == "candidate" else "number"
        )
        for words, key, title in _HEAD
    )
    share = f"{100 * board.confidence:g} %"
    caption = (
        f"Over {len(overall.benchmarks)} benchmarks, best first. In brackets {share} intervals: of win rates, "
        "which resample benchmarks (would others of this kind give as many wins?), and of the macro average, "
        "which resamples items (would other items give these scores?). Beside each rank are the ranks that the "
        "data leave open; candidates that share a letter are not told apart."
    )
    table = table_of(
        element("span", caption), [head], rows, scroll="Standings", id="overall", class_="stacked"
    )
    alone = (
        paragraph(
            "A single candidate has nobody to be compared with, so it has no rank and no win rate.",
            class_="note",
        )
        if len(board.results.candidates) == 1
        else ""
    )
    return joined([alone, table, bullets(overall.warnings)])


def _row(each: CandidateStanding) -> dict[str, Html | str]:
    place = each.places.get("win_half") or each.places.get("macro")
    return {
        "rank": rank_words(place),
        "letters": "–" if place is None else place.tie_group,
        **{name: _estimate(getattr(each, name)) for name in ("win_half", "win_or_tie", "macro")},
        "win_sd": shown(each.win_sd),
        "macro_sd": shown(each.macro_sd),
    }


def _line(told: Mapping[str, Html | str], *who: Html | str, **attributes: object) -> Html:
    """A row of the table: what is told under each key, and a dash under the others. The script finds the cells
    of a candidate by their keys; trivial answers have none, and nothing in place of a dash."""
    keyed = "data_candidate" in attributes
    cells = [
        element("th", *who, scope="row") if key == "candidate"
        else element("td", told.get(key, "–" if keyed else ""), class_="number", data_key=key if keyed else None)
        for _, key, _ in _HEAD
    ]  # fmt: skip
    return element("tr", *cells, **attributes)


def rank_words(place: Standing | None) -> Html | str:
    if place is None:
        return "–"
    return joined(
        [str(place.rank), " ", element("span", f"({place.rank_low} to {place.rank_high})", class_="interval")]
    )


def _estimate(value: Estimate | None) -> Html | str:
    if value is None or value.value is None:
        return "–"
    middle, _, rest = shown(value).partition(" (")
    return joined([middle, " ", element("span", f"({rest}", class_="interval")]) if rest else middle


# The section on items and memory: gold answers out of reach, benchmarks known by heart, and what nobody tried.

_FOUND = {True: "known by heart", False: "no sign", None: "cannot be told"}


def trust_section(board: Board) -> Html:
    """Both checks, and first of all for whom they were not made."""
    return joined([*_reach(board), *_memory(board)])


def _reach(board: Board) -> list[Html]:
    titles = {each.name: each.title for each in board.results.benchmarks}
    effects = reach_effects(board)
    rows: list[Sequence[Printable]] = [
        (
            titles[reach.benchmark],
            one.candidate,
            one.score,
            one.score_in_reach,
            one.score_out_of_reach,
            one.rank,
            one.rank_in_reach,
            "moves" if one.rank != one.rank_in_reach else "",
        )
        for reach, effect in effects
        if not isinstance(effect, str)
        for one in effect.candidates
    ]
    parts = []
    if rows:
        parts.append(
            table_html(
                ("benchmark", "candidate", "score", "on items in reach", "on the others", "rank", "rank in reach",
                 ""),
                rows,
                caption="Gold answers that cannot be reached from what a candidate is shown, according to a judge: "
                "what scores and ranks are without them. The standings above count all items",
            )
        )  # fmt: skip
    said = [
        f"{titles[reach.benchmark]}, by {reach.judge}: {effect if isinstance(effect, str) else effect.text()}."
        for reach, effect in effects
    ]
    asked = {reach.benchmark for reach, _ in effects}
    unasked = [title for name, title in titles.items() if name not in asked]
    if unasked:
        said.append(f"It was not checked whether the gold answers can be reached: {_some(unasked)}.")
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
                caption="Is a benchmark known by heart? No sign of memory does not prove that there is none",
            )
        )
    lacking = not_probed(board)
    if not rows:
        parts.append(paragraph("It was not tested whether a candidate knows a benchmark by heart."))
    elif lacking:
        parts.append(bullets(f"{name} was not tested on {_some(those)}." for name, those in lacking))
    return parts


def _some(titles: Sequence[str]) -> str:
    shown = ", ".join(titles[:6])
    return shown if len(titles) <= 6 else f"{shown} and {counted(len(titles) - 6, 'more benchmark')}"


# The controls: which candidates and benchmarks count, and what ranks them. They work with script alone.

MEASURE_NAMES = {
    "win_half": "win rate, ties count half",
    "win_or_tie": "win rate, a tie is a win for both",
    "macro": "macro average",
}


def chooser(board: Board) -> Html:
    """Hidden until the script that makes it work shows it."""
    candidates = [
        _box("candidate", str(place), each.name) for place, each in enumerate(board.results.candidates)
    ]
    groups: dict[str, list[Html]] = {}
    for place, each in enumerate(board.results.benchmarks):
        groups.setdefault(each.category, []).append(_box("benchmark", str(place), each.title))
    benchmarks = [
        element("fieldset", element("legend", _box("category", category, category)), *boxes,
                data_category=category)
        for category, boxes in groups.items()
    ]  # fmt: skip
    measures = [
        element("label", _input("radio", name="measure", value=name, checked=name == "win_half"), " ", words)
        for name, words in MEASURE_NAMES.items()
    ]
    hard = element(
        "label",
        _input("checkbox", name="hard", value="hard", checked=False),
        f" leave out {counted(board.decided, 'item')} on which an answer that says nothing is right",
    )
    parts = (
        [
            element("fieldset", element("legend", "Rank by"), *measures),
            *([element("p", hard)] if board.decided and not board.leave_out_decided else []),
            element(
                "details",
                element("summary", "Candidates"),
                element("fieldset", element("legend", _box("everybody", "all", "all")), *candidates),
            ),
            element("details", element("summary", "Benchmarks"), *benchmarks),
            element("p", id="chosen", role="status"),
        ]
        if board.results.candidates
        else []
    )
    return element("form", *parts, class_="chooser screen", id="chooser", hidden="hidden")


def _box(name: str, value: str, label: str) -> Html:
    return element("label", _input("checkbox", name=name, value=value, checked=True), " ", label)


def _input(kind: str, *, name: str, value: str, checked: bool) -> Html:
    made = element("input", type=kind, name_=name, value=value, checked="checked" if checked else None)
    return Html(joined([made]).removesuffix("</input>"))


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
        ("helm", "HELM's marks beside ours", sections.helm(board)),
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
            *(section_html(*each) for each in shown),
        ]
    )
    data = Html(f'<script type="application/json" id="leaderboard-data">{page_data(board)}</script>')
    whole = joined([element("main", main, class_="board"), data])
    return document(
        f"Leaderboard: {results.suite}", whole, style=own_file("board.css"), script=own_file("board.js")
    )


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


# Writes the folder: `index.html`, the pages of items, and the same numbers as data.


def make_leaderboard(
    results: Results,
    folder: str | Path,
    *,
    texts: bool | None = None,
    form: Literal["text", "json", "csv"] = "text",
    leave_out_decided: bool = False,
    resamples: int = 2000,
    seed: int = 0,
) -> tuple[Path, str]:
    """Write the leaderboard of some results into a folder: its first page, and all of it as JSON, the standings as
    CSV, or these as text."""
    board = board_of(results, leave_out_decided=leave_out_decided, resamples=resamples, seed=seed)
    page = write_leaderboard(board, folder, texts=texts)
    if form == "json":
        return page, json.dumps(board_json(board), indent=1, ensure_ascii=False, allow_nan=False)
    return page, standings_csv(board).removesuffix("\n") if form == "csv" else board_text(board)


def write_leaderboard(board: Board, folder: str | Path, *, texts: bool | None = None) -> Path:
    """Write the leaderboard into a folder and return its first page. Texts and ids of items are shown where the
    data are public or made up; of all data with `texts=True`, which is not for publishing, and of none with
    False."""
    place = Path(folder)
    results = board.results
    names = [each.name for each in results.benchmarks] + [each.name for each in results.candidates]
    pages = slugs(names)
    given = results.by_item()
    _take_out(place / "items")
    for benchmark in results.benchmarks:
        items = results.items_of(benchmark.name)
        inside = place / "items" / pages[benchmark.name]
        private_folder(inside)
        for candidate in results.candidates:
            own = given.get((candidate.name, benchmark.name), {})
            absent = AnswerResult(benchmark.name, "", candidate.name, "missing", reason="not asked")
            rows = [(item, own.get(item.item, absent)) for item in items]
            cell = board.cells[candidate.name, benchmark.name]
            for name, page in item_pages(benchmark, cell, rows, pages[candidate.name], texts=texts):
                write_whole(inside / name, page)
    data = place / "data"
    private_folder(data)
    whole = json.dumps(board_json(board), indent=1, ensure_ascii=False, allow_nan=False)
    write_whole(data / "leaderboard.json", whole + "\n")
    write_whole(data / "cells.csv", cells_csv(board))
    write_whole(data / "standings.csv", standings_csv(board))
    write_whole(data / "costs.csv", costs_csv(board))
    write_whole(data / "checks.csv", checks_csv(board))
    write_whole(place / "index.html", index_page(board, pages))
    return place / "index.html"


def _take_out(folder: Path) -> None:
    """No page of an earlier leaderboard stays: it may show a text that this one must not."""
    for page in folder.glob("*/*.html") if folder.is_dir() else ():
        page.unlink()
