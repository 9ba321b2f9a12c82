"""The tuning folder: the tuned instrument, the lineage, the report, the held-out scores, and a manifest."""

from __future__ import annotations

import csv
import importlib.util
import io
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from medjury.foundation.documents import yaml_text
from medjury.foundation.errors import MedjuryError
from medjury.foundation.files import write_whole
from medjury.instruments import Instrument, NotApplicable, Score, Unscored, load_instrument
from medjury.models import PriceList, audit_totals
from medjury.store.runs import ManifestInstrument, Prices, TuningManifest, file_hash, files
from medjury.studies import TUNED, AnswerHashes, touched_marks
from medjury.tuning._held_out import Said
from medjury.tuning._labelled_cases import Labelled
from medjury.tuning._lineage import Lineage
from medjury.tuning._plan import Preparation, tuning_models
from medjury.tuning._report import report_text
from medjury.tuning._result import TuningResult
from medjury.version import __version__

# The tuned instrument as a file: an ordinary instrument, with what its tuning says of itself in its parameters.

_HEAD = """\
# Tuned by medjury. Use it as any instrument: `instrument: {name}` in a study file, or in the entry of one judge.
# `parameters.tuning.touched` are hashes of the cases it was tuned on: no study may validate it on them. Leave them.
"""


def with_facts(instrument: Instrument, facts: Mapping[str, Any], touched: Iterable[str]) -> Instrument:
    """The instrument with what its tuning says of itself."""
    stated = {**facts, "touched": " ".join(sorted(touched))}
    return replace(instrument, parameters={**instrument.parameters, TUNED: stated})


def write_instrument(instrument: Instrument, file: Path) -> None:
    """Write the file, read it back, and refuse to leave one that says anything else than what was tuned."""
    write_whole(file, _HEAD.format(name=file.name) + yaml_text(instrument_content(instrument)))
    if load_instrument(file).fingerprint() != instrument.fingerprint():
        raise MedjuryError(f"{file}: the file does not say what was tuned; tell the authors of medjury")


def instrument_content(instrument: Instrument) -> dict[str, Any]:
    """An instrument as its file has it; what is as by default is left out."""
    content: dict[str, Any] = {
        "name": instrument.name,
        "version": instrument.version,
        "title": instrument.title,
        "citation": instrument.citation,
        "licence": instrument.licence,
        "notes": instrument.notes,
        "instructions": instrument.instructions,
        "inputs": [
            _stated({"name": each.name, "label": each.label, "description": each.description})
            | ({} if each.required else {"required": False})
            for each in instrument.inputs
        ],
        "dimensions": [
            {
                "name": each.name,
                "label": each.label,
                "definition": each.definition,
                "grades": dict(each.grades),
            }
            | ({} if each.higher_is_better else {"higher_is_better": False})
            | ({"may_be_not_applicable": True} if each.may_be_not_applicable and each.skip is None else {})
            | (
                {"skip": {"dimension": each.skip.dimension, "equals": each.skip.equals}}
                if each.skip is not None
                else {}
            )
            for each in instrument.dimensions
        ],
        "reversed": [
            _stated({"name": each.name, "of": each.of, "label": each.label}) for each in instrument.reversed
        ],
        "composites": [
            _stated({"name": each.name, "weights": dict(each.weights), "label": each.label})
            | ({"needs_every_part": True} if each.needs_every_part else {})
            for each in instrument.composites
        ],
        "examples": [
            {"inputs": dict(each.inputs), "scores": dict(each.scores)}
            | _stated({"explanation": each.explanation})
            for each in instrument.examples
        ],
        "parameters": dict(instrument.parameters),
    }
    return _stated(content)


def _stated(content: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in content.items() if value not in ("", [], {})}


INSTRUMENT, REPORT, HELD_OUT = "tuned.yaml", "report.md", "held-out.csv"


def described(made: Preparation, prices: PriceList) -> TuningManifest:
    """Everything that is known before the first question."""
    return TuningManifest(
        medjury=__version__,
        study=made.study.name,
        way=made.part.way,
        status="running",
        started_at=_now(),
        settings=made.part.model_dump(exclude={"output"}),
        settings_hash=made.settings_hash,
        instrument=ManifestInstrument.of(made.instrument),
        judge=made.judge.name,
        split=made.split.described(made.dimensions),
        touched=tuple(sorted(made.split.touched() | touched_marks(made.instrument))),
        labels=made.labels,
        clinicians=made.clinicians,
        prices=Prices(as_of=prices.as_of, currency=prices.currency),
        packages={
            name: metadata.version(name) for name in ("gepa", "optuna") if importlib.util.find_spec(name)
        }
        | {"python": platform.python_version()},
    )


def concluded(
    made: Preparation, result: TuningResult, manifest: TuningManifest, lineage: Lineage, prices: PriceList
) -> TuningResult:
    """Write the folder: the tuned instrument, the report, and the manifest last."""
    spent = audit_totals(made.folder / files.AUDIT_LOG)
    known = all(prices.price(model) is not None for model in tuning_models(made))
    minutes = made.study.settings.report.clinician_minutes_per_case
    whole = replace(
        result,
        calls=spent.calls,
        cost=spent.money if known else None,
        currency=prices.currency,
        clinician_hours=None if minutes is None else made.labels * minutes / 60,
        labels=made.labels,
    )
    written = [files.LINEAGE]
    if whole.found is not None:
        tuned = with_facts(whole.found.best, _facts(made, whole), manifest.touched)
        write_instrument(tuned, made.folder / INSTRUMENT)
        write_whole(made.folder / REPORT, report_text(made, whole, lineage.ancestors))
        written += [INSTRUMENT, REPORT]
    judged = whole.held_out is not None
    manifest.replaced(
        status="complete" if whole.status == "complete" else "incomplete",
        why=whole.why,
        finished_at=_now(),
        calls=spent.calls,
        cost=whole.cost,
        answer_hashes=_answers(made.split.held_out) if judged else (),
        held_out_ratings=len(made.split.held_out) * len(made.dimensions) * 2 if judged else 0,
        files={name: file_hash(made.folder / name) for name in written},
    ).write(made.folder)
    return whole


def _facts(made: Preparation, result: TuningResult) -> dict[str, Any]:
    """What the tuned instrument says of its tuning, for every later study that uses it."""
    gain = None if result.held_out is None else result.held_out.gain
    facts: dict[str, Any] = {
        "way": made.part.way,
        "study": made.study.name,
        "judge": made.judge.name,
        "objective": made.objective.name,
        "split": made.split.hash(),
        "group": made.split.group,
        "training": len(made.split.training),
        "validation": len(made.split.validation),
        "labels": made.labels,
        "calls": result.calls,
        "cost": result.cost,
        "currency": result.currency,
    }
    if gain is not None and gain.value is not None and result.held_out is not None:
        facts["held_out"] = result.held_out.cases
        facts["gain"] = [gain.value, gain.low, gain.high]
    if result.curve:
        facts["curve"] = [each.as_dict() for each in result.curve]
    return {name: value for name, value in facts.items() if value is not None}


def write_held_out(made: Preparation, said: Said) -> None:
    """Every rater's scores of the held-out cases beside the settled label: no texts."""
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(("item", "system", "rater", "dimension", "score", "status", "truth"))
    for rater, outcomes in said.items():
        for case, each in zip(made.split.held_out, outcomes, strict=True):
            for name, outcome in (each or {}).items():
                score = outcome.value if isinstance(outcome, Score) else None
                status = "not_applicable" if isinstance(outcome, NotApplicable) else "scored"
                if isinstance(outcome, Unscored):
                    status = f"unscored ({outcome.reason.value})"
                rows.writerow((case.case.id, case.case.system, rater, name, score, status, case.truth[name]))
    write_whole(made.folder / HELD_OUT, out.getvalue())


def _answers(cases: Sequence[Labelled]) -> tuple[str, ...]:
    hashes = AnswerHashes()
    for each in cases:
        hashes.add(each.case)
    return hashes.kept


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
