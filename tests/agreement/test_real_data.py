"""Agreement on real ratings: four judges and a human on mental-health answers, two clinicians on transcripts."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tests.mental_health import DATA, real_ratings

from medjury.cli import main


@pytest.mark.skipif(not DATA.is_dir(), reason="the mental-health ratings are not on this machine")
def test_four_judges_per_attribute_and_level_come_from_one_command(
    tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]
) -> None:
    status = main(
        [
            "agreement", str(real_ratings(tmp_path_factory)), "--reference", "human", "--compare",
            "claude,gemini,gpt-4o,o4-mini", "--scale", "1", "5", "--level", "both", "--jury", "mean",
            "--resamples", "100", "--statistics", "rmse,icc_3_k_z,spearman,spearman_within_systems,"
            "spearman_system_mean_baseline", "--json",
        ]
    )  # fmt: skip
    said = capsys.readouterr()
    assert status == 0
    rows = json.loads(said.out)
    attributes = {
        "Guidance",
        "Informativeness",
        "Relevance",
        "Safety",
        "Empathy",
        "Helpfulness",
        "Understanding",
    }
    blocks = {(row["dimension"], row["rater"], row["level"]) for row in rows}
    assert blocks == {
        (attribute, judge, level)
        for attribute in attributes
        for judge in ("claude", "gemini", "gpt-4o", "o4-mini", "jury")
        for level in ("item", "system")
    }
    for name in ("spearman", "icc_3_k_z", "rmse"):
        some = [row for row in rows if row["statistic"] == name]
        # Between systems no resampling tells how far a coefficient reaches, and the row says why.
        refused = [row for row in some if row["level"] == "system"]
        assert len(refused) == len(some) / 2
        assert all((row["low"], row["high"]) == (None, None) for row in refused)
        assert all("the means of close systems differ by chance" in row["method"] for row in refused)
        assert all(row["low"] <= row["value"] <= row["high"] for row in some if row["level"] == "item")
    # The dirt of the files, counted by reason.
    assert "unscored ratings of human: 99 out_of_range" in said.err
    assert "unscored ratings of gemini: 21 empty, 7 parse" in said.err
    # Averaging by system lifts the coefficient.
    found = {(row["dimension"], row["rater"], row["level"], row["statistic"]): row["value"] for row in rows}
    for attribute in attributes:
        item, system = (found[attribute, "gpt-4o", level, "icc_3_k_z"] for level in ("item", "system"))
        assert item < system
    # The jury: 0.39 pooled, 0.17 inside a system, and the system's mean alone does better on every attribute.
    jury = {
        name: np.array([found[attribute, "jury", "item", name] for attribute in sorted(attributes)])
        for name in ("spearman", "spearman_within_systems", "spearman_system_mean_baseline")
    }
    assert jury["spearman"].mean() == pytest.approx(0.39, abs=0.005)
    assert jury["spearman_within_systems"].mean() == pytest.approx(0.17, abs=0.01)
    assert (jury["spearman_system_mean_baseline"] > jury["spearman"]).all()
