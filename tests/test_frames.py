"""Tables of other libraries come in as they are, and results go out to them."""

from __future__ import annotations

from datetime import datetime

import pandas
import polars as pl
import pytest

import medjury
from medjury.analysis.agreement import AgreementTable
from medjury.foundation.errors import MedjuryError
from medjury.foundation.frames import as_polars

ROWS = [
    {"item": item, "rater": rater, "dimension": "accuracy", "score": score}
    for item, scores in (("1", (4, 5)), ("2", (2, 2)), ("3", (3, None)), ("4", (5, 4)), ("5", (1, 2)))
    for rater, score in zip(("a", "b"), scores, strict=True)
]


def compared(ratings: object) -> AgreementTable:
    table = medjury.rating_table(ratings, scale=(1, 5))
    return medjury.agreement(table, raters="b", reference="a", resamples=200)


@pytest.mark.parametrize("make", [list, pl.DataFrame, pandas.DataFrame], ids=["dicts", "polars", "pandas"])
def test_the_same_ratings_give_the_same_numbers_whatever_holds_them(make: type) -> None:
    found = compared(make(ROWS))
    row = found.find(rater="b", dimension="accuracy", statistic="exact_match")
    assert row.estimate.n == 4
    assert found.to_dicts() == found.frame().to_dicts()
    assert found.to_pandas().shape == found.frame().shape


def test_what_is_missing_in_pandas_is_missing_here() -> None:
    frame = pandas.DataFrame(
        {
            "number": [1.5, float("nan"), None],
            "whole": pandas.array([1, None, 3], dtype="Int64"),
            "text": ["x", None, float("nan")],
            "when": [pandas.Timestamp("2026-01-02"), pandas.NaT, pandas.NaT],
        }
    )
    made = as_polars(frame)
    assert made is not None
    assert made["number"].to_list() == [1.5, None, None]
    assert made["whole"].to_list() == [1, None, 3]
    assert made["text"].to_list() == ["x", None, None]
    assert made["when"].to_list() == [datetime(2026, 1, 2), None, None]


def test_numbers_and_words_in_one_column_are_all_kept() -> None:
    made = as_polars([{"score": 4}, {"score": "refused"}, {"score": 4.5}, {}])
    assert made is not None and made["score"].to_list() == ["4", "refused", "4.5", None]
    rows = [{**row, "score": "refused" if row["item"] == "2" else row["score"]} for row in ROWS]
    found = compared(rows)
    assert found.find(rater="b", dimension="accuracy", statistic="exact_match").estimate.n == 3


def test_whole_and_broken_numbers_stay_numbers() -> None:
    made = as_polars([{"score": 4}, {"score": 4.5}])
    assert made is not None and made["score"].to_list() == [4.0, 4.5]


@pytest.mark.parametrize(
    ("frame", "why"),
    [
        (pandas.DataFrame([[1, 2]], columns=["a", "a"]), "the column a appears twice"),
        (pandas.DataFrame([[1]], columns=[7]), "a column's name must be text, not 7"),
    ],
)
def test_a_table_whose_columns_cannot_be_told_apart_is_refused(frame: pandas.DataFrame, why: str) -> None:
    with pytest.raises(MedjuryError, match=why):
        as_polars(frame)


def test_cases_come_from_a_pandas_table_too() -> None:
    frame = pandas.DataFrame(
        {"id": ["v1"], "system": ["a"], "candidate": ["Cough."], "reference": ["Cough."]}
    )
    (case,) = medjury.cases_from_frame(frame)
    assert (case.id, case.candidate) == ("v1", "Cough.")
    with pytest.raises(MedjuryError, match="cases come from a polars, pandas or Arrow table"):
        medjury.cases_from_frame(7)


def test_every_result_can_be_drawn() -> None:
    found = compared(ROWS)
    axes = found.forest().axes[0]
    assert len(axes.get_yticks()) == sum(
        row.as_dict()[axes.get_xlabel().replace(" ", "_")] is not None for row in found.rows
    )
    with pytest.raises(MedjuryError, match="there is no measure 'happiness' with an interval; there are"):
        found.forest("happiness")
