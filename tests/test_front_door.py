"""The front door: what `import medjury` shows is there, is light, and is what a script needs."""

from __future__ import annotations

import subprocess
import sys

import polars as pl

import medjury

SCORES = {"clinician": [1, 2, 3, 4, 5, 3, 2, 4], "juror": [1, 2, 4, 4, 5, 2, 2, 5]}


def frame() -> pl.DataFrame:
    rows = [
        (str(item), rater, "judge" if rater == "juror" else "clinician", "accuracy", score)
        for rater, scores in SCORES.items()
        for item, score in enumerate(scores)
    ]
    return pl.DataFrame(rows, schema=["item", "rater", "rater_kind", "dimension", "score"], orient="row")


def test_dir_shows_every_name_of_the_front_door() -> None:
    assert dir(medjury) == sorted(medjury.__all__)
    assert {"agreement", "calibrate", "rank", "audit", "validate", "open_run", "judge", "run_study"} <= set(
        dir(medjury)
    )


def test_every_name_can_be_used() -> None:
    assert all(getattr(medjury, name) is not None for name in medjury.__all__)


def test_agreement_is_called_from_the_front_door_and_is_a_room_too() -> None:
    table = medjury.rating_table(frame(), scale=(1, 5))
    found = medjury.agreement(table, resamples=200)
    assert found.find("kappa_quadratic", rater="juror").estimate.value is not None
    assert callable(medjury.analysis.agreement.cohen_kappa)


def test_importing_medjury_loads_nothing_heavy() -> None:
    heavy = ("numpy", "scipy", "polars", "matplotlib", "aiohttp", "pydantic", "sqlalchemy")
    code = f"import sys, medjury; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
