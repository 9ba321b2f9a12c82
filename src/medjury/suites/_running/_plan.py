"""The plan of a suite: calls, tokens and price of every candidate and judge, before anything is asked.

The bound is the paper's: the tokens of the input, and the longest answer allowed. What is expected assumes answers
of a usual length. Both leave out calls that fail and are tried again.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from medjury.instruments import Unscored
from medjury.intake.cases import Case
from medjury.judging import TOKENS_PER_ANSWER, Rater
from medjury.models import PriceList
from medjury.statistics import Printable, counted, text_table
from medjury.studies import check_study
from medjury.suites._benchmark import Item, prompt_of
from medjury.suites._leaderboard._results import Spending
from medjury.suites._running._answers import candidate_study
from medjury.suites._running._jury import Judged, jury_of, jury_study
from medjury.suites._running._suite import Chosen, Suite

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
        return _sum([each.bound_money for each in self.spending])

    @property
    def expected(self) -> float | None:
        return _sum([each.expected_money for each in self.spending])

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
        for role, payer in dict.fromkeys((each.role, each.payer) for each in self.spending):
            rows = [each for each in self.spending if (each.role, each.payer) == (role, payer)]
            yield {
                "model": payer,
                "as": role,
                "calls": sum(each.calls for each in rows),
                "expected tokens": sum(each.expected_tokens for each in rows),
                "price": self._price(_sum([each.expected_money for each in rows])),
                "bound tokens": sum(each.bound_tokens for each in rows),
                "bound price": self._price(_sum([each.bound_money for each in rows])),
            }

    def _price(self, money: float | None) -> str:
        return "not known" if money is None else f"{money:,.4g} {self.currency}"


def plan_suite(suite: Suite, *, preflight: bool = True) -> SuitePlan:
    """Check everything that can be refused before the first call (hosts, keys, prices, instruments), and count."""
    rows: list[Spending] = []
    prices = PriceList.shipped()
    for part in suite.settings.candidates:
        study = candidate_study(suite, part, suite.settings.budget.money, suite.settings.budget.calls)
        check_study(study, preflight=preflight)
        prices = study.prices
        for chosen in suite.benchmarks:
            used = [_used(study.jury.judges[0], case) for case in chosen.cases()]
            rows.append(_row(study.jury.judges[0], part.called, chosen.name, part.called, used, prices))
    for chosen in suite.benchmarks:
        judged = jury_of(suite, chosen)
        if judged is not None:
            rows += _jury_rows(suite, chosen, judged)
    return SuitePlan(suite, tuple(rows), prices.currency, prices.as_of)


@dataclass(frozen=True)
class _Used:
    """Tokens of one question: in and out as expected, and at most."""

    calls: int
    tokens_in: int
    tokens_out: int
    most_in: int
    most_out: int


def _used(rater: Rater, case: Case, longest: Case | None = None, most_out: int | None = None) -> _Used:
    """`longest` is the same case with an answer as long as it may be."""
    found = _Used(0, 0, 0, 0, 0)
    pairs = zip(rater.units(case, 0), rater.units(longest or case, 0), strict=True)
    for unit, long_unit in pairs:
        usual, most = rater.expected(unit), rater.expected(long_unit)
        if isinstance(usual, Unscored) or isinstance(most, Unscored):
            continue
        found = _Used(
            found.calls + usual.calls,
            found.tokens_in + usual.tokens_in,
            found.tokens_out + usual.tokens_out,
            found.most_in + most.tokens_in,
            found.most_out + (most.most.tokens_out if most_out is None else most_out * most.calls),
        )
    return found


def _row(
    rater: Rater,
    payer: str,
    benchmark: str,
    candidate: str,
    used: Sequence[_Used],
    prices: PriceList,
    role: str = "candidate",
) -> Spending:
    tokens = [
        sum(getattr(each, name) for each in used)
        for name in ("tokens_in", "tokens_out", "most_in", "most_out")
    ]
    return Spending(
        payer,
        benchmark,
        candidate,
        role,  # type: ignore[arg-type]
        calls=sum(each.calls for each in used),
        bound_tokens=tokens[2] + tokens[3],
        bound_money=_dearest(rater, prices, tokens[2], tokens[3]),
        expected_tokens=tokens[0] + tokens[1],
        expected_money=_dearest(rater, prices, tokens[0], tokens[1]),
    )


def _jury_rows(suite: Suite, chosen: Chosen, judged: Judged) -> list[Spending]:
    """What judging one benchmark takes, with answers of a usual length and of the longest."""
    usual = [
        _answered(chosen, item, min(TOKENS_PER_ANSWER, chosen.benchmark.most_tokens)) for item in chosen.items
    ]
    longest = [_answered(chosen, item, chosen.benchmark.most_tokens) for item in chosen.items]
    with tempfile.TemporaryDirectory(prefix="medjury-") as folder:
        stub = [replace(usual[0], texts=dict.fromkeys(usual[0].texts, "text"), reference=None)]
        bare = replace(chosen, part=chosen.part.model_copy(update={"clinicians": None}))
        study = jury_study(suite, bare, judged, stub, Path(folder))
        study = replace(study, output=Path(folder) / "run", store=str(Path(folder) / "store.sqlite"))
        check_study(study, preflight=False)
    prices = study.prices
    rows = []
    for judge, part in zip(study.jury.judges, study.settings.judges, strict=True):
        used = [_used(judge, one, two, part.max_tokens) for one, two in zip(usual, longest, strict=True)]
        rows += [
            _row(judge, judge.name, chosen.name, candidate.called, used, prices, "judge")
            for candidate in suite.settings.candidates
        ]
    return rows


def _answered(chosen: Chosen, item: Item, tokens: int) -> Case:
    texts = {**item.inputs, "context": prompt_of(chosen.benchmark, item)}
    reference = item.gold[0] if item.gold else None
    return Case(item.id, candidate=_WORD * tokens, reference=reference, texts=texts, system="candidate")


def _dearest(rater: Rater, prices: PriceList, tokens_in: int, tokens_out: int) -> float | None:
    """A judge of several models is priced at the dearest: a bound should not flatter."""
    known = [prices.estimate(model, tokens_in, tokens_out) for model in rater.models]
    return None if any(each is None for each in known) else max((each or 0.0 for each in known), default=0.0)


def _sum(amounts: Sequence[float | None]) -> float | None:
    return None if any(each is None for each in amounts) else sum(each or 0.0 for each in amounts)
