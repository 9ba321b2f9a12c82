"""What leaves the panel: the last word of everyone, what was settled together, and nothing that was practice."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import polars as pl
import pytest
from openpyxl import load_workbook
from tests.panel.meeting.closed_rounds import closed_panel
from tests.panel.rounds import NOON

from medjury.foundation.errors import MedjuryError
from medjury.instruments import Reason, Score, Unscored
from medjury.panel._exchange._collecting import collect, ratings_frame, refuse_changed
from medjury.panel._exchange._files import FORMATS, bring_in
from medjury.panel._rating._answers import Collected
from medjury.store.ratings import read_ratings

GRADES = {"accuracy": ("4", "2"), "completeness": ("5", "5"), "clarity": ("3", "3")}


def test_everyones_last_word_leaves_under_their_name(tmp_path: Path) -> None:
    panel, _ = closed_panel(tmp_path, [GRADES])
    with panel.database.reading() as connection:
        found = collect(connection)
    assert {(each.rater, each.dimension, each.score) for each in found} == {
        ("Dr Wallaby 0", "accuracy", 4.0),
        ("Dr Wallaby 1", "accuracy", 2.0),
        *((f"Dr Wallaby {n}", "completeness", 5.0) for n in (0, 1)),
        *((f"Dr Wallaby {n}", "clarity", 3.0) for n in (0, 1)),
    }
    assert {each.panel for each in found} == {"rating"}
    assert {(each.item, each.system) for each in found} == {("marmoset-00", "zebrafinch-9b")}


def test_a_case_that_changed_after_it_was_rated_is_refused(tmp_path: Path) -> None:
    panel, _ = closed_panel(tmp_path, [GRADES])
    assert panel.study is not None
    with panel.database.reading() as connection:
        found = collect(connection)
    refuse_changed(panel.study, found)
    text = (tmp_path / "cases.jsonl").read_text().replace("amlodipine 5 mg", "amlodipine 50 mg")
    (tmp_path / "cases.jsonl").write_text(text)
    with pytest.raises(MedjuryError, match="marmoset-00 was changed after it was rated"):
        refuse_changed(panel.study, found)


HOSTILE = [
    Collected("=cmd|' /C calc'!A0", "s", "@SUM(1)", "rating", "accuracy", Score(4.0, "=1+1"), 3.5),
    Collected("i", "s", "Dr A", "rating", "accuracy", Unscored(Reason.CANNOT_JUDGE, "-no lab\x0b values")),
]


def test_no_spreadsheet_runs_what_a_rater_typed(tmp_path: Path) -> None:
    panel, _ = closed_panel(tmp_path, [GRADES])
    assert panel.study is not None
    for kind in ("csv", "redcap"):
        rows = list(csv.reader(io.StringIO(FORMATS[kind].write(HOSTILE, panel.study.instrument).decode())))
        assert not [cell for row in rows for cell in row if cell.startswith(("=", "@", "-"))]
    book = load_workbook(io.BytesIO(FORMATS["xlsx"].write(HOSTILE, panel.study.instrument)))
    cells = [cell for row in book["ratings"].iter_rows() for cell in row]
    assert "f" not in {cell.data_type for cell in cells}
    assert "'=1+1" in {cell.value for cell in cells}


def test_what_has_no_grade_has_none_in_any_file(tmp_path: Path) -> None:
    panel, _ = closed_panel(tmp_path, [GRADES])
    assert panel.study is not None
    instrument = panel.study.instrument
    tasks = json.loads(FORMATS["label-studio"].write(HOSTILE[1:], instrument))
    assert [each["result"] for task in tasks for each in task["annotations"]] == [[]]
    (row,) = csv.DictReader(io.StringIO(FORMATS["redcap"].write(HOSTILE[1:], instrument).decode()))
    assert row["accuracy"] == "" and row["accuracy_note"].startswith("'-no lab")
    (row,) = csv.DictReader(io.StringIO(FORMATS["csv"].write(HOSTILE[1:], instrument).decode()))
    assert (row["score"], row["status"], row["reason"]) == ("", "unscored", "cannot_judge")


def test_the_table_that_leaves_can_be_read_again(tmp_path: Path) -> None:
    panel, _ = closed_panel(tmp_path, [GRADES, GRADES])
    assert panel.study is not None
    with panel.database.reading() as connection:
        found = collect(connection)
    for kind in ("csv", "xlsx"):
        file = tmp_path / f"out.{kind}"
        file.write_bytes(FORMATS[kind].write(found, panel.study.instrument))
        again = read_ratings(file, instrument=panel.study.instrument, cases=panel.study.cases)
        assert {(r.item, r.rater, r.dimension, r.score) for r in again.ratings} == {
            (each.item, each.rater, each.dimension, each.score) for each in found
        }
    file = tmp_path / "redcap.csv"
    file.write_bytes(FORMATS["redcap"].write(found, panel.study.instrument))
    mapping = {
        "item": "case_id",
        "system": "system",
        "rater": "reviewer",
        "dimensions": ["accuracy", "completeness", "clarity"],
    }
    again = read_ratings(file, mapping=mapping, instrument=panel.study.instrument)
    assert sorted((r.item, r.rater, r.dimension, r.score) for r in again.ratings) == sorted(
        (each.item, each.rater, each.dimension, each.score) for each in found
    )


def test_ratings_of_the_panel_say_that_they_were_given_blind(tmp_path: Path) -> None:
    panel, _ = closed_panel(tmp_path, [GRADES])
    with panel.database.reading() as connection:
        frame = ratings_frame(collect(connection))
    assert frame["blinded"].to_list() == [True] * frame.height
    assert frame.height


def test_ratings_from_elsewhere_stand_beside_and_a_later_file_replaces_them(tmp_path: Path) -> None:
    panel, _ = closed_panel(tmp_path, [GRADES])
    assert panel.study is not None
    for score in (1, 5):
        frame = pl.DataFrame(
            {
                "item": ["marmoset-00"],
                "system": ["zebrafinch-9b"],
                "rater": ["Dr Elsewhere"],
                "dimension": ["accuracy"],
                "score": [score],
                "specialty": ["renal"],
            }
        )
        frame.write_csv(tmp_path / "elsewhere.csv")
        bring_in(panel.study, panel.database, tmp_path / "elsewhere.csv", now=NOON)
    with panel.database.reading() as connection:
        brought = [each for each in collect(connection) if each.rater == "Dr Elsewhere"]
    assert [(each.score, dict(each.profile)) for each in brought] == [(5.0, {"specialty": "renal"})]
    assert [each.blinded for each in brought] == [None], "nobody knows what was shown elsewhere"


@pytest.mark.parametrize(
    ("column", "value", "told"),
    [
        ("score", 9, "not on the scale"),
        ("item", "nowhere", "nowhere"),
        ("rater", "Dr Wallaby 0", "rates in this panel"),
    ],
)
def test_a_bad_row_from_elsewhere_leaves_nothing(
    column: str, value: object, told: str, tmp_path: Path
) -> None:
    panel, _ = closed_panel(tmp_path, [GRADES])
    assert panel.study is not None
    good: dict[str, object] = {
        "item": "marmoset-00",
        "system": "zebrafinch-9b",
        "rater": "Dr E",
        "dimension": "accuracy",
        "score": 3,
    }
    rows = [good, good | {"dimension": "clarity", column: value}]
    pl.DataFrame(rows).write_csv(tmp_path / "elsewhere.csv")
    with pytest.raises(MedjuryError, match=told):
        bring_in(panel.study, panel.database, tmp_path / "elsewhere.csv", now=NOON)
    with panel.database.reading() as connection:
        assert len(collect(connection)) == 6
