"""Four real judges on ten systems' answers: does any of them favour its own vendor?"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from medjury.cli import main
from medjury.tables import read_rating_table

ROOT = Path(__file__).parents[2]
JUDGES = ROOT.parent / "shared" / "data" / "mental_health_judges"
JUDGE_VENDORS = "claude=anthropic,gemini=google,gpt-4o=openai,o4-mini=openai"
SYSTEM_VENDORS = (
    "original=none,claude=anthropic,ds_llama=deepseek,ds_qwen=deepseek,gemini=google,gpt4o=openai,"
    "gpt4omini=openai,llama_3=meta,qwen_2=alibaba,qwen_3=alibaba"
)


@pytest.fixture(scope="module")
def ratings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not JUDGES.is_dir():
        pytest.skip("the mental-health ratings are not on this machine")
    folder = tmp_path_factory.mktemp("judges")
    shutil.copy(ROOT / "docs" / "examples" / "mental_health_judges.yaml", folder)
    for file in JUDGES.glob("*.csv"):
        (folder / file.name).symlink_to(file)
    frame, _ = read_rating_table(folder / "mental_health_judges.yaml")
    frame.select("item", "system", "rater", "rater_kind", "dimension", "score", "status").write_parquet(
        folder / "ratings.parquet"
    )
    return folder / "ratings.parquet"


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
    claude = found["same_vendor", "claude", "Relevance"]
    assert claude["verdict"] == "favours its own vendor" and 0.25 < claude["value"] < 0.35
    assert found["own_vendor_contrast_reference", "claude", "Relevance"]["low"] > 0.25
    # gpt-4o looks as if it were hard on its own; its scale, at the ceiling for nine answers of ten, explains it.
    assert "contradicts" in found["same_vendor", "gpt-4o", "Relevance"]["verdict"]
    assert (
        sum(row["n_unscored"] for row in rows) > 0 and "of claude's scores are the highest given" in said.err
    )
