"""A small run folder with planted repeats, vendors, a derived composite, a stored jury and a development case."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl

from medjury.store.runs import Manifest, ManifestInstrument, ManifestJudge, ManifestModel, files
from medjury.store.runs._manifest_parts import ManifestDimension

JUDGES = {"ada": "alpha", "bob": "beta", "cyd": "gamma"}
SYSTEMS = {"a": "alpha", "b": "beta", "c": "gamma", "d": "none"}
GRADES = (1.0, 2.0, 3.0, 4.0, 5.0)
DEVELOPMENT = "case 0"


def write_run(folder: Path, *, cases: int = 30, draws: bool = False, patients: bool = False) -> Path:
    """Accuracy and risk (lower is better) on grades 1 to 5, and their composite; ada's one rating is taken from
    three draws where `draws` is asked for."""
    folder.mkdir(parents=True, exist_ok=True)
    generator = np.random.default_rng(5)
    rows: list[tuple[object, ...]] = []
    records = []
    for case in range(cases):
        for place, system in enumerate(SYSTEMS):
            votes: dict[str, list[float]] = {"accuracy": [], "risk": []}
            for rater, kind in (*((judge, "judge") for judge in JUDGES), ("dr one", "clinician")):
                said = {}
                for name, sign in (("accuracy", 1), ("risk", -1)):
                    worth = 3 + sign * (0.4 * place - 0.6) + 0.3 * (case % 3) + generator.normal(0, 0.7)
                    said[name] = float(np.clip(np.rint(worth), 1, 5))
                    rows.append((f"case {case}", system, rater, kind, name, said[name]))
                    if kind == "judge":
                        votes[name].append(said[name])
                rows.append(
                    (f"case {case}", system, rater, kind, "total", (said["accuracy"] + said["risk"]) / 2)
                )
                if rater == "ada" and draws:
                    told = [
                        {name: {"score": score + (number == 2 and score < 5), "status": "scored"}
                         for name, score in said.items()}
                        for number in range(3)
                    ]  # fmt: skip
                    body = {
                        "n": 3,
                        "draws": [{"draw": k + 1, "outcomes": each} for k, each in enumerate(told)],
                    }
                    record = {
                        "key": "k",
                        "item": f"case {case}",
                        "system": system,
                        "rater": rater,
                        "repeat": 0,
                    }
                    records.append(record | {"kind": "repeats", "body": body})
            jury = {name: float(np.mean(each)) for name, each in votes.items()}
            for name, score in (*jury.items(), ("total", sum(jury.values()) / 2)):
                rows.append((f"case {case}", system, "jury", "jury", name, score))
    columns = ["item", "system", "rater", "rater_kind", "dimension", "score"]
    frame = pl.DataFrame(rows, schema=columns, orient="row")
    if patients:
        number = pl.col("item").str.slice(5).cast(pl.Int64)
        frame = frame.with_columns((number // 3).cast(pl.String).alias("patient"))
    frame.write_parquet(folder / files.RATINGS)
    if draws:
        (folder / files.RECORDS).write_text("".join(json.dumps(each) + "\n" for each in records))
    dimensions = (
        ManifestDimension(name="accuracy", grades=GRADES),
        ManifestDimension(name="risk", grades=GRADES, higher_is_better=False),
        ManifestDimension(name="total", derived=True, weights={"accuracy": 0.5, "risk": 0.5}),
    )
    Manifest(
        run="planted",
        status="complete",
        instrument=ManifestInstrument(name="planted", dimensions=dimensions),
        judges=tuple(
            ManifestJudge(name=name, models=(ManifestModel(name=name, vendor=vendor),))
            for name, vendor in JUDGES.items()
        ),
        gate={"development_cases": [DEVELOPMENT]},
        report={"system_vendors": SYSTEMS, "resamples": 300, "seed": 4},
    ).write(folder)
    return folder
