"""A mapping file is checked before any row is read, and complaints name the line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import openpyxl
import pytest

from medjury.foundation.errors import MedjuryError
from medjury.store.ratings import read_ratings
from medjury.tables._panel import open_panel


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("itm: id\n", r"m\.yaml, line 1: itm: no such setting here"),
        ("scale: [5, 1]\n", r"line 1: scale: a scale is \[lowest, highest\]"),
        ("scale: {from: 5, to: 1}\n", "`from` must be less than `to`"),
        ("item: id\nlabels: {yes: 1, no: 0}\n", r"line 2: labels: YAML reads yes, no.*in quotes"),
        ("na: [off]\n", "put such words in quotes"),
        ("columns: scores\n", "must hold a place such as"),
        ("columns: '{case}'\n", r"\{case\}: a pattern holds item, system, rater, dimension, repeat"),
        ("columns: '{rater}{rater}'\n", "each at most once"),
        ("columns: '{system}'\nscore: x\n", "`columns` and `score` exclude each other"),
        ("cells: json\ntake: x\nscore: score\n", "`take` is for cells that hold one score"),
        ("cells: json\nscore: score\n", "list the `dimensions`"),
        ("dimensions: []\n", "dimensions"),
        ("rater_kind: doctor\n", "rater_kind"),
        ("item: id\nitem: number\n", "'item' appears twice"),
        ("- item\n", "must hold `name: value` lines"),
        ("item: [", "not valid YAML"),
        ("files: [{file: r.csv}]\n", "names its own files"),
        ("item: Item\n", "there is no column 'Item'; did you mean 'item'?"),
        ("only: {evnt: x}\n", "there is no column 'evnt'"),
        ("columns: 'score_{rater}'\n", "no column matches 'score_{rater}'; it has item, rater"),
        ("content: text\n", "there is no column 'text'"),
        ("instrument: no_such\n", "no built-in instrument 'no_such'"),
    ],
)
def test_mistakes_in_a_mapping(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "r.csv").write_text("item,rater,dimension,score\n1,Lee,accuracy,4\n")
    (tmp_path / "m.yaml").write_text(text)
    with pytest.raises(MedjuryError, match=message):
        read_ratings(tmp_path / "r.csv", mapping=tmp_path / "m.yaml")


def test_a_mapping_alone_must_name_files(tmp_path: Path) -> None:
    (tmp_path / "m.yaml").write_text("item: id\n")
    with pytest.raises(MedjuryError, match="name the files to read under `files`"):
        read_ratings(tmp_path / "m.yaml")
    (tmp_path / "m.yaml").write_text("files: [{file: a.csv}, {file: a.csv}]\n")
    with pytest.raises(MedjuryError, match="twice"):
        read_ratings(tmp_path / "m.yaml")
    (tmp_path / "m.yaml").write_text("files: [{file: a.csv}]\n")
    with pytest.raises(MedjuryError, match=r"a\.csv: there is no such file"):
        read_ratings(tmp_path / "m.yaml")


def test_what_stands_beside_files_holds_for_each_that_does_not_say_otherwise(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,acc\n1,4\n")
    (tmp_path / "b.csv").write_text("case,acc\n1,2\n")
    (tmp_path / "m.yaml").write_text(
        "item: id\nfixed: {rater: Lee, system: scribe}\ndimensions: {accuracy: acc}\ninstrument: note_quality\n"
        "files:\n  - file: a.csv\n  - {file: b.csv, item: case, fixed: {rater: model-x}, rater_kind: judge}\n"
    )
    assert [
        (each.system, each.rater, each.rater_kind, each.score)
        for each in read_ratings(tmp_path / "m.yaml").ratings
    ] == [("scribe", "Lee", "clinician", 4.0), ("scribe", "model-x", "judge", 2.0)]


def test_the_instrument_is_found_beside_the_mapping(tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text(
        "name: own\nversion: '1'\ntitle: Own\ninstructions: Grade it.\ninputs: [{name: candidate, label: Answer}]\n"
        "dimensions:\n  - {name: good, label: Good, definition: Is it good, grades: {0: bad, 1: fine}}\n"
    )
    (tmp_path / "a.csv").write_text("item,rater,dimension,score\n1,Lee,good,2\n")
    (tmp_path / "m.yaml").write_text("instrument: own.yaml\nfiles: [{file: a.csv}]\n")
    with pytest.raises(MedjuryError, match=r"'2' is not on the scale \(0, 1\)"):
        read_ratings(tmp_path / "m.yaml")


RATERS = "item,Ada,Sam,model\n1,4,5,m\n2,3,,m\n"
WHOLE: dict[str, tuple[str, dict[str, Any], set[tuple[str, str, str, str, float]]]] = {
    # a table, its mapping, and every score: item, system, rater, dimension, score
    "a column for each rater": (
        RATERS, {"item": "item", "system": "model", "raters": ["Ada", "Sam"], "fixed": {"dimension": "acc"}},
        {("1", "m", "Ada", "acc", 4), ("1", "m", "Sam", "acc", 5), ("2", "m", "Ada", "acc", 3)}),
    "a column for each case": (
        "who,Case 1,Case 2,remark\nAda,4,5,x\nSam,2,,\n",
        {"rater": "who", "items": {"1": "Case 1", "2": "Case 2"}, "fixed": {"dimension": "acc"}},
        {("1", "", "Ada", "acc", 4), ("2", "", "Ada", "acc", 5), ("1", "", "Sam", "acc", 2)}),
    "a column for each system, JSON in it": (
        'id,alpha,beta\n1,"{""acc"": 4}","{""acc"": 2}"\n',
        {"item": "id", "systems": ["alpha", "beta"], "cells": "json", "dimensions": ["acc"],
         "fixed": {"rater": "Ada"}},
        {("1", "alpha", "Ada", "acc", 4), ("1", "beta", "Ada", "acc", 2)}),
    "a title and instructions above the header": (
        '"Study, part; of\ntwo lines"\n\nGrade from 1 to 5\nid;acc\n7;4\n',
        {"skip_rows": 3, "item": "id", "dimensions": ["acc"], "fixed": {"rater": "Ada"}},
        {("7", "", "Ada", "acc", 4)}),
    "an index without a name": (
        ",acc\n0,4\n1,5\n", {"item": "Unnamed: 0", "dimensions": ["acc"], "fixed": {"rater": "Ada"}},
        {("0", "", "Ada", "acc", 4), ("1", "", "Ada", "acc", 5)}),
    "phrases that begin with their grade": (
        'id,acc\n1,"5. Complete, not 4"\n2,Fair (3)\n3,Poor\n',
        {"item": "id", "dimensions": ["acc"], "cells": "numbered", "labels": {"Poor": 1}, "scale": [1, 5],
         "fixed": {"rater": "Ada"}},
        {("1", "", "Ada", "acc", 5), ("2", "", "Ada", "acc", 3), ("3", "", "Ada", "acc", 1)}),
    "rows of means below the cases": (
        "id,acc\n1,4\nMean,4\n",
        {"item": "id", "dimensions": ["acc"], "without": {"id": ["Mean", "SD"]}, "fixed": {"rater": "Ada"}},
        {("1", "", "Ada", "acc", 4)}),
    "a case named in its first row alone": (
        "id,who,acc\n1,Ada,4\n,Sam,5\n2,Ada,3\n",
        {"item": "id", "rater": "who", "dimensions": ["acc"], "fill_down": ["id"]},
        {("1", "", "Ada", "acc", 4), ("1", "", "Sam", "acc", 5), ("2", "", "Ada", "acc", 3)}),
    "cells with one of several fields": (
        'id,acc\n1,"{""rating"": 4}"\n2,"[{""choices"": [""Good""]}]"\n',
        {"item": "id", "dimensions": ["acc"], "take": ["rating", "choices"], "labels": {"Good": 5},
         "fixed": {"rater": "Ada"}},
        {("1", "", "Ada", "acc", 4), ("2", "", "Ada", "acc", 5)}),
}  # fmt: skip


@pytest.mark.parametrize("name", WHOLE)
def test_every_shape_is_read_as_its_mapping_describes_it(name: str, tmp_path: Path) -> None:
    text, mapping, scores = WHOLE[name]
    (tmp_path / "t.csv").write_text(text)
    found = read_ratings(tmp_path / "t.csv", mapping=mapping).ratings
    assert {(each.item, each.system, each.rater, each.dimension, each.score) for each in found} == scores


def test_sheets_are_dimensions_or_raters(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for name, grades in (("Accuracy", (4, 2)), ("Safety", (5, 3)), ("Legend", ("5", "good"))):
        page = book.create_sheet(name)
        page.append(["case", "who"] if name != "Legend" else ["grade", "means"])
        page.append(["1", grades[0]])
    del book["Sheet"]
    book.save(tmp_path / "t.xlsx")
    mapping: dict[str, Any] = {"item": "case", "raters": {"Ada": "who"}}
    mapping["sheets"] = {"dimension": {"accuracy": "Accuracy", "safety": "Safety"}}
    read = read_ratings(tmp_path / "t.xlsx", mapping=mapping)
    assert {(each.item, each.rater, each.dimension, each.score) for each in read.ratings} == {
        ("1", "Ada", "accuracy", 4), ("1", "Ada", "safety", 5)
    }  # fmt: skip
    assert read.report.left_out["sheet, left out"] == 1  # the legend, once
    mapping["sheets"] = {"rater": ["Accuracy"], "dimension": ["Safety"]}
    with pytest.raises(MedjuryError, match="say what the sheets are, once"):
        read_ratings(tmp_path / "t.xlsx", mapping=mapping)


def test_settings_that_exclude_each_other(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(RATERS)
    for more in ({"items": ["model"]}, {"columns": "{rater}"}, {"score": "Ada"}):
        with pytest.raises(MedjuryError, match="exclude each other"):
            read_ratings(tmp_path / "t.csv", mapping={"item": "item", "raters": ["Ada"], **more})


def test_two_columns_name_a_case_and_never_two_cases_alike(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b,who,score\nq1,x,Ada,4\nq 1,x,Ada,3\nq,1 x,Ben,2\n")
    mapping: dict[str, Any] = {
        "item": ["a", "b"], "rater": "who", "score": "score", "fixed": {"dimension": "d"},
    }  # fmt: skip
    found = read_ratings(tmp_path / "t.csv", mapping=mapping).ratings
    assert [each.item for each in found] == ["q1 x", "q 1 | x", "q | 1 x"]
    panel = open_panel(
        tmp_path / "t.csv", "clinician", named={}, scores=["score"], mapping={"item": ["a", "b"]}
    )
    assert panel.frame["item"].to_list() == ["q1 x", "q 1 | x", "q | 1 x"]


AGAIN = "item,who,grade,ward\n1,anna,4,east\n1,anna,5,east\n1,anna,4,east\n2,anna,3,west\n"


def test_a_rating_that_comes_again_is_refused_or_a_repeat(tmp_path: Path) -> None:
    (tmp_path / "grades.csv").write_text(AGAIN)
    mapping = {"rater": "who", "dimensions": {"quality": "grade"}, "scale": [1, 5]}
    with pytest.raises(MedjuryError, match="is rated a second time, with a different score"):
        read_ratings(tmp_path / "grades.csv", mapping=mapping)
    found = read_ratings(tmp_path / "grades.csv", mapping={**mapping, "again": "repeat"})
    assert [(each.item, each.repeat, each.score) for each in found.ratings] == [
        ("1", 0, 4), ("1", 1, 5), ("2", 0, 3),
    ]  # fmt: skip
    assert found.report.duplicates == 1 and len({each.key for each in found.ratings}) == 3


def test_an_item_has_one_patient(tmp_path: Path) -> None:
    (tmp_path / "grades.csv").write_text(AGAIN.replace("5,east", "5,west"))
    mapping = {"rater": "who", "dimensions": {"quality": "grade"}, "patient": "ward", "scale": [1, 5]}
    with pytest.raises(MedjuryError, match="item '1' has the patient 'west' here and 'east' before"):
        read_ratings(tmp_path / "grades.csv", mapping=mapping, on_bad="unscored")
