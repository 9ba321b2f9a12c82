"""The plan: every case is read once before any call, so that a run knows its size, its price and its faults."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from medjury.errors import MedjuryError
from medjury.instruments import Unscored
from medjury.judging import Rater
from medjury.models import PriceList
from medjury.studies._case_parts import CaseParts
from medjury.studies._context import WindowCheck
from medjury.studies._development import listed_cases, unknown_note
from medjury.studies._file import JudgePart
from medjury.studies._hashed import HashedCases
from medjury.studies._patients import PatientGroups
from medjury.studies._study import Study

# A stated assumption for what cannot be known before asking.
SECONDS_PER_CALL = 5.0
_MOST_SYSTEMS = 1_000


@dataclass(frozen=True)
class JudgePlan:
    """What one judge is expected to use. `money` is None where the price is not known."""

    name: str
    calls: int
    tokens_in: int
    tokens_out: int
    money: float | None
    seconds: float


@dataclass(frozen=True)
class RunPlan:
    """What a run will do. Calls count first questions; an unusable answer is asked again at most twice."""

    cases: int
    skipped: int
    systems: Mapping[str, int]
    data_hash: str
    lacking: int  # cases without an input that the instrument needs: they will be unscored
    judges: tuple[JudgePlan, ...]
    currency: str
    notes: tuple[str, ...] = ()
    drafting: JudgePlan | None = None  # what writing the answers takes, where the study drafts them
    patients: Mapping[str, int] = field(default_factory=dict)  # cases of patients that have several
    known_of: Mapping[str, Mapping[str, str]] = field(
        default_factory=dict
    )  # of cases, for the parts of the gate

    @property
    def parts(self) -> tuple[JudgePlan, ...]:
        """The drafting, where there is any, and every judge."""
        return self.judges if self.drafting is None else (self.drafting, *self.judges)

    @property
    def calls(self) -> int:
        return sum(part.calls for part in self.parts)

    @property
    def money(self) -> float | None:
        """The estimate for all judges; None where a price is not known."""
        known = [part.money for part in self.parts]
        return None if any(each is None for each in known) else sum(each or 0.0 for each in known)

    def text(self) -> str:
        """The plan for a reader: calls, tokens, price and time, with what they rest on."""
        systems = f", {len(self.systems)} systems" if len(self.systems) > 1 else ""
        lines = [f"{self.cases:,} cases{systems}, data {self.data_hash[:12]}"]
        if self.skipped:
            lines.append(f"{self.skipped:,} rows left out because they could not be read")
        if self.lacking:
            lines.append(
                f"{self.lacking:,} cases lack an input that the instrument needs: they will be unscored"
            )
        lines += self.notes
        lines.append(
            f"{'judge':<24}{'calls':>10}{'tokens in':>14}{'tokens out':>14}{'price':>14}{'time':>10}"
        )
        for judge in self.parts:
            price = "not known" if judge.money is None else f"{judge.money:,.2f} {self.currency}"
            lines.append(
                f"{judge.name:<24}{judge.calls:>10,}{judge.tokens_in:>14,}{judge.tokens_out:>14,}{price:>14}"
                f"{judge.seconds / 60:>6.1f} min"
            )
        total = "not known" if self.money is None else f"{self.money:,.2f} {self.currency}"
        lines.append(f"In all {self.calls:,} calls, estimated price {total}.")
        lines.append(
            "Tokens are estimated from characters, the price from the dated price list, the time from "
            f"{SECONDS_PER_CALL:g} s a call; answers already in the store cost nothing and are counted here."
        )
        return "\n".join(lines)


def plan_study(study: Study, prices: PriceList, *, asking: bool = True) -> RunPlan:
    """Read every case once: count it, hash it, check its inputs and estimate its tokens. Where nobody is to be
    `asking`, no model's window is looked at."""
    count = lacking = 0
    systems: Counter[str] = Counter()
    hashed = HashedCases(study.cases)
    judges = study.jury.judges
    totals = {judge.name: [0, 0, 0] for judge in judges}
    windows = WindowCheck()
    groups, parts = PatientGroups(), CaseParts(study.settings.gate.parts or ())
    listed = set(listed_cases(study))
    unknown = set(listed)
    for case in hashed:
        count += 1
        groups.add(case)
        parts.add(case)
        unknown.discard(case.id)
        if len(systems) < _MOST_SYSTEMS or case.system in systems:
            systems[case.system] += 1
        lacks = False
        for judge, part in zip(judges, study.settings.judges, strict=True):
            for unit in judge.units(case, 0):
                expected = judge.expected(unit)
                if isinstance(expected, Unscored):
                    lacks = True
                    continue
                if asking and not windows.look(unit, expected, part.max_tokens):
                    continue
                total = totals[judge.name]
                total[0] += expected.calls
                total[1] += expected.tokens_in
                total[2] += expected.tokens_out
        lacking += lacks
    if not count:
        raise MedjuryError(f"{study.settings.cases.path}: holds no case that could be read")
    if lacking == count and study.drafter is None:  # drafts may all have failed
        needed = ", ".join(each.name for each in study.instrument.inputs if each.required)
        raise MedjuryError(
            f"{study.settings.cases.path}: no case has all that {study.instrument.name} needs ({needed}); "
            "name them in the file, or map your own columns with `cases: {path, mapping}`"
        )
    plans = tuple(
        _judge_plan(judge, part, [study.jury.repeats * number for number in totals[judge.name]], prices)
        for judge, part in zip(judges, study.settings.judges, strict=True)
    )
    notes = (*study.notes, *unknown_note(study, listed, unknown), *windows.notes(judges, count))
    return RunPlan(
        count,
        study.cases.skipped,
        dict(systems),
        hashed.hash,
        lacking,
        plans,
        prices.currency,
        notes,
        patients=groups.shared(),
        known_of=parts.of,
    )


def _judge_plan(judge: Rater, part: JudgePart, totals: Sequence[int], prices: PriceList) -> JudgePlan:
    calls, tokens_in, tokens_out = totals
    in_process = all(model.host is None for model in judge.models)
    at_once = 1 if in_process else part.concurrency or 16
    estimates = [prices.estimate(model, tokens_in, tokens_out) for model in judge.models]
    # A rater of several models is priced at its dearest: an estimate should not flatter.
    money = None if any(each is None for each in estimates) else max(each or 0.0 for each in estimates)
    return JudgePlan(judge.name, calls, tokens_in, tokens_out, money, calls * SECONDS_PER_CALL / at_once)
