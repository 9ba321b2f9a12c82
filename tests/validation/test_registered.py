"""Were the rules stated before a score was seen? Every standing in the words that a reader gets."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import polars as pl
from tests.report.planted import registered, rules
from tests.tables.run_folders import rows_of

from medjury.store.runs import GateRules, Manifest, Protocol
from medjury.tables import RatingTable, RunDetails, rating_table
from medjury.validation._registered import (
    Standing,
    changed_since,
    differences,
    first_rating,
    rule_shown,
    standing,
    stated_things,
)

STUDY: dict[str, Any] = {
    "study": "ward letters",
    "medjury": "0.1.0",
    "started_at": "2026-01-01T08:00:00+00:00",
    "data_hash": "cd" * 32,
    "cases": 1200,
    "instrument": {"name": "note_quality", "version": "1.0", "fingerprint": "0123456789abcdef"},
    "prompt_version": "3",
    "judges": [
        {
            "name": "anna",
            "models": [
                {"kind": "openai", "name": "one", "model": "m"},
                {"kind": "openai", "name": "two", "model": "m"},
            ],
            "settings_hash": "ef" * 32,
        },
        {"name": "ben", "strategy": "repeats", "models": [], "settings_hash": "01" * 32},
    ],
    "jury": {"name": "jury", "rule": "median", "quorum": None, "repeats": 2},
    "gate": rules(),
}
SCORES = {"clinician a": [1, 2, 3], "jury": [1, 2, 4]}


def table_of(*, rated_at: str | None = "2026-01-01T09:00:00+00:00", **changes: Any) -> RatingTable:
    """Ratings under this manifest; `rated_at` is when the jury's came about."""
    frame = rows_of(SCORES).with_columns(
        created_at=pl.when(pl.col("rater") == "jury").then(pl.lit(rated_at)).otherwise(pl.lit("2020-01-01"))
    )
    return replace(
        rating_table(frame), run=RunDetails(manifest=Manifest.model_validate({**STUDY, **changes}))
    )


def words(found: Standing) -> tuple[bool | None, str, str, bool]:
    """What a reader sees of a standing; the hash of a protocol is that of all it holds."""
    return found.met, re.sub(r"protocol [0-9a-f]{16}\b", "protocol HASH", found.text), found.why, found.moved


def protocol(**changes: Any) -> dict[str, Any]:
    return registered(STUDY, **changes)


def test_rules_that_were_registered_before_the_first_rating_stand() -> None:
    assert words(standing(table_of(**protocol()))) == (
        True,
        ("protocol HASH, registered 2025-12-31 23:30 UTC, before the first rating (2026-01-01 09:00 UTC)"),
        "",
        False,
    )


def test_rules_that_nobody_registered_are_only_recorded() -> None:
    assert words(standing(table_of())) == (
        False,
        "recorded 2025-12-31 23:00 UTC, not registered",
        (
            "Nobody registered the rules before the run: they may have been chosen after scores of the "
            "same cases had been seen. Register the next study first: `medjury register STUDY`."
        ),
        False,
    )


def test_a_run_that_states_no_rules_shows_the_defaults() -> None:
    assert words(standing(table_of(gate=None))) == (
        False,
        "not stated: these are the defaults",
        (
            "No rules were stated before the run, so the default ones are shown. Rules that are "
            "chosen after the scores are known prove nothing."
        ),
        False,
    )


def test_ratings_of_no_run_have_no_registered_rules() -> None:
    assert words(standing(rating_table(rows_of(SCORES)))) == (
        False,
        "not registered",
        (
            "Nobody registered these rules before the scores were made. Rules that are chosen "
            "after the scores are known prove nothing."
        ),
        False,
    )


def test_ratings_of_no_run_may_have_a_protocol_of_their_own() -> None:
    own = Protocol.model_validate({"registered_at": "2025-12-31T23:30:00+00:00"})
    frame = rows_of(SCORES).with_columns(created_at=pl.lit("2026-01-01T09:00:00+00:00"))
    assert words(standing(replace(rating_table(frame), run=RunDetails(protocol=own)))) == (
        True,
        ("protocol HASH, registered 2025-12-31 23:30 UTC, before the first rating (2026-01-01 09:00 UTC)"),
        "",
        False,
    )


def test_without_a_moment_of_rating_nobody_knows_which_came_first() -> None:
    own = Protocol.model_validate({"registered_at": "2025-12-31T23:30:00+00:00"})
    assert words(standing(replace(rating_table(rows_of(SCORES)), run=RunDetails(protocol=own)))) == (
        None,
        ("protocol HASH, registered 2025-12-31 23:30 UTC; when the scores were made is not known"),
        (
            "Nobody recorded when the scores were made, so nobody knows whether the rules were "
            "stated before them."
        ),
        False,
    )


def test_rules_registered_after_the_first_rating_prove_nothing() -> None:
    assert words(standing(table_of(**protocol(registered_at="2026-01-01T09:00:01+00:00")))) == (
        False,
        ("protocol HASH, registered 2026-01-01 09:00 UTC, after the first rating (2026-01-01 09:00 UTC)"),
        (
            "The rules were registered after the first rating (2026-01-01 09:00 UTC); rules that "
            "are chosen after the scores are known prove nothing."
        ),
        False,
    )


def test_rules_registered_at_the_very_moment_of_the_first_rating_stand() -> None:
    assert standing(table_of(**protocol(registered_at="2026-01-01T09:00:00+00:00"))).met is True


def test_without_ratings_that_know_their_moment_the_start_of_the_run_counts() -> None:
    assert [
        standing(table_of(rated_at=None, **protocol(registered_at=at))).met
        for at in ("2026-01-01T07:59:59+00:00", "2026-01-01T08:00:01+00:00")
    ] == [True, False]


def test_a_moment_without_a_zone_is_meant_in_utc_and_a_moment_that_is_none_is_not_known() -> None:
    assert [
        standing(table_of(rated_at=at, **protocol())).met
        for at in ("2025-12-31T23:30:00", "2025-12-31T23:29:59", "yesterday")
    ] == [True, False, None]


def test_a_protocol_that_was_edited_afterwards_is_found_by_its_hash() -> None:
    assert words(standing(table_of(**{**protocol(), "protocol_hash": "ab" * 32}))) == (
        False,
        "protocol HASH, registered 2025-12-31 23:30 UTC: changed",
        ("The protocol in the manifest is not the one that was registered: its hash is different."),
        True,
    )


def test_a_rule_that_was_changed_since_is_named_and_forbids_everything() -> None:
    assert words(standing(table_of(**{**protocol(), "gate": rules(floor=0.3)}))) == (
        False,
        ("protocol HASH, registered 2025-12-31 23:30 UTC; changed since: rule floor: 0.4 -> 0.3"),
        (
            "The rules are not those that were registered (rule floor: 0.4 -> 0.3); only rules "
            "stated beforehand can validate a jury."
        ),
        True,
    )


def test_another_study_than_was_registered_is_named_and_forbids_validation_alone() -> None:
    assert words(standing(table_of(**{**protocol(), "prompt_version": "4", "cases": 1201}))) == (
        False,
        (
            "protocol HASH, registered 2025-12-31 23:30 UTC; changed since: answers: 1,200 -> "
            "1,201; prompt: 3 -> 4"
        ),
        (
            "The rules were registered for another study than was run: answers: 1,200 -> 1,201; "
            "prompt: 3 -> 4."
        ),
        False,
    )


def test_data_that_had_been_judged_before_are_told_with_the_number_of_ratings() -> None:
    assert words(
        standing(
            table_of(**protocol(seen=[{"run": "pilot@1", "ratings": 12000}, {"run": "other", "ratings": 1}]))
        )
    ) == (
        False,
        ("protocol HASH, registered 2025-12-31 23:30 UTC, after pilot@1 had judged the same data"),
        (
            "The rules were registered when 12,000 ratings of the same data existed already "
            "(pilot@1): whoever stated them could have seen the scores."
        ),
        False,
    )


def test_rules_that_were_registered_anew_when_scores_were_there_were_moved() -> None:
    assert (
        standing(
            table_of(
                **protocol(
                    seen=[{"run": "pilot@1", "ratings": 2}], earlier=[{"hash": "a", "registered_at": "b"}]
                )
            )
        ).moved
        is True
    )


def test_rules_that_were_changed_after_the_first_run_are_told_with_their_moment() -> None:
    earlier = {**rules(), "earlier": [rules(floor=0.5)]}
    assert words(standing(table_of(gate=earlier))) == (
        False,
        "changed after the first run, 2025-12-31 23:00 UTC",
        (
            "The rules were changed after scores had been seen; only rules stated beforehand can "
            "validate a jury."
        ),
        True,
    )


def test_rules_that_stand_are_not_reproached_for_what_came_before_them() -> None:
    earlier = {**rules(), "earlier": [rules(floor=0.5)]}
    assert standing(table_of(**{**protocol(), "gate": earlier})).met is True


def test_everything_that_a_protocol_fixes_has_a_name_and_a_few_characters() -> None:
    assert {
        name: said
        for name, said in stated_things(Manifest.model_validate(STUDY)).items()
        if not name.startswith("rule ")
    } == {
        "data": "cdcdcdcdcdcd",
        "answers": "1,200",
        "instrument": "note_quality 1.0",
        "instrument's words": "0123456789ab",
        "prompt": "3",
        "judges": "anna (m/m), ben ()",
        "ways of judging": "anna: single, ben: repeats",
        "judges' settings": "efefefef, 01010101",
        "jury": "median, repeats: 2",
        "quorum": "more than half",
        "votes": "all judges",
        "clinicians": "none",
        "reference": "not stated",
        "second panel": "not stated",
        "consensus": "not stated",
        "labels": "not stated",
        "division of clinicians": "none",
        "clinicians were blinded": "not stated",
        "touched by tuning": "nothing",
    }


def test_clinicians_and_a_quorum_are_told_where_there_are_any() -> None:
    more = {
        "humans": {"ratings": 1200, "hash": "ab" * 32},
        "jury": {"rule": "mean", "quorum": 2, "repeats": 1},
    }
    assert {
        name: value
        for name, value in stated_things(Manifest.model_validate({**STUDY, **more})).items()
        if name in ("clinicians", "jury", "quorum")
    } == {"jury": "mean, repeats: 1", "quorum": "2", "clinicians": "1,200 ratings (abababababab)"}


def test_clinicians_without_a_hash_are_told_as_such() -> None:
    assert (
        stated_things(Manifest.model_validate({**STUDY, "humans": {"ratings": 7}}))["clinicians"]
        == "7 ratings (no hash)"
    )


def test_a_rule_is_shown_in_a_few_characters() -> None:
    shown = GateRules(
        parts=("site", "ward"), severe_dimensions=(), development_cases=("case 2", "case 1"), floor=0.25
    )
    assert [
        rule_shown(shown, name)
        for name in ("floor", "minimum_cases", "statistic", "parts", "severe_dimensions", "development_cases")
    ] == ["0.25", "30", "kappa_quadratic", "site, ward", "none", "2 cases (a2c5413b)"]


def test_the_same_development_cases_in_another_order_are_the_same() -> None:
    assert (
        len(
            {
                rule_shown(GateRules(development_cases=names), "development_cases")
                for names in (("a", "b"), ("b", "a"), ("a", "c"))
            }
        )
        == 2
    )


def test_nothing_stated_is_told_as_such() -> None:
    assert [
        rule_shown(GateRules(), name) for name in ("parts", "severe_dimensions", "development_cases")
    ] == ["not stated", "not stated", "none"]


def test_what_one_side_does_not_state_is_not_stated() -> None:
    assert differences(
        {"prompt": "1", "data": "a", "jury": "mean"}, {"prompt": "2", "data": "a", "quorum": "2"}
    ) == (("prompt", "1", "2"), ("jury", "mean", "not stated"), ("quorum", "not stated", "2"))


def test_clinicians_who_rated_after_the_registration_are_no_change_and_those_who_had_rated_must_not_change() -> (
    None
):
    humans = {"ratings": 12, "hash": "ab" * 32}
    now = Manifest.model_validate({**STUDY, "humans": humans})
    then = [
        Protocol.model_validate({**protocol()["protocol"], "humans": each})
        for each in (None, {"ratings": 11, "hash": "ab" * 32})
    ]
    assert [changed_since(each, now) for each in then] == [
        (),
        (("clinicians", "11 ratings (abababababab)", "12 ratings (abababababab)"),),
    ]


def test_the_first_rating_is_a_judges_or_the_jurys_and_no_clinicians() -> None:
    assert first_rating(table_of()) == "2026-01-01T09:00:00+00:00"


def test_ratings_without_a_moment_have_no_first_one() -> None:
    assert [
        first_rating(rating_table(frame))
        for frame in (rows_of(SCORES), rows_of(SCORES).with_columns(created_at=pl.lit(7)))
    ] == ["", ""]
