"""Rows as people bring them: what is unscored and why, and what is refused with its row."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import polars as pl
from tests.tables.run_folders import frame, refused

from medjury.tables._clean import clean_rows
from medjury.tables._read import read_plain_table


def file_of(name: str, text: str) -> Any:
    """What a file of this text is read as."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / name
        place.write_text(text)
        found = read_plain_table(place)
        return None if found is None else (found.columns, found.rows())


def test_scores_of_every_kind_are_read_or_unscored_with_a_reason() -> None:
    assert clean_rows(
        frame(score=["4", " 2.5 ", "good", "", "NA", "n/a", "None", "nan", "inf", "-inf", None])
    ).select("score", "status", "reason").rows() == [
        (4.0, "scored", None),
        (2.5, "scored", None),
        (None, "unscored", "parse"),
        (None, "unscored", "missing"),
        (None, "unscored", "missing"),
        (None, "unscored", "missing"),
        (None, "unscored", "missing"),
        (None, "unscored", "missing"),
        (None, "unscored", "out_of_range"),
        (None, "unscored", "out_of_range"),
        (None, "unscored", "missing"),
    ]


def test_whole_numbers_truth_and_nothing_are_scores_too() -> None:
    assert [
        clean_rows(frame(score=values)).select("score", "status", "reason").rows()
        for values in ([1, 2], [True, False], [None, None], [float("nan"), float("inf")])
    ] == [
        [(1.0, "scored", None), (2.0, "scored", None)],
        [(1.0, "scored", None), (0.0, "scored", None)],
        [(None, "unscored", "missing"), (None, "unscored", "missing")],
        [(None, "unscored", "missing"), (None, "unscored", "out_of_range")],
    ]


def test_a_status_that_is_stated_is_kept_with_its_reason() -> None:
    rows = clean_rows(
        frame(
            score=[None, None, 3.0, None],
            status=[" Not_Applicable", "unscored", "scored", ""],
            reason=["does not fit", "timeout", "x", "y"],
        )
    )
    assert rows.select("score", "status", "reason").rows() == [
        (None, "not_applicable", "does not fit"),
        (None, "unscored", "timeout"),
        (3.0, "scored", None),
        (None, "unscored", "missing"),
    ]


def test_what_is_missing_keeps_its_row_and_its_place() -> None:
    rows = clean_rows(
        frame(score=[1, 2], system=[None, "s"], patient=[" p ", "  "], rater_kind=[" Judge", None])
    )
    assert rows.select("row", "system", "patient", "rater_kind", "repeat", "cluster").rows() == [
        (1, "", "p", "judge", 0, "patient p"),
        (2, "s", None, None, 0, "item 1"),
    ]


def test_what_cannot_be_read_is_refused_with_its_row() -> None:
    assert [
        refused(lambda given=given: clean_rows(given))
        for given in (
            pl.DataFrame({"item": ["1"], "rater": ["a"]}),
            pl.DataFrame({"item": ["1"], "rater": ["a"], "dimension": ["d"]}),
            frame(item=["1"]).clear(),
            frame(item=["1", " ", None]),
            frame(rater=[None]),
            frame(dimension=[""]),
            frame(status=["fine"]),
            frame(status=["unscored"]),
            frame(repeat=["one"]),
            frame(item=[["a"]]),
            frame(score=[["a"]]),
            frame(repeat=[["a"]]),
            frame(item=["1", "1"], rater=["a", "b"], patient=["p", "q"]),
            "a string",
            [1, 2],
        )
    ] == [
        (
            "the ratings lack the columns dimension, score; they have item, rater. Rename the "
            "columns, or describe them in a mapping file."
        ),
        (
            "the ratings lack the column score; they have item, rater, dimension. Rename the "
            "columns, or describe them in a mapping file."
        ),
        "there are no ratings: the table has no rows.",
        "2 ratings have no item, first in row 2; fill it in.",
        "1 ratings have no rater, first in row 1; fill it in.",
        "1 ratings have no dimension, first in row 1; fill it in.",
        "row 1: the status 'fine' is unknown; use scored, unscored, not_applicable.",
        (
            "row 1: the status is 'unscored' but there is a score; an unscored rating has none. "
            "Clear the score or correct the status."
        ),
        "row 1: the repeat 'one' is not a whole number.",
        "the column item holds List(String), which is not a name or text.",
        "the score column holds List(String), not numbers.",
        "the column repeat holds List(String), not whole numbers.",
        "item '1' has 2 patients: p, q. An item belongs to one patient.",
        "ratings are a polars, pandas or Arrow table, or a list of dictionaries or of Rating objects, not str.",
        "ratings are a polars, pandas or Arrow table, or a list of dictionaries or of Rating objects, not list.",
    ]


def test_copies_are_refused_with_their_rows() -> None:
    assert [
        refused(lambda given=given: clean_rows(given))
        for given in (
            frame(item=["1", "2", "1", "1"]),
            frame(item=["1", "1"], system=["s", "s"], repeat=[2, 2]),
        )
    ] == [
        (
            "1 ratings appear more than once: 'a' rated item '1' on 'd' (repeat 0) in rows 1, 3, "
            "4. Remove the copies, or number real repeats in a column `repeat`."
        ),
        (
            "1 ratings appear more than once: 'a' rated item '1' of system 's' on 'd' (repeat 2) "
            "in rows 1, 2. Remove the copies, or number real repeats in a column `repeat`."
        ),
    ]


def test_the_same_item_may_be_rated_again_in_a_repeat() -> None:
    assert clean_rows(frame(item=["1", "1"], repeat=[None, 1]))["repeat"].to_list() == [0, 1]


def test_contents_that_differ_under_one_id_are_misaligned_and_others_are_not() -> None:
    rows = clean_rows(
        frame(item=["1", "1", "2", "2"], rater=["a", "b", "a", "b"], content_hash=["x", "y", "z", None])
    )
    assert rows.select("item", "score", "status", "reason").rows() == [
        ("1", None, "unscored", "misaligned"),
        ("1", None, "unscored", "misaligned"),
        ("2", 3.0, "scored", None),
        ("2", 3.0, "scored", None),
    ]


def test_files_are_read_by_their_ending_and_their_separator() -> None:
    assert [
        file_of(*each)
        for each in (
            ("a.csv", "x,y\n1,2\n"),
            ("a.csv", "x;y\n1;2,5\n"),
            ("a.tsv", "x\ty,z\n1\t2\n"),
            ("a.CSV", " x ,y\n1,2\n"),
            ("a.jsonl", '{"x": 1}\n{"x": 2.5}\n'),
            ("a.txt", "x\n1\n"),
            ("a.csv", '"a;b;c",d\n1,2\n'),
        )
    ] == [
        (["x", "y"], [("1", "2")]),
        (["x", "y"], [("1", "2,5")]),
        (["x", "y,z"], [("1", "2")]),
        (["x", "y"], [("1", "2")]),
        (["x"], [(1.0,), (2.5,)]),
        None,
        (["a;b;c", "d"], [("1", "2")]),
    ]


def test_columns_of_one_name_and_empty_files_are_refused() -> None:
    assert [
        refused(lambda text=text: file_of("a.csv", text)).split("a.csv: ")[1]
        for text in ("x,y,x,y\n1,2,3,4\n", "")
    ] == [
        "two columns are named x, y; rename one of them",
        "the file is empty; its first row must name the columns",
    ]
