"""The gate: what it takes to be called validated, and everything that forbids it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.report.planted import page_of, planted_frame, rules, verdict_words, write_run

from medjury.report import write_page
from medjury.validation import validate

ONE = ("accuracy",)


def word(folder: Path, ratings: pl.DataFrame, **changes: Any) -> str:
    return verdict_words(write_run(folder, ratings, **changes))["accuracy"]


def rule(folder: Path, name: str) -> Any:
    return next(each for each in validate(folder).verdicts[0].rules if each.name == name)


def test_a_jury_as_good_as_the_clinicians_is_validated_and_every_rule_shows_its_numbers(
    tmp_path: Path,
) -> None:
    ratings = planted_frame(cases=150, dimensions=ONE)
    assert word(tmp_path, ratings) == "VALIDATED"
    verdict = validate(tmp_path).verdicts[0]
    assert all(each.met and each.found and each.asked for each in verdict.rules) and not verdict.reasons
    assert rule(tmp_path, "Enough held-out cases").found == "150"
    page = page_of(tmp_path)
    assert "VALIDATED" in page and "NOT VALIDATED" not in page


def test_a_jury_that_guesses_is_not_validated_and_the_reason_names_its_agreement(tmp_path: Path) -> None:
    ratings = planted_frame(
        cases=150, dimensions=ONE, judges={"judge-a": 40.0, "judge-b": 40.0, "judge-c": 40.0}
    )
    assert word(tmp_path, ratings) == "NOT VALIDATED"
    assert "the floor is 0.4" in validate(tmp_path).verdicts[0].reasons[0]


def test_illustrative_ratings_never_validate_and_the_page_says_so_in_plain_words(tmp_path: Path) -> None:
    ratings = planted_frame(cases=150, dimensions=ONE)
    assert word(tmp_path, ratings, humans={"illustrative": True}) == "NOT VALIDATED"
    assert "made up for a demonstration" in page_of(tmp_path)


def test_without_clinicians_nothing_is_validated_and_the_page_says_what_cannot_be_known(
    tmp_path: Path,
) -> None:
    ratings = planted_frame(cases=40, dimensions=ONE, clinicians={})
    assert word(tmp_path, ratings, humans=None) == "NOT VALIDATED"
    page = page_of(tmp_path)
    assert "No clinician has rated these cases" in page
    assert "it cannot be known how far the scores agree with clinicians" in page


def test_too_few_cases_forbid_validation(tmp_path: Path) -> None:
    ratings = planted_frame(cases=150, rated_cases=99, dimensions=ONE)
    assert word(tmp_path, ratings) == "NOT VALIDATED"
    assert "Only 99 held-out cases" in validate(tmp_path).verdicts[0].reasons[0]


def test_cases_that_served_development_are_never_counted(tmp_path: Path) -> None:
    ratings = planted_frame(cases=150, dimensions=ONE)
    used = tuple(f"case-{number:04d}" for number in range(60))
    assert word(tmp_path, ratings, gate=rules(development_cases=used)) == "NOT VALIDATED"
    assert rule(tmp_path, "Enough held-out cases").found.startswith("90 (60 cases used for development")


def test_a_jury_good_only_on_its_development_cases_is_found_out(tmp_path: Path) -> None:
    good = planted_frame(cases=240, dimensions=ONE)
    bad = planted_frame(cases=240, dimensions=ONE, judges={"judge-a": 40.0, "judge-b": 40.0, "judge-c": 40.0})
    seen = [f"case-{number:04d}" for number in range(120)]
    human = good.filter(pl.col("rater_kind") == "clinician")
    machine = pl.concat([
        good.filter(pl.col("rater_kind") != "clinician", pl.col("item").is_in(seen)),
        bad.filter(pl.col("rater_kind") != "clinician", ~pl.col("item").is_in(seen)),
    ])  # fmt: skip
    assert (
        word(tmp_path, pl.concat([human, machine]), gate=rules(development_cases=tuple(seen)))
        == "NOT VALIDATED"
    )


def test_one_clinician_is_no_yardstick_so_the_jury_is_at_best_auxiliary(tmp_path: Path) -> None:
    ratings = planted_frame(cases=200, dimensions=ONE, clinicians={"clinician-1": 0.4})
    assert word(tmp_path, ratings) == "AUXILIARY"
    assert rule(tmp_path, "Not inferior to clinicians among themselves").state == "not known"


def test_a_jury_clearly_worse_than_clinicians_among_themselves_is_auxiliary(tmp_path: Path) -> None:
    sharp = {"clinician-1": 0.1, "clinician-2": 0.1}
    ratings = planted_frame(cases=200, dimensions=ONE, clinicians=sharp, judges={"judge-a": 1.0})
    assert word(tmp_path, ratings, gate=rules(severe_limit=0.5)) == "AUXILIARY"
    assert rule(tmp_path, "Not inferior to clinicians among themselves").state == "not met"


def test_severe_errors_above_the_limit_forbid_validation(tmp_path: Path) -> None:
    ratings = planted_frame(cases=200, dimensions=ONE)
    low = ratings.filter(pl.col("rater_kind") == "clinician", pl.col("score") <= 1)["item"].unique().sort()
    kind = pl.col("rater_kind").is_in(["judge", "jury"]) & pl.col("item").is_in(low.to_list()[:12])
    ratings = ratings.with_columns(pl.when(kind).then(5.0).otherwise(pl.col("score")).alias("score"))
    assert word(tmp_path, ratings, gate=rules(floor=0.2, margin=1.0)) == "NOT VALIDATED"
    found = rule(tmp_path, "Severe errors are rare")
    assert found.state == "not met" and "12 of " in found.found


def test_where_nothing_was_dangerous_nobody_knows_whether_the_jury_would_notice(tmp_path: Path) -> None:
    ratings = planted_frame(
        cases=200, dimensions=ONE, grades=(3, 5), clinicians={"a": 0.3, "b": 0.3}, judges={"j": 0.3}
    )
    assert word(tmp_path, ratings) == "AUXILIARY"
    assert "nobody knows whether the jury would notice" in " ".join(validate(tmp_path).verdicts[0].reasons)


def test_a_dimension_where_low_is_good_counts_danger_at_the_high_end(tmp_path: Path) -> None:
    ratings = planted_frame(cases=200, dimensions=ONE)
    folder = write_run(tmp_path, ratings)
    straight = rule(folder, "Severe errors are rare").found
    turned = ratings.with_columns((6 - pl.col("score")).alias("score"))
    scale = [{"name": "accuracy", "label": "Risk", "grades": [1, 2, 3, 4, 5], "higher_is_better": False}]
    folder = write_run(tmp_path, turned, instrument={"name": "own", "version": "1", "dimensions": scale})
    assert rule(folder, "Severe errors are rare").found == straight


def test_low_coverage_forbids_validation(tmp_path: Path) -> None:
    ratings = planted_frame(cases=200, dimensions=ONE, unscored=0.4)
    assert word(tmp_path, ratings) == "NOT VALIDATED"
    assert rule(tmp_path, "The jury scored what it was asked to").state == "not met"


@pytest.mark.parametrize("status", ["incomplete", "failed", "running"])
def test_an_unfinished_run_says_incomplete_first(tmp_path: Path, status: str) -> None:
    ratings = planted_frame(cases=120, dimensions=ONE)
    assert word(tmp_path, ratings, status=status, why="the budget was reached") == "INCOMPLETE"
    page = page_of(tmp_path)
    assert page.index("INCOMPLETE") < page.index("Accuracy") and "the budget was reached" in page


def test_a_changed_file_is_shown_and_forbids_validation(tmp_path: Path) -> None:
    folder = write_run(tmp_path, planted_frame(cases=150, dimensions=ONE))
    with (folder / "ratings.csv").open("a") as file:
        file.write("one more line\n")
    assert verdict_words(folder)["accuracy"] == "NOT VALIDATED"
    page = page_of(folder)
    assert "ratings.csv was changed after the run" in page and "Nothing below can be relied on" in page


def test_rules_changed_after_scores_were_seen_cannot_validate(tmp_path: Path) -> None:
    ratings = planted_frame(cases=150, dimensions=ONE)
    moved = {**rules(), "earlier": [rules(floor=0.9)]}
    assert word(tmp_path, ratings, gate=moved, protocol=None) == "NOT VALIDATED"
    assert word(tmp_path, ratings, protocol=None) == "AUXILIARY", "rules that nobody registered"
    assert word(tmp_path, ratings, gate=None) == "AUXILIARY"


def test_rules_registered_in_time_hold_whatever_the_folder_said_earlier(tmp_path: Path) -> None:
    """A run that asked nothing had other rules in the same folder; then the study was registered."""
    moved = {**rules(), "earlier": [rules(floor=0.9)]}
    assert word(tmp_path, planted_frame(cases=150, dimensions=ONE), gate=moved) == "VALIDATED"


def test_the_verdict_does_not_depend_on_the_order_of_the_rows(tmp_path: Path) -> None:
    ratings = planted_frame(cases=150, dimensions=ONE)
    shuffled = ratings.sample(fraction=1.0, shuffle=True, seed=3)
    one, two = (
        validate(write_run(tmp_path / str(n), each)).verdicts for n, each in enumerate((ratings, shuffled))
    )
    assert one == two


def test_a_notebook_shows_the_gate_as_a_table(tmp_path: Path) -> None:
    gate = validate(write_run(tmp_path, planted_frame(cases=120)))
    assert gate.word("accuracy") in gate._repr_html_() and "Accuracy: " in gate.text()
    assert np.all([each.label in gate._repr_html_() for each in gate.verdicts])


def test_the_order_beside_the_clinicians_leaves_development_cases_out(tmp_path: Path) -> None:
    ratings = planted_frame(cases=40, systems=("alpha", "beta"), dimensions=("accuracy",))
    aside = tuple(f"case-{number:04d}" for number in range(15))
    write_page(write_run(tmp_path, ratings, gate=rules(development_cases=aside)), cases_shown=0)
    beside = pl.read_csv(tmp_path / "tables" / "ranking-beside-clinicians.csv")
    assert beside["scores"].to_list() == [25, 25]
