"""A blinded re-read is as large as it must be to notice that clinicians were drawn towards the jury."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.report.planted import planted_frame, write_run

from medjury.analysis.agreement import cohen_kappa, plan_blinded_reread
from medjury.cli import main
from medjury.foundation.errors import MedjuryError
from medjury.statistics import Floats
from medjury.tables import rating_table

SCALE = [1, 2, 3, 4, 5]


def world(draw: np.random.Generator, n: int, drawn: float) -> tuple[Floats, Floats, Floats]:
    """The jury, two clinicians who saw its grade and took it over on a share `drawn` of the answers, two who did
    not see it."""

    def graded(spread: float, raters: int) -> Floats:
        return np.clip(np.floor(truth[:, None] + spread * draw.normal(size=(n, raters)) + 0.5), 1, 5)

    truth = draw.uniform(1, 5, n)
    jury, seen, blind = graded(0.7, 1), graded(0.8, 2), graded(0.8, 2)
    return jury[:, 0], np.where(draw.random((n, 2)) < drawn, jury, seen), blind


def mean_kappa(jury: Floats, people: Floats) -> float:
    kappas = [
        cohen_kappa(jury, each, scale=SCALE, weights="quadratic", resamples=0).value for each in people.T
    ]
    return float(np.mean([each for each in kappas if each is not None]))


def run_of(jury: Floats, people: Floats) -> pl.DataFrame:
    columns = {"jury": jury} | {f"clinician {place}": each for place, each in enumerate(people.T)}
    return pl.DataFrame(
        [
            (f"c{place}", who, "jury" if who == "jury" else "clinician", "accuracy", score)
            for who, scores in columns.items()
            for place, score in enumerate(scores.tolist())
        ],
        schema=["item", "rater", "rater_kind", "dimension", "score"],
        orient="row",
    )


@pytest.mark.simulation
def test_the_planned_number_notices_anchoring_of_the_stated_size_about_as_often_as_promised() -> None:
    jury, seen, blind = world(np.random.default_rng(1), 60_000, 0.35)
    anchoring = mean_kappa(jury, seen) - mean_kappa(jury, blind)
    jury, seen, _ = world(np.random.default_rng(2), 400, 0.35)
    table = rating_table(run_of(jury, seen), scale=(1, 5))
    (row,) = plan_blinded_reread(table, anchoring=anchoring, resamples=500).rows
    assert 0.05 < anchoring < 0.15
    assert 20 < row.answers < 200
    bound = 1.645 * row.noticed / (1.645 + 0.8416) * np.sqrt(row.available / row.answers)
    noticed = {0.35: 0, 0.0: 0}
    for drawn in noticed:
        for number in range(300):
            jury, seen, blind = world(np.random.default_rng([3, number]), row.answers, drawn)
            noticed[drawn] += mean_kappa(jury, seen) - mean_kappa(jury, blind) > bound
    assert 0.72 <= noticed[0.35] / 300 <= 0.92
    assert noticed[0.0] / 300 <= 0.09


def test_less_anchoring_and_more_power_take_more_answers_and_one_clinician_more_than_two() -> None:
    jury, seen, _ = world(np.random.default_rng(4), 200, 0.0)
    table = rating_table(run_of(jury, seen), scale=(1, 5))

    def answers(**options: float) -> int:
        return plan_blinded_reread(table, resamples=300, **options).answers

    assert answers(anchoring=0.05) == pytest.approx(4 * answers(anchoring=0.1), abs=4)
    assert answers(power=0.95) > answers()
    alone = rating_table(run_of(jury, seen[:, :1]), scale=(1, 5))
    assert plan_blinded_reread(alone, resamples=300).answers > answers()


def test_the_plan_is_printed_in_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "run"
    write_run(folder, planted_frame(dimensions=("accuracy",)))
    assert main(["plan", "blinded", str(folder), "--resamples", "200"]) == 0
    said = capsys.readouterr().out
    assert "may have seen the judges' scores" in said
    assert "two clinicians who do not see the jury's scores re-read" in said
    assert "notices it in 80 of 100 such re-reads" in said
    assert main(["plan", "blinded", str(folder), "--resamples", "200", "--anchoring", "0.01", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["answers"] > row["available"] == 120
    manifest = json.loads((folder / "manifest.json").read_text())
    humans = manifest.setdefault("humans", {})
    for blinded, words in ((True, "nothing is left to settle"), (False, "saw the judges' scores before")):
        humans["blinded"] = blinded
        (folder / "manifest.json").write_text(json.dumps(manifest))
        assert main(["plan", "blinded", str(folder), "--resamples", "200"]) == 0
        assert words in capsys.readouterr().out


def test_a_size_that_is_no_share_is_refused() -> None:
    jury, seen, _ = world(np.random.default_rng(5), 40, 0.0)
    with pytest.raises(MedjuryError, match="between 0 and 1"):
        plan_blinded_reread(rating_table(run_of(jury, seen), scale=(1, 5)), anchoring=1.5)
