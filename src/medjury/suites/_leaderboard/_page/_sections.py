"""The sections below the standings: categories, coverage, what can be told apart, the jury, and how to read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from medjury.report import Html, bullets, element, joined, paragraph, sentence, table_html
from medjury.statistics import FEWEST_CLUSTERS, Printable, counted, percent
from medjury.suites._leaderboard._board import Board
from medjury.suites._leaderboard._cells import MOST_MISSING
from medjury.suites._leaderboard._names import metric_name, reason_name
from medjury.suites._leaderboard._results import BenchmarkResult
from medjury.validation import MEANING

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
                    "" if place is None else f"{place.low} to {place.high}",
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
        parts += [paragraph("Rows of the sources that are no items:"), bullets(left)]
    parts.append(bullets(board.results.notes))
    return joined(parts)


def detectable(board: Board) -> Html:
    """The smallest difference of two candidates that each benchmark can show, and how many of its items tell a
    candidate that reads from one that does not."""
    rows: list[Sequence[Printable]] = []
    for benchmark in board.results.benchmarks:
        part = board.benchmarks[benchmark.name].detectable
        items = [each for each in board.results.items if each.benchmark == benchmark.name]
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
        "answer is right that says nothing: it cannot tell who reads from who does not. – where no two candidates "
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
                paragraph(_of_verdict(word)),
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
        "A tie group holds candidates that the data do not tell apart; that is no proof that they are equal. "
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
        asked = sum(item.benchmark == each.name for item in board.results.items)
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
) -> dict[tuple[tuple[str, ...], str, str], list[str]]:
    """The benchmarks of each jury, verdict and reason: what is said of many is said once."""
    found: dict[tuple[tuple[str, ...], str, str], list[str]] = {}
    for each in judged:
        if each.jury is not None:
            found.setdefault((each.jury.judges, each.jury.word, each.jury.why), []).append(each.title)
    return found


def _of_verdict(word: str) -> str:
    return next((meant for name, meant in MEANING.items() if name == word), "")
