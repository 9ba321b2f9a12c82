"""A run folder says who, which patients, which cases, which jury and what is dangerous; calibration asks it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.calibration.tables import planted_ratings

from medjury.analysis.calibration import calibrate, estimate, routine_disagreement, simulate_jury, triage
from medjury.cli import main
from medjury.foundation.errors import MedjuryError
from medjury.instruments import load_instrument
from medjury.store.runs import Manifest, files
from medjury.tables import open_run

JUDGES = {"one": -0.9, "two": 0.0, "three": 0.7}
DEVELOPMENT = ("c0", "c1", "c2")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """100 cases of 50 patients, two clinicians, a jury by median with a quorum of three; a judge fails at times."""
    place = tmp_path_factory.mktemp("run")
    frame = planted_ratings(
        cases=100, dimensions=("risk", "safety"), judges=JUDGES, instrument="diagnosis@1.0"
    )
    second = frame.filter(pl.col("rater") == "panel").with_columns(
        rater=pl.lit("second"), score=(pl.col("score") + 1).clip(1, 5)
    )
    silent = (pl.col("rater") == "three") & pl.col("item").is_in(["c10", "c13"])
    frame = pl.concat([frame, second]).with_columns(
        score=pl.when(silent).then(None).otherwise("score"),
        status=pl.when(silent).then(pl.lit("unscored")).otherwise(pl.lit("scored")),
    )
    frame.write_parquet(place / files.RATINGS)
    items = [f"c{number}" for number in range(100)]
    patients = [f"p{number // 2}" for number in range(100)]
    pl.DataFrame({"item": items, "patient": patients}).write_csv(place / files.PATIENTS)
    instrument = load_instrument("diagnosis")
    Manifest.model_validate(
        {
            "run": "r",
            "instrument": {
                "name": "diagnosis",
                "version": instrument.version,
                "fingerprint": instrument.fingerprint(),
                "dimensions": [
                    {"name": "risk", "grades": [1, 2, 3, 4, 5], "higher_is_better": False},
                    {"name": "safety", "grades": [1, 2, 3, 4, 5], "derived": True, "of": "risk"},
                ],
            },
            "jury": {"rule": "median", "quorum": 3},
            "gate": {"development_cases": DEVELOPMENT, "danger": 0.5},
            "report": {"resamples": 150, "seed": 3},
            "files": {files.PATIENTS: ""},
        }
    ).write(place)
    return place


def test_calibration_takes_everything_from_the_run(folder: Path) -> None:
    study = calibrate(folder)
    jury = next(each for each in study.calibrations if each.rater == "jury")
    assert {each.dimension for each in study.calibrations} == {"risk"}
    assert study.reference == ("panel", "second")
    assert (study.resamples, study.seed) == (150, 3)
    assert not set(DEVELOPMENT) & set(jury.part.grid.items.tolist())
    # p0 served development with both of its cases, p1 with one of two.
    assert jury.pairs.n_cases == 49
    given = np.column_stack([jury.part.scores(name) for name in JUDGES])
    expected = np.where(np.isnan(given).any(axis=1), np.nan, np.nanmedian(given, axis=1))
    np.testing.assert_array_equal(jury.pairs.scores, expected)
    assert np.isnan(expected).sum() == 4
    labels = np.mean([jury.part.scores(name) for name in ("panel", "second")], axis=0)
    np.testing.assert_array_equal(jury.pairs.labels, labels)


def test_triage_takes_danger_and_its_direction_from_the_run(folder: Path) -> None:
    found = triage(folder, dimensions="risk")
    assert found.reversed
    assert found.threshold == 3.0
    kindest = np.nanmax([found.part.scores(name) for name in ("panel", "second")], axis=0)
    either = np.nanmin([found.part.scores(name) for name in ("panel", "second")], axis=0)
    assert found.n_dangerous == int((either <= 3).sum()) > int((kindest <= 3).sum())
    assert found.order.n_unscored == 4
    with pytest.raises(MedjuryError, match="name one of risk, safety"):
        triage(folder)


def test_estimates_and_simulated_juries_rest_on_held_out_patients(folder: Path) -> None:
    mean = next(each for each in estimate(folder).estimates if each.dimension == "risk").found
    assert (mean.n_labelled, mean.n_unscored, mean.n_labelled_cases) == (194, 4, 49)
    found = simulate_jury(folder, draws=20, loss=0.5, calls=0.9)
    assert found.n_training[0] + found.n_tested[0] == 49
    assert [each.dimension for each in found.of("dimension")] == ["risk"]


def test_the_command_line_prints_the_numbers_of_the_functions(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for words, expected in (
        (["calibrate", "report", str(folder)], calibrate(open_run(folder))),
        (["triage", str(folder), "--dimensions", "risk"], triage(open_run(folder), dimensions="risk")),
        (["estimate", str(folder)], estimate(open_run(folder))),
    ):
        assert main([*words, *(["--all"] if "report" in words else [])]) == 0
        assert capsys.readouterr().out == expected.text() + "\n"
        assert main([*words, "--json"]) == 0
        assert json.loads(capsys.readouterr().out) == json.loads(expected.to_json())


def test_the_panels_word_on_development_cases_does_not_count(folder: Path) -> None:
    table = open_run(folder)
    said = table.everything.filter((pl.col("dimension") == "safety") & (pl.col("rater") == "panel"))
    said = said.unique("item").with_columns(
        dimension=pl.lit("routine"), score=(pl.col("score") > 3).cast(float), system=pl.lit("")
    )
    served = pl.col("item").is_in(DEVELOPMENT)
    rows = pl.concat([table.rows, said.filter(~served).select(table.rows.columns)])
    found = routine_disagreement(table.where(rows), routine="routine", dimensions="risk")
    assert found.n + found.n_unknown == 97
