"""The run: from a study to a run folder. Whatever stops it, the next run goes on where it stopped."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from medjury.errors import MedjuryError
from medjury.instruments import TRANSIENT, Reason
from medjury.judging import Progress, judge_all, run_async
from medjury.models import AuditLog, Budget, Gate, Limits, MemoryCache, ModelError, PriceList, audit_totals
from medjury.ratings import Store, StoreDesk, open_store
from medjury.runs import files
from medjury.studies._conclude import RunResult, WorkDone, conclude
from medjury.studies._drafting import (
    DraftResult,
    conclude_drafting,
    drafting_study,
    plan_drafting,
    with_drafting,
    with_drafts,
    write_drafts,
)
from medjury.studies._hashed import HashedCases
from medjury.studies._hosts import check_store_host
from medjury.studies._humans import read_humans
from medjury.studies._lock import only_run
from medjury.studies._manifest import describe, now, run_name
from medjury.studies._plan import RunPlan, plan_study
from medjury.studies._protocol import Registered, make_protocol, register
from medjury.studies._study import Study

Watcher = Callable[[Progress, float | None, str], None]


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
    drafts = None
    if study.drafter is not None:
        drafts = draft_study(study, watch=watch, retry_unscored=retry_unscored)
        if drafts.stopped:
            return conclude_drafting(drafts)
        study = drafts.study
    plan = plan_study(study, prices)
    _make_folder(study)
    humans = read_humans(study)
    manifest = describe(study, plan, humans, prices.as_of)
    if drafts is not None:
        manifest = with_drafts(manifest, drafts)
    run = run_name(study, plan, humans)
    with _alone(study), open_store(study.store) as store:
        manifest.write(study.output)
        store.put_run(run, manifest.content())
        if humans is not None:
            store.write_ratings(run, humans.ratings)
        try:
            outcome = run_async(_judge(study, plan, store, run, prices, watch, retry_unscored))
        except asyncio.CancelledError:  # the second Ctrl-C
            why = "interrupted; run again to go on"
            manifest.replaced(status="incomplete", why=why, finished_at=now()).write(study.output)
            raise KeyboardInterrupt from None
        except Exception as error:
            manifest.replaced(status="failed", why=str(error), finished_at=now()).write(study.output)
            raise
        result = conclude(study, plan, store, run, outcome, manifest, prices)
        return result if drafts is None else with_drafting(result, drafts)


def draft_study(study: Study, *, watch: Watcher | None = None, retry_unscored: bool = False) -> DraftResult:
    """Write the drafts of a study and no ratings. Drafts that were written are found in the store."""
    prices = study_prices(study)
    _preflight(study, prices)
    _make_folder(study)

    def work(drafting: Study, plan: RunPlan, store: Store, run: str) -> WorkDone:
        try:
            return run_async(_judge(drafting, plan, store, run, prices, watch, retry_unscored))
        except asyncio.CancelledError:  # the second Ctrl-C
            raise KeyboardInterrupt from None

    with _alone(study), open_store(study.store) as store:
        return write_drafts(study, prices, store, work)


def _make_folder(study: Study) -> None:
    try:
        study.output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise MedjuryError(f"{study.output}: the run folder cannot be made ({error.strerror})") from None


def _alone(study: Study) -> contextlib.AbstractContextManager[None]:
    """With a budget one process at a time; without one as many as there are."""
    capped = study.settings.budget.money is not None or study.settings.budget.calls is not None
    return only_run(study.output) if capped else contextlib.nullcontext()


def _preflight(study: Study, prices: PriceList) -> None:
    """What can be refused before anything is read or written: hosts, prices, weights that are not there."""
    check_store_host(study.store, study.settings.allow_hosts)
    caps = study.settings.budget
    Gate(
        cache=MemoryCache(),
        allow_hosts=study.settings.allow_hosts,
        budget=Budget(money=caps.money, calls=caps.calls),
        prices=prices,
    ).check([model for model, _ in study.models])


def study_prices(study: Study) -> PriceList:
    """The shipped prices, with the study's own on top."""
    prices = PriceList.shipped()
    for model, part in study.models:
        if part.price is not None:
            prices = prices.with_price(model, **part.price.model_dump())
    return prices


async def _judge(
    study: Study,
    plan: RunPlan,
    store: Store,
    run: str,
    prices: PriceList,
    watch: Watcher | None,
    retry_unscored: bool,
) -> WorkDone:
    log = study.output / files.AUDIT_LOG
    spent = audit_totals(
        log
    )  # all that this study ever sent, failed calls and earlier versions of it included
    budget = Budget(
        money=study.settings.budget.money, calls=study.settings.budget.calls,
        spent_money=spent.money, spent_calls=spent.calls, perhaps_spent=spent.perhaps,
    )  # fmt: skip
    cases = HashedCases(study.cases)
    progress = Progress(planned=plan.cases * study.jury.repeats * sum(
        len(judge.groups) for judge in study.jury.judges
    ))  # fmt: skip
    outcome = WorkDone(progress)
    stop = asyncio.Event()
    models = [model for model, _ in study.models]
    async with StoreDesk(store, run) as desk:
        gate = Gate(
            cache=desk,
            allow_hosts=study.settings.allow_hosts,
            budget=budget,
            prices=prices,
            audit=AuditLog(log),
            limits={
                model.name: Limits(part.concurrency, part.requests_per_minute, part.tokens_per_minute)
                for model, part in study.models
            },
        )
        drawing = asyncio.create_task(_draw(watch, progress, gate, prices.currency))
        try:
            with _interrupts(stop, outcome):
                await judge_all(
                    cases,
                    study.jury.judges,
                    repeats=study.jury.repeats,
                    gate=gate,
                    ledger=desk,
                    run=run,
                    retry=frozenset(Reason) if retry_unscored else TRANSIENT,
                    workers=study.workers,
                    progress=progress,
                    stop=stop,
                    again=retry_unscored,
                )
            if cases.hash not in ("", plan.data_hash):
                outcome.fatal = (
                    "the cases changed while they were judged; run again with the file as it is now"
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
def _interrupts(stop: asyncio.Event, outcome: WorkDone) -> Iterator[None]:
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


def check_study(study: Study) -> RunPlan:
    """Everything short of the first call: hosts, prices, cases, clinicians' ratings. For `--dry-run`."""
    prices = study_prices(study)
    _preflight(study, prices)
    if study.drafter is not None:
        study, plan = plan_drafting(study, prices)
    else:
        plan = plan_study(study, prices)
    read_humans(study, rehearse=True)
    return plan


def register_study(study: Study, folder: str | Path | None = None) -> Registered:
    """Freeze rules, instrument, prompts, jury and data in a small file with its own hash, beside the study file or
    in `folder`. Nothing is asked. A run of the same data is held to it, under whatever name."""
    check_store_host(study.store, study.settings.allow_hosts)
    prices = study_prices(study)
    if study.drafter is not None:
        raise MedjuryError(
            f"{study.file}: this study has yet to draft the answers that are judged, so that there are no data to "
            "register; write them first (`medjury draft STUDY --cases FILE`) and register the study of that file"
        )
    plan = plan_study(study, prices, asking=False)
    manifest = describe(study, plan, read_humans(study, rehearse=True), prices.as_of)
    moment = datetime.now(UTC).isoformat(timespec="milliseconds")
    return register(study, make_protocol(study, manifest, moment), None if folder is None else Path(folder))


def check_drafting(study: Study) -> RunPlan:
    """The same for the drafts alone: `medjury draft --dry-run`."""
    prices = study_prices(study)
    _preflight(study, prices)
    drafts = drafting_study(study)
    if not any(True for _ in drafts.cases):
        raise MedjuryError(
            f"{study.file}: every case has an answer already, so that there is nothing to draft"
        )
    return plan_study(drafts, prices)
