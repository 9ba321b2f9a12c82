"""The table of standings, complete without script; the script fills the same cells anew for another choice."""

from __future__ import annotations

from medjury.report import Html, bullets, element, joined, paragraph
from medjury.statistics import Estimate, shown
from medjury.suites._leaderboard._board import Board
from medjury.suites._leaderboard._standings import CandidateStanding, Place

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
    rows = [_row(each, numbers[each.candidate]) for each in overall.rows]
    rows += [_unranked(name, why, numbers[name]) for name, why in overall.unranked.items()]
    baseline = board.baseline_macro()
    if baseline is not None:
        rows.append(_baseline(*baseline, len(board.results.benchmarks)))
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
    table = element(
        "table",
        element("caption", element("span", caption)),
        element("thead", element("tr", head)),
        element("tbody", *rows),
        id="overall",
        class_="stacked",
    )
    alone = (
        paragraph(
            "A single candidate has nobody to be compared with, so it has no rank and no win rate.",
            class_="note",
        )
        if len(board.results.candidates) == 1
        else ""
    )
    scroll = element("div", table, class_="scroll", role="region", aria_label="Standings", tabindex="0")
    return joined([alone, scroll, bullets(overall.warnings)])


def _row(each: CandidateStanding, number: int) -> Html:
    place = each.places.get("win_half") or each.places.get("macro")
    cells = [
        element("td", rank_words(place), class_="number", data_key="rank"),
        element("th", each.candidate, scope="row"),
        element("td", "–" if place is None else place.tie_group, class_="number", data_key="letters"),
        *(
            element("td", _estimate(value), class_="number", data_key=key)
            for key, value in (("win_half", each.win_half), ("win_or_tie", each.win_or_tie))
        ),
        element("td", shown(each.win_sd), class_="number", data_key="win_sd"),
        element("td", _estimate(each.macro), class_="number", data_key="macro"),
        element("td", shown(each.macro_sd), class_="number", data_key="macro_sd"),
    ]
    return element("tr", *cells, data_candidate=str(number))


def _unranked(name: str, why: str, number: int) -> Html:
    blank = [element("td", "–", class_="number", data_key=key) for _, key, _ in _HEAD[3:]]
    return element(
        "tr",
        element("td", "–", class_="number", data_key="rank"),
        element("th", name, " ", element("span", why, class_="flag"), scope="row"),
        element("td", "–", class_="number", data_key="letters"),
        *blank,
        data_candidate=str(number),
    )


def _baseline(score: float, over: int, benchmarks: int) -> Html:
    there = "" if over == benchmarks else f", on {over} of {benchmarks} benchmarks"
    return element(
        "tr",
        element("td", "", class_="number"),
        element("th", f"best trivial answers{there}", scope="row"),
        *(element("td", "", class_="number") for _ in range(4)),
        element("td", shown(score), class_="number"),
        element("td", "", class_="number"),
        class_="baseline",
    )


def rank_words(place: Place | None) -> Html | str:
    if place is None:
        return "–"
    return joined(
        [str(place.rank), " ", element("span", f"({place.low} to {place.high})", class_="interval")]
    )


def _estimate(value: Estimate | None) -> Html | str:
    if value is None or value.value is None:
        return "–"
    middle, _, rest = shown(value).partition(" (")
    return joined([middle, " ", element("span", f"({rest}", class_="interval")]) if rest else middle
