"""What the manifest says of a study: all that is known before the first call, and how ratings are counted."""

from __future__ import annotations

import hashlib
import os
import platform
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from medjury.instruments import Instrument
from medjury.intake.cases import counts_of, read_written_criteria
from medjury.judging import Rater
from medjury.models import ChatModel, Price
from medjury.store.ratings import RatingCounts
from medjury.store.runs import (
    AnsweringModel,
    Coverage,
    Manifest,
    ManifestInstrument,
    ManifestJudge,
    ManifestJury,
    ManifestLeftOut,
    ManifestModel,
    PlannedWork,
    Prices,
    ReportSettings,
    RunFolder,
    file_hash,
)
from medjury.studies._plan.clinicians import Humans
from medjury.studies._plan.gate import stated_gate
from medjury.studies._plan.plan import Planned, RunPlan
from medjury.studies._plan.registering import registered_protocol, registration_of
from medjury.studies._plan.touched import trained_facts, tuned_facts
from medjury.studies._study.material import leaves_hash
from medjury.studies._study.setup import prompt_version
from medjury.studies._study.study import Study
from medjury.version import __version__

_PACKAGES = (
    "aiohttp", "polars", "sqlalchemy", "xllamacpp", "anthropic", "google-genai", "numpy", "scipy", "matplotlib",
)  # fmt: skip


def run_name(study: Study, plan: RunPlan, humans: Humans | None = None) -> str:
    """The run's name in its store: the study's, and a hash of the data, the instrument, the jury, the learned
    metrics and the clinicians' ratings. A changed study is another run, which finds in the store what it shares
    with the first."""
    parts = [plan.data_hash, study.instrument.fingerprint(), str(study.jury.repeats)]
    parts.append("" if humans is None else humans.fingerprint())
    parts += [f"{judge.name} {judge.settings_hash()}" for judge in study.jury.judges]
    if study.metrics is not None:  # only those that may be in the store
        parts += [f"{name} {study.metrics.identities[name]}" for name in study.metrics.for_workers]
    return f"{study.name}@{hashlib.sha256(chr(10).join(parts).encode()).hexdigest()[:12]}"


def describe(study: Study, plan: RunPlan, humans: Humans | None) -> Manifest:
    """Everything that is known before the first call."""
    protocol = registered_protocol(study, plan)
    given = {} if humans is None else humans.leaves(study.cases if plan.kept is None else plan.kept.again())
    return Manifest(
        format=Manifest.FORMAT,
        study=study.name,
        run=run_name(study, plan, humans),
        status="running",
        medjury=__version__,
        python=sys.version.split()[0],
        machine=platform.machine(),
        packages=dict(_versions()),
        started_at=now(),
        study_file=os.path.relpath(study.file.resolve(), study.output.resolve()),
        study_file_hash=file_hash(study.file),
        overrides=study.overrides,
        data_hash=plan.data_hash,
        cases_hash=plan.cases_hash,
        answer_hashes=plan.answer_hashes,
        cases=plan.cases,
        cases_skipped=plan.skipped,
        cases_left_out=ManifestLeftOut(rows=dict(plan.left_out.rows), parts=dict(plan.left_out.parts)),
        **_criteria_written(study),
        cases_lacking_input=plan.lacking,
        repeated_texts=plan.repeated_texts,
        systems=dict(plan.systems),
        system_vendors=dict(plan.vendors),
        humans=None if humans is None else humans.summary.replaced(cases_hash=leaves_hash(given.values())),
        **describe_jury(study),
        metrics={} if study.metrics is None else study.metrics.described(),
        gate=stated_gate(study, plan.touched),
        **_where_there_is_any(plan),
        protocol=protocol,
        protocol_hash="" if protocol is None else protocol.hash(),
        registration=registration_of(study, plan, protocol, given),
        report=ReportSettings(**study.settings.report.model_dump()),
        allow_hosts=tuple(study.settings.allow_hosts),
        redacted=bool(study.settings.redact),
        prices=Prices(
            as_of=study.prices.as_of,
            currency=plan.currency,
            models={model.name: _price(study.prices.price(model)) for model, _ in study.models},
        ),
        planned={
            judge.name: PlannedWork(**_planned(judge), most=PlannedWork(**_planned(judge.most)))
            for judge in plan.judges
        },
    )


def _criteria_written(study: Study) -> dict[str, Any]:
    """Who wrote the criteria that are in a file beside the cases."""
    if (file := study.settings.cases.criteria_in(study.file.resolve().parent)) is None:
        return {}
    found = read_written_criteria(file)
    models = sorted({each.model for each in found if each.model})
    return {"criteria_written": counts_of(found), "criteria_models": tuple(models)}


def _price(price: Price | None) -> str:
    if price is None:
        return "not known"
    cached = "" if price.cached_input is None else f", {price.cached_input:g} cached"
    return f"{price.input:g} in, {price.output:g} out{cached} per million tokens"


def _planned(part: Planned) -> dict[str, Any]:
    names = ("calls", "tokens_in", "tokens_out", "money")
    return {name: getattr(part, name) for name in names}


def describe_jury(study: Study) -> dict[str, Any]:
    """The `instrument` of a study, its `prompt_version`, its `judges`, each with its models, its way of judging,
    and the hash of all that determines its answers; `jury`, the first or the only one, and `juries` where the file
    names several."""
    jury = study.jury
    judges = tuple(
        _describe_judge(judge, study.instrument, trained_facts(study, part))
        for judge, part in zip(jury.judges, study.settings.judges, strict=True)
    )
    made = [
        ManifestJury(
            name=each.name,
            rule=each.rule,
            quorum=each.quorum,
            repeats=jury.repeats,
            **({"members": each.members} if each.members else {}),
        )
        for each in jury.all_benches
    ]
    if not made:
        made = [ManifestJury(name="", rule="none", quorum=None, repeats=jury.repeats)]
    return {
        "instrument": ManifestInstrument.of(study.instrument),
        "prompt_version": prompt_version(jury.judges),
        "judges": judges,
        "jury": made[0],
        **({"juries": tuple(made)} if len(made) > 1 else {}),
    }


def _describe_judge(judge: Rater, instrument: Instrument, trained: Mapping[str, Any]) -> ManifestJudge:
    models = tuple(describe_model(model) for model in judge.models)
    known = {"name": judge.name, "models": models, "settings_hash": judge.settings_hash()}
    own = judge.instrument
    words: dict[str, Any] = {}
    if own.fingerprint() != instrument.fingerprint():
        words["instrument"] = {"version": own.version, "fingerprint": own.fingerprint()}
    if trained:
        words["tuned"] = trained
    if tuned := tuned_facts(own):
        words["tuned"] = {name: value for name, value in tuned.items() if name != "touched"}
    return ManifestJudge.model_validate({**known, **judge.describe(), **words})


def _where_there_is_any(plan: RunPlan) -> dict[str, Any]:
    """What tuning has touched of the cases, and files of scores; a study that has none says nothing."""
    touched = {"touched": plan.touched_by, "touched_cases": plan.touched} if plan.touched else {}
    return {**touched, **({"scores": plan.scores} if plan.scores else {})}


def describe_model(model: ChatModel) -> ManifestModel:
    """Which model it is; no secrets."""
    known = {**model.identity, "name": model.name, "vendor": model.vendor, "host": model.host}
    if model.recorded:
        known |= {"recorded": model.recorded, "recorded_at": model.recorded_at}
    return ManifestModel.model_validate(known)


def coverage(counts: RatingCounts) -> Coverage:
    """Ratings of the judges by what became of them; the unscored by reason."""
    statuses: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    for (_, kind, status, reason), count in counts.items():
        if kind == "judge":
            statuses[status] += count
            if reason is not None:
                reasons[reason.value] += count
    return Coverage(
        ratings=sum(statuses.values()),
        scored=statuses["scored"],
        not_applicable=statuses["not_applicable"],
        unscored=statuses["unscored"],
        unscored_by_reason=dict(reasons.most_common()),
    )


def with_anchors(manifest: Manifest, folder: Path) -> Manifest:
    """The first manifest of a run still holds on to the log and the report of the run before it: if this one is
    killed, nobody can cut the one or edit the other unseen."""
    earlier = RunFolder(folder).earlier()
    if earlier is None or earlier.audit_log is None:
        return manifest.anchored(folder)
    return manifest.replaced(audit_log=earlier.audit_log, report_files=earlier.report_files)


def answering_models(counts: Iterable[tuple[str, str, str, int]]) -> list[AnsweringModel]:
    """The models of each judge, pair by pair: which was asked for, and which says that it answered."""
    found: Counter[tuple[str, str, str]] = Counter()
    for judge, asked, answered, ratings in counts:
        for pair in zip(asked.split(", "), answered.split(", "), strict=True):
            found[judge, *pair] += ratings
    return [
        AnsweringModel(judge=judge, asked=asked, answered=answered, ratings=ratings)
        for (judge, asked, answered), ratings in sorted(found.items())
    ]


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


@cache
def _versions() -> Mapping[str, str]:
    found = {}
    for package in _PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found
