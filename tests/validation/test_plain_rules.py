"""Rules on the run as a whole, and on agreement, in the words that a reader gets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tests.tables.run_folders import rows_of
from tests.validation.on_trial import on_trial, told

from medjury.runs import Check, GateRules, Manifest
from medjury.tables import rating_table, with_rules
from medjury.validation import Evidence, evidence_of
from medjury.validation._rules.agreement_floor import agreement_floor
from medjury.validation._rules.clinicians import clinicians
from medjury.validation._rules.doubly_rated import doubly_rated
from medjury.validation._rules.enough_cases import enough_cases
from medjury.validation._rules.finished import finished
from medjury.validation._rules.not_inferior import not_inferior
from medjury.validation._rules.stated_before import stated_before
from medjury.validation._rules.unchanged import unchanged

ANNA = [1 + place % 5 for place in range(40)]


BEN = [min(5, score + (place % 3 == 0)) for place, score in enumerate(ANNA)]


NEAR = [max(1, score - (place % 4 == 0)) for place, score in enumerate(ANNA)]


def of_run(evidence: Evidence, checks: Sequence[Check] = (), **manifest: Any) -> Evidence:
    table = replace(evidence.table, manifest=Manifest.model_validate({"status": "complete", **manifest}))
    return replace(evidence, table=table, checks=tuple(checks))


def only(rule: Any, evidence: Evidence) -> tuple[str, str, str, bool, str]:
    return told(rule(evidence, evidence.table.dimensions[0])[0])


def compared(**settings: Any) -> Evidence:
    frame = rows_of({"clinician a": ANNA, "clinician b": BEN, "jury": NEAR})
    return evidence_of(rating_table(frame, scale=(1, 5)), resamples=200, **settings)


def plain() -> Evidence:
    """One clinician, and a jury that says the same."""
    return on_trial({"clinician a": ANNA, "jury": ANNA})


def test_a_run_that_is_complete_is_finished_and_any_other_is_told_with_its_reason() -> None:
    assert [
        only(finished, of_run(plain(), **stated))
        for stated in ({}, {"status": "failed"}, {"status": "incomplete", "why": "no budget"})
    ] == [
        ("complete", "complete", "met", True, ""),
        ("complete", "failed", "not met", True, "The run is failed."),
        ("complete", "incomplete: no budget", "not met", True, "The run is incomplete: no budget."),
    ]


def test_a_run_that_did_not_finish_stops_the_verdict() -> None:
    assert [
        finished(each, each.table.dimensions[0])[0].stops
        for each in (of_run(plain(), status="failed"), plain())
    ] == [True, False]


def test_ratings_of_no_run_folder_are_not_known_to_be_finished_or_unchanged() -> None:
    assert [only(rule, plain()) for rule in (finished, unchanged)] == [
        (
            "complete",
            "no run folder",
            "not known",
            False,
            "These ratings come from no run folder, so nobody recorded how the scores came about.",
        ),
        ("every hash as in the manifest", "no run folder", "not known", False, ""),
    ]


def test_files_that_were_changed_are_named() -> None:
    assert only(
        unchanged,
        of_run(
            plain(),
            [
                Check("ratings.csv", True, "as written"),
                Check("ratings.parquet", False, "was changed"),
                Check("parts.csv", False, "is gone"),
            ],
        ),
    ) == (
        "every hash as in the manifest",
        "ratings.parquet was changed; parts.csv is gone",
        "not met",
        True,
        (
            "The run folder was changed after the run (ratings.parquet was changed; parts.csv is "
            "gone): nobody can vouch for these numbers."
        ),
    )


def test_files_that_are_as_written_are_unchanged() -> None:
    assert only(unchanged, of_run(plain(), [Check("ratings.csv", True, "as written")])) == (
        "every hash as in the manifest",
        "every file is as the run wrote it",
        "met",
        True,
        "",
    )


def test_made_up_ratings_validate_nothing() -> None:
    assert only(clinicians, of_run(plain(), humans={"illustrative": True})) == (
        "2 or more, rating as in practice",
        "1, but their ratings are illustrative",
        "not met",
        True,
        (
            "The clinicians' ratings in this study were made up for a demonstration. Made-up "
            "ratings can never validate anything."
        ),
    )


def test_without_clinicians_nobody_knows() -> None:
    assert only(clinicians, on_trial({"jury": ANNA})) == (
        "2 or more, rating as in practice",
        "none",
        "not met",
        True,
        ("No clinician has rated these cases, so nobody knows whether the jury agrees with clinicians."),
    )


def test_one_clinician_of_two_is_told() -> None:
    assert only(clinicians, of_run(plain(), humans={"illustrative": False})) == (
        "2 or more, rating as in practice",
        "1",
        "not met",
        False,
        (
            "Only 1 of 2 clinicians rated the cases, so nobody knows how well clinicians agree "
            "with one another."
        ),
    )


def test_two_clinicians_are_enough_where_two_are_asked_for() -> None:
    assert only(clinicians, on_trial({"clinician a": ANNA, "clinician b": ANNA, "jury": ANNA})) == (
        "2 or more, rating as in practice",
        "2",
        "met",
        False,
        "",
    )


def test_cases_are_counted_once_a_patient_and_development_cases_not_at_all() -> None:
    assert [
        only(
            enough_cases,
            on_trial({"clinician a": ANNA, "jury": [None, *ANNA[1:]]}, minimum_cases=1000, **more),
        )
        for more in (
            {},
            {"known": {"patient": [str(place // 2) for place in range(40)]}},
            {"development_cases": ("case 1", "case 2")},
        )
    ] == [
        (
            (
                "1,000 cases with a clinician's and the jury's score, none used to tune, calibrate "
                "or show examples"
            ),
            "39",
            "not met",
            True,
            ("Only 39 held-out cases have both a clinician's and the jury's score; 1,000 are needed."),
        ),
        (
            (
                "1,000 cases with a clinician's and the jury's score, none used to tune, calibrate "
                "or show examples"
            ),
            "20 patients with 39 cases; a patient counts once",
            "not met",
            True,
            (
                "Only 20 patients, with 39 held-out cases, have both a clinician's and the jury's "
                "score; 1,000 are needed."
            ),
        ),
        (
            (
                "1,000 cases with a clinician's and the jury's score, none used to tune, calibrate "
                "or show examples"
            ),
            "37 (2 cases used for development are left out)",
            "not met",
            True,
            ("Only 37 held-out cases have both a clinician's and the jury's score; 1,000 are needed."),
        ),
    ]


def test_as_many_cases_as_are_asked_for_are_enough() -> None:
    assert [
        only(enough_cases, on_trial({"clinician a": ANNA, "jury": ANNA}, minimum_cases=count))[2]
        for count in (40, 41)
    ] == ["met", "not met"]


def test_cases_that_two_clinicians_rated_are_counted_apart() -> None:
    once = [*BEN[:20], *[None] * 20]
    assert [
        only(doubly_rated, on_trial({"clinician a": ANNA, "clinician b": once, "jury": ANNA}, **more))
        for more in (
            {"minimum_doubly_rated": 20},
            {"minimum_doubly_rated": 21},
            {"known": {"patient": [str(place // 2) for place in range(40)]}},
        )
    ] == [
        (
            "20 cases with the jury's score and those of two clinicians",
            "20 of 40 rated cases",
            "met",
            False,
            "",
        ),
        (
            "21 cases with the jury's score and those of two clinicians",
            "20 of 40 rated cases",
            "not met",
            False,
            (
                "Only 20 cases were rated by two clinicians; 21 are needed to know how well "
                "clinicians agree with one another."
            ),
        ),
        (
            "50 cases with the jury's score and those of two clinicians",
            "10 of 20 rated patients",
            "not met",
            False,
            (
                "Only 10 patients, with 20 cases, were rated by two clinicians; 50 are needed to "
                "know how well clinicians agree with one another."
            ),
        ),
    ]


def test_a_jury_beside_clinicians_is_told_with_both_agreements_and_their_difference() -> None:
    assert only(not_inferior, compared()) == (
        (
            "jury with clinician not more than 0.1 below clinician with clinician (weighted "
            "kappa), one-sided 95 %"
        ),
        (
            "jury with clinician 0.905 (0.812 to 0.950); clinician with clinician 0.931 (0.856 "
            "to 0.964); difference −0.026, lower bound −0.077"
        ),
        "met",
        False,
        "",
    )


def test_without_two_clinicians_the_jury_cannot_be_compared_with_them() -> None:
    assert only(not_inferior, plain()) == (
        (
            "jury with clinician not more than 0.1 below clinician with clinician (weighted "
            "kappa), one-sided 95 %"
        ),
        "cannot be compared",
        "not known",
        False,
        (
            "How well clinicians agree with one another is not known here, so the jury cannot be "
            "compared with them."
        ),
    )


def test_agreement_and_its_lower_end_are_held_against_the_floor() -> None:
    evidence = compared()
    assert [told(each) for each in agreement_floor(evidence, evidence.table.dimensions[0])] == [
        ("weighted kappa of 0.4 or more", "0.905 (0.812 to 0.950)", "met", True, ""),
        ("the lower end of its 95 % interval is 0.4 or more", "lower end 0.812", "met", False, ""),
        (
            "weighted kappa of 0.4 or more even if every answer without a score had been wrong",
            "no answer is missing",
            "does not apply",
            False,
            "",
        ),
    ]


def test_agreement_below_the_floor_says_so_once() -> None:
    evidence = compared()
    table = with_rules(evidence.table, GateRules(floor=0.99))
    assert [told(each) for each in agreement_floor(replace(evidence, table=table), table.dimensions[0])][
        :2
    ] == [
        (
            "weighted kappa of 0.99 or more",
            "0.905 (0.812 to 0.950)",
            "not met",
            True,
            "The jury's agreement with clinicians (weighted kappa) is 0.905; the floor is 0.99.",
        ),
        ("the lower end of its 95 % interval is 0.99 or more", "lower end 0.812", "not met", False, ""),
    ]


def test_a_lower_end_below_the_floor_says_what_could_be_true() -> None:
    evidence = compared()
    table = with_rules(evidence.table, GateRules(floor=0.9))
    assert [told(each) for each in agreement_floor(replace(evidence, table=table), table.dimensions[0])][
        1
    ] == (
        "the lower end of its 95 % interval is 0.9 or more",
        "lower end 0.812",
        "not met",
        False,
        "The true agreement could be as low as 0.812, below the floor of 0.9.",
    )


def test_rules_of_no_run_were_not_stated_before_it() -> None:
    assert only(stated_before, plain()) == (
        "registered before the first rating (`medjury register`), and unchanged",
        "not registered",
        "not met",
        False,
        (
            "Nobody registered these rules before the scores were made. Rules that are chosen "
            "after the scores are known prove nothing."
        ),
    )
