"""A study of 360 answers as a user has it, and the CPU that commands take for it.

120 cases of 60 patients, three systems, the eight graded attributes of PDSQI-9 and their composite, three
clinicians, four judges of several vendors and ways of judging with two repeats each, and their jury. Two runs of
it, so that there is something to compare, and the cases with their texts.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars

CASES, VISITS, REPEATS = 120, 2, 2
SYSTEM_VENDORS = {"alpha": "acme", "beta": "bolt", "gamma": "none"}
JUDGE_VENDORS = {"plain": "acme", "twice": "bolt", "panel": "core", "claims": "none"}
SPREADS = {"clinician-1": 0.5, "clinician-2": 0.6, "clinician-3": 0.7}
INSTRUMENT = "pdsqi9@1.1"
DIMENSIONS = (
    "citation",
    "accurate",
    "thorough",
    "useful",
    "organized",
    "comprehensible",
    "succinct",
    "synthesized",
)
ROOT = Path(__file__).parent.parent
_TURNS = 3


def write_study(folder: Path) -> dict[str, list[str]]:
    """Two run folders and a file of cases; what to type for each of the commands that are measured."""
    one, two, texts = folder / "one", folder / "two", folder / "cases.jsonl"
    _write_run(one, seed=11)
    _write_run(two, seed=12)
    _write_cases(texts)
    return {
        "report": ["report", str(one)],
        "compare": ["compare", str(one), str(two)],
        "audit": [
            *("audit", str(one), "--cases", str(texts), "--reference", ",".join(SPREADS)),
            *("--judge-vendor", ",".join(f"{name}={vendor}" for name, vendor in JUDGE_VENDORS.items())),
            *("--system-vendor", ",".join(f"{name}={vendor}" for name, vendor in SYSTEM_VENDORS.items())),
        ],
    }  # fmt: skip


def cpu_seconds(checkouts: Mapping[Path, Path], command: list[str]) -> list[float]:
    """Processor time of `medjury` of each checkout, as a user runs it: a process of its own, modules compiled by an
    earlier one (into the folder that stands beside the checkout). They take turns, and the least of each counts:
    what else the machine does only adds to it, and not always to the same one."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    settings = {
        checkout: kept | {"PYTHONPATH": str(checkout / "src"), "PYTHONPYCACHEPREFIX": str(compiled)}
        for checkout, compiled in checkouts.items()
    }
    turns = [[_cpu_seconds(each, command, settings[each]) for each in checkouts] for _ in range(_TURNS)]
    return [min(each) for each in zip(*turns, strict=True)]


def _cpu_seconds(checkout: Path, command: list[str], environment: dict[str, str]) -> float:
    before = _children()
    done = subprocess.run(
        [sys.executable, "-m", "medjury", *command],
        cwd=checkout,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{checkout}: medjury {command[0]}: {done.stderr}")
    return _children() - before


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _write_run(folder: Path, *, seed: int) -> None:
    from tests.report.planted import rules, write_run
    from tests.report.ways import Planted, judges_of, ways_frame

    from medjury.instruments import load_instrument
    from medjury.store.runs import ManifestInstrument

    ways = {
        "plain": Planted("single", 0.6, 1, 0.001),
        "twice": Planted("repeats", 0.7, 2, 0.002),
        "panel": Planted("deliberation", 0.4, 9, 0.012, 14.0),
        "claims": Planted("claims", 0.9, 5, 0.006),
    }
    ratings = ways_frame(
        ways,
        cases=CASES,
        systems=list(SYSTEM_VENDORS),
        dimensions=DIMENSIONS,
        clinicians=SPREADS,
        repeats=REPEATS,
        unscored=0.03,
        seed=seed,
    )
    judges = judges_of(ways)
    for judge in judges:
        judge["models"][0]["vendor"] = JUDGE_VENDORS[judge["name"]]
    instrument = ManifestInstrument.of(load_instrument(INSTRUMENT.split("@")[0])).model_dump(mode="json")
    write_run(
        folder,
        _with_composite(ratings),
        patients={f"case-{case:04d}": f"patient-{case // VISITS}" for case in range(CASES)},
        instrument=instrument,
        judges=judges,
        jury={"name": "jury", "rule": "mean", "quorum": 3, "repeats": REPEATS},
        report={"system_vendors": SYSTEM_VENDORS},
        gate=rules(),
    )
    (folder / "audit.jsonl").touch()


def _with_composite(ratings: polars.DataFrame) -> polars.DataFrame:
    """The composite as a run stores it: the mean of the parts where all have a score."""
    import polars as pl

    key = ["item", "system", "rater", "repeat"]
    whole = pl.col("score").null_count() == 0
    means = ratings.group_by(key).agg(pl.when(whole).then(pl.col("score").mean()).alias("mean"))
    first = ratings.filter(pl.col("dimension") == DIMENSIONS[0])
    lacking = pl.col("mean").is_null()
    composite = first.join(means, on=key, how="left", maintain_order="left").with_columns(
        pl.lit("mean_quality").alias("dimension"),
        pl.col("mean").alias("score"),
        pl.when(lacking).then(pl.lit("unscored")).otherwise(pl.lit("scored")).alias("status"),
        pl.when(lacking).then(pl.lit("missing")).alias("reason"),
        pl.lit(None, dtype=pl.Float64).alias("cost"),
    )
    return pl.concat([ratings, composite.drop("mean")]).with_columns(pl.lit(INSTRUMENT).alias("instrument"))


def _write_cases(file: Path) -> None:
    import numpy as np

    draw = np.random.default_rng(5)
    words = ["admitted", "with", "breathlessness", "ankle", "swelling", "heart", "failure", "furosemide"]
    lines = [
        {
            "id": f"case-{case:04d}",
            "patient": f"patient-{case // VISITS}",
            "system": system,
            "vendor": vendor,
            "texts": {"notes": "Admitted with breathlessness."},
            "candidate": "- " + " ".join(draw.choice(words, size=int(draw.integers(20, 120)))),
            "metadata": {"specialty": ("cardiology", "surgery", "general practice")[case % 3]},
        }
        for case in range(CASES)
        for system, vendor in SYSTEM_VENDORS.items()
    ]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
