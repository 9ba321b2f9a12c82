"""One system per case: systems are compared unpaired, the output says so, and each has its own cases."""

from __future__ import annotations

import contextlib
import io
import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy import stats

from medjury.analysis.ranking import rank
from medjury.cli import main
from medjury.foundation.errors import MedjuryError
from medjury.tables import rating_table

SIZES = {"alpha": 40, "beta": 30, "gamma": 20}
BETTER = {"alpha": 1.0, "beta": 0.0, "gamma": 0.0}


def unpaired(sizes: dict[str, int] = SIZES, *, visits: int = 1, seed: int = 1) -> pl.DataFrame:
    """Each case has the answer of one system; a patient with several visits stays with the system."""
    generator = np.random.default_rng(seed)
    rows = []
    for system, cases in sizes.items():
        for case in range(cases):
            patient = generator.normal(0, 0.4)
            for visit in range(visits):
                score = 3.0 + BETTER.get(system, 0.0) + patient + generator.normal(0, 0.5)
                for rater, kind, noise in (("judge", "judge", 0.0), ("reader", "clinician", 0.2)):
                    item = f"{system}-{case}-{visit}"
                    said = score + generator.normal(0, noise)
                    rows.append((item, f"{system}-{case}", rater, kind, system, "quality", said))
    names = ["item", "patient", "rater", "rater_kind", "system", "dimension", "score"]
    return pl.DataFrame(rows, schema=names, orient="row")


def test_systems_with_their_own_cases_are_ranked_and_the_output_says_unpaired() -> None:
    found = rank(unpaired(), resamples=500)
    assert not found.paired
    assert found.rows[0].system == "alpha"
    assert {row.system: row.n for row in found.rows} == SIZES
    assert "unpaired, every case has one system's answer" in found.title
    assert any(
        warning.startswith("unpaired: every case has the answer of one system") for warning in found.warnings
    )
    assert found.find(system="alpha").tie_group == "a"
    assert found.find(system="beta").tie_group == found.find(system="gamma").tie_group == "b"


def test_the_interval_of_a_difference_is_that_of_two_samples() -> None:
    """Not of paired cases: beside Welch's interval, which knows nothing of resampling."""
    frame = unpaired()
    found = rank(frame, resamples=4000)
    pair = next(row for row in found.pairs.rows if {row.better, row.other} == {"alpha", "gamma"})
    sides = [
        frame.filter(pl.col("rater") == "judge", pl.col("system") == name)["score"].to_numpy()
        for name in ("alpha", "gamma")
    ]
    welch = stats.ttest_ind(*sides, equal_var=False).confidence_interval(0.95)
    assert pair.difference.value == pytest.approx(sides[0].mean() - sides[1].mean())
    width = pair.difference.high - pair.difference.low
    assert width == pytest.approx(welch.high - welch.low, rel=0.2)


def test_patients_are_resampled_whole() -> None:
    once, again = (rank(unpaired(visits=visits, seed=3), resamples=400) for visits in (1, 4))
    assert once.unit == "cases" and again.unit == "patients"
    assert "90 patients" in again.find(system="alpha").macro_average.method


def test_the_smallest_detectable_difference_is_that_of_two_samples() -> None:
    frame = unpaired({"alpha": 40, "beta": 30})
    (effect,) = rank(frame, resamples=0).part("detectable").rows
    one, two = (
        frame.filter(pl.col("rater") == "judge", pl.col("system") == name)["score"].to_numpy()
        for name in ("alpha", "beta")
    )
    by_hand = (stats.norm.ppf(0.975) + stats.norm.ppf(0.8)) * np.sqrt(
        one.var(ddof=1) / 40 + two.var(ddof=1) / 30
    )
    assert effect.mde == pytest.approx(by_hand)
    assert effect.n == 30 and "SD₁²/n₁" in effect.method


def test_the_order_is_compared_with_the_clinicians() -> None:
    found = rank(unpaired(), resamples=300)
    (jury,) = (row for row in found.part("agreement").rows if row.rater == "judge")
    assert jury.concordant >= 2 and len(jury.systems) == 3


def test_a_system_with_four_cases_is_not_ranked_and_named() -> None:
    found = rank(unpaired({**SIZES, "rare": 4}), resamples=200)
    assert "rare" not in {row.system for row in found.rows}
    assert any("not ranked, for fewer than 5 cases: rare 4" in warning for warning in found.warnings)
    with pytest.raises(MedjuryError, match="fewer than two systems have 5 cases"):
        rank(unpaired({"alpha": 40, "rare": 4}), resamples=0)


@pytest.mark.simulation
def test_equal_systems_are_rarely_separated() -> None:
    """Forty studies of three equal systems, the smallest with eight cases: at most a few may err at 5 %."""
    errors = 0
    for seed in range(40):
        frame = unpaired({"one": 8, "two": 15, "three": 40}, seed=100 + seed)
        found = rank(rating_table(frame), resamples=200, seed=seed)
        errors += any(pair.separated for pair in found.pairs.rows)
    assert errors <= 5  # P(more than 5 of 40 at 5 %) is 1.4 %


def test_the_command_says_unpaired_too(tmp_path: Path) -> None:
    unpaired().write_csv(tmp_path / "ratings.csv")
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        assert main(["rank", str(tmp_path / "ratings.csv"), "--resamples", "200", "--json"]) == 0
    assert json.loads(out.getvalue())[0]["system"] == "alpha"
    assert "unpaired: every case has the answer of one system" in err.getvalue()


def test_a_reference_that_scored_other_cases_of_each_system_is_compared_on_what_it_scored() -> None:
    """All systems answered all cases; clinicians scored one system's answer to each, and some of the routine's."""
    generator = np.random.default_rng(5)
    better = {"alpha": 0.9, "beta": 0.3, "gamma": -0.3, "routine": 0.0}
    rows = []
    for case in range(60):
        for place, (system, level) in enumerate(better.items()):
            score = 3 + level + generator.normal(0, 0.6)
            rows.append((f"case-{case}", "judge", "judge", system, score))
            if case % 3 == place or (system == "routine" and case % 4 == 0):
                reader = "morning" if case % 2 else "evening"
                said = score + generator.normal(0.5, 0.3)
                rows.append((f"case-{case}", reader, "clinician", system, said))
    frame = pl.DataFrame(rows, schema=["item", "rater", "rater_kind", "system", "score"], orient="row")
    found = rank(frame.with_columns(pl.lit("quality").alias("dimension")), resamples=300)
    assert found.agreement is not None
    (row,) = [each for each in found.agreement.rows if each.rater == "judge"]
    wide = frame.filter(pl.col("rater_kind") == "clinician").join(
        frame.filter(pl.col("rater") == "judge"), on=["item", "system"], suffix=" of judge"
    )
    means = wide.group_by("system").agg(pl.col("score", "score of judge").mean())
    tau = stats.kendalltau(means["score"], means["score of judge"]).statistic
    assert row.tau.value == pytest.approx(tau) and len(row.systems) == 4
    assert any("the answers that it scored, unpaired" in note for note in found.agreement.warnings)
