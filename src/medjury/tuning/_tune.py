"""Tuning a study: search on the training and validation cases, then open the held-out ones once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from medjury.analysis.agreement import agreement_by_repeat
from medjury.foundation.files import private_folder
from medjury.instruments import Instrument, Score, Unscored
from medjury.judging import Rater, run_async
from medjury.models import Gate, PriceList
from medjury.statistics import Rows
from medjury.store.ratings import Store, StoreDesk, open_store
from medjury.store.runs import files
from medjury.studies import Study, only_run
from medjury.tables import rating_table
from medjury.tuning._folder import concluded, described, write_held_out
from medjury.tuning._gepa import Found, candidate_id, search_texts
from medjury.tuning._held_out import (
    MEMORISED,
    PLAIN,
    TUNED,
    CurvePoint,
    HeldOut,
    clinicians_said,
    evaluate_held_out,
    nested,
)
from medjury.tuning._labelled_cases import Labelled
from medjury.tuning._lineage import Lineage
from medjury.tuning._plan import (
    FITTED,
    Preparation,
    TuningPlan,
    plan_tuning,
    prepare,
    tuning_gate,
    tuning_models,
)
from medjury.tuning._result import TuningResult
from medjury.tuning._session import Session, TuningStoppedError
from medjury.tuning._settings import TuningPart
from medjury.tuning._shots import search_shots

# The tuned prompt with other models: each asked several times, and every run held against the settled label.

_SETTLED = "settled label"


async def across_models(
    session: Session, raters: Sequence[Rater], instrument: Instrument, cases: Sequence[Labelled], runs: int
) -> Rows[Any]:
    """Mean and SD over runs of accuracy, macro F1, kappa and F1 of each class; each run is a draw of its own."""
    import polars as pl

    rows = [_row(each, _SETTLED, "clinician", name, 0, value, None)
            for each in cases for name, value in each.truth.items()]  # fmt: skip
    for rater in raters:
        name = f"{candidate_id(instrument)}@{rater.settings_hash()[:12]}"
        for run in range(runs):
            judged = await session.judge(instrument, name, cases, repeat=run, rater=rater)
            for case, each in zip(cases, judged, strict=True):
                for dimension, outcome in each.outcomes.items():
                    score = outcome.value if isinstance(outcome, Score) else None
                    reason = outcome.reason.value if isinstance(outcome, Unscored) else None
                    rows.append(_row(case, rater.name, "judge", dimension, run, score, reason))
    table = rating_table(pl.DataFrame(rows, infer_schema_length=None), instrument=instrument)
    return agreement_by_repeat(table, reference=_SETTLED)


def _row(
    case: Labelled, rater: str, kind: str, dimension: str, run: int, score: float | None, reason: str | None
) -> dict[str, Any]:
    status = "scored" if score is not None else "not_applicable" if reason is None else "unscored"
    return {
        "item": case.case.id, "system": case.case.system, "rater": rater, "rater_kind": kind,
        "dimension": dimension, "repeat": run, "score": score, "status": status, "reason": reason,
    }  # fmt: skip


_WORKERS = 16


def plan_study_tuning(study: Study, part: TuningPart, *, out: str | Path | None = None) -> TuningPlan:
    """What a tuning will take; nothing is asked and nothing written."""
    made = prepare(study, part, out=out, rehearse=True)
    prices = made.prices
    tuning_gate(made, prices, None).check(tuning_models(made))
    return plan_tuning(made, prices)


def tune_study(study: Study, part: TuningPart, *, out: str | Path | None = None) -> TuningResult:
    """Tune to the end, or as far as it goes: the next call goes on there. Which cases are touched is written down
    before the first of them is asked about."""
    made = prepare(study, part, out=out)
    prices = made.prices
    tuning_gate(made, prices, None).check(tuning_models(made))
    private_folder(made.folder)
    with only_run(made.folder):
        lineage = Lineage.open(made.folder, made.settings_hash)
        manifest = described(made, prices)
        manifest.write(made.folder)
        address = study.store if study.settings.store is not None else str(made.folder / files.STORE)
        with open_store(address) as store:
            run = f"{study.name} tuning@{made.settings_hash[:12]}"
            store.put_run(
                run,
                {"study": study.name, "folder": made.folder.name, "touched_marks": list(manifest.touched)},
            )
            try:
                result = run_async(_work(made, lineage, prices, store, run))
            except TuningStoppedError as error:
                result = TuningResult(made.folder, "incomplete", str(error))
        return concluded(made, result, manifest, lineage, prices)


async def _work(
    made: Preparation, lineage: Lineage, prices: PriceList, store: Store, run: str
) -> TuningResult:
    async with StoreDesk(store, run) as desk:
        gate = tuning_gate(made, prices, desk)
        session = _session(made, gate, lineage)
        try:
            found = await _search(made, session, made.split.training)
            held_out = models = None
            curve: list[CurvePoint] = []
            if made.part.evaluate:
                held_out = await _evaluate(made, session, found)
                curve = await _learning_curve(made, gate, found, held_out)
                models = await _across(made, session, found)
            return TuningResult(made.folder, "complete", "", found, held_out, models, curve)
        finally:
            session.stopped = session.stopped or TuningStoppedError("the tuning has ended")
            for model in tuning_models(made):
                await model.close()


def _session(made: Preparation, gate: Gate, lineage: Lineage) -> Session:
    local = all(model.host is None for model in made.judge.models)
    workers = 1 if local else made.study.settings.judges[made.place].concurrency or _WORKERS
    return Session(
        lambda instrument: made.study.rater_with(made.place, instrument),
        gate,
        lineage,
        made.writer,
        workers,
        asyncio.get_running_loop(),
    )


async def _search(made: Preparation, session: Session, training: Sequence[Labelled]) -> Found:
    search: Callable[..., Found] = search_texts if made.part.way == "gepa" else search_shots
    given = (made.instrument, training, made.split.validation, made.objective, session, made.part)
    return await asyncio.to_thread(search, *given)


async def _said(session: Session, instrument: Instrument, cases: Sequence[Labelled]) -> list[Any]:
    judged = await session.judge(instrument, candidate_id(instrument), cases)
    return [each.outcomes for each in judged]


async def _both(session: Session, found: Found, cases: Sequence[Labelled]) -> dict[str, Any]:
    """What the plain and the tuned judge say of the held-out cases."""
    return {PLAIN: await _said(session, found.start, cases), TUNED: await _said(session, found.best, cases)}


async def _evaluate(made: Preparation, session: Session, found: Found) -> HeldOut:
    cases = made.split.held_out
    said = await _both(session, found, cases)
    trained = made.split.training[:FITTED]
    fits = {}
    for name, instrument in ((TUNED, found.best), (MEMORISED, found.memorised)):
        if instrument is None or candidate_id(instrument) == candidate_id(found.start):
            continue
        said[name] = await _said(session, instrument, cases)
        known = zip(trained, await _said(session, instrument, trained), strict=True)
        if (fit := made.objective.whole(*map(list, zip(*known, strict=True)))) is not None:
            fits[name] = fit
    said |= dict(clinicians_said(cases, made.humans, made.dimensions))
    write_held_out(made, said)
    return evaluate_held_out(
        cases,
        said,
        made.objective,
        kin=made.split.kin(),
        fits=fits,
        resamples=made.part.resamples,
        seed=made.part.seed,
    )


async def _learning_curve(made: Preparation, gate: Gate, whole: Found, held_out: HeldOut) -> list[CurvePoint]:
    """A tuning for each size, in a folder of its own; what they ask alike is in the store."""
    points = []
    validation = len(made.split.validation)
    for wanted in sorted(each for each in made.part.learning_curve if each < len(made.split.training)):
        training = nested(made.split.training, wanted)
        folder = made.folder / f"curve-{wanted}"
        private_folder(folder)
        session = _session(made, gate, Lineage.open(folder, f"{made.settings_hash} {wanted}"))
        found = await _search(made, session, training)
        cases = made.split.held_out
        gain = evaluate_held_out(
            cases,
            await _both(session, found, cases),
            made.objective,
            resamples=made.part.resamples,
            seed=made.part.seed,
        ).gain
        points.append(CurvePoint(len(training), len(training) + validation, gain))
    if points:
        points.append(CurvePoint(len(made.split.training), len(made.split.seen), held_out.gain))
    return points


async def _across(made: Preparation, session: Session, found: Found) -> Rows[Any] | None:
    """The tuned prompt with each model, several runs each; the judge's own model where none is named."""
    if made.part.runs < 2:
        return None
    models = list(made.study.models)
    raters = [
        made.study.rater_with(made.place, found.best, model=settings, models=models)
        for settings in (*made.part.models, *([] if made.part.models else [None]))
    ]
    session.gate.check([model for rater in raters for model in rater.models])
    try:
        return await across_models(session, raters, found.best, made.split.held_out, made.part.runs)
    finally:
        for model, _ in models[len(made.study.models) :]:
            await model.close()
