"""The recipe `pairs`: every verdict is the planted one, and the report finds what was planted."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.recipes.compared import read_table
from tests.recipes.offline import run_recipe

from recipes import pairs


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run_recipe(tmp_path_factory, "pairs") / "runs" / "pairs"


def test_every_verdict_is_the_planted_one_in_the_order_shown(run: Path) -> None:
    numbers = {pairs.name_of(number): number for number in pairs.numbers()}
    rows = [row for row in read_table(run / "ratings.csv") if row["rater_kind"] == "judge"]
    assert len(rows) == 25 * 3 * 2 * 3
    for row in rows:
        number = numbers[row["item"]]
        texts = [pairs.reply(number, system) for system in row["system"].split(" vs ")]
        assert float(row["score"]) == pairs.judged(row["rater"], number, *texts), row


def test_the_report_finds_what_was_planted(run: Path) -> None:
    systems = {row["system"]: row for row in read_table(run / "tables" / "pairs.csv")}
    assert [*systems] == ["atlas", "borea", "cirrus"]
    assert [row["tie groups"] for row in systems.values()] == ["a", "a", "b"]
    raters = {row["rater"]: row for row in read_table(run / "tables" / "pairs-raters.csv")}
    assert float(raters["juror-east"]["won by the first place low"]) > 0.6
    assert abs(float(raters["juror-north"]["won by the first place"]) - 0.5) < 1e-6
    assert (raters["juror-east"]["equal texts"], raters["juror-east"]["of these tied"]) == ("4", "0")
    assert (raters["juror-north"]["equal texts"], raters["juror-north"]["of these tied"]) == ("4", "4")
    page = (run / "report.html").read_text(encoding="utf-8")
    assert "juror-east prefers the answer shown first" in page
    assert "75 pairs of answers, in both orders, 25 different cases" in page and "150 answers" not in page
    assert "(75 pairs)" in page, "what clinicians and the jury scored"
    assert "stricter nor kinder" not in page, "a preference is neither strict nor kind"
    assert "same_text" not in page, "what marks equal texts is no kind of case"
