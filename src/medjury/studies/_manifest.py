"""The manifest: what was run, on what, with what, and what came of it. No clinical text, no secrets."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from medjury import __version__
from medjury.instruments import Instrument
from medjury.judging import PROMPT_VERSION
from medjury.models import ChatModel
from medjury.ratings import RatingCount
from medjury.studies._gate import stated_gate
from medjury.studies._humans import Humans
from medjury.studies._plan import Plan
from medjury.studies._study import Study

FORMAT = 1
_PACKAGES = (
    "aiohttp", "polars", "sqlalchemy", "xllamacpp", "anthropic", "google-genai", "numpy", "scipy", "matplotlib",
)  # fmt: skip


def run_name(study: Study, plan: Plan, humans: Humans | None = None) -> str:
    """The run's name in its store: the study's, and a hash of the data, the instrument, the jury and the
    clinicians' ratings. A changed study is another run, which finds in the store what it shares with the first.
    """
    parts = [plan.data_hash, study.instrument.fingerprint(), str(study.jury.repeats)]
    parts.append("" if humans is None else humans.fingerprint())
    parts += [f"{judge.name} {judge.voice()}" for judge in study.jury.judges]
    return f"{study.name}@{hashlib.sha256(chr(10).join(parts).encode()).hexdigest()[:12]}"


def describe(study: Study, plan: Plan, humans: Humans | None, prices_as_of: str) -> dict[str, Any]:
    """Everything that is known before the first call."""
    instrument = study.instrument
    return {
        "format": FORMAT,
        "study": study.name,
        "run": run_name(study, plan, humans),
        "status": "running",
        "medjury": __version__,
        "python": sys.version.split()[0],
        "machine": platform.machine(),
        "packages": _versions(),
        "started_at": now(),
        "study_file": os.path.relpath(study.file.resolve(), study.output.resolve()),
        "study_file_hash": file_hash(study.file),
        "data_hash": plan.data_hash,
        "cases": plan.cases,
        "cases_skipped": plan.skipped,
        "cases_lacking_input": plan.lacking,
        "systems": dict(plan.systems),
        "instrument": {
            "name": instrument.name,
            "version": instrument.version,
            "fingerprint": instrument.fingerprint(),
            "dimensions": _dimensions(instrument),
        },
        "humans": None if humans is None else humans.summary,
        "prompt_version": PROMPT_VERSION,
        "judges": [
            {
                "name": judge.name,
                "models": [describe_model(model) for model in judge.models],
                "settings_hash": judge.voice(),
                **judge.describe(),
            }
            for judge in study.jury.judges
        ],
        "jury": {
            "name": study.jury.name,
            "rule": study.jury.rule,
            "quorum": study.jury.quorum,
            "repeats": study.jury.repeats,
        },
        "gate": stated_gate(study),
        "report": study.settings.report.model_dump(),
        "allow_hosts": list(study.settings.allow_hosts),
        "redacted": bool(study.settings.redact),
        "prices": {"as_of": prices_as_of, "currency": plan.currency},
        "planned": {
            judge.name: {
                "calls": judge.calls,
                "tokens_in": judge.tokens_in,
                "tokens_out": judge.tokens_out,
                "money": judge.money,
            }
            for judge in plan.judges
        },
    }


def describe_model(model: ChatModel) -> dict[str, Any]:
    """Which model it is; no secrets."""
    return {**model.identity, "name": model.name, "vendor": model.vendor, "host": model.host}


def coverage(counts: Iterable[RatingCount]) -> dict[str, Any]:
    """Ratings of the judges by what became of them; the unscored by reason."""
    statuses: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    for row in counts:
        if row.rater_kind == "judge":
            statuses[row.status] += row.count
            if row.reason is not None:
                reasons[row.reason.value] += row.count
    return {
        "ratings": sum(statuses.values()),
        "scored": statuses["scored"],
        "not_applicable": statuses["not_applicable"],
        "unscored": statuses["unscored"],
        "unscored_by_reason": dict(reasons.most_common()),
    }


def write_manifest(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Replace the manifest in one step: a reader sees the old one or the new one."""
    folder.mkdir(parents=True, exist_ok=True)
    unfinished = folder / f"manifest.{os.getpid()}.part"
    unfinished.write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    unfinished.replace(folder / "manifest.json")


def file_hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _dimensions(instrument: Instrument) -> list[dict[str, Any]]:
    """Scales and directions, so that a report needs no instrument file; `derived` follow from the others."""
    own = {each.name: each for each in instrument.dimensions}
    found: list[dict[str, Any]] = [
        {
            "name": each.name,
            "label": each.label,
            "grades": list(each.values),
            "higher_is_better": each.higher_is_better,
        }
        for each in instrument.dimensions
    ]
    found += [
        {
            "name": each.name,
            "label": each.label or each.name,
            "grades": list(own[each.of].values),
            "higher_is_better": not own[each.of].higher_is_better,
            "derived": True,
        }
        for each in instrument.reversed
    ]
    return found + [
        {"name": each.name, "label": each.label or each.name, "derived": True}
        for each in instrument.composites
    ]


def _versions() -> dict[str, str]:
    found = {}
    for package in _PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found
