"""The sections below the standings: scores by benchmark, categories, coverage, what can be told apart, the
jury."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from medjury.report import (
    Figure,
    Html,
    bullets,
    element,
    joined,
    paragraph,
    sentence,
    shade,
    table_html,
    table_of,
)
from medjury.statistics import FEWEST_CLUSTERS, Printable, counted, percent
from medjury.suites._leaderboard._cells import MOST_MISSING, Cell
from medjury.suites._leaderboard._costs import candidate_costs, payer_costs
from medjury.suites._leaderboard._data import helm_rows
from medjury.suites._leaderboard._item_pages import page_name
from medjury.suites._leaderboard._names import metric_name, reason_name
from medjury.suites._leaderboard._results import BenchmarkResult, HelmResult
from medjury.suites._leaderboard._standings import Board
from medjury.validation import MEANING, Word

_AGREEMENT = {"jury": "jury", "rouge_l": "ROUGE-L", "bertscore": "BERTScore", "clinicians": "clinician"}


def categories(board: Board) -> Html:
    """The macro average of each category, with ranks of its own."""
    if len(board.categories) < 2:
        return Html("")
    rows: list[Sequence[Printable]] = []
    for standings in board.categories.values():
        for each in standings.rows:
            place = each.places.get("macro")
            rows.append(
                (
                    standings.name,
                    each.candidate,
                    None if place is None else place.rank,
                    "" if place is None else f"{place.rank_low} to {place.rank_high}",
                    "" if place is None else place.tie_group,
                    each.macro,
                    each.win_half,
                    each.win_or_tie,
                    len(standings.benchmarks),
                )
            )
    return table_html(
        ("category", "candidate", "rank", "ranks left open", "tie group", "macro average", "win rate (tie = ½)",
         "win rate (tie = win)", "benchmarks"),
        rows,
        caption="Within each category, ranked by the macro average; a win rate over few benchmarks moves in large "
        "steps",
    )  # fmt: skip


def helm(board: Board) -> Html:
    """The same answers by HELM's rules, what HELM published beside them, and why the two may differ."""
    asked = [each for each in board.results.benchmarks if each.helm is not None]
    if not asked:
        return Html("")
    titles = {each.name: each.title for each in asked}
    marks: list[Sequence[Printable]] = [
        (
            titles[row["benchmark"]],
            row["candidate"],
            row["ours"],
            row["helms"],
            None if row["ours"] is None else row["helms"] - row["ours"],
            f"{row['answers']:,} of {row['items']:,}",
        )
        for row in helm_rows(board)
    ]
    parts: list[Html] = []
    if marks:
        parts.append(
            table_html(
                (
                    "benchmark",
                    "candidate",
                    "our mark",
                    "HELM's mark",
                    "difference",
                    "answers that HELM's rule marks",
                ),
                marks,
                caption="The same answers marked by our rules, which read what an answer means, and by those of "
                "HELM, which compare what it says. Ranks rest on ours",
            )
        )
    if any(board.results.published.values()):
        parts.append(_published(board, titles))
    by_jury = [each.title for each in asked if each.helm is not None and not each.helm.rule]
    if by_jury:
        parts.append(
            paragraph(
                f"Not scored by a rule: {', '.join(by_jury)}. HELM asks a jury of models there, which no rule "
                "can restate.",
                class_="note",
            )
        )
    differs = [
        f"{each.title} ({each.helm.name}). {'. '.join(_differences(each.helm))}."
        for each in asked
        if each.helm is not None and each.helm.rule
    ]
    if differs:
        parts += [
            paragraph(
                "What differs from a run of HELM: the prompts are our own, and HELM cuts an answer to a question "
                "with choices after one to five tokens. Of each benchmark:"
            ),
            bullets(differs),
        ]
    return joined(parts)


def _differences(helm: HelmResult) -> list[str]:
    return [
        *([f"Items in HELM: {helm.split}"] if helm.split else []),
        *([f"HELM's prompt: {helm.prompt}"] if helm.prompt else []),
        f"Right is: {helm.rule}",
    ]


def _published(board: Board, titles: Mapping[str, str]) -> Html:
    """Candidates by HELM's marks, and the models of HELM's table: not the same items, and not ranked together."""
    names = [each for each in titles if any(each in scores for scores in board.results.published.values())]
    here: dict[str, dict[str, float]] = {}
    for row in helm_rows(board):
        here.setdefault(row["candidate"], {})[row["benchmark"]] = row["helms"]
    rows: list[Sequence[Printable]] = [
        (who, where, *(scores.get(name) for name in names))
        for where, found in (("here", here), ("published by HELM", board.results.published))
        for who, scores in found.items()
        if scores
    ]
    return table_html(
        ("model", "scored", *(titles[each] for each in names)),
        rows,
        caption="HELM's published scores beside these candidates by HELM's marks. They were not asked the same "
        "items by the same prompts (below): a difference is not one of the models alone, and none is tested",
    )


def coverage(board: Board) -> Html:
    """Who was asked how much, who stayed silent and why, and what never arrived."""
    rows: list[Sequence[Printable]] = []
    for candidate in board.results.candidates:
        cells = [cell for (name, _), cell in board.cells.items() if name == candidate.name]
        silent: Counter[str] = Counter()
        missing: Counter[str] = Counter()
        for cell in cells:
            silent.update(cell.unanswered)
            missing.update(cell.missing)
        declined = silent.pop("refusal", 0)
        unread = silent.pop("parse", 0)
        beaten = [cell for cell in cells if cell.beats_baseline]
        rows.append(
            (
                candidate.name,
                sum(cell.items for cell in cells),
                sum(cell.scored for cell in cells),
                declined,
                unread,
                _reasons(silent),
                _reasons(missing),
                f"{sum(cell.beats_baseline == 'yes' for cell in beaten)} of {len(beaten)}" if beaten else "–",
            )
        )
    table = table_html(
        ("candidate", "items", "scored", "declined", "unreadable", "other silence", "missing",
         "benchmarks on which it beats the best trivial answer"),
        rows,
        caption="What a candidate left unanswered counts as not right. What is missing (the endpoint or the jury "
        "failed) counts neither way",
    )  # fmt: skip
    left = [
        f"{each.title}: {', '.join(f'{reason}: {count:,}' for reason, count in each.left_out.items())}"
        for each in board.results.benchmarks
        if each.left_out
    ]
    parts: list[Html] = [table]
    if left:
        parts += [paragraph("Rows of the sources that are not items:"), bullets(left)]
    parts.append(bullets(board.results.notes))
    return joined(parts)


def detectable(board: Board) -> Html:
    """The smallest difference of two candidates that each benchmark can show, and how many of its items tell a
    candidate that reads from one that does not."""
    rows: list[Sequence[Printable]] = []
    for benchmark in board.results.benchmarks:
        part = board.benchmarks[benchmark.name].detectable
        items = board.results.items_of(benchmark.name)
        found = None if part is None else part.rows[0]
        spread = "" if found is None or found.mde_sd is None else f" ± {found.mde_sd:.3f}"
        rows.append(
            (
                benchmark.title,
                len(items),
                sum(each.decided for each in items),
                "–" if found is None else f"{found.mde:.3f}{spread}",
                None if found is None else found.largest,
                "–" if found is None else f"{found.beyond} of {found.pairs}",
            )
        )
    return table_html(
        (
            "benchmark",
            "items",
            "decided without reading",
            "smallest detectable difference",
            "largest of a pair",
            "pairs that differ by more",
        ),
        rows,
        caption="Mean ± SD over pairs of candidates, on the same items (alpha 0.05, power 0.8, one pair at a "
        "time). A difference smaller than this may well be chance. An item is decided without reading where an "
        "answer that says nothing is right: it cannot separate those who read from those who do not. – "
        "where no two candidates "
        f"differ on any item, or fewer than {FEWEST_CLUSTERS} items are too few to tell",
    )


def jury(board: Board) -> Html:
    """The verdict on the jury of every open benchmark, and its agreement with clinicians where they rated."""
    judged = [each for each in board.results.benchmarks if each.jury is not None]
    unjudged = [each.title for each in board.results.benchmarks if each.open and each.jury is None]
    parts: list[Html] = []
    if unjudged:
        parts.append(paragraph(f"Open benchmarks that no jury judged: {', '.join(unjudged)}.", class_="note"))
    for said, titles in _verdicts(judged).items():
        judges, word, why = said
        parts.append(
            element(
                "div",
                element("p", f"{', '.join(titles)}: judged by {', '.join(judges)}", class_="whose"),
                element("p", word, class_="word"),
                paragraph(MEANING[word]),
                paragraph(sentence(why)) if why else "",
                class_=f"verdict {word.lower().replace(' ', '-')}",
            )
        )
    if board.results.agreement:
        names = [name for name in _AGREEMENT if any(name in each.columns for each in board.results.agreement)]
        rows: list[Sequence[Printable]] = [
            (each.benchmark, each.answers, each.clinicians, *(each.columns.get(name) for name in names))
            for each in board.results.agreement
        ]
        parts.append(
            table_html(
                ("benchmark", "answers", "clinicians", *(_AGREEMENT[name] for name in names)),
                rows,
                caption="Agreement with clinicians: ICC(3,k) of mean scores after each rater's scores are "
                "standardised (consistency, not absolute agreement); last, the average of clinicians with one "
                "another",
            )
        )
    return joined(parts)


def reading(board: Board) -> Html:
    """The rules, in plain words."""
    lines = [
        "A score is the mean mark of a benchmark's items, from 0 to 1. A jury's grades are put on that scale: the "
        "lowest grade is 0, the highest 1, and axes and judges weigh alike.",
        "What a candidate left unanswered (it declined, said nothing, was cut off, or nothing could be read) "
        "counts as not right: a model that stays silent on hard questions must not look better for it.",
        "What the endpoint or the jury failed to give is missing. It counts neither as right nor as wrong; the "
        f"cell says INCOMPLETE, with the lowest and the highest score still possible. With more than "
        f"{percent(MOST_MISSING)} missing a candidate has no rank there.",
        "The win rate is how often a candidate does better than a rival, over all rivals and benchmarks. A tie "
        "counts half, or, by the other rule, as a win for both (score ≥ rival's).",
        "The macro average is the mean of the scores, each benchmark weighing the same.",
        "A tie group holds candidates that the data do not tell apart; that does not prove that they are equal. "
        "Beside a rank are all ranks that the data leave open.",
        "A trivial answer is given without reading: empty, always the same letter, the most frequent answer, a "
        "copy of the input. A score that is not above the best of them shows nothing.",
        "Choose other candidates or benchmarks, and ranks, win rates and averages follow. Their intervals belong "
        "to the whole table: for another choice `medjury bench leaderboard` makes them anew.",
    ]
    return bullets(map(sentence, lines))


def sources(board: Board) -> Html:
    """Which data, under which licence, and the same numbers as files."""
    rows: list[Sequence[Printable]] = []
    for each in board.results.benchmarks:
        asked = len(board.results.items_of(each.name))
        drawn = f"{asked:,} of {each.drawn_from:,}" if each.drawn_from > asked else f"{asked:,}"
        data = "made-up rows" if each.sample else each.source
        rows.append(
            (each.title, metric_name(each.metric), drawn, each.access, each.curation, each.licence, data)
        )
    links = [
        element("a", name, href=f"data/{name}")
        for name in ("leaderboard.json", "standings.csv", "cells.csv", "costs.csv", "checks.csv")
    ]
    return joined(
        [
            table_html(
                ("benchmark", "marked by", "items", "access", "curation", "licence", "source"),
                rows,
                caption="The benchmarks of this leaderboard",
            ),
            paragraph("The same numbers as data: ", joined(p for each in links for p in (each, " "))),
            paragraph(counted(len(board.results.candidates), "candidate") + " asked at temperature 0 unless a "
                      "candidate states another.", class_="soft"),
        ]
    )  # fmt: skip


def _reasons(counts: Counter[str]) -> str:
    return ", ".join(f"{count:,} {reason_name(reason)}" for reason, count in counts.most_common()) or "0"


def _verdicts(
    judged: Sequence[BenchmarkResult],
) -> dict[tuple[tuple[str, ...], Word, str], list[str]]:
    """The benchmarks of each jury, verdict and reason: what is said of many is said once."""
    found: dict[tuple[tuple[str, ...], Word, str], list[str]] = {}
    for each in judged:
        if each.jury is not None:
            found.setdefault((each.jury.judges, each.jury.word, each.jury.why), []).append(each.title)
    return found


# The heat map: benchmarks down, candidates across; every cell leads to its items.


# From white to blue: people with any kind of colour vision see which is darker, and dark words can be read on all.
_STOPS = ("#ffffff", "#deebf7", "#b2d2ec", "#6baed6")


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
            _heat_row(board, benchmark, place, pages)
            for place, benchmark in enumerate(board.results.benchmarks)
            if benchmark.category == category
        ]
    caption = (
        "Scores from 0 (light) to 1 (dark), with intervals. Press a score to read its items. ▽ marks a score that "
        "is not above the best trivial answer, ? one that is not shown to be; INCOMPLETE is a cell with answers "
        "missing, between the bounds below it."
    )
    return table_of(
        element("span", caption), [head], rows, scroll="Scores by benchmark", id="heat", class_="heat stacked"
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


def _heat_row(board: Board, benchmark: BenchmarkResult, place: int, pages: Mapping[str, str]) -> Html:
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
        _heat_cell(cell, f"items/{pages[benchmark.name]}/{page_name(pages[cell.candidate])}", number)
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


def _heat_cell(cell: Cell, page: str, number: int) -> Html:
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
    if "helm" in cell.others:
        parts.append(element("span", f"HELM's mark {cell.others['helm'][0]:.2f}", class_="interval"))
    silent = sum(cell.unanswered.values())
    if silent:
        parts.append(element("span", f"{silent:,} unanswered", class_="interval"))
    if not cell.complete:
        between = "" if cell.worst is None or cell.best is None else f" {cell.worst:.2f}–{cell.best:.2f}"
        parts.append(element("span", f"INCOMPLETE{between}", class_="flag"))
    style = None if value is None else f"background:{shade(value, _STOPS)}"
    return element("td", *parts, class_="number", style=style, data_candidate=str(number))


# What it cost: tokens and money per candidate and per model, and who gives most for the price.

_POINT, _FRONT = "#0072b2", "#d55e00"


def cost_section(board: Board) -> Html:
    """Tokens and money, per candidate and per model, the bound before and what it came to."""
    results = board.results
    if not results.spending:
        return Html("")
    unit = results.currency
    by_candidate = {
        "candidate": "candidate",
        "vendor": "made by",
        "window": "window",
        "benchmark_tokens": "benchmark tokens",
        "jury_tokens": "jury tokens",
        "benchmark_money": f"benchmark {unit}",
        "jury_money": f"jury {unit}",
        "money": f"total {unit}",
        "expected_money": f"expected {unit}",
        "bound_money": f"bound {unit}",
    }
    by_model = {
        "payer": "model",
        "role": "role",
        "calls": "calls",
        "tokens_in": "tokens in",
        "tokens_out": "tokens out",
        "money": unit,
        "expected_tokens": "expected tokens",
        "expected_money": f"expected {unit}",
        "bound_tokens": "bound tokens",
        "bound_money": f"bound {unit}",
    }
    prices: list[Sequence[Printable]] = [
        (each.name, each.model or "–", *each.price) for each in results.candidates if each.price is not None
    ]
    parts = [
        _cost_picture(board),
        table_html(
            [*by_candidate.values()],
            [[each[name] or ("–" if name == "vendor" else each[name]) for name in by_candidate]
             for each in candidate_costs(results)],
            caption="Each candidate: tokens and money of its own answers and of judging them. The bound, stated "
            "before the run, counts the input and the longest answer allowed",
            digits=4,
        ),
        table_html(
            [*by_model.values()],
            [[each[name] for name in by_model] for each in payer_costs(results.spending)],
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
