"""The run: from a study to a run folder. Whatever stops it, the next run goes on where it stopped."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from medjury.cases import RedactedCases
from medjury.instruments import TRANSIENT, Reason
from medjury.judging import Progress, judge_all, run_async
from medjury.models import AuditLog, Budget, Gate, Limits, MemoryCache, ModelError, PriceList
from medjury.ratings import Rating, Store, StoreDesk, open_store, write_ratings
from medjury.studies._humans import read_humans
from medjury.studies._manifest import coverage, describe, file_hash, now, run_name, write_manifest
from medjury.studies._plan import Plan, plan_study
from medjury.studies._study import Study

Status = Literal["complete", "incomplete", "failed"]
Watcher = Callable[[Progress, float | None, str], None]


@dataclass(frozen=True)
class RunResult:
    """What came of a run. `why` says in words why it is not complete."""

    status: Status
    why: str
    folder: Path
    run: str
    progress: Progress
    calls: int
    money: float | None
    currency: str
    coverage: dict[str, Any]

    def text(self) -> str:
        """The run in a few lines; a run that is not complete says so first."""
        covered = self.coverage
        lines = [f"{self.status.upper()}: {self.why}" if self.why else self.status.upper()]
        lines.append(
            f"{covered['scored']:,} of {covered['ratings']:,} ratings scored, "
            f"{covered['not_applicable']:,} not applicable, {covered['unscored']:,} unscored"
        )
        lines += [
            f"  unscored, {reason}: {count:,}" for reason, count in covered["unscored_by_reason"].items()
        ]
        money = "cost not known" if self.money is None else f"{self.money:.4g} {self.currency}"
        lines.append(
            f"{self.calls:,} calls made now ({money}); {self.progress.found:,} answers were stored already"
        )
        lines.append(f"Run folder: {self.folder}")
        return "\n".join(lines)


def run_study(
    study: Study,
    *,
    watch: Watcher | None = None,
    retry_unscored: bool = False,
) -> RunResult:
    """Run to the end, or to the first Ctrl-C, and write the run folder. `retry_unscored` asks anew for every
    rating without a score; otherwise only for those whose failure may have passed."""
    prices = study_prices(study)
    _preflight(study, prices)
    plan = plan_study(study, prices)
    humans = read_humans(study)
    study.output.mkdir(parents=True, exist_ok=True)
    manifest = describe(study, plan, humans, prices.as_of)
    run = run_name(study, plan, humans)
    with open_store(study.store) as store:
        write_manifest(study.output, manifest)
        store.put_run(run, manifest)
        if humans is not None:
            store.write_ratings(run, humans.ratings)
        outcome = run_async(_judge(study, plan, store, run, prices, watch, retry_unscored))
        prices_known = all(
            prices.price(model) is not None for judge in study.jury.judges for model in judge.models
        )
        return _conclude(study, plan, store, run, outcome, manifest, prices_known)


def _preflight(study: Study, prices: PriceList) -> None:
    """What can be refused before anything is read or written: hosts, prices, weights that are not there."""
    caps = study.settings.budget
    Gate(
        cache=MemoryCache(),
        allow_hosts=study.settings.allow_hosts,
        budget=Budget(money=caps.money, calls=caps.calls),
        prices=prices,
    ).check([model for judge in study.jury.judges for model in judge.models])


def study_prices(study: Study) -> PriceList:
    """The shipped prices, with the study's own on top."""
    prices = PriceList.shipped()
    for judge, part in zip(study.jury.judges, study.settings.judges, strict=True):
        if part.price is not None:
            for model in judge.models:
                prices = prices.with_price(model, **part.price.model_dump())
    return prices


@dataclass
class _Outcome:
    progress: Progress
    calls: int = 0
    money: float | None = 0.0
    interrupted: bool = False
    fatal: str = ""


async def _judge(
    study: Study,
    plan: Plan,
    store: Store,
    run: str,
    prices: PriceList,
    watch: Watcher | None,
    retry_unscored: bool,
) -> _Outcome:
    spent = store.spent(run)
    budget = Budget(
        money=study.settings.budget.money, calls=study.settings.budget.calls,
        spent_money=spent.money, spent_calls=spent.calls,
    )  # fmt: skip
    progress = Progress(planned=plan.cases * study.jury.repeats * sum(
        len(judge.groups) for judge in study.jury.judges
    ))  # fmt: skip
    outcome = _Outcome(progress)
    stop = asyncio.Event()
    models = [model for judge in study.jury.judges for model in judge.models]
    async with StoreDesk(store, run) as desk:
        gate = Gate(
            cache=desk,
            allow_hosts=study.settings.allow_hosts,
            budget=budget,
            prices=prices,
            audit=AuditLog(study.output / "audit.jsonl"),
            limits={
                judge.name: Limits(part.concurrency, part.requests_per_minute, part.tokens_per_minute)
                for judge, part in zip(study.jury.judges, study.settings.judges, strict=True)
            },
        )
        drawing = asyncio.create_task(_draw(watch, progress, gate, prices.currency))
        try:
            with _interrupts(stop, outcome):
                await judge_all(
                    study.cases,
                    study.jury.judges,
                    repeats=study.jury.repeats,
                    gate=gate,
                    ledger=desk,
                    run=run,
                    retry=frozenset(Reason) if retry_unscored else TRANSIENT,
                    workers=study.workers,
                    progress=progress,
                    stop=stop,
                    again=int(time.time()) if retry_unscored else 0,
                )
        except ModelError as error:
            outcome.fatal = error.message
        finally:
            drawing.cancel()
            for model in models:
                await model.close()
            outcome.calls, outcome.money = gate.calls, gate.money
    return outcome


async def _draw(watch: Watcher | None, progress: Progress, gate: Gate, currency: str) -> None:
    while watch is not None:
        watch(progress, gate.money, currency)
        await asyncio.sleep(0.2)


@contextlib.contextmanager
def _interrupts(stop: asyncio.Event, outcome: _Outcome) -> Iterator[None]:
    """The first Ctrl-C (or a polite kill) stops new calls and lets those in flight be stored; the second
    ends at once, which loses only what was in flight."""
    loop = asyncio.get_running_loop()
    task = asyncio.current_task()

    def interrupt() -> None:
        if stop.is_set() and task is not None:
            task.cancel()
        outcome.interrupted = True
        stop.set()

    signals = (signal.SIGINT, signal.SIGTERM)
    try:
        for each in signals:
            loop.add_signal_handler(each, interrupt)
    except (NotImplementedError, ValueError, RuntimeError):  # Windows, or not the main thread
        yield
        return
    try:
        yield
    finally:
        for each in signals:
            loop.remove_signal_handler(each)


def _conclude(
    study: Study,
    plan: Plan,
    store: Store,
    run: str,
    outcome: _Outcome,
    manifest: dict[str, Any],
    prices_known: bool,
) -> RunResult:
    """Write what the run folder holds, and say plainly what came of the run."""
    covered = coverage(store.counts(run))
    status, why = judge_outcome(study, outcome.progress, covered, outcome.interrupted, outcome.fatal)
    _export(study, store.ratings(run), study.output)
    files = ("ratings.parquet", "ratings.csv")
    spent = store.spent(run)
    if isinstance(study.cases, RedactedCases):
        manifest["redactions"] = dict(study.cases.counts)
    manifest |= {
        "status": status,
        "why": why,
        "finished_at": now(),
        "coverage": covered,
        "units": {
            "planned": outcome.progress.planned,
            "done": outcome.progress.found + outcome.progress.judged,
        },
        "calls": spent.calls,
        "cost": spent.money if prices_known else None,
        "files": {name: file_hash(study.output / name) for name in files},
    }
    write_manifest(study.output, manifest)
    store.put_run(run, manifest)
    return RunResult(
        status, why, study.output, run, outcome.progress, outcome.calls, outcome.money, plan.currency, covered
    )


def judge_outcome(
    study: Study, progress: Progress, covered: dict[str, Any], interrupted: bool, fatal: str
) -> tuple[Status, str]:
    """Complete, incomplete or failed, and why."""
    done = progress.found + progress.judged
    reasons = dict(covered["unscored_by_reason"])
    capped = reasons.pop(Reason.OVER_BUDGET.value, 0)
    if fatal:
        return "failed", fatal
    if interrupted or done < progress.planned:
        return "incomplete", f"{done:,} of {progress.planned:,} units of work are done; run again to go on"
    if capped:
        return (
            "incomplete",
            f"the budget was reached: {capped:,} ratings were not asked for; raise it and run again",
        )
    answered = covered["scored"] + covered["not_applicable"] + sum(reasons.values())
    share = sum(reasons.values()) / answered if answered else 0.0
    if share > study.settings.max_unscored:
        listed = ", ".join(f"{count:,} {reason}" for reason, count in reasons.items())
        return "failed", (
            f"{100 * share:.1f} % of the ratings are unscored, more than max_unscored "
            f"({100 * study.settings.max_unscored:g} %): {listed}"
        )
    return "complete", ""


def _export(study: Study, votes: Iterator[Rating], folder: Path) -> None:
    """Votes, the jury's rows and composites, as Parquet and CSV; a half-written file never has the name."""
    write_ratings(study.jury.ratings(votes), folder / "ratings.parquet")
    write_ratings(folder / "ratings.parquet", folder / "ratings.csv")


def check_study(study: Study) -> Plan:
    """Everything short of the first call: hosts, prices, cases, clinicians' ratings. For `--dry-run`."""
    prices = study_prices(study)
    _preflight(study, prices)
    return plan_study(study, prices)
