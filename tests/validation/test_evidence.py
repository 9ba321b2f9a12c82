"""What a verdict rests on: who is on trial, on which answers, by which statistic."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl
from tests.tables.run_folders import rows_of
from tests.validation.on_trial import on_trial

from medjury.store.runs import Check, GateRules, Manifest
from medjury.tables import rating_table, with_rules
from medjury.validation import Evidence, evidence_of
from medjury.validation._evidence import coverage_of, gate_statistic, roles_of

ANNA = [1 + place % 5 for place in range(40)]


BEN = [min(5, score + (place % 3 == 0)) for place, score in enumerate(ANNA)]


NEAR = [max(1, score - (place % 4 == 0)) for place, score in enumerate(ANNA)]


def compared(**settings: Any) -> Evidence:
    frame = rows_of({"clinician a": ANNA, "clinician b": BEN, "jury": NEAR})
    return evidence_of(rating_table(frame, scale=(1, 5)), resamples=200, **settings)


def plain() -> Evidence:
    """One clinician, and a jury that says the same."""
    return on_trial({"clinician a": ANNA, "jury": ANNA})


def test_ratings_of_no_run_are_described_as_far_as_they_can_be() -> None:
    frame = rows_of({"clinician a": ANNA, "judge a": ANNA, "judge b": ANNA}, systems=("x", "y"))
    found = evidence_of(rating_table(frame, scale=(1, 5), jury="median", quorum=2), resamples=60).manifest
    assert (
        found.study,
        found.cases,
        found.jury.name,
        found.jury.rule,
        found.jury.quorum,
        found.instrument.name,
    ) == ("A table of ratings", 40, "jury", "median", 2, "")


def test_the_rater_on_trial_comes_first_and_is_the_jury_or_the_only_one() -> None:
    scores = {"clinician a": ANNA, "judge b": ANNA, "judge a": BEN}
    assert [
        (each.rater, each.raters, each.clinicians)
        for each in (
            on_trial(scores),
            on_trial({"clinician a": ANNA, "judge a": BEN}),
            on_trial({"clinician a": ANNA}),
        )
    ] == [
        ("jury", ("jury", "judge a", "judge b"), ("clinician a",)),
        ("judge a", ("judge a",), ("clinician a",)),
        ("", (), ("clinician a",)),
    ]


def test_a_dimension_without_a_label_of_its_own_is_called_by_its_name() -> None:
    assert (plain().label("accuracy"), plain().label("nothing of this name")) == (
        "accuracy",
        "nothing of this name",
    )


def test_shared_answers_are_those_that_both_scored() -> None:
    grid, reference, said = on_trial(
        {"clinician a": [1, None, 3, 4], "clinician b": [2, None, None, None], "jury": [1, 2, None, 5]}
    ).both("accuracy")
    assert grid.items.tolist() == ["case 0", "case 3"]
    assert (reference.tolist(), said.tolist()) == ([1.5, 4.0], [1.0, 5.0])
    assert len(on_trial({"clinician a": ANNA}).both("accuracy")[1]) == 0, "nobody is on trial"


def test_without_a_scale_the_intraclass_correlation_stands_in_for_kappa() -> None:
    dimension = plain().table.dimensions[0]
    assert [
        gate_statistic(GateRules(statistic=name), each)
        for name in ("kappa_quadratic", "spearman")
        for each in (dimension, replace(dimension, grades=None))
    ] == ["kappa_quadratic", "icc_2_1", "spearman", "spearman"]


def test_a_row_is_that_against_the_consensus_of_the_clinicians_or_the_only_one() -> None:
    found = compared()
    row = found.row("accuracy", "jury", "exact_match")
    assert row and (row.reference, row.level, row.rater) == ("consensus", "item", "jury")
    assert row.estimate.value == 0.575 and found.estimate("accuracy", "jury", "exact_match") == row.estimate
    assert found.row("accuracy", "jury", "no such") is None
    assert found.estimate("accuracy", "nobody", "exact_match") is None
    alone = rating_table(rows_of({"clinician a": ANNA, "jury": NEAR}), scale=(1, 5))
    one = evidence_of(alone, resamples=60, statistics=["exact_match"]).row("accuracy", "jury", "exact_match")
    assert one and (one.reference, one.estimate.value) == ("clinician a", 0.8)


def test_without_an_agreement_there_is_no_row_and_nothing_beside_it() -> None:
    where = ("accuracy", "jury")
    assert plain().row(*where, "offset") is None and plain().severe(*where) is None
    assert plain().beside(*where) == {}


def test_evidence_is_drawn_as_it_is_asked_for() -> None:
    found = compared(seed=3, confidence=0.9)
    assert (found.resamples, found.seed, found.confidence) == (200, 3, 0.9)
    row = found.row("accuracy", "jury", "spearman")
    assert row and row.estimate.method == "90 % BCa-t bootstrap, 200 resamples of 40 items, seed 3"


def test_margin_and_severe_errors_follow_the_rules() -> None:
    found = compared()
    assert found.beside("accuracy", "jury")["kappa_quadratic"].margin == 0.1
    assert found.severe("accuracy", "jury") is None, "no danger is claimed"
    stated = with_rules(found.table, GateRules(severe_dimensions=("accuracy",), margin=0.05))
    claimed = evidence_of(stated, resamples=200)
    errors = claimed.severe("accuracy", "jury")
    assert errors and (errors.errors, errors.dangerous) == (0, 16)
    assert claimed.beside("accuracy", "jury")["kappa_quadratic"].margin == 0.05


def test_without_clinicians_there_is_no_agreement_and_no_problem() -> None:
    found = evidence_of(rating_table(rows_of({"jury": ANNA}), scale=(1, 5)))
    assert (found.agreement, found.problem, found.rater) == (None, "", "jury")


def test_checks_beyond_the_hashes_are_kept_beside_them() -> None:
    more = (Check("audit.jsonl", True, "whole"),)
    assert [
        each.what
        for each in evidence_of(rating_table(rows_of({"jury": ANNA}), scale=(1, 5)), checks=more).checks
    ] == ["audit.jsonl"]


def test_coverage_counts_what_was_asked_and_what_clinicians_could_score() -> None:
    table = rating_table(rows_of({"clinician a": [1, None, 3, 4], "jury": [1, None, None, 4]}), scale=(1, 5))
    roles = roles_of(table)
    grid = table.grid("accuracy", roles)
    assert (coverage_of(table, grid, "jury", roles), coverage_of(table, grid, "nobody", roles)) == (
        (0.5, 2, 4),
        (None, 0, 0),
    )


def test_an_answer_that_is_not_there_is_an_excuse_only_where_a_run_recorded_what_was_asked() -> None:
    frame = rows_of({"clinician a": [1, 2, 3, 4], "jury": [1, 2, 3, 4]}).filter(
        ~((pl.col("rater") == "jury") & (pl.col("item") == "case 3"))
    )
    table = rating_table(frame, scale=(1, 5))
    roles = roles_of(table)
    assert [
        coverage_of(each, each.grid("accuracy", roles), "jury", roles)
        for each in (table, replace(table, run=replace(table.run, manifest=Manifest())))
    ] == [(0.75, 3, 4), (1.0, 3, 3)]


def test_that_something_does_not_apply_is_no_excuse_where_a_clinician_could_score_it() -> None:
    frame = rows_of({"clinician a": [1, None, 3], "jury": [1, 2, 3]}).with_columns(
        pl.when(pl.col("rater") == "jury", pl.col("item") != "case 0")
        .then(None)
        .otherwise("score")
        .alias("score"),
        pl.when(pl.col("rater") == "jury", pl.col("item") != "case 0")
        .then(pl.lit("not_applicable"))
        .otherwise("status")
        .alias("status"),
    )
    table = rating_table(frame, scale=(1, 5))
    table = replace(table, run=replace(table.run, manifest=Manifest()))
    roles = roles_of(table)
    assert coverage_of(table, table.grid("accuracy", roles), "jury", roles) == (0.5, 1, 2)


def test_a_table_of_clinicians_alone_has_nobody_on_trial() -> None:
    roles = roles_of(rating_table(rows_of({"clinician a": ANNA, "clinician b": BEN}), scale=(1, 5)))
    assert (roles.reference, roles.raters, roles.jury, roles.jurors) == (
        ("clinician a", "clinician b"),
        (),
        "",
        (),
    )


def test_the_only_metric_is_on_trial_and_the_reference_is_who_is_named() -> None:
    scores = {"clinician a": ANNA, "clinician b": BEN, "metric m": NEAR}
    found = evidence_of(
        rating_table(rows_of(scores), scale=(1, 5)),
        reference="clinician b",
        resamples=0,
        statistics=["offset"],
    )
    assert (found.rater, found.clinicians) == ("metric m", ("clinician b",))
