"""One score of several raters: consensus, danger, and answers in rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.tables.run_folders import rows_of

from medjury.foundation.errors import MedjuryError
from medjury.instruments import load_instrument
from medjury.intake.cases import Case
from medjury.tables import danger_reference, rating_table
from medjury.tables._clean import clean_rows
from medjury.tables._consensus import adjudicated, consensus_of
from medjury.tables._dimensions import Grades, grades_from_instrument, grades_of, of_instrument, present
from medjury.tables._grid import answers_of
from medjury.tables._open import with_cases
from medjury.tables._roles import known_rater, look_alikes


def refused(call: Callable[[], object]) -> str:
    with pytest.raises(MedjuryError) as caught:
        call()
    return str(caught.value)


def frame(**columns: Sequence[Any]) -> pl.DataFrame:
    """Rows of one rater on one dimension, unless the columns say otherwise."""
    count = len(next(iter(columns.values())))
    usual = {
        "item": [str(place) for place in range(count)],
        "rater": ["a"] * count,
        "dimension": ["d"] * count,
        "score": [3.0] * count,
    }
    return pl.DataFrame({**usual, **columns}, strict=False)


def nans(values: Any) -> list[Any]:
    return [None if np.isnan(each) else float(each) for each in np.asarray(values).tolist()]


def test_every_rule_of_consensus_has_its_own_score() -> None:
    votes = [[1, 2, 2], [1, 2, np.nan], [np.nan, np.nan, np.nan], [3, 3, 5]]
    assert [nans(consensus_of(votes, rule)) for rule in ("mean", "median", "majority")] == [
        [1.6666666666666667, 1.5, None, 3.6666666666666665],
        [2.0, 1.5, None, 3.0],
        [2.0, None, None, 3.0],
    ]


def test_an_adjudicator_settles_what_is_open_and_two_who_agree_settle_the_rest() -> None:
    votes = [[1, 1], [1, 2], [1, np.nan], [2, 2]]
    assert (
        nans(consensus_of(votes, "adjudicated", [np.nan, 3, np.nan, 4])),
        nans(adjudicated(votes, [np.nan] * 4)),
    ) == ([1.0, 3.0, None, 4.0], [1.0, None, None, 2.0])


def test_rules_that_cannot_be_meant_are_refused() -> None:
    assert [
        refused(lambda call=call: call())
        for call in (
            lambda: consensus_of([[1]], "adjudicated"),
            lambda: consensus_of([[1]], "mean", [1]),
            lambda: adjudicated([[1], [2]], [1]),
            lambda: consensus_of([[1]], "loudest"),
        )
    ] == [
        "an adjudicated reference needs the adjudicator's labels.",
        "an adjudicator has no part in a mean consensus; ask for 'adjudicated'.",
        "2 items need 2 adjudicated labels, not 1.",
        "there is no consensus rule 'loudest'; use mean, median, majority or adjudicated.",
    ]


def test_danger_is_the_lowest_the_mean_or_the_upper_median() -> None:
    scores = np.array([[1.0, 4.0, 5.0], [2.0, np.nan, 4.0], [np.nan, np.nan, np.nan], [3.0, 3.0, 1.0]])
    assert {by: nans(danger_reference(scores, by)) for by in ("any", "mean", "majority")} == {
        "any": [1.0, 2.0, None, 1.0],
        "mean": [3.3333333333333335, 3.0, None, 2.3333333333333335],
        "majority": [4.0, 4.0, None, 3.0],
    }


def test_answers_are_rows_of_raters_who_were_asked() -> None:
    table = rating_table(rows_of({"clinician a": [1, None], "judge b": [2, 3]}, systems=("x",)), scale=(1, 5))
    gone = table.where(table.rows.filter(~((pl.col("rater") == "judge b") & (pl.col("item") == "case 0"))))
    found = answers_of([gone.grid("accuracy")], ["clinician a", "judge b"])
    assert (found.schema == answers_of([], []).schema, found.columns, found.rows()) == (
        True,
        ["item", "system", "cluster", "rater", "dimension", "score", "state"],
        [
            ("case 0", "x", "item case 0", "clinician a", "accuracy", 1.0, 1),
            ("case 1", "x", "item case 1", "clinician a", "accuracy", None, 2),
            ("case 1", "x", "item case 1", "judge b", "accuracy", 3.0, 1),
        ],
    )


def test_grades_are_nearest_and_halves_go_up() -> None:
    grades = Grades((1.0, 2.0, 4.0), "here")
    assert (
        nans(grades.grade(np.array([0.0, 1.4, 1.5, 2.9, 3.0, 9.0, np.nan]))),
        grades.holds(np.array([0.9, 1.0, 4.0, 4.1, 3.3])).tolist(),
        grades.lowest,
        grades.highest,
    ) == ([1.0, 1.0, 2.0, 2.0, 4.0, 4.0, None], [False, True, True, False, True], 1.0, 4.0)


def test_scales_that_are_none_are_refused() -> None:
    assert [
        refused(lambda given=given: grades_of(given))
        for given in ((5, 1), (1, 1), (1, 2.5), (0, 10**9), (float("nan"), 5), (3,), (1, 1, 2))
    ] == [
        (
            "a scale of two numbers runs over whole grades from low to high, not 5 to 1; list "
            "every grade where they are not whole numbers."
        ),
        (
            "a scale of two numbers runs over whole grades from low to high, not 1 to 1; list "
            "every grade where they are not whole numbers."
        ),
        (
            "a scale of two numbers runs over whole grades from low to high, not 1 to 2.5; list "
            "every grade where they are not whole numbers."
        ),
        (
            "a scale from 0 to 1e+09 has more than 1,000 grades, and nobody tells so many apart; "
            "list the grades, or divide the scores."
        ),
        (
            "a scale of two numbers runs over whole grades from low to high, not nan to 5; list "
            "every grade where they are not whole numbers."
        ),
        "a scale needs two or more rising grades, not [3].",
        "a scale needs two or more rising grades, not [1, 1, 2].",
    ]


def test_an_instrument_gives_its_grades_to_a_dimension_and_to_its_reverse() -> None:
    instrument = load_instrument("note_quality")
    name = instrument.dimensions[0].name
    found = grades_from_instrument(instrument, name)
    assert (found and (found.values[0], found.source), grades_from_instrument(instrument, "nothing")) == (
        (1.0, "instrument note_quality"),
        None,
    )


def test_dimensions_that_no_instrument_knows_come_last_by_name() -> None:
    known = of_instrument(load_instrument("note_quality"))
    rows = frame(dimension=["zeal", known[1].name, "art", known[0].name])
    assert [
        (each.name == each.label, each.grades is None, each.derived) for each in present(known, rows, None)
    ], [each.name for each in present(known, rows, None)][2:] == (
        [(False, False, False), (False, False, False), (True, True, False), (True, True, False)],
        ["art", "zeal"],
    )


def test_cases_bring_patients_and_vendors_of_the_systems_that_were_rated() -> None:
    rows = clean_rows(frame(item=["1", "2"], system=["s", "s"], patient=["old", None]))
    cases = [
        Case(id="1", system="s", vendor="maker", patient="new", candidate="x"),
        Case(id="2", system="s", candidate="x"),
        Case(id="3", system="t", vendor="other", candidate="x"),
    ]
    found, vendors = with_cases(rows, cases)
    assert (found.select("item", "patient", "cluster").rows(), vendors) == (
        [("1", "new", "patient new"), ("2", None, "item 2")],
        {"s": "maker"},
    )


def test_names_that_look_alike_are_warned_of_and_never_merged() -> None:
    assert [
        look_alikes(names, lambda first, second, together=together: together)
        for names, together in (
            (["Dr Lee", "dr. lee"], True),
            (["smith", "smtih"], False),
            (["smith", "smtih"], True),
            (["judge1", "judge2"], False),
            (["anna", "anne"], False),
            (["rater_a", "rater_b"], False),
            (["meyer", "meier"], False),
            (["meyer", "mmeyer"], False),
            (["mayer", "mayer s"], False),
            (["--", "++"], False),
        )
    ] == [
        [("raters 'Dr Lee' and 'dr. lee' look like one rater spelled two ways; they were kept apart")],
        [("raters 'smith' and 'smtih' look like one rater spelled two ways; they were kept apart")],
        [],
        [],
        [],
        [],
        [("raters 'meier' and 'meyer' look like one rater spelled two ways; they were kept apart")],
        [("raters 'meyer' and 'mmeyer' look like one rater spelled two ways; they were kept apart")],
        [],
        [],
    ]


def test_an_unknown_rater_is_answered_with_the_nearest() -> None:
    assert [
        refused(lambda name=name: known_rater(name, ["Dr Lee", "jury"], "reference"))
        for name in ("dr.lee", "jurry", "x")
    ] == [
        "there is no rater 'dr.lee' to be the reference; did you mean 'Dr Lee'?",
        "there is no rater 'jurry' to be the reference; did you mean 'jury'?",
        "there is no rater 'x' to be the reference; known: Dr Lee, jury",
    ]
