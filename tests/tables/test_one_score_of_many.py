"""One score of several raters: consensus, danger, and answers in rows."""

from __future__ import annotations

import numpy as np
import polars as pl
from tests.tables.run_folders import frame, nans, rows_of

from medjury.instruments import load_instrument
from medjury.tables import danger_reference, rating_table
from medjury.tables._dimensions import Grades, of_instrument, present
from medjury.tables._grid import answers_of


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


def test_dimensions_that_no_instrument_knows_come_last_by_name() -> None:
    known = of_instrument(load_instrument("note_quality"))
    rows = frame(dimension=["zeal", known[1].name, "art", known[0].name])
    assert [
        (each.name == each.label, each.grades is None, each.derived) for each in present(known, rows, None)
    ], [each.name for each in present(known, rows, None)][2:] == (
        [(False, False, False), (False, False, False), (True, True, False), (True, True, False)],
        ["art", "zeal"],
    )
