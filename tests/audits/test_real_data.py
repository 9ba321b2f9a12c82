"""Four real judges on ten systems' answers: does any of them favour its own vendor?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.mental_health import few_columns

from medjury.analysis.audits import self_preference
from medjury.cli import main

JUDGE_VENDORS = "claude=anthropic,gemini=google,gpt-4o=openai,o4-mini=openai"
SYSTEM_VENDORS = (
    "original=none,claude=anthropic,ds_llama=deepseek,ds_qwen=deepseek,gemini=google,gpt4o=openai,"
    "gpt4omini=openai,llama_3=meta,qwen_2=alibaba,qwen_3=alibaba"
)


@pytest.fixture(scope="module")
def ratings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return few_columns(tmp_path_factory)


def test_each_judge_is_audited_on_its_own_vendors_answers(
    ratings: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status = main(
        [
            "audit", str(ratings), "--audit", "self-preference", "--reference", "human",
            "--judge-vendor", JUDGE_VENDORS, "--system-vendor", SYSTEM_VENDORS,
            "--dimension", "Relevance,Helpfulness", "--resamples", "500", "--json",
        ]
    )  # fmt: skip
    assert status == 0
    said = capsys.readouterr()
    rows: list[dict[str, Any]] = json.loads(said.out)
    found = {(row["statistic"], row["rater"], row["dimension"]): row for row in rows}
    for judge in ("claude", "gemini", "gpt-4o", "o4-mini"):
        for dimension in ("Relevance", "Helpfulness"):
            for statistic in ("same_vendor", "own_vendor_contrast", "own_vendor_contrast_reference"):
                row = found[statistic, judge, dimension]
                assert row["low"] < row["value"] < row["high"] and row["n"] > 3000
    # 0.3 grades more for its vendor's one system; claude likes single systems so unevenly that this shows nothing.
    claude = found["same_vendor", "claude", "Relevance"]
    assert claude["verdict"] == "not shown" and 0.25 < claude["value"] < 0.35
    assert found["judge_system_variance", "", "Relevance"]["value"] > 0.01
    assert not any(row["stands_out"] for row in rows)
    assert "placebo: with the vendors shuffled, 0 % of the rows would be flagged" in said.err
    assert (
        sum(row["n_unscored"] for row in rows) > 0 and "of claude's scores are the highest given" in said.err
    )


@pytest.mark.parametrize("shift", [4])
def test_wrong_vendors_accuse_nobody(ratings: Path, shift: int) -> None:
    """Every system gets the vendor of another one, so there is no self-preference to be found."""
    right = dict(pair.split("=") for pair in SYSTEM_VENDORS.split(","))
    vendors = list(right.values())
    wrong = dict(zip(right, vendors[shift:] + vendors[:shift], strict=True))
    judges = dict(pair.split("=") for pair in JUDGE_VENDORS.split(","))
    found = self_preference(
        ratings,
        judge_vendors=judges,
        system_vendors=wrong,
        dimensions=["Relevance", "Helpfulness", "Safety"],
        resamples=50,
    )
    rows = [row for row in found.rows if row.statistic == "same_vendor"]
    assert len(rows) == 15 and all(row.estimate.defined for row in rows)
    assert not any(row.stands_out for row in rows)
    assert found.find(statistic="placebo_flagged").estimate.value < 0.05
