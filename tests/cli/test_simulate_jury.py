"""`medjury plan simulate-jury`: a rule for an adaptive jury from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
import yaml
from tests.calibration.planted_juries import planted_votes

from medjury.cli import main
from medjury.judging import SavedAdaptiveRule

QUICK = ["--reference", "panel", "--scale", "1", "5", "--resamples", "60", "--draws", "20", "--loss", "0.02"]


@pytest.fixture
def ratings(tmp_path: Path) -> str:
    planted_votes(dimensions=("accuracy", "clarity"), seed=1).write_csv(tmp_path / "ratings.csv")
    return str(tmp_path / "ratings.csv")


def test_the_tables_the_verdict_and_a_fragment_for_the_study_file(
    ratings: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plan", "simulate-jury", ratings, *QUICK, "--splits", "2", "--signal", "disagreement"]) == 0
    shown = capsys.readouterr().out
    for words in ("full jury", "adaptive jury", "best fixed pair", "the system alone", "By dimension",
                  "The same calls at random lose", "Of 2 splits", "On cases it was not found on"):  # fmt: skip
        assert words in shown
    fragment = yaml.safe_load(shown[shown.index("strategy:") :])["strategy"]
    assert fragment["name"] == "adaptive" and len(fragment["jurors"]) >= 2
    assert set(fragment["rule"]) == {"tolerance", "minimum", "maximum"}


def test_everything_is_written_and_can_be_read_back(
    ratings: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, figure, rule = (str(tmp_path / name) for name in ("curve.csv", "curve.svg", "rule.json"))
    words = ["--out", out, "--figure", figure, "--rule", rule, "--signal", "jury_width", "--json"]
    assert main(["plan", "simulate-jury", ratings, *QUICK, *words]) == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found) == {
        "verdict", "kept", "proved", "shown_on_training_half", "rule", "random", "random_after_two_votes",
        "over_best_pair", "rows", "stopped_after", "decided_alike", "training", "tested", "splits", "warnings",
    }  # fmt: skip
    table = pl.read_csv(out, infer_schema_length=None)
    assert set(table["kind"]) == {"policy", "curve", "fixed", "dimension"}
    assert table.height == len(found["rows"])
    adaptive = table.filter(pl.col("name") == "adaptive jury", pl.col("kind") == "policy").row(0, named=True)
    assert adaptive["loss_low"] < adaptive["loss"] < adaptive["loss_high"]
    assert "<svg" in Path(figure).read_text()
    saved = SavedAdaptiveRule.load(rule)
    assert list(saved.jurors) == found["rule"]["jurors"] and saved.rule.widths is not None
    assert json.loads(Path(rule).read_text())["learnt"]["result"] == found["verdict"]


def test_costs_have_a_column_and_the_cheapest_is_asked_first(
    ratings: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--cost", "cheap=1,fair=2,good=4,dear=13", "--json"]
    main(["plan", "simulate-jury", ratings, *QUICK, *words])
    found = json.loads(capsys.readouterr().out)
    assert found["rule"]["jurors"][:2] == ["cheap", "fair"]
    assert all(row["cost"] is not None for row in found["rows"] if row["kind"] in ("policy", "curve"))


def test_a_rule_that_does_not_keep_to_what_was_wanted_is_no_success(
    ratings: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plan", "simulate-jury", ratings, *QUICK, "--calls", "0.25", "--loss", "0.0"]) == 1
    assert "NOT within what was wanted" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--out", "curve.txt"], "written as .csv"),
        (["--figure", "curve.png"], "written as .svg"),
        (["--rule", "rule.yaml"], "written as .json"),
        (["--signal", "entropy"], "there is no signal 'entropy'"),
        (["--order", "cheap,nobody"], "no juror 'nobody'"),
        (["--figure", "nowhere/curve.svg"], "cannot be written"),
    ],
)
def test_what_is_wrong_is_told(
    words: list[str], told: str, ratings: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plan", "simulate-jury", ratings, *QUICK, *words]) == 2
    assert told in capsys.readouterr().err


def test_a_cost_that_is_no_number_is_told(ratings: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["plan", "simulate-jury", ratings, *QUICK, "--cost", "cheap"])
    assert ended.value.code == 2
    assert "write JUROR=NUMBER" in capsys.readouterr().err
