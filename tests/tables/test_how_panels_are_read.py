"""Two tables of scores: every note on how they were read, and every refusal, word by word."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from tests.tables.run_folders import refused

from medjury.store.runs import GateRules
from medjury.tables import RatingTable, two_panels


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


def test_the_dimension_can_be_named() -> None:
    assert [
        each.name for each in panels("item,dr\na,1\n", "item,gpt\na,1\n", dimension="clarity").dimensions
    ] == ["clarity"]


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


def test_a_name_that_is_there_twice_is_refused() -> None:
    assert without_panels("item,case,dr\na,b,1\n", "item,gpt\na,1\n", item="case") == (
        "HUMANS (h.csv): --item names the column 'case', but there is a column 'item' too; rename one of them"
    )


def test_a_column_that_names_the_rater_cannot_be_beside_raters() -> None:
    assert [
        without_panels("item,rater,x\na,doc,1\n", "item,rater,x\na,gpt,1\n", columns="raters"),
        without_panels("item,dimension,x\na,d,1\n", "item,dimension,y\na,d,1\n", columns="dimensions"),
    ] == [
        "HUMANS (h.csv): the table has a column rater, so its other columns cannot be raters",
        ("HUMANS (h.csv): the table has a column dimension, so its other columns cannot be dimensions"),
    ]


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
