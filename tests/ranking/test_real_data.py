"""Ten real systems ranked by four judges and by a human, before and after calibration."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.mental_health import few_columns

from medjury.analysis.ranking import rank
from medjury.analysis.ranking._ranking import Part
from medjury.cli import main


@pytest.fixture(scope="module")
def ratings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return few_columns(tmp_path_factory)


@pytest.fixture(scope="module")
def human(ratings: Path) -> list[dict[str, Any]]:
    """The systems as the human ranks them."""
    return rank(ratings, raters="human", scale=(1, 5), resamples=500).to_dicts()


def test_ten_systems_have_tie_groups_and_a_tau_to_the_human_before_and_after(
    ratings: Path, human: list[dict[str, Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        human[0]["system"] == "gpt4o" and human[0]["tie_group"] == "a" and human[-1]["system"] == "original"
    )
    letters = {row["system"]: row["tie_group"] for row in human}
    assert letters["gpt4omini"] == letters["gemini"]  # 4.641 and 4.638
    assert len(human) == 10 and sum(row["n_unscored"] for row in human) > 0
    words = ["rank", str(ratings), "--reference", "human", "--calibrate", "isotonic", "--show", "agreement"]
    assert main([*words, "--scale", "1", "5", "--resamples", "500", "--json"]) == 0
    taus = json.loads(capsys.readouterr().out)
    jury = {row["calibration"]: row for row in taus if row["rater"] == "jury"}
    assert set(jury) == {"before", "after"} and len(taus) == 10
    for row in taus:
        assert 0.5 < row["kendall_tau_b"] < 0.95 and row["low"] is row["high"] is None
    assert jury["after"]["kendall_tau_b"] >= jury["before"]["kendall_tau_b"] - 0.1


def test_the_humans_ranks_lie_outside_the_jurys_intervals_and_inside_those_estimated_from_some_labels(
    ratings: Path, human: list[dict[str, Any]]
) -> None:
    truth = {row["system"]: row["rank"] for row in human}
    frame = pl.read_parquet(ratings)
    items = sorted(frame["item"].unique().to_list())
    labelled = np.random.default_rng(0).choice(items, 60, replace=False).tolist()
    some = frame.filter((pl.col("rater") != "human") | pl.col("item").is_in(labelled))
    found = rank(some, reference="human", labels_random=True, scale=(1, 5), resamples=500)

    def outside(part: Part[Any]) -> int:
        return sum(not row.rank_low <= truth[row.system] <= row.rank_high for row in part.rows)

    estimated = found.part("reference_ranks")
    assert outside(found) >= 4 and outside(estimated) == 0
    assert sum(row.rank_high - row.rank_low for row in estimated.rows) < 40
