"""`medjury rank`: from a file to a ranking, in the names that stay."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.ranking.tables import benchmark_table, rating_table
from tests.ranking.tournaments import drawn

from medjury.cli import main

STABLE = ("win_rate", "win_rate_low", "win_rate_high", "win_sd", "macro_average", "macro_sd", "tie_group")
QUALITY = {"best": 0.30, "twin": 0.30, "worst": 0.0}


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    benchmark_table(QUALITY).write_csv(tmp_path / "scores.csv")
    return tmp_path / "scores.csv"


@pytest.fixture
def ratings(tmp_path: Path) -> Path:
    table = rating_table({name: 3 * worth for name, worth in QUALITY.items()}, cases=60)
    clinician = rating_table(QUALITY, cases=60, raters=("dr one",), seed=0).with_columns(
        pl.lit("clinician").alias("rater_kind")
    )
    pl.concat([table, clinician]).write_csv(tmp_path / "ratings.csv")
    return tmp_path / "ratings.csv"


def rows(capsys: pytest.CaptureFixture[str], *words: str | Path) -> list[dict[str, Any]]:
    assert main(["rank", *map(str, words), "--resamples", "400", "--json"]) == 0
    found: list[dict[str, Any]] = json.loads(
        capsys.readouterr().out, parse_constant=lambda name: pytest.fail(f"{name} in the JSON")
    )
    return found


def refused(capsys: pytest.CaptureFixture[str], *words: str | Path) -> str:
    assert main(["rank", *map(str, words)]) == 2
    said = capsys.readouterr()
    assert "Traceback" not in said.err and said.out == ""
    return said.err


def test_json_has_one_row_per_system_under_stable_names(
    scores: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = rows(capsys, scores)
    assert [row["system"] for row in found][-1] == "worst" and len(found) == 3
    for row in found:
        assert all(name in row for name in STABLE)
    for row in found[:2]:
        assert row["win_rate_low"] <= row["win_rate"] <= row["win_rate_high"]
    assert (found[2]["win_rate"], found[2]["win_rate_low"]) == (0, None), "last everywhere, in every resample"
    assert [row["tie_group"] for row in found] == ["a", "a", "b"]


def test_the_table_shows_the_same_names(scores: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rank", str(scores), "--resamples", "200"]) == 0
    said = capsys.readouterr().out
    # In a table for people an interval stands beside its value: 0.747 (0.525 to 0.908).
    columns = [name for name in STABLE if not name.endswith(("_low", "_high"))]
    assert "resampled: benchmarks" in said and all(name in said.splitlines()[1] for name in columns)
    assert " to " in said.splitlines()[2]


def test_ties_and_measure_are_options(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "scores.csv"
    file.write_text("system,benchmark,score\nA,x,1\nB,x,1\nA,y,3\nB,y,2\n")
    half = {row["system"]: row["win_rate"] for row in rows(capsys, file)}
    both = {row["system"]: row["win_rate"] for row in rows(capsys, file, "--ties", "win")}
    assert half == {"A": 0.75, "B": 0.25} and both == {"A": 1.0, "B": 0.5}
    assert rows(capsys, file, "--by", "win_rate")[0]["system"] == "A"


def test_ratings_are_ranked_by_judges_and_compared_with_clinicians(
    ratings: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert rows(capsys, ratings)[0]["n"] == 120  # one jury, two dimensions, sixty cases
    taus = rows(capsys, ratings, "--reference", "dr one", "--show", "agreement")
    assert [row["rater"] for row in taus] == ["ada", "bob", "jury"]
    assert taus == rows(capsys, ratings, "--show", "agreement")  # clinicians are the reference by default
    assert taus[-1]["kendall_tau_b"] > 0.3 and taus[-1]["n"] == 60
    effects = rows(capsys, ratings, "--show", "detectable")
    assert [row["benchmark"] for row in effects] == ["accuracy", "clarity"] and effects[0]["mde"] > 0
    pairs = rows(capsys, ratings, "--show", "pairs")
    assert len(pairs) == 3 and {"better", "other", "difference", "p_adjusted", "separated"} <= set(pairs[0])


def test_ranking_by_calibrated_scores(ratings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--reference", "dr one", "--calibrate", "linear", "--scale", "1", "5")
    found = rows(capsys, ratings, *options)
    assert {row["system"] for row in found} == set(QUALITY) and found[-1]["system"] == "worst"
    taus = rows(capsys, ratings, *options, "--show", "agreement")
    assert [(row["rater"], row["calibration"]) for row in taus] == [
        (rater, when) for when in ("before", "after") for rater in ("ada", "bob", "jury")
    ]


def test_the_title_says_that_scores_were_calibrated(
    ratings: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["rank", str(ratings), "--reference", "dr one", "--scale", "1", "5"]
    assert main(words) == 0
    assert "grades 1 to 5)" in capsys.readouterr().out
    assert main([*words, "--calibrate", "linear"]) == 0
    assert "grades 1 to 5, calibrated)" in capsys.readouterr().out


def test_a_composite_and_a_turned_dimension(ratings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plain = rows(capsys, ratings, "--composite", "quality=accuracy:0.5,clarity:0.5", "--rater", "ada,bob")
    assert plain[-1]["system"] == "worst" and plain[0]["win_sd"] is None
    turned = rows(
        capsys, ratings, "--lower-is-better", "accuracy,clarity", "--scale", "1", "5", "--rater", "ada,bob"
    )
    assert turned[0]["system"] == "worst"


def test_cost_and_the_front(scores: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    costs = tmp_path / "costs.csv"
    costs.write_text("system,cost\nbest,10\ntwin,4\nworst,1\n")
    found = {row["system"]: row for row in rows(capsys, scores, "--cost", costs, "--show", "cost")}
    assert found["twin"]["cheapest_of_best"] and found["worst"]["on_front"]
    assert main(["rank", str(scores), "--cost", str(costs), "--resamples", "200"]) == 0
    assert "dominated_by" in capsys.readouterr().out
    costs.write_text("system,cost\nbest,ten\n")
    assert "row 2: the cost 'ten' is not a number" in refused(capsys, scores, "--cost", costs)
    costs.write_text("system,price\nbest,10\n")
    assert "columns system and cost" in refused(capsys, scores, "--cost", costs)


def test_bad_input_is_refused_without_a_trace(
    scores: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with_gap = pl.read_csv(scores).slice(1)
    with_gap.write_csv(tmp_path / "gap.csv")
    assert "--missing common" in refused(capsys, tmp_path / "gap.csv")
    assert len(rows(capsys, tmp_path / "gap.csv", "--missing", "common")) == 3
    stranger = pl.concat(
        [pl.read_csv(scores), pl.DataFrame({"system": ["D"], "benchmark": ["x"], "score": [0.1]})]
    )
    stranger.write_csv(tmp_path / "stranger.csv")
    assert "'D' shares no benchmark" in refused(capsys, tmp_path / "stranger.csv")
    assert "--show cost needs --cost" in refused(capsys, scores, "--show", "cost")
    assert "--show detectable needs" in refused(capsys, scores, "--show", "detectable")
    assert "--calibrate needs --reference" in refused(capsys, scores, "--calibrate", "isotonic")
    assert "no such file" in refused(capsys, tmp_path / "nothing.csv")
    assert "belong to a table of ratings" in refused(capsys, scores, "--reference", "dr one")
    (tmp_path / "empty.csv").write_text("")
    assert "empty" in refused(capsys, tmp_path / "empty.csv")


def test_warnings_do_not_stand_in_the_way_of_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    benchmark_table(QUALITY, benchmarks=4).write_csv(tmp_path / "few.csv")
    assert main(["rank", str(tmp_path / "few.csv"), "--json", "--resamples", "100"]) == 0
    said = capsys.readouterr()
    assert "only 4 benchmarks" in said.err and len(json.loads(said.out)) == 3


def test_the_example_of_the_page_on_ranking_gives_the_letters_that_the_page_tells(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (Path(__file__).parents[2] / "docs" / "ranking.md").read_text(encoding="utf-8")
    file = tmp_path / "scores.csv"
    file.write_text(page.partition("```csv file=scores.csv\n")[2].partition("```")[0])
    by_mean = {row["system"]: row["tie_group"] for row in rows(capsys, file)}
    assert by_mean == {"atlas": "a", "borea": "a", "cirrus": "b"}
    by_wins = {
        row["system"]: row["tie_group"] for row in rows(capsys, file, "--by", "win_rate", "--ties", "win")
    }
    assert set(by_wins.values()) == {"a"}
    assert "By win rates,\nthe second command, all three share `a`" in page


@pytest.mark.parametrize(
    "words", [("--by", "win_rate"), ("--dimensions", "quality"), ("--cost", "costs.csv")]
)
def test_what_is_asked_of_single_answers_is_refused_for_pairs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, str]
) -> None:
    drawn([0.0, 1.0], cases=10).write_csv(tmp_path / "pairs.csv")
    said = refused(capsys, tmp_path / "pairs.csv", *words)
    assert f"{words[0]} is for single answers, and these are pairs; leave it out" in said
