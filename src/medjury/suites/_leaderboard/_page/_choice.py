"""What the page needs to compare any choice of candidates as a new leaderboard of them would: on the items that all
of the chosen ones have. An item that somebody else lacks counts as soon as that one is not chosen."""

from __future__ import annotations

from typing import Any

from medjury.suites._leaderboard._board import Board
from medjury.suites._leaderboard._cells import MOST_MISSING, counted_score
from medjury.suites._leaderboard._results import AnswerResult

_Part = list[float] | None  # the sum of weighted scores, and of weights


def choice_data(board: Board, *, hard: bool) -> dict[str, Any]:
    """`whole`: for every candidate and benchmark the sums over items that all comparable candidates have, None
    where a candidate lacks too much. `partly`: for every benchmark the items that some of them lack, each with the
    parts of all candidates, None where it is lacking. `hard` leaves out what a trivial answer gets right."""
    names = [each.name for each in board.results.candidates]
    given: dict[tuple[str, str], dict[str, AnswerResult]] = {}
    for answer in board.results.answers:
        given.setdefault((answer.candidate, answer.benchmark), {})[answer.item] = answer
    leave_out = hard or board.leave_out_decided
    whole: list[list[_Part]] = [[] for _ in names]
    partly = []
    for benchmark in board.results.benchmarks:
        items = [
            each.item
            for each in board.results.items
            if each.benchmark == benchmark.name and not (leave_out and each.decided)
        ]
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
