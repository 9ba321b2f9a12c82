"""What a rating table says of itself: scale, pooling, roles, resamples."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
from tests.tables.run_folders import nans, refused, rows_of

from medjury.store.runs import GateRules
from medjury.tables import rating_table, with_rules


def test_roles_are_passed_on_as_they_are_asked_for() -> None:
    table = rating_table(
        rows_of(
            {
                "clinician a": [1, 2],
                "clinician b": [1, 2],
                "judge b": [1, 3],
                "judge c": [2, 2],
                "metric m": [1, 1],
            }
        ),
        scale=(1, 5),
    )
    assert [
        (lambda roles: (roles.reference, roles.raters, roles.jury, roles.jurors))(table.roles(**asked))
        for asked in (
            {},
            {"aside": ["clinician b", "judge b"]},
            {"kinds": ["judge"]},
            {"raters": ["judge b", "judge c"], "jury": True},
            {"raters": "judge b", "reference": "clinician b"},
        )
    ] == [
        (
            ("clinician a", "clinician b"),
            ("judge b", "judge c", "metric m", "jury"),
            "jury",
            ("judge b", "judge c"),
        ),
        (("clinician a",), ("judge c", "metric m"), "judge c", ()),
        (("clinician a", "clinician b"), ("judge b", "judge c", "jury"), "jury", ("judge b", "judge c")),
        (("clinician a", "clinician b"), ("judge b", "judge c", "jury"), "jury", ("judge b", "judge c")),
        (("clinician b",), ("judge b",), "judge b", ()),
    ]


def test_without_a_reference_it_is_asked_for_unless_it_need_not_be() -> None:
    table = rating_table(rows_of({"judge b": [1, 3], "judge c": [1, 3]}), scale=(1, 5))
    assert (refused(table.roles), table.roles(need_reference=False).reference) == (
        "name the reference: whose scores are the yardstick? (reference=RATER)",
        (),
    )


def test_an_unknown_dimension_is_answered_with_the_nearest() -> None:
    table = rating_table(rows_of({"judge b": [1, 3]}), scale=(1, 5))
    assert (
        refused(lambda: table.dimension("acuracy")),
        [each.name for each in table.chosen("accuracy")],
        [each.name for each in table.chosen(["accuracy"])],
    ) == (
        "there is no dimension 'acuracy' in the ratings; did you mean 'accuracy'?",
        ["accuracy"],
        ["accuracy"],
    )


def test_without_reference_raters_there_is_no_mean_and_no_word_of_danger() -> None:
    table = rating_table(rows_of({"judge b": [1, 3]}), scale=(1, 5))
    grid = table.grid("accuracy")
    assert (
        nans(table.reference_scores(grid)),
        nans(table.danger_word(grid, table.dimensions[0], [])),
        nans(table.danger_word(grid, replace(table.dimensions[0], higher_is_better=False), ["judge b"])),
    ) == ([None, None], [None, None], [5.0, 3.0])


def test_a_stored_jury_is_found_by_its_name_or_its_kind() -> None:
    assert [
        rating_table(rows_of({name: [1, 3] for name in names}), scale=(1, 5)).stored_jury
        for names in (["jury", "jury x"], ["jury x", "judge a"], ["judge a"])
    ] == ["jury", "jury x", ""]


def test_a_quorum_of_less_than_one_and_a_run_without_a_store_are_refused() -> None:
    rows = rows_of({"judge b": [1, 3]})
    assert [
        refused(lambda given=given: rating_table(rows, **given))
        for given in ({"quorum": 0}, {"run": "x"}, {"scale": {"acuracy": (1, 5)}})
    ] == [
        "a quorum is how many judges must have given a score, from 1 on, not 0.",
        "a run is chosen from a store; these ratings are in no store. Leave `run` out.",
        "a scale is given for 'acuracy', which is not a dimension; did you mean 'accuracy'?",
    ]


def test_a_rater_of_two_kinds_is_refused() -> None:
    rows = pl.concat(
        [
            rows_of({"judge b": [1]}),
            rows_of({"judge b": [1]}, dimension="zeal").with_columns(rater_kind=pl.lit("metric")),
        ]
    )
    assert refused(lambda: rating_table(rows)) == (
        "the rater 'judge b' is called both judge and metric in the column rater_kind; a "
        "rater is of one kind. Correct the kind, or give the two raters two names."
    )


def test_rules_set_their_development_cases_aside_and_bring_them_back() -> None:
    table = rating_table(rows_of({"judge b": [1, 3, 2]}), scale=(1, 5))
    aside = with_rules(table, GateRules(development_cases=("case 1", "case 7")))
    assert (
        aside.left_aside,
        aside.rows["item"].to_list(),
        aside.development_rows["item"].to_list(),
        aside.rules.development_cases,
        with_rules(aside, GateRules()).rows.height,
        aside.everything.height,
    ) == (1, ["case 0", "case 2"], ["case 1"], ("case 1", "case 7"), 3, 3)
