"""One page for each candidate and benchmark: every item with the answer, what was read in it, and the mark.

What gated or private data say, and the ids they have, stays out unless it is asked for: a folder that is published
must not hold a patient.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.resources import files

from medjury.report import Html, definitions, document, element, joined, paragraph, sentence
from medjury.suites._leaderboard._cells import Cell
from medjury.suites._leaderboard._names import metric_name, reason_name
from medjury.suites._leaderboard._results import AnswerResult, BenchmarkResult, ItemResult

# Items on one page; a longer benchmark has several.
ON_A_PAGE = 200
_LONGEST = 20_000


def item_pages(
    benchmark: BenchmarkResult,
    cell: Cell,
    rows: Sequence[tuple[ItemResult, AnswerResult]],
    slug: str,
    *,
    texts: bool | None,
) -> Iterator[tuple[str, str]]:
    """(file name, page) for the items of one cell."""
    parts = [rows[start : start + ON_A_PAGE] for start in range(0, len(rows), ON_A_PAGE)] or [rows]
    names = [page_name(slug, number) for number in range(len(parts))]
    for number, part in enumerate(parts):
        cards = [
            _card(number * ON_A_PAGE + place, item, answer, benchmark, texts=texts)
            for place, (item, answer) in enumerate(part)
        ]
        links = [
            element("a", str(other + 1), href=name, aria_current="page" if other == number else None)
            for other, name in enumerate(names)
        ]
        more = (
            element("nav", "Pages: ", _spaced(links), class_="pages", aria_label="Pages")
            if len(parts) > 1
            else ""
        )
        main = element("main", _head(benchmark, cell, texts), more, _filters(), *cards, more, class_="items")
        title = f"{cell.candidate} on {benchmark.title}"
        yield names[number], document(title, main, style=own_file("board.css"), script=own_file("items.js"))


def page_name(slug: str, number: int = 0) -> str:
    return f"{slug}.html" if not number else f"{slug}-{number + 1}.html"


def shows_texts(benchmark: BenchmarkResult, *, texts: bool | None) -> bool:
    """Whether a page may show what the data say: as it was asked for, else where they are made up, or public and
    known to be: a site's own file under the name of a public benchmark is the site's."""
    public = benchmark.access == "public" and benchmark.known
    return public or benchmark.sample if texts is None else texts


def _whose(benchmark: BenchmarkResult) -> str:
    return (
        benchmark.access if benchmark.access != "public" else "not the source's own files, by their checksums"
    )


def _head(benchmark: BenchmarkResult, cell: Cell, texts: bool | None) -> Html:
    told = [
        element("p", element("a", "← leaderboard", href="../../index.html"), class_="screen"),
        element("h1", f"{cell.candidate} on {benchmark.title}"),
        paragraph(
            f"{benchmark.category} · {metric_name(benchmark.metric)} · {cell.items:,} items: {cell.scored:,} "
            f"scored, {sum(cell.unanswered.values()):,} unanswered, {sum(cell.missing.values()):,} missing.",
            class_="soft",
        ),
    ]
    if benchmark.sample:
        told.append(
            paragraph("These are made-up rows that show the format. They measure nothing.", class_="note")
        )
    if not shows_texts(benchmark, texts=texts):
        told.append(
            element(
                "p",
                sentence(
                    f"Texts and ids are left out here; the data are {_whose(benchmark)}. Items are numbered in the "
                    "order of the file. `medjury bench leaderboard FOLDER --texts` writes them, for your eyes."
                ),
                class_="note",
            )
        )
    if benchmark.jury is not None and benchmark.jury.folder:
        told.append(paragraph(f"Every vote of the jury: medjury view {benchmark.jury.folder}", class_="soft"))
    return joined(told)


def _filters() -> Html:
    words = {
        "all": "all",
        "right": "right",
        "wrong": "not right",
        "unanswered": "unanswered",
        "missing": "missing",
    }
    buttons = [
        element(
            "button", label, type="button", data_show=name, aria_pressed="true" if name == "all" else "false"
        )
        for name, label in words.items()
    ]
    return element("p", "Show: ", _spaced(buttons), class_="filters screen", hidden="hidden")


def _card(
    place: int, item: ItemResult, answer: AnswerResult, benchmark: BenchmarkResult, *, texts: bool | None
) -> Html:
    named = shows_texts(benchmark, texts=texts)
    kind, mark = _mark(answer)
    rows: list[tuple[str, object]] = []
    if named:
        rows += [
            ("answer", _said(answer.answer) if answer.answer else "none"),
            ("read as", answer.read or "–"),
            ("gold", _said(" | ".join(item.gold)) if item.gold else "none"),
        ]
        if answer.note:
            rows.append(("note", answer.note))
    rows += [(metric_name(name), f"{value:.3f}") for name, value in answer.others.items()]
    if item.decided:
        rows.append(
            ("caution", "an answer that says nothing is right on this item: it separates no candidates")
        )
    title = f"Item {item.item}" if named else f"Item {place + 1}"
    question = (
        element("details", element("summary", "what was asked"), _said(item.prompt))
        if named and item.prompt
        else ""
    )
    return element(
        "article",
        element("h2", title, " ", element("span", mark, class_=f"mark {kind}")),
        question,
        definitions(rows) if rows else "",
        class_="item",
        data_kind=kind,
        id=f"item-{place + 1}",
    )


def _mark(answer: AnswerResult) -> tuple[str, str]:
    if answer.state == "scored":
        score = answer.score or 0.0
        return ("right", "right") if score == 1 else ("wrong", f"{score:.3f}" if score else "not right")
    return answer.state, f"{answer.state}: {reason_name(answer.reason)}"


def _said(words: str) -> Html:
    cut = f" … ({len(words) - _LONGEST:,} more characters)" if len(words) > _LONGEST else ""
    return element("div", words[:_LONGEST] + cut, class_="said")


def _spaced(parts: Sequence[Html]) -> Html:
    return joined(part for each in parts for part in (each, " "))


def own_file(name: str) -> str:
    return files("medjury.suites._leaderboard").joinpath(name).read_text(encoding="utf-8")
