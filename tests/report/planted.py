"""Run folders with known truth: the errors of clinicians and judges are planted."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from medjury.instruments import load_instrument
from medjury.report._exhibits import Exhibits
from medjury.report._material import Material, SectionMaker
from medjury.report._page import compose
from medjury.store.ratings import write_ratings
from medjury.store.runs import GateRules, Manifest, Protocol
from medjury.tables import open_run
from medjury.validation import evidence_of, validate, validation_of

DIMENSIONS = ("accuracy", "completeness", "clarity")


def planted_frame(
    *,
    cases: int = 120,
    systems: Sequence[str] = ("",),
    dimensions: Sequence[str] = DIMENSIONS,
    clinicians: Mapping[str, float] | None = None,
    judges: Mapping[str, float] | None = None,
    rated_cases: int | None = None,
    repeats: int = 1,
    unscored: float = 0.0,
    explanation: str = "because of the notes",
    grades: tuple[int, int] = (1, 5),
    seed: int = 7,
) -> pl.DataFrame:
    """Ratings of raters whose names carry the standard deviation of their error; the jury is the judges' mean."""
    draw = np.random.default_rng(seed)
    clinicians = {"clinician-1": 0.5, "clinician-2": 0.5} if clinicians is None else clinicians
    judges = {"judge-a": 0.5, "judge-b": 0.6, "judge-c": 0.7} if judges is None else judges
    rated = cases if rated_cases is None else rated_cases
    low, high = grades
    parts = []
    items = np.repeat([f"case-{number:04d}" for number in range(cases)], len(systems))
    place = np.repeat(np.arange(cases), len(systems))
    system = np.tile(list(systems), cases)
    quality = (
        np.tile(np.linspace(-0.6, 0.6, len(systems)), cases) if len(systems) > 1 else np.zeros(len(items))
    )
    for dimension in dimensions:
        truth = draw.uniform(low, high, len(items)) + quality
        votes = []
        for kind, raters in (("clinician", clinicians), ("judge", judges)):
            for rater, spread in raters.items():
                for repeat in range(repeats if kind == "judge" else 1):
                    noise = draw.normal(0, spread, len(items))
                    score = np.clip(np.floor(truth + noise + 0.5), low, high)
                    lost = (draw.random(len(items)) < unscored) & (kind == "judge")
                    keep = place < rated if kind == "clinician" else np.ones(len(items), dtype=bool)
                    if kind == "judge":
                        votes.append(np.where(lost, np.nan, score))
                    parts.append(
                        _rows(items, system, rater, kind, dimension, repeat, score, lost, explanation).filter(
                            pl.Series(keep)
                        )
                    )
        if votes:
            table = np.column_stack(votes)
            known = (~np.isnan(table)).sum(axis=1)
            enough = known * 2 > table.shape[1]
            mean = np.nansum(table, axis=1) / np.maximum(known, 1)
            jury = _rows(items, system, "jury", "jury", dimension, 0, mean, ~enough, "scores of the judges")
            parts.append(
                jury.with_columns(
                    pl.when(pl.col("status") == "unscored").then(pl.lit("no_quorum")).alias("reason")
                )
            )
    return pl.concat(parts)


def _rows(
    items: Any,
    system: Any,
    rater: str,
    kind: str,
    dimension: str,
    repeat: int,
    score: Any,
    lost: Any,
    why: str,
) -> pl.DataFrame:
    judged = kind == "judge"
    return pl.DataFrame(
        {
            "item": items,
            "system": system,
            "rater": [rater] * len(items),
            "rater_kind": [kind] * len(items),
            "instrument": ["note_quality@1.0"] * len(items),
            "dimension": [dimension] * len(items),
            "repeat": [repeat] * len(items),
            "score": score,
        }
    ).with_columns(
        pl.when(pl.Series(lost)).then(None).otherwise(pl.col("score")).alias("score"),
        pl.when(pl.Series(lost)).then(pl.lit("unscored")).otherwise(pl.lit("scored")).alias("status"),
        pl.when(pl.Series(lost)).then(pl.lit("parse")).otherwise(None).alias("reason"),
        pl.lit(why).alias("explanation"),
        pl.lit(0.5 if judged else 40.0 if kind == "clinician" else None, dtype=pl.Float64).alias("seconds"),
        pl.lit(400 if judged else None, dtype=pl.Int64).alias("tokens_in"),
        pl.lit(40 if judged else None, dtype=pl.Int64).alias("tokens_out"),
        pl.lit(0.0004 if judged else None, dtype=pl.Float64).alias("cost"),
        pl.lit("2026-01-01T00:00:00.000+00:00").alias("created_at"),
        pl.lit("key").alias("key"),
        pl.lit(None, dtype=pl.Int64).alias("calls"),
        pl.lit(None, dtype=pl.String).alias("model_asked"),
        pl.lit(None, dtype=pl.String).alias("model_answered"),
        pl.lit(None, dtype=pl.Float64).alias("probability"),
    )  # fmt: skip


def write_run(
    folder: Path,
    ratings: pl.DataFrame,
    *,
    records: str = "",
    patients: Mapping[str, str] | None = None,
    parts: pl.DataFrame | None = None,
    **changes: Any,
) -> Path:
    """A finished run folder of these ratings, with the text of its `records`, the `patients` of its cases and the
    `parts` they belong to, if any; `changes` replace parts of its manifest (None takes one out)."""
    folder.mkdir(parents=True, exist_ok=True)
    write_ratings(ratings, folder / "ratings.parquet")
    write_ratings(folder / "ratings.parquet", folder / "ratings.csv")
    judges = ratings.filter(pl.col("rater_kind") == "judge")
    counts = dict(judges.group_by("status").len().iter_rows())
    instrument = load_instrument("note_quality")
    manifest: dict[str, Any] = {
        "format": 1,
        "study": "planted study",
        "run": "planted study@0123456789ab",
        "status": "complete",
        "why": "",
        "medjury": "0.1.0",
        "python": "3.13",
        "machine": "test",
        "packages": {"polars": "1"},
        "started_at": "2026-01-01T00:00:00+00:00",
        "finished_at": "2026-01-01T01:00:00+00:00",
        "study_file_hash": "ab" * 32,
        "data_hash": "cd" * 32,
        "cases": ratings.select("item", "system").n_unique(),
        "cases_skipped": 0,
        "cases_lacking_input": 0,
        "systems": dict(ratings.group_by("system").agg(pl.col("item").n_unique()).sort("system").iter_rows()),
        "instrument": {
            "name": instrument.name,
            "version": instrument.version,
            "fingerprint": instrument.fingerprint(),
            "dimensions": [
                {
                    "name": name,
                    "label": name.capitalize(),
                    "grades": [1, 2, 3, 4, 5],
                    "higher_is_better": True,
                    "safety": name == "accuracy",
                }
                for name in ratings["dimension"].unique(maintain_order=True)
            ],
        },
        "prompt_version": "1",
        "judges": [
            {
                "name": name,
                "models": [
                    {"kind": "openai", "name": name, "vendor": "example", "host": "127.0.0.1", "model": "m"}
                ],
                "settings_hash": "ef" * 32,
                "temperature": 0.0,
                "seed": 0,
            }
            for name in judges["rater"].unique().sort()
        ],
        "jury": {"name": "jury", "rule": "mean", "quorum": None, "repeats": int(ratings["repeat"].max()) + 1},
        "allow_hosts": [],
        "redacted": False,
        "prices": {"as_of": "2026-01-01", "currency": "USD"},
        "planned": {},
        "humans": {"illustrative": False},
        "report": {"resamples": 200},
        "gate": {**GateRules().model_dump(), "stated_at": "2025-12-31T23:00:00+00:00"},
        "coverage": {
            "ratings": judges.height,
            "scored": counts.get("scored", 0),
            "not_applicable": counts.get("not_applicable", 0),
            "unscored": counts.get("unscored", 0),
            "unscored_by_reason": dict(
                judges.filter(pl.col("status") == "unscored").group_by("reason").len().iter_rows()
            ),
        },
        "units": {"planned": judges.height, "done": judges.height},
        "calls": judges.height,
        "cost": float(judges["cost"].sum()),
    }
    manifest |= changes
    if "protocol" not in changes and manifest["gate"] is not None:
        manifest |= registered(manifest)
    manifest = {name: value for name, value in manifest.items() if value is not None}
    written = ["ratings.parquet", "ratings.csv"]
    if records:
        (folder / "records.jsonl").write_text(records, encoding="utf-8")
        written.append("records.jsonl")
    if patients:
        lines = [f"{item},{patient}" for item, patient in patients.items()]
        (folder / "patients.csv").write_text("\n".join(["item,patient", *lines]) + "\n")
        written.append("patients.csv")
    if parts is not None:
        parts.write_csv(folder / "parts.csv")
        written.append("parts.csv")
    manifest["files"] = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in written}
    Manifest.model_validate_json(json.dumps(manifest)).write(folder)
    return folder


def registered(manifest: Mapping[str, Any], **changes: Any) -> dict[str, Any]:
    """What a manifest says of the protocol that was registered for it in time; `changes` are the protocol's own."""
    same = ("study", "medjury", "data_hash", "cases", "instrument", "prompt_version", "judges", "jury")
    protocol = Protocol.model_validate(
        {
            "format": 1,
            **{name: manifest[name] for name in same if manifest.get(name) is not None},
            "registered_at": "2025-12-31T23:30:00+00:00",
            "rules": GateRules.model_validate(
                {name: value for name, value in manifest["gate"].items() if name in GateRules.model_fields}
            ).model_dump(),
            **changes,
        }
    )
    return {"protocol": protocol.content(), "protocol_hash": protocol.hash()}


def rules(**changes: Any) -> dict[str, Any]:
    """The default rules as a manifest holds them, some changed."""
    return {**GateRules(**changes).model_dump(), "stated_at": "2025-12-31T23:00:00+00:00"}


def record_lines(kind: str, bodies: Sequence[Mapping[str, Any]], rater: str = "judge-a") -> str:
    """`records.jsonl` with these bodies, one for each case of a judge."""
    rows = [
        {"key": f"k{n}", "item": f"case-{n:04d}", "system": "", "rater": rater, "repeat": 0, "kind": kind,
         "body": body}
        for n, body in enumerate(bodies)
    ]  # fmt: skip
    return "".join(json.dumps(row) + "\n" for row in rows)


def run_with_records(folder: Path, records: str, **changes: Any) -> Path:
    """A run of one judge with these records."""
    frame = planted_frame(cases=12, dimensions=("accuracy", "clarity"), judges={"judge-a": 0.5})
    return write_run(folder, frame, records=records, **changes)


def section_made(
    run: Path, make: SectionMaker, exhibits: Exhibits | None = None, resamples: int = 200
) -> str:
    """One section of the report of a run, and no other; its figures and tables are put into `exhibits`."""
    evidence = evidence_of(open_run(run, resamples=resamples))
    made = make(Material(evidence, validation_of(evidence), Exhibits() if exhibits is None else exhibits))
    return "" if made is None else made.body


def page_of(folder: Path) -> str:
    """The report as text; nothing is written."""
    return compose(evidence_of(open_run(folder, resamples=200)), Exhibits())[0]


def verdict_words(folder: Path) -> dict[str, str]:
    return {each.dimension: each.word for each in validate(folder).verdicts}
