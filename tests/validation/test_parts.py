"""Parts of a study: which groups of cases are looked at, and how numbers and dates are cut."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from tests.tables.run_folders import rows_of
from tests.validation.on_trial import on_trial

ANNA = [1 + place % 5 for place in range(40)]


def parts(known: dict[str, list[Any]], **rules: Any) -> tuple[dict[str, int], tuple[str, ...]]:
    """How many answers each part holds, and what is asked for and not known."""
    said = [1 + place % 5 for place in range(len(next(iter(known.values()))))]
    evidence = on_trial({"clinician a": said, "jury": said}, known=known, **rules)
    found, unknown = evidence.parts(evidence.table.dimensions[0])
    return {each.name: int(each.inside.sum()) for each in found}, unknown


def test_groups_of_cases_are_parts_where_there_are_two_or_more() -> None:
    assert parts(
        {
            "specialty": ["a", "a", "b", ""],
            "site": ["x", "x", "x", "x"],
            "age": [30, 30, 40, 40],
            "sex": [None, "f", "f", "m"],
        }
    ) == ({"specialty a": 2, "specialty b": 1, "sex f": 2, "sex m": 1, "age 30": 2, "age 40": 2}, ())


def test_six_numbers_are_groups_and_seven_are_cut_into_thirds() -> None:
    assert [
        list(parts({"age": [10 * (place % count) for place in range(21)]})[0].items()) for count in (6, 7)
    ] == [
        [("age 0", 4), ("age 10", 4), ("age 20", 4), ("age 30", 3), ("age 40", 3), ("age 50", 3)],
        [("age highest third", 9), ("age lowest third", 6), ("age middle third", 6)],
    ]


def test_forty_names_are_groups_and_forty_one_are_ids() -> None:
    assert [
        len(parts({"site": [f"ward {place % count}" for place in range(41)]})[0]) for count in (40, 41)
    ] == [40, 0]


def test_numbers_that_are_text_are_cut_like_numbers() -> None:
    assert parts({"length": [str(10 * place) for place in range(9)]})[0] == {
        "length highest third": 3,
        "length lowest third": 3,
        "length middle third": 3,
    }


def test_the_order_in_time_is_cut_into_halves_by_date() -> None:
    assert parts({"date": [f"2026-01-0{1 + place}" for place in range(6)]})[0] == {
        "time first half": 3,
        "time second half": 3,
    }


def test_equal_values_stay_together_and_a_column_of_one_value_is_no_part() -> None:
    assert [parts({"date": dates})[0] for dates in (["1", "2", "2", "2", "2", "3"], ["1"] * 6)] == [
        {"time first half": 1, "time second half": 5},
        {},
    ]


def test_a_part_that_is_asked_for_and_not_there_is_not_known() -> None:
    assert parts(
        {"ward": ["a", "b", "a", "b"], "site": ["x", "y", "x", "y"]}, parts=("ward", "floor", "site")
    ) == ({"site x": 2, "site y": 2, "ward a": 2, "ward b": 2}, ("floor",))


def test_systems_are_parts() -> None:
    evidence = on_trial({"clinician a": ANNA, "jury": ANNA}, systems=("alpha", "beta"))
    assert [
        (each.name, int(each.inside.sum()), int(each.rest.sum()))
        for each in evidence.parts(evidence.table.dimensions[0])[0]
    ] == [("system alpha", 20, 20), ("system beta", 20, 20)]


def test_length_and_time_come_from_the_judges_where_no_column_tells_them() -> None:
    frame = rows_of({"clinician a": ANNA[:6], "judge a": ANNA[:6]}).with_columns(
        tokens_in=pl.col("item").str.slice(5).cast(pl.Int64),
        created_at=pl.when(pl.col("rater") == "judge a")
        .then("2026-" + pl.col("item"))
        .otherwise(pl.lit("1999")),
    )
    evidence = on_trial(frame)
    assert [
        (each.name, int(each.inside.sum())) for each in evidence.parts(evidence.table.dimensions[0])[0]
    ] == [
        ("length highest third", 2),
        ("length lowest third", 2),
        ("length middle third", 2),
        ("time first half", 3),
        ("time second half", 3),
    ]


def test_an_answer_of_which_nothing_is_known_has_what_is_known_of_its_case() -> None:
    frame = rows_of({"clinician a": ANNA[:8], "jury": ANNA[:8]}, systems=("alpha", "beta")).with_columns(
        site=pl.when(pl.col("system") == "beta")
        .then(pl.lit(None))
        .otherwise(pl.when(pl.col("item") < "case 2").then(pl.lit("north")).otherwise(pl.lit("south")))
    )
    evidence = on_trial(frame)
    found = {each.name: each.inside.tolist() for each in evidence.parts(evidence.table.dimensions[0])[0][-2:]}
    assert found == {"site north": [True] * 4 + [False] * 4, "site south": [False] * 4 + [True] * 4}


def test_dimensions_with_the_same_answers_share_their_parts_and_others_have_their_own() -> None:
    said = {"clinician a": ANNA[:8], "jury": ANNA[:8]}
    fewer = {name: each[:6] for name, each in said.items()}
    frame = pl.concat(
        [
            rows_of(said, dimension="accuracy"),
            rows_of(said, dimension="clarity"),
            rows_of(fewer, dimension="harm"),
        ]
    ).with_columns(site=pl.col("item").str.slice(5).cast(pl.Int64) % 2)
    evidence = on_trial(frame)
    accuracy, clarity, harm = (evidence.parts(each) for each in evidence.table.dimensions)
    assert accuracy is clarity
    assert [(each.name, each.inside.tolist()) for each in accuracy[0]] == [
        ("site 0", [True, False] * 4),
        ("site 1", [False, True] * 4),
    ]
    assert [(each.name, each.inside.tolist()) for each in harm[0]] == [
        ("site 0", [True, False] * 3),
        ("site 1", [False, True] * 3),
    ]


def test_a_number_that_is_none_lies_in_the_lowest_share_and_an_unknown_one_in_no_share() -> None:
    assert parts({"age": [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, float("nan"), None]})[0] == {
        "age highest third": 2,
        "age lowest third": 4,
        "age middle third": 2,
    }


def test_cases_are_counted_once_however_many_answers_they_have() -> None:
    evidence = on_trial({"clinician a": ANNA[:6], "jury": ANNA[:6]}, systems=("alpha", "beta"))
    trial = evidence.trial(evidence.table.dimensions[0])
    chosen = ([False] * 6, [True] * 6, [True, True, False, False, False, True], [False, False, True] * 2)
    assert [trial.cases(np.array(each)) for each in chosen] == [0, 3, 2, 2]


def test_systems_may_be_named_although_they_are_looked_at_anyway() -> None:
    """Both a system and an item are columns by which answers are told apart."""
    said = {"clinician a": ANNA, "jury": ANNA}
    for named in (("system",), ("system", "item")):
        evidence = on_trial(said, systems=("alpha", "beta"), parts=named)
        found, unknown = evidence.parts(evidence.table.dimensions[0])
        systems = [(each.name, int(each.inside.sum())) for each in found if each.name.startswith("system")]
        assert systems == [("system alpha", 20), ("system beta", 20)] and not unknown
