"""Rows to trust: what is dirt becomes unscored with its reason, what contradicts itself is refused with its row."""

from __future__ import annotations

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from medjury.foundation.errors import MedjuryError
from medjury.tables._clean import clean_rows


def frame(**columns: list[object]) -> pl.DataFrame:
    base = {"item": ["1", "2"], "rater": ["a", "a"], "dimension": ["q", "q"], "score": [1.0, 2.0]}
    return pl.DataFrame({**base, **columns}, strict=False)


def test_every_other_column_is_kept_as_it_is() -> None:
    given = frame(
        explanation=["because", "so"], seconds=[1.5, None], vendor=["x", "y"], language=["en", "de"]
    )
    cleaned = clean_rows(given)
    assert_frame_equal(cleaned.select(given.columns), given)
    assert cleaned["cluster"].to_list() == ["item 1", "item 2"]


def test_columns_with_the_names_of_what_is_added_keep_their_content_and_do_no_harm() -> None:
    given = frame(
        row=[7, 8], cluster=["x", "x"], of=["p", "p"], odd=[True, True], unit=[0, 0], off_scale=[9, 9]
    )
    cleaned = clean_rows(given.with_columns(content_hash=pl.col("item")))
    assert cleaned["own row"].to_list() == [7, 8]
    assert cleaned["own cluster"].to_list() == ["x", "x"]
    assert cleaned["own off_scale"].to_list() == [9, 9]
    assert cleaned["cluster"].to_list() == ["item 1", "item 2"]
    assert cleaned["row"].to_list() == [1, 2]
    assert cleaned["of"].to_list() == ["p", "p"]


def test_items_with_the_same_content_are_one_cluster_whatever_their_ids_and_patients() -> None:
    assert clean_rows(frame(content_hash=["h", "h"]))["cluster"].to_list() == ["item 1", "item 1"]
    assert clean_rows(frame(content_hash=["h", "h"], patient=["p", "q"]))["cluster"].n_unique() == 1
    assert clean_rows(frame(content_hash=["h", None]))["cluster"].n_unique() == 2
    first = frame(content_hash=["h", "g"], patient=["p", "p"])
    chain = pl.concat([first, frame(item=["3", "4"], content_hash=["h", "g"], patient=["q", "r"])])
    assert clean_rows(chain)["cluster"].unique().to_list() == ["patient p"], (
        "texts of one patient join others"
    )


def test_cleaning_what_is_clean_changes_nothing_however_often() -> None:
    once = clean_rows(frame(score=["1", "x"], patient=["p", "p"]))
    again = clean_rows(clean_rows(clean_rows(once)))
    assert_frame_equal(again.select(once.columns), once)


def test_a_patient_is_never_mistaken_for_an_item_of_the_same_name() -> None:
    cleaned = clean_rows(frame(item=["7", "8"], patient=[None, "7"]))
    assert cleaned["cluster"].to_list() == ["item 7", "patient 7"]
    assert cleaned["cluster"].n_unique() == 2


def test_a_patient_named_in_one_row_is_that_of_all_rows_of_the_item() -> None:
    cleaned = clean_rows(frame(item=["1", "1"], rater=["a", "b"], patient=["p", None]))
    assert cleaned["cluster"].to_list() == ["patient p", "patient p"]


@pytest.mark.parametrize("nobody", [None, "", "  "])
def test_a_patient_of_spaces_is_nobody_and_joins_no_cases(nobody: str | None) -> None:
    cleaned = clean_rows(frame(patient=[nobody, nobody]))
    assert cleaned["cluster"].to_list() == ["item 1", "item 2"]


def test_no_rows_are_allowed_only_where_it_is_said() -> None:
    with pytest.raises(MedjuryError, match="no rows"):
        clean_rows(frame()[:0])
    assert clean_rows(frame()[:0], may_be_empty=True).columns[-1] == "cluster"


def test_a_lazy_frame_is_collected() -> None:
    assert clean_rows(frame().lazy()).height == 2
