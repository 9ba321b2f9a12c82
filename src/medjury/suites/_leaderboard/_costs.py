"""Tokens and money: per candidate, per judge, the bound before and what it came to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from medjury.statistics import Row, flat
from medjury.suites._leaderboard._results import Results, Spending


@dataclass(frozen=True, slots=True)
class CandidateCost(Row):
    """One candidate: what its answers took, what judging them took, and both together. `bound` counts the input and
    the longest answer allowed; money is None where a price is not known."""

    candidate: str
    vendor: str
    window: int | None
    benchmark_tokens: int
    jury_tokens: int
    benchmark_money: float | None
    jury_money: float | None
    bound_tokens: int
    bound_money: float | None
    expected_money: float | None

    @property
    def money(self) -> float | None:
        return total([self.benchmark_money, self.jury_money])

    def as_dict(self) -> dict[str, Any]:
        return flat(self) | {"money": self.money}


@dataclass(frozen=True, slots=True)
class PayerCost(Row):
    """One model that was asked, as a candidate or as a judge."""

    payer: str
    role: str
    calls: int
    tokens_in: int
    tokens_out: int
    money: float | None
    bound_tokens: int
    bound_money: float | None
    expected_tokens: int
    expected_money: float | None


def candidate_costs(results: Results) -> tuple[CandidateCost, ...]:
    """The cost of every candidate, its jury's beside it."""
    found = []
    for each in results.candidates:
        own = [row for row in results.spending if row.role == "candidate" and row.payer == each.name]
        jury = [row for row in results.spending if row.role == "judge" and row.candidate == each.name]
        found.append(
            CandidateCost(
                each.name,
                each.vendor,
                each.window,
                _tokens(own),
                _tokens(jury),
                _sum(own, lambda row: row.money),
                _sum(jury, lambda row: row.money),
                sum(row.bound_tokens for row in (*own, *jury)),
                _sum((*own, *jury), lambda row: row.bound_money),
                _sum((*own, *jury), lambda row: row.expected_money),
            )
        )
    return tuple(found)


def payer_costs(results: Results) -> tuple[PayerCost, ...]:
    """The cost of every model that was asked: candidates first, then judges."""
    keys = dict.fromkeys((row.role, row.payer) for row in results.spending)
    found = []
    for role, payer in sorted(keys, key=lambda key: key[0]):
        rows = [row for row in results.spending if (row.role, row.payer) == (role, payer)]
        found.append(
            PayerCost(
                payer,
                role,
                sum(row.calls for row in rows),
                sum(row.tokens_in for row in rows),
                sum(row.tokens_out for row in rows),
                _sum(rows, lambda row: row.money),
                sum(row.bound_tokens for row in rows),
                _sum(rows, lambda row: row.bound_money),
                sum(row.expected_tokens for row in rows),
                _sum(rows, lambda row: row.expected_money),
            )
        )
    return tuple(found)


def costs_of(results: Results) -> dict[str, float] | None:
    """What each candidate's own answers cost; None where a price is not known, for an unknown price is not 0."""
    known = {each.candidate: each.benchmark_money for each in candidate_costs(results)}
    if not results.spending or any(each is None for each in known.values()):
        return None
    return {name: each for name, each in known.items() if each is not None}


def total(amounts: Iterable[float | None]) -> float | None:
    """The sum; None where one of them is not known."""
    known = list(amounts)
    return None if any(each is None for each in known) else sum(each or 0.0 for each in known)


def _tokens(rows: Sequence[Spending]) -> int:
    return sum(row.tokens_in + row.tokens_out for row in rows)


def _sum(rows: Sequence[Spending], amount: Callable[[Spending], float | None]) -> float | None:
    return total(amount(row) for row in rows)
