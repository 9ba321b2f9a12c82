"""What was found out about the items and the candidates themselves: gold answers out of reach, and memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from medjury.suites._baselines import UnanswerableEffect, effect_of_unanswerable
from medjury.suites._leaderboard._cells import counted_score
from medjury.suites._leaderboard._standings import Board


@dataclass(frozen=True, slots=True)
class ReachEffect:
    """What leaving out the items does that a judge calls out of reach; or why that cannot be told."""

    benchmark: str
    judge: str
    effect: UnanswerableEffect | None
    why: str = ""

    def as_dict(self) -> dict[str, Any]:
        found = self.effect
        base: dict[str, Any] = {"benchmark": self.benchmark, "judge": self.judge, "why": self.why}
        if found is None:
            return {**base, "items": None, "out_of_reach": None, "not_judged": None, "candidates": []}
        rows = [
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
        counts = {"items": found.items, "out_of_reach": found.left_out, "not_judged": found.not_judged}
        return {**base, **counts, "candidates": rows}


def reach_effects(board: Board) -> list[ReachEffect]:
    """For every benchmark of which a judge said whether its gold answers can be reached, on the items that all
    comparable candidates have."""
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
        found.append(_effect(each.benchmark, each.judge, scores, weights, each.answerable))
    return found


def _effect(
    benchmark: str,
    judge: str,
    scores: Mapping[str, Mapping[str, float]],
    weights: Mapping[str, Mapping[str, float]],
    answerable: Mapping[str, float | None],
) -> ReachEffect:
    if not scores:
        return ReachEffect(benchmark, judge, None, "no candidate has enough scores to be compared")
    shared = set.intersection(*(set(each) for each in scores.values()))
    if not any(answerable.get(item) != 0 for item in shared):
        return ReachEffect(
            benchmark, judge, None, "no item is left that can be answered according to the judge"
        )
    return ReachEffect(benchmark, judge, effect_of_unanswerable(scores, answerable, weights=weights))


def not_probed(board: Board) -> list[tuple[str, list[str]]]:
    """For every candidate the benchmarks on which nobody tried whether it knows them by heart."""
    known = {(each.candidate, each.benchmark) for each in board.results.memory}
    rows = [
        (one.name, [each.title for each in board.results.benchmarks if (one.name, each.name) not in known])
        for one in board.results.candidates
    ]
    return [(name, titles) for name, titles in rows if titles]
