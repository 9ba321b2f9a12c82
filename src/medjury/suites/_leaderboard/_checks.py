"""What was found out about the items and the candidates themselves: gold answers out of reach, and memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from medjury.suites._baselines import UnanswerableEffect, effect_of_unanswerable
from medjury.suites._leaderboard._cells import counted_score
from medjury.suites._leaderboard._results import ReachResult
from medjury.suites._leaderboard._standings import Board


def reach_rows(board: Board) -> list[dict[str, Any]]:
    """The effects as data."""
    rows = []
    for reach, found in reach_effects(board):
        row: dict[str, Any] = {"benchmark": reach.benchmark, "judge": reach.judge, "why": ""}
        if isinstance(found, str):
            row |= {"why": found, "items": None, "out_of_reach": None, "not_judged": None, "candidates": []}
        else:
            row |= {"items": found.items, "out_of_reach": found.left_out, "not_judged": found.not_judged}
            row["candidates"] = [
                {
                    "candidate": each.candidate,
                    "score": each.score,
                    "score_in_reach": each.kept_score,
                    "score_out_of_reach": each.left_out_score,
                    "rank": each.rank,
                    "rank_in_reach": each.kept_rank,
                }
                for each in found.candidates
            ]
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
