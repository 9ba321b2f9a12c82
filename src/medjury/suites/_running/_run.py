"""The run of a suite: candidates are asked, answers marked, open ones judged, and the results kept.

Every step finds in the store what was done before, so that a suite that was stopped goes on where it was.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from medjury.foundation.files import private_folder
from medjury.store.ratings import open_store, write_ratings
from medjury.studies import RunResult, run_study
from medjury.suites._leaderboard import Results, Spending
from medjury.suites._running._answers import Asked, ask_candidate, candidate_folder, spent_in
from medjury.suites._running._assemble import Sentence, assemble
from medjury.suites._running._checks import read_checks
from medjury.suites._running._jury import (
    answer_cases,
    judge_rows,
    jury_folder,
    jury_of,
    jury_scores,
    jury_study,
)
from medjury.suites._running._marks import mark_answers, store_marks
from medjury.suites._running._plan import SuitePlan, plan_suite
from medjury.suites._running._saved import save_results
from medjury.suites._running._suite import Chosen, Suite
from medjury.suites._running._trivial import trivial_of
from medjury.suites._running._verdict import Rated, agreement_of, rated_answers, verdict_of

MARKS = "marks.parquet"
Told = Callable[[str], None]


@dataclass(frozen=True)
class SuiteRun:
    """What came of a suite. `why` says, line by line, what is missing."""

    results: Results
    plan: SuitePlan
    why: tuple[str, ...]

    @property
    def complete(self) -> bool:
        return not self.why


def run_suite(
    suite: Suite,
    plan: SuitePlan | None = None,
    *,
    watch: Any = None,
    tell: Told = lambda line: None,
    keep_going: bool = False,
    retry_unscored: bool = False,
    preflight: bool = True,
    ask: bool = True,
    resamples: int = 2000,
) -> SuiteRun:
    """Run a suite to the end, or as far as endpoints and budget allow. `tell` is given a line for each step;
    `resamples` are those of the jury's verdict and agreement."""
    plan = plan_suite(suite, preflight=preflight) if plan is None else plan
    private_folder(suite.output)
    how = {
        "watch": watch, "keep_going": keep_going, "retry_unscored": retry_unscored,
        "preflight": preflight, "ask": ask,
    }  # fmt: skip
    left = _Left(suite)
    asked = []
    for part in suite.settings.candidates:
        tell(f"{part.called}: asked {sum(len(each.items) for each in suite.benchmarks):,} items")
        asked.append(ask_candidate(suite, part, left, **how))
        tell(_ended(asked[-1].result))
    marks = mark_answers(suite, asked)
    with open_store(suite.store) as store:
        run = store_marks(suite, marks, store)
        write_ratings(store.ratings(run), suite.output / MARKS)
    sentences, rated = _judge(suite, asked, left, how, tell, resamples)
    results = assemble(
        suite, plan, asked, marks, sentences, trivial_of(suite), agreement_of(rated, resamples=resamples)
    )
    results = replace(results, **read_checks(suite.output))
    save_results(results, suite.output)
    return SuiteRun(results, plan, tuple(_missing(results)))


class _Left:
    """How much of the suite's budget is left for one run folder: what all others have not spent."""

    def __init__(self, suite: Suite) -> None:
        self._suite = suite

    def __call__(self, folder: Path) -> tuple[float | None, int | None]:
        caps = self._suite.settings.budget
        others = [spent_in(each) for each in self._folders() if each.resolve() != folder.resolve()]
        money = None if caps.money is None else caps.money - sum(each for each, _ in others)
        calls = None if caps.calls is None else caps.calls - sum(each for _, each in others)
        return money, calls

    def _folders(self) -> list[Path]:
        suite = self._suite
        return [
            *(candidate_folder(suite, each.called) for each in suite.settings.candidates),
            *(jury_folder(suite, each) / "run" for each in suite.benchmarks),
        ]


def _judge(
    suite: Suite,
    asked: Sequence[Asked],
    left: _Left,
    how: Mapping[str, Any],
    tell: Told,
    resamples: int,
) -> tuple[dict[str, Sentence], list[Rated]]:
    found: dict[str, Sentence] = {}
    rated = []
    for chosen in suite.benchmarks:
        judged = jury_of(suite, chosen)
        cases = [] if judged is None else answer_cases(chosen, asked)
        if judged is None or not cases:
            continue
        tell(f"{chosen.name}: {len(cases):,} answers judged by {', '.join(_names(judged.judges))}")
        folder = jury_folder(suite, chosen)
        money, calls = left(folder / "run")
        own = dict(how)
        if (money is not None and money <= 0) or (calls is not None and calls <= 0):
            money, calls, own["ask"] = None, None, False
        study = jury_study(suite, chosen, judged, cases, folder, money=money, calls=calls)
        result = run_study(study, **own)
        tell(_ended(result))
        if not result.judged:
            continue
        names = [each.name for each in study.jury.judges]
        found[chosen.name] = _sentence(suite, chosen, study.output, judged.weights, names, resamples)
        people = rated_answers(study.output, chosen.benchmark.title, list(judged.weights))
        if people is not None:
            rated.append(people)
    return found, rated


def _sentence(
    suite: Suite,
    chosen: Chosen,
    folder: Path,
    weights: Mapping[str, float],
    judges: Sequence[str],
    resamples: int,
) -> Sentence:
    shown = str(folder.relative_to(suite.output)) if folder.is_relative_to(suite.output) else folder.name
    return Sentence(
        jury_scores(folder, weights),
        verdict_of(folder, judges, shown, resamples),
        tuple(_votes(folder, chosen.name)),
        folder,
    )


def _votes(folder: Path, benchmark: str) -> list[Spending]:
    import polars as pl

    rows = judge_rows(folder)
    if not rows.height:
        return []
    sums = rows.group_by("rater", "system").agg(
        pl.col("calls", "tokens_in", "tokens_out", "cost").cast(pl.Float64).sum(),
        (pl.col("cost").is_null() & (pl.col("calls").fill_null(0) > 0)).any().alias("unknown"),
    )
    return [
        Spending(
            row["rater"],
            benchmark,
            row["system"],
            "judge",
            int(row["calls"]),
            int(row["tokens_in"]),
            int(row["tokens_out"]),
            None if row["unknown"] else row["cost"],
        )
        for row in sums.iter_rows(named=True)
    ]


def _ended(result: RunResult) -> str:
    """How a study of the suite ended. A preflight is a call like any other, and in the budget."""
    first = f", {result.preflights:,} of them for preflight" if result.preflights else ""
    calls = f"{result.calls:,} calls made now{first}"
    return f"  {result.status}{f': {result.why}' if result.why else ''}; {calls}"


def _names(judges: Sequence[Mapping[str, Any]]) -> list[str]:
    return [str(each.get("name") or each.get("model") or each.get("kind")) for each in judges]


def _missing(results: Results) -> list[str]:
    """What is missing, candidate by candidate."""
    counts: dict[tuple[str, str], int] = {}
    for answer in results.answers:
        if answer.state == "missing" and answer.reason != "no jury":
            key = answer.candidate, answer.reason
            counts[key] = counts.get(key, 0) + 1
    return [
        f"{candidate}: {count:,} answers missing ({reason})" for (candidate, reason), count in counts.items()
    ]
