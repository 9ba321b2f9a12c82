"""A mapping file is checked before any row is read, and complaints name the line."""

from __future__ import annotations

from pathlib import Path

import pytest

from medjury.foundation.errors import MedjuryError
from medjury.store.ratings import read_ratings


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
