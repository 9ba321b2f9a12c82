"""Writes the folder: `index.html`, the pages of items, and the same numbers as data."""

from __future__ import annotations

import json
from pathlib import Path

from medjury.foundation.files import private_folder, write_whole
from medjury.suites._leaderboard._board import Board
from medjury.suites._leaderboard._names import slugs
from medjury.suites._leaderboard._page._data import (
    board_json,
    cells_csv,
    checks_csv,
    costs_csv,
    standings_csv,
)
from medjury.suites._leaderboard._page._index import index_page
from medjury.suites._leaderboard._page._items import item_pages
from medjury.suites._leaderboard._results import AnswerResult


def write_leaderboard(board: Board, folder: str | Path, *, texts: bool | None = None) -> Path:
    """Write the leaderboard into a folder and return its first page. Texts and ids of items are shown where the
    data are public or made up; of all data with `texts=True`, which is not for publishing, and of none with
    False."""
    place = Path(folder)
    results = board.results
    names = [each.name for each in results.benchmarks] + [each.name for each in results.candidates]
    pages = slugs(names)
    given: dict[tuple[str, str], dict[str, AnswerResult]] = {}
    for answer in results.answers:
        given.setdefault((answer.candidate, answer.benchmark), {})[answer.item] = answer
    _take_out(place / "items")
    for benchmark in results.benchmarks:
        items = [each for each in results.items if each.benchmark == benchmark.name]
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
