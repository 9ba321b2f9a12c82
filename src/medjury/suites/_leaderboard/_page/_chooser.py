"""The controls: which candidates and benchmarks count, and what ranks them. They work with script alone."""

from __future__ import annotations

from medjury.report import Html, element, joined
from medjury.statistics import counted
from medjury.suites._leaderboard._board import Board

MEASURE_NAMES = {
    "win_half": "win rate, ties count half",
    "win_or_tie": "win rate, a tie is a win for both",
    "macro": "macro average",
}


def chooser(board: Board) -> Html:
    """Hidden until the script that makes it work shows it."""
    candidates = [_box("candidate", place, each.name) for place, each in enumerate(board.results.candidates)]
    groups: dict[str, list[Html]] = {}
    for place, each in enumerate(board.results.benchmarks):
        groups.setdefault(each.category, []).append(_box("benchmark", place, each.title))
    benchmarks = [
        element("fieldset", element("legend", _all_of(category)), *boxes, data_category=category)
        for category, boxes in groups.items()
    ]
    measures = [
        element("label", _input("radio", name="measure", value=name, checked=name == "win_half"), " ", words)
        for name, words in MEASURE_NAMES.items()
    ]
    hard = element(
        "label",
        _input("checkbox", name="hard", value="hard", checked=False),
        f" leave out {counted(board.decided, 'item')} on which an answer is right that says nothing",
    )
    parts = (
        [
            element("fieldset", element("legend", "Rank by"), *measures),
            *([element("p", hard)] if board.decided and not board.leave_out_decided else []),
            element(
                "details",
                element("summary", "Candidates"),
                element("fieldset", element("legend", _everybody()), *candidates),
            ),
            element("details", element("summary", "Benchmarks"), *benchmarks),
            element("p", id="chosen", role="status"),
        ]
        if board.results.candidates
        else []
    )
    return element("form", *parts, class_="chooser screen", id="chooser", hidden="hidden")


def _box(kind: str, place: int, label: str) -> Html:
    return element("label", _input("checkbox", name=kind, value=str(place), checked=True), " ", label)


def _all_of(category: str) -> Html:
    return element("label", _input("checkbox", name="category", value=category, checked=True), " ", category)


def _everybody() -> Html:
    return element("label", _input("checkbox", name="everybody", value="all", checked=True), " all")


def _input(kind: str, *, name: str, value: str, checked: bool) -> Html:
    made = element("input", type=kind, name_=name, value=value, checked="checked" if checked else None)
    return Html(joined([made]).removesuffix("</input>"))
