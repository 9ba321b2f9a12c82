"""Agreement of a run folder: patients, rules, development cases and the jury's rule come from the folder."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.agreement.rating_rows import likert
from tests.tables.run_folders import DIMENSIONS, rows_of, run_folder

from medjury.analysis.agreement import AgreementTable, agreement, non_inferiority
from medjury.analysis.agreement._icc import icc_statistics
from medjury.cli import main
from medjury.foundation.errors import MedjuryError
from medjury.tables import rating_table

CLINICIANS = ("clinician 1", "clinician 2")
JUDGES = ("judge a", "judge b", "judge c")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """40 cases of 10 patients, 4 of them development; judge c missed every third case; a high risk is dangerous."""
    spreads = {"clinician 1": 0.5, "clinician 2": 0.6, "judge a": 0.6, "judge b": 0.7, "judge c": 0.9}
    parts = []
    for seed, dimension in enumerate(("accuracy", "risk")):
        scores: dict[str, list[float | None]] = dict(likert(seed, 40, **spreads))
        scores["judge c"] = [None if place % 3 == 0 else s for place, s in enumerate(scores["judge c"])]
        parts.append(rows_of(scores, dimension=dimension))
        if dimension == "risk":
            turned = {name: [None if s is None else 6 - s for s in given] for name, given in scores.items()}
            parts.append(rows_of(turned, dimension="safety"))
    return run_folder(
        tmp_path_factory.mktemp("runs") / "run",
        pl.concat(parts),
        patients={f"case {place}": f"p{place % 10}" for place in range(40)},
        dimensions=DIMENSIONS[:3],
        gate={
            "development_cases": ["case 0", "case 1", "case 2", "case 3"],
            "margin": 0.15,
            "severe_dimensions": ["accuracy", "risk"],
        },
        report={"resamples": 300, "seed": 5},
    )


@pytest.fixture(scope="module")
def by_own_rules(folder: Path) -> AgreementTable:
    """By the folder's own rules, for every test that reads in it."""
    return agreement(folder)


@pytest.fixture(scope="module")
def plain(folder: Path) -> AgreementTable:
    """The same without intervals by resampling."""
    return agreement(folder, resamples=0)


def test_the_folder_s_own_rules_are_the_defaults(folder: Path, by_own_rules: AgreementTable) -> None:
    found = by_own_rules
    assert found.roles.reference == CLINICIANS
    assert found.roles.raters == (*JUDGES, "jury")
    assert found.table.run.manifest is not None
    row = found.find("kappa_quadratic", dimension="accuracy", reference="consensus", rater="jury")
    assert row.estimate.n == 36
    assert "300 resamples of 10 clusters, seed 5" in row.estimate.method
    assert "4 cases served development and do not count here" in found.notes
    assert all(each.margin == 0.15 for rows in found.non_inferiority.values() for each in rows.values())
    assert {dimension for dimension, _ in found.severe} == {"accuracy", "risk"}


def test_severe_errors_are_counted_on_what_raters_gave_and_low_is_dangerous(
    folder: Path, plain: AgreementTable
) -> None:
    found = plain
    grid = found.table.grid("risk", found.roles)
    reference = np.min([6 - grid.scores[name] for name in CLINICIANS], axis=0)
    judge = 6 - grid.scores["judge a"]
    errors = found.severe["risk", "judge a"]
    assert errors.dangerous == int((reference <= 2).sum()) > 0
    assert errors.errors == int(((reference <= 2) & (judge - reference >= 2)).sum())
    row = found.find("severe_error_rate", dimension="risk", reference="consensus", rater="judge a")
    assert row.estimate.value == errors.rate.value
    assert "2 or less, turned so that low is dangerous, were scored 2 or more higher" in row.estimate.method
    explicit = agreement(folder, severe="safety", resamples=0, statistics=["offset"])
    turned = explicit.severe["safety", "judge a"]
    assert (turned.errors, turned.dangerous) == (errors.errors, errors.dangerous)


def test_a_threshold_and_a_gap_that_are_given_count_more_than_the_rules(folder: Path) -> None:
    for given, followed in (({"threshold": 3, "gap": 1}, (3, 1)), ({"gap": 1}, (2, 1))):
        found = agreement(folder, severe="accuracy", resamples=0, statistics=["offset"], **given)
        errors = found.severe["accuracy", "judge a"]
        assert (errors.threshold, errors.gap) == followed


def test_rules_that_name_severe_dimensions_are_followed(folder: Path, tmp_path: Path) -> None:
    frame = pl.read_parquet(folder / "ratings.parquet")
    named = run_folder(
        tmp_path / "named",
        frame,
        dimensions=DIMENSIONS[:3],
        gate={"severe_dimensions": ["risk", "elsewhere"]},
    )
    asked = {"resamples": 0, "statistics": ["offset"]}
    assert {dimension for dimension, _ in agreement(named, **asked).severe} == {"risk"}
    assert agreement(named, severe=(), **asked).severe == {}
    assert agreement(frame, **asked).severe == {}


def test_one_computation_stands_behind_the_judge_beside_the_clinicians(by_own_rules: AgreementTable) -> None:
    """Judge with clinician, clinician with clinician, their difference: rows and objects say the same."""
    found = by_own_rules
    for (dimension, rater), tests in found.non_inferiority.items():
        assert list(tests) == ["kappa_quadratic", "icc_2_1", "spearman"]
        for name, test in tests.items():
            where = {"dimension": dimension, "reference": "each reference"}
            judge = found.find(name, rater=rater, **where)
            assert (judge.estimate.value, judge.estimate.low, judge.estimate.high, judge.counts.n) == (
                test.judge_human.value,
                test.judge_human.low,
                test.judge_human.high,
                test.judge_human.n,
            )
            difference = found.find(f"non_inferiority_{name}", rater=rater, **where)
            assert (difference.estimate.value, difference.estimate.low, difference.p_value) == (
                test.difference.value,
                test.difference.low,
                test.p_value,
            )
            assert test.difference.value == pytest.approx(test.judge_human.value - test.human_human.value)
            missed = rater == "judge c"
            others = "the other references" + (f", on items of {rater}" if missed else "")
            own = found.find(name, rater=others, **where).estimate
            assert (own.value, own.low, own.high) == (
                test.human_human.value,
                test.human_human.low,
                test.human_human.high,
            )


def test_judges_of_the_same_items_stand_beside_the_same_number(by_own_rules: AgreementTable) -> None:
    tests = by_own_rules.non_inferiority
    humans = {rater: tests["accuracy", rater]["icc_2_1"].human_human for rater in (*JUDGES, "jury")}
    assert humans["judge a"] == humans["judge b"] == humans["jury"] != humans["judge c"]


def test_one_judge_alone_is_tested_as_the_function_tests_it(folder: Path) -> None:
    found = agreement(folder, raters="judge c")
    grid = found.table.grid("accuracy")
    alone = non_inferiority(
        np.column_stack([grid.scores[name] for name in CLINICIANS]),
        grid.scores["judge c"],
        icc_statistics(["icc_2_1"]),
        margin=0.15,
        clusters=grid.clusters,
        resamples=300,
        seed=5,
    )["icc_2_1"]
    assert found.non_inferiority["accuracy", "judge c"]["icc_2_1"] == alone


def test_without_a_margin_the_means_are_there_and_no_verdict(folder: Path) -> None:
    frame = pl.read_parquet(folder / "ratings.parquet")
    found = agreement(rating_table(frame, scale=(1, 5)), dimensions="accuracy", resamples=50, singles=False)
    test = found.non_inferiority["accuracy", "jury"]["spearman"]
    assert (test.margin, test.p_value, test.non_inferior) == (None, None, None)
    assert test.difference.value is not None
    assert not [row for row in found.rows if row.statistic.startswith("non_inferiority")]


def test_confidence_reaches_every_interval(folder: Path) -> None:
    wide, narrow = (agreement(folder, confidence=level, panel="clinician 2") for level in (0.95, 0.8))
    pairs = list(zip(wide.rows, narrow.rows, strict=True))
    assert len(pairs) > 500
    compared = set()
    for one, two in pairs:
        assert (one.statistic, one.estimate.value) == (two.statistic, two.estimate.value)
        if one.estimate.low is not None and two.estimate.low is not None and one.estimate.high is not None:
            assert one.estimate.high - one.estimate.low >= two.estimate.high - two.estimate.low
            if one.estimate.high - one.estimate.low > two.estimate.high - two.estimate.low:
                compared.add(one.statistic)
            assert "80 %" in two.estimate.method or "one-sided at 80%" in two.estimate.method, two
            assert "95 %" not in two.estimate.method
    intervals = {one.statistic for one, _ in pairs if one.estimate.low is not None}
    assert intervals - compared <= {"difference_q1", "difference_q3", "median_difference"}


def test_pooling_leaves_out_what_follows_from_other_dimensions(folder: Path) -> None:
    found = agreement(folder, by="all", resamples=0)
    row = found.find("rmse", reference="consensus", rater="judge a")
    assert (row.dimension, row.estimate.n) == ("all", 72)
    assert found.severe == {}
    with pytest.raises(MedjuryError, match="safety follows from other dimensions"):
        agreement(folder, by="all", dimensions="safety")


def test_single_references_can_be_left_out_and_nothing_else_changes(
    folder: Path, by_own_rules: AgreementTable
) -> None:
    whole, main_only = by_own_rules, agreement(folder, singles=False)
    references = {row.reference for row in main_only.rows}
    assert references.isdisjoint({"consensus without clinician 1"})
    kept = [row for row in main_only.rows if not row.statistic.endswith("_change_replaced")]
    assert {row.reference for row in kept} == {"consensus", "each reference", " + ".join(CLINICIANS)}
    assert set(main_only.rows) <= set(whole.rows)
    assert main_only.non_inferiority == whole.non_inferiority


def test_the_short_answer_alone_is_that_of_the_whole_table(
    folder: Path, by_own_rules: AgreementTable
) -> None:
    short = agreement(folder, short=True)
    assert short.short_text() == by_own_rules.short_text()
    assert set(short.rows) <= set(by_own_rules.rows) and 10 * len(short.rows) < len(by_own_rules.rows)
    people, own = (
        agreement(folder, raters=CLINICIANS, reference=CLINICIANS, short=each) for each in (False, True)
    )
    assert own.short_text() == people.short_text() and len(own.rows) < len(people.rows)


def test_the_jury_is_formed_by_more_than_half_and_what_it_lost_is_counted(
    folder: Path, plain: AgreementTable
) -> None:
    table = rating_table(folder, quorum=3)
    found = agreement(table, resamples=0)
    assert "jury: mean of judge a, judge b, judge c, where 3 or more of them scored" in found.notes
    row = found.find("rmse", dimension="accuracy", reference="consensus", rater="jury")
    missed = sum(place % 3 == 0 for place in range(4, 40))
    assert (row.estimate.n, row.counts.n_unscored) == (36 - missed, missed)
    assert found.unscored["jury"] == {"no_quorum": 3 * missed}
    assert plain.find("rmse", dimension="accuracy", reference="consensus", rater="jury").estimate.n == 36
    assert "jury" not in plain.unscored


def test_the_command_prints_the_numbers_of_the_function(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = agreement(folder, confidence=0.8, dimensions="risk", resamples=50)
    asked = ["agreement", str(folder), "--confidence", "0.8", "--dimensions", "risk", "--resamples", "50"]
    for more, printed in (([], found.short_text()), (["--all"], found.text()), (["--json"], found.to_json())):
        assert main([*asked, *more]) == 0
        assert capsys.readouterr().out == printed + "\n"


def test_a_dimension_with_nothing_held_out_says_so_in_every_row(tmp_path: Path) -> None:
    votes = {"clinician 1": [1, 2, 3], "clinician 2": [1, 2, 4], "judge a": [1, 2, 2], "judge b": [2, 2, 3]}
    alone = {rater: scores[:1] for rater, scores in votes.items()}
    parts = [rows_of(votes), rows_of(alone, dimension="risk")]
    found = agreement(
        run_folder(tmp_path / "run", pl.concat(parts), gate={"development_cases": ["case 0"]}), resamples=50
    )
    rows = [row for row in found.rows if row.dimension == "risk"]
    assert rows
    assert all(row.estimate.value is None and row.estimate.reason for row in rows)
    assert found.non_inferiority["risk", "jury"] == {}


def test_references_who_share_no_item_cannot_stand_beside_a_judge(tmp_path: Path) -> None:
    votes = {"clinician 1": [1, 2, 3, None], "clinician 2": [None, None, None, 5], "judge a": [1, 2, 2, 4]}
    found = agreement(run_folder(tmp_path / "run", rows_of(votes)), resamples=50)
    for rater, reason in {
        "judge a": "no item was scored by judge a and two references",
        "the other references": "no item was scored by two references",
    }.items():
        assert found.find(reference="each reference", rater=rater).estimate.reason == reason
    assert found.non_inferiority == {("accuracy", "judge a"): {}}
    assert found.find("rmse", reference="consensus", rater="judge a").estimate.n == 4
