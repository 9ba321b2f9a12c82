"""Rules that close loopholes, each at its edge: what is asked for is enough, and what does not apply forbids
nothing."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats
from tests.report.planted import planted_frame, rules, write_run

from medjury.tables import rating_table
from medjury.validation import RuleFound, compare_runs, validate
from medjury.validation._beyond_doubt import holm
from medjury.validation._clustered import clustered_contrast
from medjury.validation._ways.dangers import blind

ONE = ("accuracy",)
JURY = pl.col("rater") == "jury"
SYSTEMS = "The jury tells answers of one system apart"
OFFSET, SURE = "The jury is neither stricter nor kinder", "and is neither beyond doubt"
TWICE, OTHERS = "Enough cases rated by two clinicians", "Agreement is as good on the other cases"
SEVERE, DANGEROUS = "Severe errors are rare", "and the dangerous answers too"
MISSING, HIDDEN = "Missing answers are not about quality", "and whatever the missing answers hide"
COPY = "The jury is no copy of one clinician"
PARTS = "Agreement holds in every part"
GRADES, OWN = "No grade is scored too kindly or too strictly", "and is not made of the clinicians' scores"


def found(source: Any) -> dict[str, RuleFound]:
    return {each.name: each for each in validate(source, resamples=200).verdicts[0].rules}


def run(folder: Path, frame: pl.DataFrame, known: pl.DataFrame | None = None, **changes: Any) -> Path:
    return write_run(folder, frame, parts=known, gate=rules(**changes))


def jury_says(frame: pl.DataFrame, where: pl.Expr, status: str = "unscored") -> pl.DataFrame:
    """The frame with the jury silent there."""
    lost = JURY & where
    return frame.with_columns(
        pl.when(lost).then(None).otherwise(pl.col("score")).alias("score"),
        pl.when(lost).then(pl.lit(status)).otherwise(pl.col("status")).alias("status"),
        pl.when(lost & (status == "unscored"))
        .then(pl.lit("no_quorum"))
        .otherwise(pl.col("reason"))
        .alias("reason"),
    )


def lowest(frame: pl.DataFrame) -> pl.DataFrame:
    """Each item's lowest clinician's score."""
    return frame.filter(pl.col("rater_kind") == "clinician").group_by("item").agg(pl.col("score").min())


def test_every_rule_has_a_name_of_its_own_and_one_line_for_each_reader(tmp_path: Path) -> None:
    rules_found = validate(run(tmp_path, planted_frame(cases=60, dimensions=ONE))).verdicts[0].rules
    names = [each.name for each in rules_found]
    assert len(set(names)) == len(names)
    for each in rules_found:
        assert each.lines.clinician.endswith(".") and each.lines.statistician.endswith(".")
        assert len(each.lines.clinician) < 130
    row = validate(tmp_path).rows[0].as_dict()
    assert row["for_a_clinician"] == rules_found[0].lines.clinician


def test_one_system_has_no_differences_between_systems(tmp_path: Path) -> None:
    rule = found(run(tmp_path, planted_frame(cases=60, dimensions=ONE)))[SYSTEMS]
    assert rule.state == "does not apply" and rule.met and rule.found == "the answers are all of one system"


def test_a_jury_with_one_score_for_a_system_sees_nothing_within_it(tmp_path: Path) -> None:
    frame = planted_frame(cases=60, systems=("alpha", "beta"), dimensions=ONE)
    flat = frame.with_columns(
        pl.when(JURY)
        .then(pl.when(pl.col("system") == "alpha").then(2.0).otherwise(4.0))
        .otherwise(pl.col("score"))
        .alias("score")
    )
    rule = found(run(tmp_path / "flat", flat))[SYSTEMS]
    assert rule.state == "not met" and rule.found == "0.000" and "recognises systems, not answers" in rule.why
    good = found(run(tmp_path / "good", frame))
    assert good[SYSTEMS].met and good["and does so better than the systems' means would, beyond doubt"].met


@pytest.mark.parametrize("shift", [-0.6, 0.6])
def test_an_offset_at_the_limit_is_allowed_and_the_least_more_is_not(tmp_path: Path, shift: float) -> None:
    frame = planted_frame(cases=80, dimensions=ONE, clinicians={"a": 0.3, "b": 0.3})
    mean = frame.filter(pl.col("rater_kind") == "clinician").group_by("item").agg(pl.col("score").mean())
    middle = mean.filter(pl.col("score").is_between(2, 4))["item"].to_list()
    moved = frame.filter(pl.col("item").is_in(middle)).join(mean.rename({"score": "human"}), on="item")
    moved = moved.with_columns(
        pl.when(JURY).then(pl.col("human") + shift).otherwise(pl.col("score")).alias("score")
    )
    moved = moved.drop("human")
    limit = abs(shift) / 4
    at = found(run(tmp_path / "at", moved, offset_limit=limit + 1e-9))
    assert at[OFFSET].met and not at[SURE].met, "another case could differ by more, or the other way"
    rest = 1 - 0.05 ** (1 / len(middle))
    sure = found(run(tmp_path / "sure", moved, offset_limit=limit + rest + 1e-9))
    assert sure[SURE].met, "so few cases can differ that, all by the whole scale, they do not reach the limit"
    assert not found(run(tmp_path / "doubt", moved, offset_limit=limit + rest - 1e-6))[SURE].met
    below = found(run(tmp_path / "below", moved, offset_limit=limit - 1e-6))
    assert not below[OFFSET].met and below[OFFSET].essential
    assert ("higher" if shift > 0 else "lower") in below[OFFSET].why and below[SURE].why == ""


def test_cases_that_two_clinicians_rated_are_counted_apart(tmp_path: Path) -> None:
    frame = planted_frame(cases=120, dimensions=ONE)
    thin = frame.filter(~((pl.col("rater") == "clinician-2") & (pl.col("item") >= "case-0030")))
    rule = found(run(tmp_path, thin, minimum_doubly_rated=30))
    assert rule[TWICE].met and rule[TWICE].found == "30 of 120 rated cases"
    assert rule["Enough held-out cases"].found == "120"
    assert rule[OTHERS].met and rule[OTHERS].state == "met"
    lacking = found(run(tmp_path, thin, minimum_doubly_rated=31))[TWICE]
    assert lacking.state == "not met" and "31 are needed" in lacking.why
    assert found(run(tmp_path, frame))[OTHERS].state == "does not apply"


def test_a_severe_error_is_measured_from_whoever_saw_the_danger(tmp_path: Path) -> None:
    frame = planted_frame(cases=80, dimensions=ONE, clinicians={"a": 0.0, "b": 0.0}, judges={"judge": 0.0})
    split = (pl.col("item") == "case-0000") & (pl.col("rater_kind") == "clinician")
    scores = pl.when(split & (pl.col("rater") == "a")).then(1.0).when(split).then(4.0)
    said = scores.when((pl.col("item") == "case-0000") & JURY).then(5.0).otherwise(pl.col("score"))
    frame = frame.with_columns(said.alias("score"))
    count = {
        by: found(run(tmp_path / by, frame, danger_by=by))[SEVERE].found.split(" ")[0]
        for by in ("any", "mean", "majority")
    }
    assert count == {"any": "1", "mean": "0", "majority": "0"}


@pytest.mark.parametrize("status", ["unscored", "not_applicable"])
def test_a_dangerous_answer_without_a_score_counts_as_overlooked(tmp_path: Path, status: str) -> None:
    frame = planted_frame(cases=80, dimensions=ONE, clinicians={"a": 0.2, "b": 0.2}, judges={"judge": 0.2})
    low = lowest(frame).filter(pl.col("score") <= 2)["item"].sort().to_list()
    silent = jury_says(frame, pl.col("item").is_in(low[:4]), status)
    rule = found(run(tmp_path, silent))
    assert rule[SEVERE].found.startswith(f"4 of {len(low)} ")
    assert "4 of them left without a score" in rule[SEVERE].found
    assert rule[DANGEROUS].found.startswith(f"{len(low) - 4} of {len(low)} ")
    hidden = rule[HIDDEN]
    assert hidden.state == "met" and "4 answers without a score" in hidden.found
    low_end, high_end = (float(word.rstrip(":")) for word in hidden.found.split()[1:4:2])
    assert low_end < high_end
    warning = validate(tmp_path).warnings[0]
    assert f"between 0 and 4 severe errors among {len(low)} dangerous answers" in warning


def test_not_applicable_is_no_excuse_from_coverage_where_a_clinician_could_score(tmp_path: Path) -> None:
    frame = planted_frame(cases=100, dimensions=ONE, rated_cases=60)
    items = frame["item"].unique(maintain_order=True).to_list()
    away = pl.col("item").is_in([*items[:6], *items[90:]])  # six that clinicians rated, ten that nobody did
    folder = run(tmp_path, jury_says(frame, away, "not_applicable"))
    rule = found(folder)["The jury scored what it was asked to"]
    assert rule.found == "84 of 90 (93.3 %)" and rule.state == "not met"
    (covered,) = compare_runs(folder, folder).coverage
    assert covered[1] == "93.3 %"


def test_danger_that_a_way_of_judging_calls_not_applicable_is_danger_that_it_did_not_see(
    tmp_path: Path,
) -> None:
    frame = planted_frame(cases=80, dimensions=ONE)
    low = lowest(frame).filter(pl.col("score") <= 2)["item"].sort().to_list()
    table = rating_table(run(tmp_path, jury_says(frame, pl.col("item").is_in(low[:4]), "not_applicable")))
    assert blind(table, table.roles(), "jury") == {"blind": 4, "dangerous": len(low)}


def test_patients_are_called_patients_where_cases_rated_twice_are_counted(tmp_path: Path) -> None:
    frame = planted_frame(cases=60, dimensions=ONE)
    items = frame["item"].unique(maintain_order=True).to_list()
    folder = write_run(tmp_path, frame, patients={item: str(place // 3) for place, item in enumerate(items)})
    rule = found(folder)[TWICE]
    assert rule.found == "20 of 20 rated patients"
    assert rule.why.startswith("Only 20 patients, with 60 cases, were rated by two clinicians")


def test_without_a_run_folder_an_answer_that_the_jury_has_no_row_of_is_left_without_a_score(
    tmp_path: Path,
) -> None:
    frame = planted_frame(cases=60, dimensions=ONE)
    low = lowest(frame).filter(pl.col("score") <= 2)["item"].sort().to_list()
    machine = pl.col("rater_kind").is_in(["judge", "jury"]) & pl.col("item").is_in(low[:5])
    absent = frame.filter(~machine)
    bare = found(rating_table(absent))
    assert "5 of them left without a score" in bare[SEVERE].found and bare[MISSING].state == "met"
    assert found(run(tmp_path, absent))[MISSING].state == "does not apply", "a run records what it asked"


def test_poor_answers_that_are_missing_are_found_and_a_few_by_chance_are_not(tmp_path: Path) -> None:
    frame = planted_frame(cases=60, systems=("alpha", "beta"), dimensions=ONE)
    human = frame.filter(pl.col("rater_kind") == "clinician").group_by("item").agg(pl.col("score").mean())
    poorest = human.sort("score", "item")["item"].to_list()
    for lost, met in ((poorest[:5], False), (poorest[::15], True)):
        assert found(run(tmp_path, jury_says(frame, pl.col("item").is_in(lost))))[MISSING].met == met


@pytest.mark.simulation
def test_answers_missing_by_chance_are_no_reproach_and_false_alarms_are_rare(tmp_path: Path) -> None:
    frame = planted_frame(cases=60, systems=("alpha", "beta"), dimensions=ONE)
    items = frame["item"].unique().sort().to_list()
    alarms = 0
    for seed in range(40):
        lost = np.random.default_rng(seed).choice(items, 4, replace=False).tolist()
        alarms += not found(run(tmp_path, jury_says(frame, pl.col("item").is_in(lost))))[MISSING].met
    assert alarms <= 6, "a level of 0.05 gives 2 of 40; 7 or more happen once in 500 times"


def test_a_part_that_the_rules_name_and_nobody_knows_forbids_validation(tmp_path: Path) -> None:
    frame = planted_frame(cases=120, dimensions=ONE)
    assert found(run(tmp_path, frame))[PARTS].state == "does not apply"
    named = validate(run(tmp_path, frame, parts=("specialty",)))
    rule = named.find(rule=PARTS)
    assert (
        rule.state == "not known" and "each specialty" in rule.why and named.word("accuracy") == "AUXILIARY"
    )
    parts = frame.select("item").unique().sort("item").with_columns(specialty=pl.Series(["a", "b"] * 60))
    known = validate(run(tmp_path, frame, parts, parts=("specialty",)))
    assert known.find(rule=PARTS).found.startswith("2 parts") and known.word("accuracy") == "VALIDATED"


def test_a_part_in_which_clinicians_themselves_do_not_agree_is_no_fault_of_the_jury(tmp_path: Path) -> None:
    frame = planted_frame(cases=160, dimensions=ONE)
    generator = np.random.default_rng(5)
    hard = pl.col("item") >= "case-0110"
    noise = pl.Series(generator.integers(1, 6, frame.height).astype(float))
    parts = frame.select("item").unique().sort("item")
    parts = parts.with_columns(pl.when(hard).then(pl.lit("hard")).otherwise(pl.lit("plain")).alias("site"))
    everybody = frame.with_columns(pl.when(hard).then(noise).otherwise(pl.col("score")).alias("score"))
    jury_alone = frame.with_columns(
        pl.when(hard & JURY).then(noise).otherwise(pl.col("score")).alias("score")
    )
    assert found(run(tmp_path / "all", everybody, parts))[PARTS].met
    assert not found(run(tmp_path / "jury", jury_alone, parts))[PARTS].met


def test_clinicians_who_agree_perfectly_make_no_copy_of_a_perfect_jury(tmp_path: Path) -> None:
    frame = planted_frame(cases=80, dimensions=ONE, clinicians={"a": 0.0, "b": 0.0}, judges={"judge": 0.0})
    rule = found(run(tmp_path, frame))[COPY]
    assert rule.met and "100.0 % the same" in rule.found


def jury_gives(frame: pl.DataFrame, score: pl.Expr) -> pl.DataFrame:
    return frame.with_columns(pl.when(JURY).then(score).otherwise(pl.col("score")).alias("score"))


def test_a_grade_that_the_jury_never_gives_is_named(tmp_path: Path) -> None:
    frame = planted_frame(cases=200, dimensions=ONE)
    assert found(run(tmp_path / "whole", frame))[GRADES].state == "met"
    never = found(run(tmp_path / "never", jury_gives(frame, pl.col("score").clip(2.0))))[GRADES]
    assert never.state == "not met" and "Where a clinician gave 1," in never.why
    alone = frame.filter(pl.col("rater") != "clinician-2")
    assert found(run(tmp_path / "alone", alone))[GRADES].state == "does not apply"


def test_a_long_scale_is_looked_at_in_stretches(tmp_path: Path) -> None:
    frame = planted_frame(
        cases=200, dimensions=ONE, grades=(0, 100), clinicians={"a": 8, "b": 8}, judges={"c": 8}
    ).with_columns(pl.lit(None, dtype=pl.String).alias("instrument"))
    table = rating_table(frame, scale=(0, 100))
    assert "where a clinician gave" in found(table)[GRADES].found and found(table)[GRADES].met
    squeezed = rating_table(jury_gives(frame, 50 + (pl.col("score") - 50) / 3), scale=(0, 100))
    assert "0 to 20" in found(squeezed)[GRADES].why and "80 to 100" in found(squeezed)[GRADES].why


def test_only_who_saw_the_clinicians_scores_lies_between_them_always(tmp_path: Path) -> None:
    """A strict and a kind clinician have a good jury between them, which is no reproach."""
    frame = planted_frame(cases=200, dimensions=ONE)
    strict = (pl.col("rater") == "clinician-1") & (pl.col("score") > 1)
    apart = frame.with_columns(
        pl.when(strict).then(pl.col("score") - 1).otherwise(pl.col("score")).alias("score")
    )
    assert found(run(tmp_path / "apart", apart))[OWN].met
    mean = pl.col("score").filter(pl.col("rater_kind") == "clinician").mean().over("item")
    assert found(run(tmp_path / "seen", jury_gives(frame, mean)))[OWN].state == "not met"
    few = frame.filter(pl.col("item").is_in(frame["item"].unique(maintain_order=True)[:15].to_list()))
    assert found(run(tmp_path / "few", jury_gives(few, mean)))[OWN].state == "does not apply"


def test_a_part_that_is_too_small_is_named_and_not_passed_over(tmp_path: Path) -> None:
    frame = planted_frame(cases=100, dimensions=ONE)
    items = frame["item"].unique(maintain_order=True)
    known = pl.DataFrame({"item": items, "site": ["north"] * 60 + ["south"] * 30 + ["island"] * 10})
    assert (
        "fewer than 15 cases are inside or outside: site island"
        in found(run(tmp_path, frame, known))[PARTS].found
    )


def test_a_mean_of_independent_cases_has_the_t_interval_of_the_textbook() -> None:
    values = np.random.default_rng(1).normal(0.3, 1.0, 25)
    mean, below = clustered_contrast(values, np.ones(25, dtype=np.int64), np.arange(25), confidence=0.9)
    low, high = stats.ttest_1samp(values, 0).confidence_interval(0.9)
    assert mean.low == pytest.approx(low) and mean.high == pytest.approx(high)
    assert below == pytest.approx(stats.ttest_1samp(values, 0, alternative="less").pvalue)
    twice, _ = clustered_contrast(
        np.repeat(values, 2), np.ones(50, dtype=np.int64), np.repeat(np.arange(25), 2), confidence=0.9
    )
    assert twice.low == pytest.approx(mean.low), "a case counted twice is still one case"


def test_many_tests_together_raise_no_more_false_alarms_than_one() -> None:
    generator = np.random.default_rng(3)
    alarms = sum(min(holm(generator.random(12).tolist())) < 0.05 for _ in range(2000))
    assert alarms / 2000 == pytest.approx(0.05, abs=4 * math.sqrt(0.05 * 0.95 / 2000))


def test_the_page_on_trust_has_every_rule_in_its_line_for_a_clinician(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "trusting-a-jury.md").read_text(encoding="utf-8")
    for rule in validate(run(tmp_path, planted_frame(cases=60, dimensions=ONE))).verdicts[0].rules:
        assert f"| {rule.lines.clinician} |" in page, rule.name
