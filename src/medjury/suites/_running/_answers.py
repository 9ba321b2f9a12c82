"""Asking the candidates: each one is a study of its own, so that one that is away stops nobody else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from medjury.instruments import Reason
from medjury.models import audit_totals
from medjury.store.ratings import open_store
from medjury.store.runs import files
from medjury.studies import RunResult, Study, answering_study, run_study
from medjury.suites._leaderboard._names import slugs
from medjury.suites._leaderboard._results import State
from medjury.suites._marking._answer_text import declines
from medjury.suites._running._suite import CandidatePart, Suite

# What a candidate itself is answerable for. Every other reason is the transport's, and the answer is missing.
OWN = frozenset(
    {
        Reason.REFUSAL,
        Reason.EMPTY,
        Reason.TRUNCATED,
        Reason.PARSE,
        Reason.CONTEXT,
        Reason.MISSING,
        Reason.OUT_OF_RANGE,
    }
)


@dataclass(frozen=True, slots=True)
class Given:
    """One answer as it came, or why there is none; and what it took."""

    text: str
    reason: str = ""
    message: str = ""
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    money: float | None = None

    @property
    def state(self) -> State:
        if not self.reason:
            return "scored"
        return "unanswered" if self.reason in OWN else "missing"


@dataclass(frozen=True)
class Asked:
    """What came of asking one candidate: its answers by case id, and how its run ended."""

    part: CandidatePart
    study: Study
    result: RunResult
    answers: Mapping[str, Given]


def candidate_study(suite: Suite, part: CandidatePart, money: float | None, calls: int | None) -> Study:
    """The study that asks one candidate all items of the suite."""
    return answering_study(
        f"{suite.name} answers",
        suite.file,
        part,
        suite.cases(),
        system=part.called,
        output=candidate_folder(suite, part.called),
        store=suite.store,
        allow_hosts=suite.settings.allow_hosts,
        money=money,
        calls=calls,
    )


def candidate_folder(suite: Suite, name: str) -> Path:
    return suite.output / "answers" / slugs([name])[name]


def ask_candidate(
    suite: Suite, part: CandidatePart, money: float | None, calls: int | None, **how: Any
) -> Asked:
    """Ask one candidate everything that is not in the store yet."""
    study = candidate_study(suite, part, money, calls)
    result = run_study(study, **how)
    answers: dict[str, Given] = {}
    unmarked = {each.name for each in suite.benchmarks if each.benchmark.open}
    with open_store(suite.store) as store:
        told = {each.item: each.content() for each in store.records(result.run)}
        for row in store.ratings(result.run):
            said = told.get(row.item, {})
            text, reason = str(said.get("text", "")), row.reason
            # Marks tell a refusal in plain words; a jury would grade it.
            if reason is None and row.item.partition("/")[0] in unmarked and declines(text):
                reason = Reason.REFUSAL
            answers[row.item] = Given(
                text,
                "" if reason is None else reason.value,
                str(said.get("message", "")),
                row.calls or 0,
                row.tokens_in or 0,
                row.tokens_out or 0,
                row.cost,
            )
    return Asked(part, study, result, answers)


def spent_in(folder: Path) -> tuple[float, int]:
    """Money and calls of one run folder so far, those whose end is not known among them."""
    found = audit_totals(folder / files.AUDIT_LOG)
    return found.money + found.perhaps, found.calls
