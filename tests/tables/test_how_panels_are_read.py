"""Two tables of scores: every note on how they were read, and every refusal, word by word."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from medjury.foundation.errors import MedjuryError
from medjury.store.runs import GateRules
from medjury.tables import RatingTable, two_panels

LONG = "item,rater,dimension,score\n"


def refused(call: Callable[[], object]) -> str:
    with pytest.raises(MedjuryError) as caught:
        call()
    return str(caught.value)


def panels(humans: str, judges: str, **options: Any) -> RatingTable:
    """Two CSV files as one table."""
    with tempfile.TemporaryDirectory() as folder:
        places = [Path(folder) / name for name in ("h.csv", "j.csv")]
        for place, text in zip(places, (humans, judges), strict=True):
            place.write_text(text)
        return two_panels(*places, **{"scale": (1, 5), **options})


def without_panels(humans: str, judges: str, **options: Any) -> str:
    return refused(lambda: panels(humans, judges, **options))


def cells(table: RatingTable) -> list[tuple[Any, ...]]:
    names = ["item", "system", "rater", "rater_kind", "dimension", "score", "status", "reason"]
    return table.everything.sort("rater", "dimension", "item", "system").select(names).rows()


def test_wide_tables_of_raters_are_told_column_by_column() -> None:
    found = panels("item,dr_a,dr_b,site\na,1,2,x\nb,3,,x\n", "item,gpt\na,1\nc,2\n")
    assert (found.notes, cells(found)) == (
        (
            "HUMANS (h.csv): wide: the columns dr_a, dr_b are raters",
            "HUMANS (h.csv): kept as what tells cases apart: site",
            "HUMANS (h.csv): 1 empty cells: not rated",
            "HUMANS (h.csv): 3 ratings by dr_a, dr_b",
            "JUDGES (j.csv): wide: the columns gpt are raters",
            "JUDGES (j.csv): 2 ratings by gpt",
            "answers, counted for each dimension: 1 are in both tables",
            (
                "1 scores of judges are not in the table, for answers that clinicians rated: they "
                "count as unscored (1 of these answers have no judge's score at all)"
            ),
            "1 only the judges scored: nothing to compare them with",
            "higher scores are taken as better; an --instrument may say otherwise",
        ),
        [
            ("a", "", "dr_a", "clinician", "score", 1.0, "scored", None),
            ("b", "", "dr_a", "clinician", "score", 3.0, "scored", None),
            ("a", "", "dr_b", "clinician", "score", 2.0, "scored", None),
            ("a", "", "gpt", "judge", "score", 1.0, "scored", None),
            ("b", "", "gpt", "judge", "score", None, "unscored", "missing"),
            ("c", "", "gpt", "judge", "score", 2.0, "scored", None),
        ],
    )


def test_long_tables_are_told_as_such() -> None:
    found = panels(
        LONG + "a,doc,accuracy,1\nb,doc,accuracy,x\n", LONG + "a,gpt,accuracy,2\nb,gpt,accuracy,3\n"
    )
    assert found.notes == (
        "HUMANS (h.csv): long: one score in each row",
        "HUMANS (h.csv): 1 of 2 scores are empty or not a number: they count as unscored",
        "HUMANS (h.csv): 2 ratings by doc",
        "JUDGES (j.csv): long: one score in each row",
        "JUDGES (j.csv): 2 ratings by gpt",
        "answers, counted for each dimension: 2 are in both tables",
        "higher scores are taken as better; an --instrument may say otherwise",
    )


def test_one_column_of_scores_in_each_table_is_one_clinician_and_one_judge() -> None:
    found = panels("item,score\na,1\nb,2\n", "item,score\na,1\nb,3\n")
    assert (found.notes, dict(found.raters)) == (
        (
            "HUMANS (h.csv): long: one score in each row",
            "HUMANS (h.csv): no column names the rater: all scores are those of one clinician",
            "HUMANS (h.csv): no column names the dimension: it is called 'score'",
            "HUMANS (h.csv): 2 ratings by clinician",
            "JUDGES (j.csv): long: one score in each row",
            "JUDGES (j.csv): no column names the rater: all scores are those of one judge",
            "JUDGES (j.csv): no column names the dimension: it is called 'score'",
            "JUDGES (j.csv): 2 ratings by judge",
            "answers, counted for each dimension: 2 are in both tables",
            "higher scores are taken as better; an --instrument may say otherwise",
        ),
        {"clinician": "clinician", "judge": "judge"},
    )


def test_columns_beside_one_that_names_the_rater_are_dimensions() -> None:
    found = panels("item,rater,clarity,zeal\na,doc,1,2\n", "item,rater,clarity,zeal\na,gpt,1,5\n")
    assert (found.notes, [each.name for each in found.dimensions]) == (
        (
            "HUMANS (h.csv): wide: the columns clarity, zeal are dimensions",
            "HUMANS (h.csv): 2 ratings by doc",
            "JUDGES (j.csv): wide: the columns clarity, zeal are dimensions",
            "JUDGES (j.csv): 2 ratings by gpt",
            "answers, counted for each dimension: 2 are in both tables",
            "higher scores are taken as better; an --instrument may say otherwise",
        ),
        ["clarity", "zeal"],
    )


def test_the_dimension_can_be_named() -> None:
    assert [
        each.name for each in panels("item,dr\na,1\n", "item,gpt\na,1\n", dimension="clarity").dimensions
    ] == ["clarity"]


def test_other_names_of_columns_are_told() -> None:
    found = panels(
        "case,model,who,dr\na,x,p,1\n", "case,model,gpt\na,x,2\n", item="case", system="model", patient="who"
    )
    assert (found.notes[:4], found.rows["cluster"].to_list(), found.systems) == (
        (
            "HUMANS (h.csv): item is the column 'case'",
            "HUMANS (h.csv): system is the column 'model'",
            "HUMANS (h.csv): patient is the column 'who'",
            "HUMANS (h.csv): wide: the columns dr are raters",
        ),
        ["patient p", "patient p"],
        ("x",),
    )


def test_without_a_scale_and_an_instrument_it_is_told_what_is_assumed() -> None:
    assert panels("item,dr\na,1\n", "item,gpt\na,1\n", scale=None).notes[-2:] == (
        "no scale is known for score: no kappa and no severe errors; say --scale LOW HIGH",
        "higher scores are taken as better; an --instrument may say otherwise",
    )


def test_rules_set_development_cases_aside() -> None:
    found = panels(
        "item,dr\na,1\nb,2\n", "item,gpt\na,1\nb,2\n", rules=GateRules(development_cases=("a",), floor=0.3)
    )
    assert (found.rules.floor, found.left_aside, found.rows["item"].unique().to_list()) == (0.3, 1, ["b"])


def test_kinds_of_raters_that_have_no_place_in_a_table_are_left_aside_and_told() -> None:
    rows = "a,one,d,1,clinician\na,gpt,d,2,Judge \na,bleu,d,3, METRIC\na,x,d,4,\n"
    found = panels(LONG + "a,doc,d,1\n", f"item,rater,dimension,score,rater_kind\n{rows}")
    assert ([note for note in found.notes if "another kind of rater" in note], dict(found.raters)) == (
        ["JUDGES (j.csv): 1 ratings of another kind of rater are left out"],
        {"bleu": "metric", "doc": "clinician", "gpt": "judge", "x": "judge"},
    )


def test_a_table_without_anybody_of_its_kind_is_refused() -> None:
    assert (
        without_panels(LONG + "a,doc,d,1\n", "item,rater,dimension,score,rater_kind\na,doc,d,1,clinician\n")
        == "JUDGES (j.csv): no rating is of the kind judge or jury or metric"
    )


def test_score_columns_can_be_named() -> None:
    found = panels(
        "item,dr,pages\na,1,900\n", "item,gpt,pages\na,2,900\n", scores=["dr", "gpt"], columns="raters"
    )
    assert (dict(found.raters), [note for note in found.notes if "not read" in note]) == (
        {"dr": "clinician", "gpt": "judge"},
        ["HUMANS (h.csv): not read as scores: pages", "JUDGES (j.csv): not read as scores: pages"],
    )


def test_what_cannot_be_meant_is_refused_word_by_word() -> None:
    assert [
        without_panels("item,dr\na,1\n", "item,gpt\na,1\n", **options)
        for options in ({"item": "case"}, {"system": "model"}, {"patient": "who"}, {"scores": ["nobody"]})
    ] == [
        "HUMANS (h.csv): there is no column 'case'; known: item, dr",
        "neither table has the column 'model' (--system)",
        "neither table has the column 'who' (--patient)",
        "HUMANS (h.csv): none of the columns named with --scores is there; it has ['dr']",
    ]


def test_a_table_that_tells_no_case_says_what_it_has() -> None:
    assert without_panels("case,dr\na,1\n", "item,gpt\na,1\n") == (
        "HUMANS (h.csv): which column names the case? It has case, dr. Say it with --item COLUMN."
    )


def test_a_name_that_is_there_twice_is_refused() -> None:
    assert without_panels("item,case,dr\na,b,1\n", "item,gpt\na,1\n", item="case") == (
        "HUMANS (h.csv): --item names the column 'case', but there is a column 'item' too; rename one of them"
    )


def test_a_system_on_one_side_only_is_refused() -> None:
    assert without_panels("item,system,dr\na,x,1\n", "item,gpt\na,1\n") == (
        "HUMANS (h.csv) says which system wrote each answer and JUDGES (j.csv) does not, so "
        "nobody knows which scores belong together; add the column there (or name it with "
        "--system COLUMN)"
    )


def test_a_rater_on_both_sides_is_refused() -> None:
    assert without_panels(LONG + "a,doc,d,1\n", LONG + "a,doc,d,1\n") == (
        "the rater 'doc' is in both tables, and a rater cannot be its own yardstick; where "
        "these are two raters, give them two names, and where the columns are dimensions, "
        "say --columns dimensions"
    )


def test_columns_that_could_be_either_are_refused_until_it_is_said() -> None:
    assert [
        without_panels("item,x,y\na,1,1\n", "item,y,z\na,1,1\n"),
        without_panels("item,rater_1\na,1\n", "item,rater_1,rater_2\na,1,2\n"),
    ] == [
        (
            "HUMANS (h.csv): are the columns x, y raters or dimensions? The tables do not tell. "
            "Say --columns raters or --columns dimensions, and name the score columns with "
            "--scores where some are not."
        ),
        (
            "HUMANS (h.csv): are the columns rater_1 raters or dimensions? The tables do not "
            "tell. Say --columns raters or --columns dimensions, and name the score columns with "
            "--scores where some are not."
        ),
    ]


def test_a_column_that_names_the_rater_cannot_be_beside_raters() -> None:
    assert [
        without_panels("item,rater,x\na,doc,1\n", "item,rater,x\na,gpt,1\n", columns="raters"),
        without_panels("item,dimension,x\na,d,1\n", "item,dimension,y\na,d,1\n", columns="dimensions"),
    ] == [
        "HUMANS (h.csv): the table has a column rater, so its other columns cannot be raters",
        ("HUMANS (h.csv): the table has a column dimension, so its other columns cannot be dimensions"),
    ]


def test_the_same_columns_on_both_sides_are_dimensions_unless_they_are_names_of_raters() -> None:
    assert [
        [each.name for each in panels("item,x,y\na,1,1\n", "item,x,y\na,1,1\n").dimensions],
        without_panels("item,rater_1,judge\na,1,1\n", "item,rater_1,judge\na,1,1\n")[:70],
    ] == [["x", "y"], "HUMANS (h.csv): are the columns rater_1, judge raters or dimensions? T"]


def test_an_empty_table_and_one_without_scores_are_refused() -> None:
    assert [
        without_panels("item,dr\n", "item,gpt\na,1\n"),
        without_panels("item,dr\na,word\n", "item,gpt\na,1\n"),
    ] == [
        "HUMANS (h.csv): the table has no rows",
        (
            "HUMANS (h.csv): no column holds scores. A long table has the columns item, rater, "
            "dimension, score; a wide one has item and a column of numbers for each rater, or "
            "for each dimension. Anything else can be described in a mapping file "
            "(docs/importing-ratings.md)."
        ),
    ]


def test_decimal_commas_are_refused_with_the_first_of_them() -> None:
    assert [
        without_panels('item,dr\na,"4,5"\n', "item,gpt\na,1\n"),
        without_panels(LONG + 'a,doc,d,"4,5"\nb,doc,d,"-3,5"\n', LONG + "a,gpt,d,1\n"),
    ] == [
        ("HUMANS (h.csv): 1 score in the column 'dr' has a decimal comma (first: '4,5'); write 4.5"),
        ("HUMANS (h.csv): 2 scores in the column 'score' have a decimal comma (first: '4,5'); write 4.5"),
    ]


def test_scores_without_a_case_are_counted_and_the_first_is_named() -> None:
    assert (
        without_panels("item,dr\na,1\n ,2\n,3\n", "item,gpt\na,1\n")
        == "HUMANS (h.csv): 2 scores have no item, first the one numbered 2; fill it in"
    )


def test_answers_that_never_meet_are_refused_with_the_first_of_each() -> None:
    assert without_panels("item,system,dr\nb,x,1\na,x,1\n", "item,system,gpt\na,y,1\n") == (
        "no answer is in both tables, so nothing can be compared: are items, systems "
        "and dimensions written alike? HUMANS (h.csv) begins with 'a', 'x', 'score'; JUDGES "
        "(j.csv) begins with 'a', 'y', 'score'."
    )


def test_a_rater_off_the_scale_is_refused_and_half_of_them_is_not() -> None:
    assert [
        without_panels("item,dr,pages\na,1,70\nb,2,80\nc,2,4\n", "item,gpt\na,1\nb,2\nc,3\n"),
        dict(panels("item,dr,pages\na,1,70\nb,2,4\n", "item,gpt\na,1\nb,2\n").raters),
    ] == [
        (
            "2 of 3 scores of 'pages' on 'score' lie off the scale. Where this is not a rater, name "
            "the columns that hold scores with --scores C,C2; else correct the scale."
        ),
        {"dr": "clinician", "gpt": "judge", "pages": "clinician"},
    ]


def test_a_row_of_too_many_cells_is_refused() -> None:
    assert without_panels("item,dr\na,1,2,3\n", "item,gpt\na,1\n") == (
        "HUMANS (h.csv): some row has more cells than the header names; look for a stray "
        "separator or quotation mark"
    )


def test_what_the_judges_alone_scored_is_told() -> None:
    assert panels("item,dr\na,1\n", "item,gpt,claude\na,1,\nb,2,3\nc,2,3\n").notes == (
        "HUMANS (h.csv): wide: the columns dr are raters",
        "HUMANS (h.csv): 1 ratings by dr",
        "JUDGES (j.csv): wide: the columns gpt, claude are raters",
        "JUDGES (j.csv): 1 of 6 scores are empty or not a number: they count as unscored",
        "JUDGES (j.csv): 6 ratings by gpt, claude",
        "answers, counted for each dimension: 1 are in both tables",
        "2 only the judges scored: nothing to compare them with",
        "higher scores are taken as better; an --instrument may say otherwise",
    )


def test_a_note_on_each_answer_that_some_judge_lacks() -> None:
    found = panels(LONG + "a,doc,d,1\nb,doc,d,2\n", LONG + "a,gpt,d,1\nb,gpt,d,2\na,claude,d,1\n")
    assert (found.notes[-3:], [row for row in cells(found) if row[2] == "claude"]) == (
        (
            "answers, counted for each dimension: 2 are in both tables",
            (
                "1 scores of judges are not in the table, for answers that clinicians rated: they "
                "count as unscored (0 of these answers have no judge's score at all)"
            ),
            "higher scores are taken as better; an --instrument may say otherwise",
        ),
        [
            ("a", "", "claude", "judge", "d", 1.0, "scored", None),
            ("b", "", "claude", "judge", "d", None, "unscored", "missing"),
        ],
    )
