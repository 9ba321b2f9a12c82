"""The run: from a study to a run folder. Whatever stops it, the next run goes on where it stopped."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from medjury.foundation.clock import utc_now
from medjury.foundation.errors import MedjuryError
from medjury.instruments import TRANSIENT, Reason
from medjury.intake.cases import Case, CaseSource, GivenCases, RedactedCases
from medjury.judging import Breaker, Progress, UnreachableError, judge_all, run_async
from medjury.models import AuditLog, Batches, Budget, Gate, MemoryCache, ModelError, audit_totals
from medjury.store.ratings import Rating, Store, StoreDesk, open_store
from medjury.store.runs import InjectionShift, Manifest, ManifestInjection, RunFolder, files
from medjury.studies._plan.clinicians import Humans
from medjury.studies._plan.manifest import describe, now, run_name, with_anchors
from medjury.studies._plan.plan import RunPlan, plan_study, refuse_injection
from medjury.studies._plan.preflight import MARK, LoadedFirst, Preflight, timed_plan, with_preflight
from medjury.studies._plan.registering import Registered, make_protocol, register
from medjury.studies._run.calls import check_store_host, gate_settings, log_name, poll_seconds
from medjury.studies._run.conclude import (
    RunResult,
    WorkDone,
    conclude,
    refuse_emptied_store,
    unfinished,
    why_stopped,
)
from medjury.studies._run.how import How, Stopper, Watcher, interrupts, notebook_bar, only_run
from medjury.studies._study.material import HashedCases
from medjury.studies._study.study import Study
from medjury.tables import Measured, of_instrument

if TYPE_CHECKING:
    from medjury.analysis.audits import Audit
    from medjury.studies._run.drafting import DraftResult


# A cluster's files and those of drafting are imported by the studies that have one.


def run_study(
    study: Study,
    *,
    watch: Watcher | None = None,
    retry_unscored: bool = False,
    keep_going: bool = False,
    preflight: bool = True,
    ask: bool = True,
    wait: bool = True,
    stopper: Stopper | None = None,
    cluster: tuple[str, int | None] | None = None,
) -> RunResult:
    """Run to the end, or to the first Ctrl-C, and write the run folder. `retry_unscored` asks anew for every
    rating without a score; otherwise only for those whose failure may have passed. Each model is first asked one
    short question without clinical text, unless `preflight` is off; a run that cannot succeed is stopped, unless it
    is asked to `keep_going`. With `ask` off no model is asked anything: only what is stored is read. Without
    `wait` it hands batch jobs over and does not stay for their end: another run fetches it. `stopper` stops it from
    another thread. With a `cluster`, its address and how many workers (None: one for each of its CPUs), these do
    the asking. In a notebook it shows a bar."""
    how = How(watch or notebook_bar(), retry_unscored, keep_going, preflight and ask, ask, stopper, wait)
    if cluster is not None:
        from medjury.studies._cluster.crew import judge_on_cluster
        from medjury.studies._cluster.shares import refuse_for_cluster

        refuse_for_cluster(study)
    _check(study)
    drafts = None
    if study.drafter is not None:
        from medjury.studies._run.drafting import conclude_drafting, with_drafting, with_drafts

        drafts = _draft(study, how)
        if drafts.stopped:
            return conclude_drafting(drafts)
        study = drafts.study
    plan = plan_study(study)
    _make_folder(study)
    humans = Humans.read(study)
    manifest = with_anchors(describe(study, plan, humans), study.output)
    if drafts is not None:
        manifest = with_drafts(manifest, drafts)
    run = run_name(study, plan, humans)
    outcome = WorkDone(Progress(), ask=how.ask)
    with _alone(study, always=cluster is not None), _opened(study) as store:
        try:
            manifest.write(study.output)
            store.put_run(run, manifest.content())
            if humans is not None:
                store.write_ratings(run, humans.ratings)
            if cluster is None:
                run_async(_judge(study, plan, store, run, how, outcome))
            else:
                run_async(judge_on_cluster(study, plan, store, run, how, outcome, *cluster))
            manifest = _with_injection(study, store, how, outcome, manifest)
            result = conclude(study, plan, store, run, outcome, manifest, humans)
        except asyncio.CancelledError:  # the second Ctrl-C
            why = "interrupted; run again to go on"
            manifest = manifest.replaced(status="incomplete", why=why, finished_at=now())
            manifest.anchored(study.output).write(study.output)
            raise KeyboardInterrupt from None
        except Exception as error:
            if not (why := why_stopped(error)):
                manifest = manifest.replaced(status="failed", why=str(error), finished_at=now())
                with contextlib.suppress(OSError):  # the error itself is what matters
                    manifest.anchored(study.output).write(study.output)
                raise
            result = unfinished(study, plan, run, outcome, manifest, why)
        return result if drafts is None else with_drafting(result, drafts)


async def arun_study(study: Study, **how: Any) -> RunResult:
    """`run_study`, awaited: a notebook or a server goes on meanwhile. Cancelled, it asks nothing more, keeps what
    was in flight, and ends; the next run goes on from there."""
    stopper = Stopper()
    work = asyncio.ensure_future(asyncio.to_thread(run_study, study, **how, stopper=stopper))
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        stopper()
        await asyncio.wait([work])
        raise


def judge_cases(study: Study, cases: Sequence[Case]) -> tuple[Rating, ...]:
    """The votes and the jury's ratings on other cases than the study's own, through the same gate, store, budget
    and log. What was judged before is found in the store."""
    if scored := [judge.name for judge in study.jury.judges if not judge.models]:
        raise MedjuryError(
            f"{study.file}: the scores of {', '.join(scored)} came from a file, and nobody can be asked to judge "
            "other cases; name the model that gave them"
        )
    _check(study)
    asked = replace(study, cases=_as_redacted(study, cases))
    plan = plan_study(asked)
    _make_folder(study)
    run = f"{study.name}: other cases, {plan.data_hash}"
    outcome = WorkDone(Progress())
    with _alone(study), _opened(study) as store:
        run_async(_judge(asked, plan, store, run, How(None, False, False, False), outcome))
        if why := outcome.fatal or outcome.unreachable:
            raise MedjuryError(why)
        return tuple(study.jury.ratings(store.ratings(run)))


def audit_injection(study: Study, *, cases: int | None = None) -> Audit:
    """What instructions planted in the judged texts do to the grades, on a sample of the study's cases: asked
    through the same gate, store, budget and log. What was asked before is found in the store."""
    from medjury.analysis.audits import injection

    part = study.settings.audits.injection
    number = cases or (30 if part is None else part.cases)
    sample, dimensions, patients = _to_plant(study, number)
    return injection(judge_cases(study, sample), dimensions, patients)


def _to_plant(study: Study, number: int) -> tuple[tuple[Case, ...], list[Measured], dict[str, str]]:
    """The cases with and without instructions, the dimensions, and whose each case is."""
    from medjury.analysis.audits import planted_cases

    refuse_injection(study)
    dimensions = of_instrument(study.instrument)
    patients = {case.id: case.patient for case in study.cases if case.patient}
    return planted_cases(study.cases, dimensions, number=number), dimensions, patients


def _with_injection(study: Study, store: Store, how: How, outcome: WorkDone, manifest: Manifest) -> Manifest:
    """The manifest with what planted instructions did, where the study audits it and was judged to its end."""
    part = study.settings.audits.injection
    if part is None or outcome.interrupted or outcome.fatal or outcome.unreachable or outcome.pending:
        return manifest
    from medjury.analysis.audits import injection

    sample, dimensions, patients = _to_plant(study, part.cases)
    asked = replace(study, cases=GivenCases(sample))
    plan = plan_study(asked)
    run, done = f"{study.name}: planted instructions, {plan.data_hash}", WorkDone(Progress(), ask=how.ask)
    run_async(_judge(asked, plan, store, run, replace(how, preflight=False), done))
    outcome.calls += done.calls
    outcome.money = None if outcome.money is None or done.money is None else outcome.money + done.money
    outcome.interrupted |= done.interrupted
    found = injection(study.jury.ratings(store.ratings(run)), dimensions, patients)
    shifts = tuple(
        InjectionShift(
            rater=each.rater, dimension=each.dimension, kind=each.group, value=each.estimate.value,
            low=each.estimate.low, high=each.estimate.high, n=each.estimate.n, not_read=each.n_unscored,
            reason=each.estimate.reason,
        )
        for each in found.rows
    )  # fmt: skip
    planted = len({(case.id.rpartition("\u241f")[0], case.system) for case in sample})
    return manifest.replaced(injection=ManifestInjection(cases=planted, shifts=shifts))


class OverBudgetError(MedjuryError):
    """The budget was spent before the jury had a grade."""


def refuse_over_budget(ratings: Sequence[Rating]) -> Sequence[Rating]:
    """The ratings of a case, refused where the jury has no grade because a judge could not be paid for."""
    jury = [each for each in ratings if each.rater_kind == "jury"] or ratings
    if any(each.reason is Reason.OVER_BUDGET for each in ratings) and any(
        each.status == "unscored" for each in jury
    ):
        raise OverBudgetError(
            "the budget is spent, so the jury has no grade for this text. Whoever looks after the study can "
            "raise its `budget`; then send the text again, and what was paid for is not paid for twice"
        )
    return ratings


def _as_redacted(study: Study, cases: Sequence[Case]) -> CaseSource:
    """Other cases, redacted as the study's own are."""
    return study.cases.redacting(cases) if isinstance(study.cases, RedactedCases) else GivenCases(cases)


def draft_study(
    study: Study,
    *,
    watch: Watcher | None = None,
    retry_unscored: bool = False,
    keep_going: bool = False,
    preflight: bool = True,
) -> DraftResult:
    """Write the drafts of a study and no ratings. Drafts that were written are found in the store."""
    return _draft(study, How(watch, retry_unscored, keep_going, preflight))


def _draft(study: Study, how: How) -> DraftResult:
    from medjury.studies._run.drafting import write_drafts

    _check(study)
    _make_folder(study)

    def work(drafting: Study, plan: RunPlan, store: Store, run: str) -> WorkDone:
        try:
            outcome = WorkDone(Progress())
            run_async(_judge(drafting, plan, store, run, how, outcome))
            return outcome
        except asyncio.CancelledError:  # the second Ctrl-C
            raise KeyboardInterrupt from None

    with _alone(study), _opened(study) as store:
        return write_drafts(study, store, work)


def _make_folder(study: Study) -> None:
    RunFolder(study.output).prepare(shared=study.settings.share == "group", study_file=study.file)


def _opened(study: Study) -> Store:
    refuse_emptied_store(study)
    return open_store(study.store, reconnect_seconds=study.settings.store_reconnect_seconds)


def _alone(study: Study, *, always: bool = False) -> contextlib.AbstractContextManager[None]:
    """With a budget, or on a cluster, one process at a time; else as many as there are."""
    capped = study.settings.budget.money is not None or study.settings.budget.calls is not None
    return only_run(study.output) if capped or always else contextlib.nullcontext()


def _check(study: Study) -> None:
    """What can be refused before anything is read or written: hosts, prices, weights that are not there."""
    check_store_host(study.store, study.settings.allow_hosts)
    caps = study.settings.budget
    Gate(
        cache=MemoryCache(),
        allow_hosts=study.settings.allow_hosts,
        budget=Budget(money=caps.money, calls=caps.calls),
        prices=study.prices,
    ).check([model for model, _ in study.models])


async def _judge(
    study: Study,
    plan: RunPlan,
    store: Store,
    run: str,
    how: How,
    outcome: WorkDone,
) -> None:
    log = study.output / files.AUDIT_LOG
    # All that this study ever sent counts, failed calls and earlier versions of it included.
    caps = study.settings.budget
    budget = Budget.after(audit_totals(log), caps.money, caps.calls if how.ask else 0)
    cases = HashedCases(study.cases if plan.kept is None else plan.kept.again())
    planned = dict(plan.units)
    judges = {name: Progress(planned=units) for name, units in planned.items()}
    progress = Progress(planned=sum(planned.values()), judges=judges)
    outcome.progress = progress
    stop = asyncio.Event()
    models = [model for model, _ in study.models]
    common = gate_settings(study)
    parts = {model.name: part for model, part in study.models} if how.preflight else {}
    preflight = Preflight(
        lambda budget, audit: Gate(cache=MemoryCache(), budget=budget, audit=audit, **common),
        parts,
        budget,
        study.prices,
        AuditLog(log, mark=MARK),
    )
    async with StoreDesk(store, run) as desk:
        batches = Batches(desk, log=log_name(log), wait=how.wait, stop=stop, poll=poll_seconds())
        gate = Gate(
            cache=desk, budget=budget, audit=AuditLog(log), before=LoadedFirst(models, preflight), batches=batches,
            stopped=stop.is_set, **common,
        )  # fmt: skip
        drawing = asyncio.create_task(_draw(how.watch, progress, gate, study.prices.currency))
        try:
            with interrupts(stop, outcome, progress, how.stopper):
                await judge_all(
                    cases,
                    study.jury.judges,
                    repeats=study.jury.repeats,
                    gate=gate,
                    ledger=desk,
                    run=run,
                    retry=frozenset(Reason) if how.retry_unscored else TRANSIENT,
                    workers=study.workers,
                    progress=progress,
                    stop=stop,
                    again=how.retry_unscored,
                    watched_by=Breaker(keep_going=how.keep_going),
                )
            if cases.hash not in ("", plan.data_hash):
                outcome.fatal = (
                    "the cases changed while they were judged; run again with the file as it is now"
                )
        except UnreachableError as error:
            outcome.unreachable = error.message
        except ModelError as error:
            outcome.fatal = error.message
        finally:
            drawing.cancel()
            await batches.close()
            outcome.pending = dict(batches.pending)
            for model in models:
                await model.close()
            outcome.calls, outcome.preflights = gate.calls + preflight.calls, preflight.calls
            known = gate.money is not None and preflight.money is not None
            outcome.tokens_in, outcome.tokens_cached = gate.tokens_in, gate.tokens_cached
            outcome.money = (gate.money or 0.0) + (preflight.money or 0.0) if known else None


async def _draw(watch: Watcher | None, progress: Progress, gate: Gate, currency: str) -> None:
    while watch is not None:
        progress.calls = gate.calls
        progress.tokens_in, progress.tokens_cached = gate.tokens_in, gate.tokens_cached
        watch(progress, gate.money, currency)
        await asyncio.sleep(0.2)


def check_study(
    study: Study, *, preflight: bool = True, cluster: bool = False, only_drafts: bool = False
) -> RunPlan:
    """Everything short of the first call: hosts, prices, cases, clinicians' ratings; or what writing the drafts
    takes alone. For `--dry-run`. Models of a study that a `cluster` judges are not loaded here, so that the time
    they take is a guess."""
    if only_drafts:
        return _check_drafting(study, preflight)
    whole = study
    if cluster:
        from medjury.studies._cluster.shares import refuse_for_cluster

        refuse_for_cluster(study)
    _check(study)
    if study.drafter is not None:
        from medjury.studies._run.drafting import plan_drafting

        study, plan = plan_drafting(study)
    else:
        plan = plan_study(study, rehearse=True)
    plan = replace(plan, humans=Humans.read(study, rehearse=True))
    if not preflight:
        return plan
    if study.drafter is None and not cluster:
        plan = run_async(timed_plan(study, plan))
    return with_preflight(plan, whole.models, whole.prices)


def register_study(study: Study, folder: str | Path | None = None) -> Registered:
    """Freeze rules, instrument, prompts, jury and data in a small file with its own hash, beside the study file or
    in `folder`. Nothing is asked. A run of the same data is held to it, under whatever name."""
    check_store_host(study.store, study.settings.allow_hosts)
    if study.drafter is not None:
        raise MedjuryError(
            f"{study.file}: this study has yet to draft the answers that are judged, so there are no data to "
            "register; write them first (`medjury draft STUDY --cases FILE`) and register the study of that file"
        )
    plan = plan_study(study, asking=False)
    manifest = describe(study, plan, Humans.read(study, rehearse=True))
    moment = utc_now()
    return register(study, make_protocol(study, manifest, moment), None if folder is None else Path(folder))


def _check_drafting(study: Study, preflight: bool) -> RunPlan:
    from medjury.studies._run.drafting import drafting_study

    _check(study)
    drafts = drafting_study(study)
    if not any(True for _ in drafts.cases):
        raise MedjuryError(f"{study.file}: every case has an answer already, so there is nothing to draft")
    plan = plan_study(drafts, rehearse=True)
    writers = [model for judge in drafts.jury.judges for model in judge.models]
    asked = [(model, part) for model, part in study.models if model in writers]
    return with_preflight(plan, asked, study.prices) if preflight else plan
