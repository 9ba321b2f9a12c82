"""The leaderboard as data: one JSON for machines, the part of it that the page computes with, and tables as
CSV."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from medjury.report import Html
from medjury.statistics import Printable, ends, text_table
from medjury.suites._baselines import UnanswerableEffect, effect_of_unanswerable
from medjury.suites._leaderboard._cells import MOST_MISSING, counted_score
from medjury.suites._leaderboard._costs import candidate_costs, payer_costs
from medjury.suites._leaderboard._results import AnswerResult, ReachResult
from medjury.suites._leaderboard._standings import Board

# What the page needs to compare any choice of candidates as a new leaderboard of them would: on the items that all
# of the chosen ones have. An item that somebody else lacks counts as soon as that one is not chosen.

_Part = list[float] | None  # the sum of weighted scores, and of weights


def choice_data(board: Board, *, hard: bool) -> dict[str, Any]:
    """`whole`: for every candidate and benchmark the sums over items that all comparable candidates have, None
    where a candidate lacks too much. `partly`: for every benchmark the items that some of them lack, each with the
    parts of all candidates, None where it is lacking. `hard` leaves out what a trivial answer gets right."""
    names = [each.name for each in board.results.candidates]
    given = board.results.by_item()
    leave_out = hard or board.leave_out_decided
    whole: list[list[_Part]] = [[] for _ in names]
    partly = []
    for benchmark in board.results.benchmarks:
        chosen = board.results.items_of(benchmark.name, leave_out_decided=leave_out)
        items = [each.item for each in chosen]
        columns = [_parts(given.get((name, benchmark.name), {}), items) for name in names]
        shared = [place for place in range(len(items)) if all(each[place] for each in columns if each)]
        lacking = sorted(set(range(len(items))) - set(shared))
        for place, column in enumerate(columns):
            whole[place].append(_sum(column, shared) if column else None)
        partly.append([[each[item] if each else None for each in columns] for item in lacking])
    return {"whole": whole, "partly": partly}


def _parts(given: dict[str, AnswerResult], items: list[str]) -> list[_Part]:
    """The parts of a candidate, item by item; nothing where it lacks too many to be compared."""
    found: list[_Part] = []
    for item in items:
        answer = given.get(item)
        score = None if answer is None or answer.state == "missing" else counted_score(answer)
        found.append(None if answer is None or score is None else [score * answer.weight, answer.weight])
    lost = sum(each is None for each in found)
    return found if lost < len(items) and lost <= MOST_MISSING * len(items) else []


def _sum(column: list[_Part], places: list[int]) -> list[float]:
    parts = [column[place] or [0.0, 0.0] for place in places]
    return [sum(each[0] for each in parts), sum(each[1] for each in parts)]


HELM = "helm"  # among the further metrics of an answer
# A cell that a spreadsheet would take for a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def board_json(board: Board) -> dict[str, Any]:
    """Everything on the page, without a text of an item."""
    results = board.results
    return {
        "suite": results.suite,
        "made_at": results.made_at,
        "confidence": board.confidence,
        "leave_out_decided": board.leave_out_decided,
        "candidates": [
            {**_without_why(asdict(each)), "stopped": bool(each.why)} for each in results.candidates
        ],
        "benchmarks": [
            {**asdict(each), "items": len(own), "decided": sum(item.decided for item in own)}
            for each in results.benchmarks
            for own in [results.items_of(each.name)]
        ],
        "overall": board.overall.as_dict(),
        "categories": [each.as_dict() for each in board.categories.values()],
        "by_benchmark": [each.as_dict() for each in board.benchmarks.values()],
        "cells": [each.as_dict() for each in board.cells.values()],
        "detectable": detectable_rows(board),
        "reach": reach_rows(board),
        "memory": [asdict(each) for each in results.memory],
        "not_probed": dict(not_probed(board)),
        "agreement": [
            {
                "benchmark": each.benchmark,
                "answers": each.answers,
                "clinicians": each.clinicians,
                **{name: ends(estimate) for name, estimate in each.columns.items()},
            }
            for each in results.agreement
        ],
        "cost": {
            "currency": results.currency,
            "prices_as_of": results.prices_as_of,
            "paid": results.paid,
            "by_candidate": candidate_costs(results),
            "by_model": payer_costs(results.spending),
        },
        "helm": helm_rows(board),
        "published": [
            {"model": model, "benchmark": name, "score": score}
            for model, scores in results.published.items()
            for name, score in scores.items()
        ],
        "notes": list(results.notes),
    }


def board_text(board: Board) -> str:
    """The standings for a terminal, with what must be read before them."""
    rows: list[dict[str, Printable]] = [
        {
            "rank": None if (place := each.places.get("win_half")) is None else place.rank,
            "candidate": each.candidate,
            "win_rate": each.win_half,
            "win_or_tie": each.win_or_tie,
            "macro_average": each.macro,
            "tie_group": "" if place is None else place.tie_group,
        }
        for each in board.overall.rows
    ]
    lines = [f"! {note}" for note in board.results.notes]
    if board.samples:
        lines.append(f"! NOT A MEASUREMENT: made-up rows stand in for the data of {', '.join(board.samples)}")
    lines += [f"! {warning}" for warning in board.overall.warnings]
    lines += text_table(rows)
    lines += [f"{name}: {why}" for name, why in board.overall.unranked.items()]
    return "\n".join(lines)


def page_data(board: Board) -> Html:
    """What the script of the page computes with, safe inside a page."""
    candidates = [each.name for each in board.results.candidates]
    benchmarks = [each.name for each in board.results.benchmarks]
    content = {
        "candidates": candidates,
        "benchmarks": benchmarks,
        "all": choice_data(board, hard=False),
        "hard": choice_data(board, hard=True),
        "places": {row.candidate: row.as_dict()["places"] for row in board.overall.rows},
    }
    return Html(json.dumps(content, allow_nan=False).replace("<", "\\u003c"))


def detectable_rows(board: Board) -> list[dict[str, Any]]:
    """The smallest difference that each benchmark can show."""
    found = []
    for standings in board.benchmarks.values():
        if standings.detectable is not None:
            found += [dict(each.as_dict()) for each in standings.detectable.rows]
    return found


def helm_rows(board: Board) -> list[dict[str, Any]]:
    """Every candidate's mean mark by HELM's rules beside ours, where they were asked for."""
    return [
        {
            "benchmark": benchmark.name,
            "helm": benchmark.helm.name,
            "candidate": cell.candidate,
            "ours": cell.score.value,
            "helms": cell.others[HELM][0],
            "answers": cell.others[HELM][1],
            "items": cell.items,
        }
        for benchmark in board.results.benchmarks
        if benchmark.helm is not None
        for candidate in board.results.candidates
        if HELM in (cell := board.cells[candidate.name, benchmark.name]).others
    ]


def cells_csv(board: Board) -> str:
    """One row for every candidate and benchmark."""
    rows = []
    for cell in board.cells.values():
        row = {name: value for name, value in cell.as_dict().items() if name not in ("others", "method")}
        helms = (
            {"helm": cell.others[HELM][0], "helm_answers": cell.others[HELM][1]}
            if HELM in cell.others
            else {}
        )
        rows.append(row | {name: sum(row[name].values()) for name in ("unanswered", "missing")} | helms)
    return csv_text(rows)


def standings_csv(board: Board) -> str:
    """One row for every candidate overall and in each category."""
    rows = []
    for standings in (board.overall, *board.categories.values()):
        for each in standings.rows:
            row = each.as_dict()
            for measure, place in row.pop("places").items():
                # `win_half_low` is the end of an interval; the ranks left open have names of their own.
                names = {"low": "rank_low", "high": "rank_high"}
                row |= {f"{measure}_{names.get(name, name)}": value for name, value in place.items()}
            rows.append({"over": standings.name, **row})
    return csv_text(rows)


def checks_csv(board: Board) -> str:
    """One row for every candidate and benchmark that was looked at: gold answers in reach, and memory."""
    rows: list[dict[str, Any]] = []
    for told in reach_rows(board):
        shared = {name: told[name] for name in ("benchmark", "judge", "items", "out_of_reach", "not_judged")}
        rows += [{"check": "gold answers in reach", **shared, **row} for row in told["candidates"]]
    rows += [{"check": "memory", **asdict(each)} for each in board.results.memory]
    return csv_text(rows)


def costs_csv(board: Board) -> str:
    return csv_text(payer_costs(board.results.spending))


def csv_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """A table that no spreadsheet takes for a program."""
    made = io.StringIO()
    names: Iterable[str] = dict.fromkeys(name for row in rows for name in row)
    writer = csv.DictWriter(made, list(names), lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _safe(value) for name, value in row.items()} for row in rows)
    return made.getvalue()


def _safe(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def _without_why(facts: dict[str, Any]) -> dict[str, Any]:
    """What stopped a candidate may name a host or a path, which is nobody else's business."""
    return {name: value for name, value in facts.items() if name != "why"}


# What was found out about the items and the candidates themselves: gold answers out of reach, and memory.


def reach_rows(board: Board) -> list[dict[str, Any]]:
    """The effects as data."""
    rows = []
    for reach, found in reach_effects(board):
        row: dict[str, Any] = {"benchmark": reach.benchmark, "judge": reach.judge, "why": ""}
        if isinstance(found, str):
            row |= {"why": found, "items": None, "out_of_reach": None, "not_judged": None, "candidates": []}
        else:
            row |= {"items": found.items, "out_of_reach": found.left_out, "not_judged": found.not_judged}
            row["candidates"] = [asdict(each) for each in found.candidates]
        rows.append(row)
    return rows


def reach_effects(board: Board) -> list[tuple[ReachResult, UnanswerableEffect | str]]:
    """For every benchmark of which a judge said whether its gold answers can be reached: what leaving out those
    that cannot does to the items that all comparable candidates have; or why that cannot be told."""
    found = []
    for each in board.results.reach:
        those = [
            candidate.name
            for candidate in board.results.candidates
            if board.cells[candidate.name, each.benchmark].comparable
        ]
        scores: dict[str, dict[str, float]] = {name: {} for name in those}
        weights: dict[str, dict[str, float]] = {name: {} for name in those}
        chosen = board.results.items_of(each.benchmark, leave_out_decided=board.leave_out_decided)
        items = {one.item for one in chosen}
        for answer in board.results.answers:
            if (
                answer.benchmark != each.benchmark
                or answer.item not in items
                or answer.candidate not in scores
            ):
                continue
            if (count := counted_score(answer)) is not None:
                scores[answer.candidate][answer.item] = count
                weights[answer.candidate][answer.item] = answer.weight
        found.append((each, _effect(scores, weights, each.answerable)))
    return found


def _effect(
    scores: Mapping[str, Mapping[str, float]],
    weights: Mapping[str, Mapping[str, float]],
    answerable: Mapping[str, float | None],
) -> UnanswerableEffect | str:
    if not scores:
        return "no candidate has enough scores to be compared"
    shared = set.intersection(*(set(each) for each in scores.values()))
    if not any(answerable.get(item) != 0 for item in shared):
        return "no item is left that can be answered according to the judge"
    return effect_of_unanswerable(scores, answerable, weights=weights)


def not_probed(board: Board) -> list[tuple[str, list[str]]]:
    """For every candidate the benchmarks on which nobody tried whether it knows them by heart."""
    known = {(each.candidate, each.benchmark) for each in board.results.memory}
    rows = [
        (one.name, [each.title for each in board.results.benchmarks if (one.name, each.name) not in known])
        for one in board.results.candidates
    ]
    return [(name, titles) for name, titles in rows if titles]
