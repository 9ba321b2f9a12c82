"""Were the rules stated before a score was seen? Every standing in the words that a reader gets."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl
import pytest
from tests.report.planted import registered, rules
from tests.tables.run_folders import rows_of

from medjury.store.runs import GateRules, Manifest, Protocol
from medjury.tables import RatingTable, rating_table
from medjury.tables._rating_table import RunDetails
from medjury.validation._registered import (
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


def protocol(**changes: Any) -> dict[str, Any]:
    return registered(STUDY, **changes)


EARLIER = {**rules(), "earlier": [rules(floor=0.5)]}


@pytest.mark.parametrize(
    ("manifest", "met", "moved", "shown", "why"),
    [
        (protocol(), True, False, "before the first rating (2026-01-01 09:00 UTC)", ""),
        ({}, False, False, "recorded 2025-12-31 23:00 UTC, not registered", "medjury register STUDY"),
        ({"gate": None}, False, False, "these are the defaults", "default ones are shown"),
        (
            protocol(registered_at="2026-01-01T09:00:01+00:00"),
            *(False, False, "after the first rating", "registered after the first rating"),
        ),
        (
            {**protocol(), "protocol_hash": "ab" * 32},
            *(False, True, "registered 2025-12-31 23:30 UTC: changed", "its hash is different"),
        ),
        (
            {**protocol(), "gate": rules(floor=0.3)},
            *(False, True, "changed since: rule floor: 0.4 -> 0.3", "rule floor: 0.4 -> 0.3"),
        ),
        (
            {**protocol(), "prompt_version": "4", "cases": 1201},
            *(False, False, "answers: 1,200 -> 1,201; prompt: 3 -> 4", "for another study"),
        ),
        (
            protocol(seen=[{"run": "pilot@1", "ratings": 12000}, {"run": "other", "ratings": 1}]),
            *(False, False, "after pilot@1 had judged the same data", "12,000 ratings"),
        ),
        (
            protocol(seen=[{"run": "pilot@1", "ratings": 2}], earlier=[{"hash": "a", "registered_at": "b"}]),
            *(False, True, "pilot@1", "2 ratings"),
        ),
        (
            {"gate": EARLIER},
            *(False, True, "changed after the first run, 2025-12-31 23:00 UTC", "changed after scores"),
        ),
        ({**protocol(), "gate": EARLIER}, True, False, "before the first rating", ""),
    ],
    ids=[
        *("in time", "nobody", "no rules", "too late", "edited", "a rule changed", "another study"),
        *("data seen before", "registered anew", "changed after a run", "registered after a change"),
    ],
)
def test_where_rules_stand_with_what_a_reader_sees(
    manifest: dict[str, Any], met: bool, moved: bool, shown: str, why: str
) -> None:
    found = standing(table_of(**manifest))
    assert (found.met, found.moved) == (met, moved)
    assert shown in found.text and why in found.why and bool(found.why) is not met


def test_ratings_of_no_run_may_have_a_protocol_of_their_own() -> None:
    own = Protocol.model_validate({"registered_at": "2025-12-31T23:30:00+00:00"})
    timed = rows_of(SCORES).with_columns(created_at=pl.lit("2026-01-01T09:00:00+00:00"))
    assert standing(rating_table(rows_of(SCORES))).met is False
    assert standing(replace(rating_table(timed), run=RunDetails(protocol=own))).met is True
    unknown = standing(replace(rating_table(rows_of(SCORES)), run=RunDetails(protocol=own)))
    assert (unknown.met, unknown.moved) == (None, False) and "nobody knows" in unknown.why


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
    jury, hashed = {"rule": "mean", "quorum": 2, "repeats": 1}, {"ratings": 1200, "hash": "ab" * 32}
    told = stated_things(Manifest.model_validate({**STUDY, "humans": hashed, "jury": jury}))
    assert (told["jury"], told["quorum"]) == ("mean, repeats: 1", "2")
    assert told["clinicians"] == "1,200 ratings (abababababab)"
    bare = stated_things(Manifest.model_validate({**STUDY, "humans": {"ratings": 7}}))
    assert bare["clinicians"] == "7 ratings (no hash)"


def test_a_rule_is_shown_in_a_few_characters() -> None:
    rules = GateRules(
        parts=("site", "ward"), severe_dimensions=(), development_cases=("case 2", "case 1"), floor=0.25
    )
    shown = {name: rule_shown(rules, name) for name in GateRules.model_fields}
    assert (shown["floor"], shown["minimum_cases"], shown["statistic"]) == ("0.25", "30", "kappa_quadratic")
    assert (shown["parts"], shown["severe_dimensions"]) == ("site, ward", "none")
    assert shown["development_cases"] == "2 cases (a2c5413b)"
    turned, other = (
        GateRules(development_cases=names) for names in (("case 1", "case 2"), ("case 1", "case 3"))
    )
    assert rule_shown(turned, "development_cases") == shown["development_cases"], "in whatever order"
    assert rule_shown(other, "development_cases") != shown["development_cases"]
    nothing = [rule_shown(GateRules(), name) for name in ("parts", "severe_dimensions", "development_cases")]
    assert nothing == ["not stated", "not stated", "none"]


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
    for frame in (rows_of(SCORES), rows_of(SCORES).with_columns(created_at=pl.lit(7))):
        assert first_rating(rating_table(frame)) == "", "ratings without a moment have no first one"
