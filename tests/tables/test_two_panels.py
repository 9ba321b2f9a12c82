"""Two tables of scores, as people have them, become one rating table; how they were read is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from medjury.foundation.errors import MedjuryError
from medjury.tables import RatingTable, two_panels

HUMANS = {"item": ["a", "b", "c", "d"], "dr_a": [1, 2, 4, 5], "dr_b": [1, 3, 4, None]}
JUDGES = {"item": ["a", "b", "c", "d"], "gpt": [1, 2, 5, 5], "claude": [2, 2, 4, 4]}


def written(folder: Path, name: str, columns: dict[str, Any]) -> Path:
    frame, place = pl.DataFrame(columns, strict=False), folder / name
    kind = place.suffix
    if kind == ".csv":
        frame.write_csv(place)
    elif kind == ".tsv":
        frame.write_csv(place, separator="\t")
    elif kind == ".parquet":
        frame.write_parquet(place)
    elif kind == ".jsonl":
        frame.write_ndjson(place)
    else:
        import openpyxl

        book = openpyxl.Workbook()
        sheet = book.active
        assert sheet is not None
        for row in (frame.columns, *frame.iter_rows()):
            sheet.append(list(row))
        book.save(place)
    return place


def scores(table: RatingTable) -> dict[tuple[str, str, str], float]:
    """By item, rater and dimension."""
    rows = table.rows.filter(pl.col("score").is_not_null())
    return {(row["item"], row["rater"], row["dimension"]): row["score"] for row in rows.iter_rows(named=True)}


def read(folder: Path, humans: dict[str, Any], judges: dict[str, Any], **options: Any) -> RatingTable:
    both = written(folder, "h.csv", humans), written(folder, "j.csv", judges)
    return two_panels(*both, **{"scale": (1, 5), **options})


@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet", "jsonl", "xlsx"])
def test_wide_tables_of_every_kind_have_a_column_for_each_rater(tmp_path: Path, kind: str) -> None:
    table = two_panels(
        written(tmp_path, f"h.{kind}", HUMANS), written(tmp_path, f"j.{kind}", JUDGES), scale=(1, 5)
    )
    assert table.raters == {"claude": "judge", "dr_a": "clinician", "dr_b": "clinician", "gpt": "judge"}
    assert scores(table)["b", "dr_b", "score"] == 3 and scores(table)["d", "claude", "score"] == 4
    assert len(scores(table)) == 15
    assert any("the columns dr_a, dr_b are raters" in note for note in table.notes)
    assert any("HUMANS" in note and "1 empty cells: not rated" in note for note in table.notes)


def test_long_tables_are_read_as_they_are(tmp_path: Path) -> None:
    humans = {
        "item": ["a", "a", "b"],
        "rater": ["x", "y", "x"],
        "dimension": ["safety"] * 3,
        "score": [1, 2, 5],
    }
    judges = {"item": ["a", "b"], "rater": ["gpt"] * 2, "dimension": ["safety"] * 2, "score": [2, 4]}
    table = read(tmp_path, humans, judges)
    assert scores(table) == {
        ("a", "x", "safety"): 1,
        ("a", "y", "safety"): 2,
        ("b", "x", "safety"): 5,
        ("a", "gpt", "safety"): 2,
        ("b", "gpt", "safety"): 4,
    }


def test_the_same_columns_in_both_tables_are_dimensions(tmp_path: Path) -> None:
    humans = {"item": ["a", "b"], "accuracy": [1, 5], "safety": [2, 4]}
    table = read(tmp_path, humans, {**humans, "accuracy": [2, 4]})
    assert table.raters == {"clinician": "clinician", "judge": "judge"}
    assert scores(table)["a", "judge", "accuracy"] == 2 and scores(table)["b", "clinician", "safety"] == 4
    assert any("accuracy, safety are dimensions" in note for note in table.notes)
    assert any("no column names the rater" in note for note in table.notes)


def test_columns_beside_one_that_names_the_rater_are_dimensions(tmp_path: Path) -> None:
    humans = {"item": ["a", "b", "a"], "rater": ["x", "x", "y"], "accuracy": [1, 5, 2], "safety": [2, 4, 3]}
    judges = {"item": ["a", "b"], "accuracy": [1, 4], "safety": [5, 4]}
    table = read(tmp_path, humans, judges)
    assert set(table.raters) == {"x", "y", "judge"} and scores(table)["a", "y", "safety"] == 3


def test_a_wide_table_follows_a_long_one(tmp_path: Path) -> None:
    humans = {"item": ["a", "b"], "rater": ["x"] * 2, "dimension": ["safety"] * 2, "score": [1, 5]}
    raters = read(tmp_path, humans, {"item": ["a", "b"], "gpt": [1, 5], "claude": [2, 4]})
    assert scores(raters)["a", "claude", "safety"] == 2
    dimensions = read(tmp_path, humans, {"item": ["a", "b"], "safety": [3, 4]})
    assert scores(dimensions)["a", "judge", "safety"] == 3
    plain = read(tmp_path, {"item": ["a", "b"], "score": [1, 5]}, {"item": ["a", "b"], "gpt": [1, 4]})
    assert scores(plain)["b", "gpt", "score"] == 4 and plain.raters["clinician"] == "clinician"


@pytest.mark.parametrize(
    ("humans", "judges"),
    [
        ({"item": ["a"], "rater_1": [1], "rater_2": [2]}, {"item": ["a"], "rater_1": [1], "rater_2": [2]}),
        ({"item": ["a"], "accuracy": [1], "safety": [2]}, {"item": ["a"], "accuracy": [1], "tone": [2]}),
    ],
)
def test_what_the_tables_do_not_tell_is_refused_until_it_is_said(
    tmp_path: Path, humans: dict[str, Any], judges: dict[str, Any]
) -> None:
    with pytest.raises(MedjuryError, match="raters or dimensions\\? The tables do not tell"):
        read(tmp_path, humans, judges)
    assert read(tmp_path, humans, judges, columns="dimensions").raters == {
        "clinician": "clinician",
        "judge": "judge",
    }


def test_the_case_may_have_another_name_and_must_have_one(tmp_path: Path) -> None:
    named = [
        {"visit": each["item"], **{k: v for k, v in each.items() if k != "item"}} for each in (HUMANS, JUDGES)
    ]
    with pytest.raises(MedjuryError, match="which column names the case\\? It has visit, dr_a, dr_b"):
        read(tmp_path, *named)
    assert len(scores(read(tmp_path, *named, item="visit"))) == 15
    with pytest.raises(MedjuryError, match="there is no column 'visitt'"):
        read(tmp_path, *named, item="visitt")


def test_systems_on_one_side_only_are_refused(tmp_path: Path) -> None:
    with pytest.raises(MedjuryError, match="nobody knows which scores belong together"):
        read(tmp_path, {**HUMANS, "system": ["s"] * 4}, JUDGES)
    both = read(tmp_path, {**HUMANS, "model": ["s"] * 4}, {**JUDGES, "model": ["s"] * 4}, system="model")
    assert both.systems == ("s",)


def test_patients_of_one_table_hold_for_both(tmp_path: Path) -> None:
    table = read(tmp_path, {**HUMANS, "mrn": ["p", "p", "q", "q"]}, JUDGES, patient="mrn")
    assert table.by_patient and table.rows["cluster"].n_unique() == 2


def test_an_answer_that_a_judge_does_not_have_counts_as_unscored(tmp_path: Path) -> None:
    judges = {"item": ["a", "b", "c", "z"], "gpt": [1, 2, 5, 5], "claude": [2, None, 4, 4]}
    table = read(tmp_path, HUMANS, judges)
    assert table.unscored["gpt"] == {"missing": 1} and table.unscored["claude"] == {"missing": 2}
    assert any("2 scores of judges are not in the table" in note for note in table.notes)
    assert any("1 only the judges scored" in note for note in table.notes)


def test_what_is_no_number_is_counted_and_what_holds_none_is_named(tmp_path: Path) -> None:
    humans = {**HUMANS, "dr_a": ["1", "good", "4", "5"], "remark": ["x", "y", "z", ""]}
    table = read(tmp_path, humans, JUDGES)
    assert any("1 of 7 scores are empty or not a number" in note for note in table.notes)
    assert any("not read as scores: remark" in note for note in table.notes)
    assert not any("good" in note for note in table.notes), "no cell is repeated"


def test_a_column_of_something_else_is_refused_by_its_scale(tmp_path: Path) -> None:
    with pytest.raises(MedjuryError, match="4 of 4 scores of 'weight' on 'score' lie off the scale"):
        read(tmp_path, {**HUMANS, "weight": [40, 71, 33, 90]}, JUDGES)
    table = read(
        tmp_path, {**HUMANS, "weight": [40, 71, 33, 90]}, JUDGES, scores=("dr_a", "dr_b", "gpt", "claude")
    )
    assert "weight" not in table.raters


def test_ids_that_never_meet_are_refused_with_the_first_of_both(tmp_path: Path) -> None:
    with pytest.raises(MedjuryError, match=r"no answer is in both tables.*'a'.*'case-1'"):
        read(tmp_path, HUMANS, {"item": ["case-1"], "gpt": [3]})


def test_kinds_that_a_table_tells_are_kept_apart(tmp_path: Path) -> None:
    rows = {
        "item": ["a", "a", "b", "b"], "rater": ["x", "gpt", "x", "gpt"], "dimension": ["d"] * 4,
        "score": [1, 2, 3, 4], "rater_kind": ["clinician", "judge"] * 2,
    }  # fmt: skip
    table = read(tmp_path, rows, rows)
    assert table.raters == {"gpt": "judge", "x": "clinician"}
    assert any("2 ratings of another kind of rater are left out" in note for note in table.notes)
    with pytest.raises(MedjuryError, match="no rating is of the kind judge"):
        read(tmp_path, rows, {**rows, "rater_kind": ["clinician"] * 4})


def test_a_semicolon_parts_columns_where_the_header_uses_it(tmp_path: Path) -> None:
    humans, judges = tmp_path / "h.csv", tmp_path / "j.csv"
    humans.write_text("\ufeffitem;dr_a;dr_b\n01;1;2\n02;5;4\n", encoding="utf-8")
    judges.write_text("item;note, in words;gpt\n01;none;1\n02;none;5\n", encoding="utf-8")
    found = scores(two_panels(humans, judges, scale=(1, 5)))
    assert found["01", "dr_b", "score"] == 2 and found["02", "gpt", "score"] == 5


@pytest.mark.parametrize(
    "text",
    ["item;dr_a;dr_b\na;1,5;2\nb;4;5\n", 'item,rater,dimension,score\na,dr,safety,"1,5"\nb,dr,safety,3\n'],
)
def test_a_decimal_comma_is_refused_and_not_taken_for_a_missing_score(tmp_path: Path, text: str) -> None:
    humans = tmp_path / "h.csv"
    humans.write_text(text)
    with pytest.raises(MedjuryError, match=r"1 score .*decimal comma \(first: '1,5'\); write 1\.5"):
        two_panels(humans, written(tmp_path, "j.csv", {"item": ["a", "b"], "gpt": [1, 2]}), scale=(1, 5))


def test_two_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    humans = tmp_path / "h.csv"
    humans.write_text("item,dr_a,dr_a\na,1,2\nb,4,5\n")
    with pytest.raises(MedjuryError, match="two columns are named dr_a"):
        two_panels(humans, written(tmp_path, "j.csv", {"item": ["a", "b"], "gpt": [1, 2]}), scale=(1, 5))


def test_what_tells_cases_apart_is_kept_and_is_never_a_rater(tmp_path: Path) -> None:
    humans = {
        **HUMANS,
        "specialty": ["cardiology", "surgery"] * 2,
        "sex": [1, 2, 1, 2],
        "age": [50, 61, 72, 83],
    }
    table = read(tmp_path, humans, JUDGES)
    assert set(table.raters) == {"dr_a", "dr_b", "gpt", "claude"}
    known = table.rows.filter(pl.col("rater") == "dr_a").sort("item")
    assert known["specialty"].to_list() == ["cardiology", "surgery"] * 2
    assert known["sex"].cast(pl.Int64).to_list() == [1, 2, 1, 2]
    assert any("kept as what tells cases apart: specialty, sex, age" in note for note in table.notes)


def test_a_rater_is_a_clinician_or_a_judge_and_not_both(tmp_path: Path) -> None:
    with pytest.raises(MedjuryError, match=r"'dr_a' is in both tables.*a rater cannot be its own yardstick"):
        read(tmp_path, HUMANS, {"item": ["a", "b"], "dr_a": [1, 2]}, columns="raters")


def test_every_cell_that_is_no_score_is_counted(tmp_path: Path) -> None:
    judges = {"item": ["a", "b", "c", "d"], "gpt": ["nan", "inf", "4/5", "4"]}
    table = read(tmp_path, HUMANS, judges)
    assert any("3 of 4 scores are empty or not a number" in note for note in table.notes)


def test_a_row_without_a_case_is_named_in_its_own_table(tmp_path: Path) -> None:
    judges = {"item": ["a", " "], "rater": ["gpt"] * 2, "dimension": ["score"] * 2, "score": [1, 2]}
    with pytest.raises(
        MedjuryError, match=r"JUDGES \(j\.csv\): 1 scores have no item, first the one numbered 2"
    ):
        read(tmp_path, HUMANS, judges)


def test_a_row_of_too_many_cells_is_refused_in_words(tmp_path: Path) -> None:
    judges = tmp_path / "j.csv"
    judges.write_text("item,gpt\na,1,2\nb,3\n")
    with pytest.raises(MedjuryError, match=r"JUDGES \(j\.csv\): some row has more cells than the header"):
        two_panels(written(tmp_path, "h.csv", HUMANS), judges, scale=(1, 5))


@pytest.mark.parametrize("scale", [(float("nan"), 5), (1, float("inf")), (5, 1), (1, 10**8)])
def test_a_scale_that_is_none_is_refused(tmp_path: Path, scale: tuple[float, float]) -> None:
    with pytest.raises(MedjuryError, match="a scale "):
        read(tmp_path, HUMANS, JUDGES, scale=scale)


def test_what_the_tables_write_differently_is_told_and_taken_as_it_is(tmp_path: Path) -> None:
    judges = {"item": ["a", "b", "C", "d"], "gpt": [0, 1, 4, 4]}
    table = read(tmp_path, HUMANS, judges, scale=None)
    told = [note for note in table.notes if note.startswith("in doubt: ")]
    assert "4 by the rule 'ignore case and signs'" in told[0] and "shifted by one down" in told[1]
    assert scores(table)["a", "gpt", "score"] == 0
    assert not any("in doubt" in note for note in read(tmp_path, HUMANS, JUDGES).notes)
