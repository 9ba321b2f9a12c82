"""The plan of a suite: calls, tokens and price of every candidate and judge, before anything is asked.

The bound is the paper's: the tokens of the input, and the longest answer allowed. What is expected assumes answers
of a usual length. Both leave out calls that fail and are tried again.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from medjury.instruments import Unscored
from medjury.intake.cases import Case
from medjury.judging import TOKENS_PER_ANSWER, Rater
from medjury.models import PriceList
from medjury.statistics import Printable, counted, text_table
from medjury.studies import check_study
from medjury.suites._leaderboard._costs import payer_costs, total
from medjury.suites._leaderboard._results import Spending
from medjury.suites._running._answers import candidate_study
from medjury.suites._running._jury import Judged, answer_case, jury_of, jury_study
from medjury.suites._running._suite import Chosen, Suite, load_suite

_WORD = "note "  # as a rule a token


@dataclass(frozen=True)
class SuitePlan:
    """What a suite will ask. `spending` has a row for every payer, benchmark and candidate."""

    suite: Suite
    spending: tuple[Spending, ...]
    currency: str
    prices_as_of: str

    @property
    def bound(self) -> float | None:
        return total(each.bound_money for each in self.spending)

    @property
    def expected(self) -> float | None:
        return total(each.expected_money for each in self.spending)

    def text(self) -> str:
        """The plan for a reader."""
        suite = self.suite
        items = sum(len(each.items) for each in suite.benchmarks)
        lines = [
            f"{suite.name}: {counted(len(suite.benchmarks), 'benchmark')}, {counted(items, 'item')}, "
            f"{counted(len(suite.settings.candidates), 'candidate')}",
            *(f"! {note}" for note in suite.notes()),
            *text_table(list(self._rows())),
        ]
        if self.expected is None and self.bound is None:
            lines.append("What it costs in all is not known: a price is missing above.")
        else:
            lines.append(f"In all {self._price(self.expected)} expected, {self._price(self.bound)} at most.")
        lines.append(
            "The bound counts the input and the longest answer allowed; answers that are stored already cost "
            "nothing and are counted here. Prices are those of the dated list, or of the file."
        )
        return "\n".join(lines)

    def _rows(self) -> Iterator[dict[str, Printable]]:
        for each in payer_costs(self.spending):
            yield {
                "model": each["payer"],
                "as": each["role"],
                "calls": each["calls"],
                "expected tokens": each["expected_tokens"],
                "price": self._price(each["expected_money"]),
                "bound tokens": each["bound_tokens"],
                "bound price": self._price(each["bound_money"]),
            }

    def _price(self, money: float | None) -> str:
        return "not known" if money is None else f"{money:,.4g} {self.currency}"


def plan_suite(
    path: str | os.PathLike[str], settings: Mapping[str, Any] | None = None, *, preflight: bool = True
) -> SuitePlan:
    """Read a suite file, which is first written where `settings` state the suite; check everything that can be
    refused before the first call (hosts, keys, prices, instruments), and count."""
    suite = load_suite(path, settings)
    rows: list[Spending] = []
    prices = PriceList.shipped()
    for part in suite.settings.candidates:
        study = candidate_study(suite, part, suite.settings.budget.money, suite.settings.budget.calls)
        check_study(study, preflight=preflight)
        prices = study.prices
        for chosen in suite.benchmarks:
            judge = study.jury.judges[0]
            used = [each for case in chosen.cases() for each in _used(judge, case)]
            rows.append(_row(judge, part.called, chosen.name, part.called, used, prices))
    for chosen in suite.benchmarks:
        judged = jury_of(suite, chosen)
        if judged is not None:
            rows += _jury_rows(suite, chosen, judged)
    return SuitePlan(suite, tuple(rows), prices.currency, prices.as_of)


# Of one question: calls, and tokens in and out, as expected and at most.
_Used = tuple[int, int, int, int, int]


def _used(
    rater: Rater, case: Case, longest: Case | None = None, most_out: int | None = None
) -> Iterator[_Used]:
    """`longest` is the same case with an answer as long as it may be."""
    for unit, long_unit in zip(rater.units(case, 0), rater.units(longest or case, 0), strict=True):
        usual, most = rater.expected(unit), rater.expected(long_unit)
        if not isinstance(usual, Unscored) and not isinstance(most, Unscored):
            out = most.most.tokens_out if most_out is None else most_out * most.calls
            yield usual.calls, usual.tokens_in, usual.tokens_out, most.tokens_in, out


def _row(
    rater: Rater,
    payer: str,
    benchmark: str,
    candidate: str,
    used: Sequence[_Used],
    prices: PriceList,
    role: str = "candidate",
) -> Spending:
    calls, tokens_in, tokens_out, most_in, most_out = (sum(each[at] for each in used) for at in range(5))
    return Spending(
        payer,
        benchmark,
        candidate,
        role,  # type: ignore[arg-type]
        calls=calls,
        bound_tokens=most_in + most_out,
        bound_money=_dearest(rater, prices, most_in, most_out),
        expected_tokens=tokens_in + tokens_out,
        expected_money=_dearest(rater, prices, tokens_in, tokens_out),
    )


def _jury_rows(suite: Suite, chosen: Chosen, judged: Judged) -> list[Spending]:
    """What judging one benchmark takes, with answers of a usual length and of the longest."""
    most = chosen.benchmark.most_tokens
    usual, longest = (
        [answer_case(chosen, item, _WORD * tokens, "candidate") for item in chosen.items]
        for tokens in (min(TOKENS_PER_ANSWER, most), most)
    )
    with tempfile.TemporaryDirectory(prefix="medjury-") as folder:
        stub = [replace(usual[0], texts=dict.fromkeys(usual[0].texts, "text"), reference=None)]
        bare = replace(chosen, part=chosen.part.model_copy(update={"clinicians": None}))
        study = jury_study(suite, bare, judged, stub, Path(folder))
        study = replace(study, output=Path(folder) / "run", store=str(Path(folder) / "store.sqlite"))
        check_study(study, preflight=False)
    prices = study.prices
    rows = []
    for judge, part in zip(study.jury.judges, study.settings.judges, strict=True):
        pairs = zip(usual, longest, strict=True)
        used = [each for one, two in pairs for each in _used(judge, one, two, part.max_tokens)]
        rows += [
            _row(judge, judge.name, chosen.name, candidate.called, used, prices, "judge")
            for candidate in suite.settings.candidates
        ]
    return rows


def _dearest(rater: Rater, prices: PriceList, tokens_in: int, tokens_out: int) -> float | None:
    """A judge of several models is priced at the dearest: a bound should not flatter."""
    known = [prices.estimate(model, tokens_in, tokens_out) for model in rater.models]
    return None if any(each is None for each in known) else max((each or 0.0 for each in known), default=0.0)
