"""Ten real systems ranked by four judges and by a human, before and after calibration."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.mental_health import few_columns

from medjury.cli import main


@pytest.fixture(scope="module")
def ratings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return few_columns(tmp_path_factory)


def rows(capsys: pytest.CaptureFixture[str], *words: str) -> list[dict[str, Any]]:
    assert main(["rank", *words, "--scale", "1", "5", "--resamples", "500", "--json"]) == 0
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    return found


def test_ten_systems_have_tie_groups_and_a_tau_to_the_human_before_and_after(
    ratings: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    human = rows(capsys, str(ratings), "--rater", "human")
    assert (
        human[0]["system"] == "gpt4o" and human[0]["tie_group"] == "a" and human[-1]["system"] == "original"
    )
    letters = {row["system"]: row["tie_group"] for row in human}
    assert letters["gpt4omini"] == letters["gemini"]  # 4.641 and 4.638
    assert len(human) == 10 and sum(row["n_unscored"] for row in human) > 0
    taus = rows(
        capsys, str(ratings), "--reference", "human", "--calibrate", "isotonic", "--show", "agreement"
    )
    jury = {row["calibration"]: row for row in taus if row["rater"] == "jury"}
    assert set(jury) == {"before", "after"} and len(taus) == 10
    for row in taus:
        assert 0.5 < row["kendall_tau_b"] < 0.95 and row["low"] is row["high"] is None
    assert jury["after"]["kendall_tau_b"] >= jury["before"]["kendall_tau_b"] - 0.1


def test_the_humans_ranks_lie_outside_the_jurys_intervals_and_inside_those_estimated_from_some_labels(
    ratings: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    truth = {row["system"]: row["rank"] for row in rows(capsys, str(ratings), "--rater", "human")}
    frame = pl.read_parquet(ratings)
    items = sorted(frame["item"].unique().to_list())
    labelled = np.random.default_rng(0).choice(items, 60, replace=False).tolist()
    some = tmp_path / "some.parquet"
    frame.filter((pl.col("rater") != "human") | pl.col("item").is_in(labelled)).write_parquet(some)

    def outside(found: list[dict[str, Any]]) -> int:
        return sum(not row["rank_low"] <= truth[row["system"]] <= row["rank_high"] for row in found)

    assert outside(rows(capsys, str(some), "--reference", "human")) >= 4
    asked = ("--reference", "human", "--labels-random", "--show", "reference_ranks")
    estimated = rows(capsys, str(some), *asked)
    assert outside(estimated) == 0
    assert sum(row["rank_high"] - row["rank_low"] for row in estimated) < 40
