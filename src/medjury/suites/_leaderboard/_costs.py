"""Tokens and money: per candidate, per judge, the bound before and what it came to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from medjury.suites._leaderboard._results import Results, Spending

_AMOUNTS = (
    "calls", "tokens_in", "tokens_out", "money", "bound_tokens", "bound_money", "expected_tokens", "expected_money",
)  # fmt: skip


def candidate_costs(results: Results) -> list[dict[str, Any]]:
    """The cost of every candidate: what its answers took, what judging them took, and the `money` of both together.
    `bound` counts the input and the longest answer allowed; money is None where a price is not known."""
    found = []
    for each in results.candidates:
        own = [row for row in results.spending if row.role == "candidate" and row.payer == each.name]
        jury = [row for row in results.spending if row.role == "judge" and row.candidate == each.name]
        money = {"benchmark_money": _sum(own, "money"), "jury_money": _sum(jury, "money")}
        found.append(
            {
                "candidate": each.name,
                "vendor": each.vendor,
                "window": each.window,
                "benchmark_tokens": _sum(own, "tokens_in") + _sum(own, "tokens_out"),
                "jury_tokens": _sum(jury, "tokens_in") + _sum(jury, "tokens_out"),
                **money,
                **{
                    name: _sum((*own, *jury), name)
                    for name in ("bound_tokens", "bound_money", "expected_money")
                },
                "money": total(money.values()),
            }
        )
    return found


def payer_costs(spending: Sequence[Spending]) -> list[dict[str, Any]]:
    """The cost of every model that was asked, as a candidate or as a judge: candidates first, then judges."""
    found = []
    for role, payer in sorted(
        dict.fromkeys((row.role, row.payer) for row in spending), key=lambda key: key[0]
    ):
        rows = [row for row in spending if (row.role, row.payer) == (role, payer)]
        found.append({"payer": payer, "role": role, **{name: _sum(rows, name) for name in _AMOUNTS}})
    return found


def costs_of(results: Results) -> dict[str, float] | None:
    """What each candidate's own answers cost; None where a price is not known, for an unknown price is not 0."""
    known = {each["candidate"]: each["benchmark_money"] for each in candidate_costs(results)}
    return None if not results.spending or None in known.values() else known


def total(amounts: Iterable[float | None]) -> float | None:
    """The sum; None where one of them is not known."""
    known = list(amounts)
    return None if any(each is None for each in known) else sum(each or 0.0 for each in known)


def _sum(rows: Iterable[Spending], name: str) -> Any:
    amounts = [getattr(row, name) for row in rows]
    return total(amounts) if name.endswith("money") else sum(amounts)
