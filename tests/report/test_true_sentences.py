"""Sentences of the report that were wrong on real data: whose scores are off the scale, what is filled, which kappa
is which, and ties."""

from __future__ import annotations

import csv
import html
import re
from pathlib import Path

import polars as pl
import pytest
from tests.agreement.rating_rows import long_table
from tests.report.planted import planted_frame, write_run

from medjury.report import write_page
from medjury.tables import rating_table, read_rating_table

# The first page, the gate's own words, the list of formulas, what is not agreement, and what names another table.
ELSEWHERE = (
    "table-verdicts", "table-gate", "table-methods", "table-dimension-correlations", "table-tripod-llm"
)  # fmt: skip


def page_of(folder: Path, frame: pl.DataFrame) -> str:
    write_run(folder, frame)
    page = write_page(folder).read_text(encoding="utf-8")
    return html.unescape(re.sub(r"\s+", " ", page))


def rows_of(folder: Path, table: str) -> list[dict[str, str]]:
    with (folder / "tables" / f"{table}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize(
    ("judge", "count", "whose"),
    [
        ([1, 2, 3, 4, 5, 1], 2, "all given by human"),
        ([1, 2, 0, 4, 5, 1], 3, "2 by human, 1 by judge"),
    ],
)
def test_scores_off_the_scale_name_whose_they_are(judge: list[int], count: int, whose: str) -> None:
    table = rating_table(long_table({"human": [1, 2, 3, 4, 6, 7], "judge": judge}), scale=(1, 5))
    said = "scores lie off the scale 1 to 5 and count as unscored (out_of_range)"
    assert table.warnings == (f"dimension 'quality': {count} {said}: {whose}",)


def test_what_an_import_left_unscored_names_whose_it_is(tmp_path: Path) -> None:
    file = tmp_path / "ratings.csv"
    file.write_text("item,rater,accuracy\n" + "".join(f"{n},human,{n}\n{n},judge,3\n" for n in range(4, 8)))
    mapping = tmp_path / "ratings.yaml"
    mapping.write_text(
        "files: [{file: ratings.csv}]\nitem: item\nrater: rater\ndimensions: [accuracy]\nscale: [1, 5]\n"
    )
    _, notes = read_rating_table(mapping)
    assert [each for each in notes if each.startswith("unscored, ")] == [
        "unscored, out_of_range: 2 (all given by human)"
    ]


def test_many_raters_off_the_scale_are_counted_together() -> None:
    scores = {f"r{place}": [1, 2, 9] for place in range(6)}
    (said,) = rating_table(long_table(scores), scale=(1, 5)).warnings
    assert said.endswith("1 by r0, 1 by r1, 1 by r2, 1 by r3, 2 by others")


def test_no_topic_of_the_checklist_is_filled_that_says_it_is_open(tmp_path: Path) -> None:
    page_of(tmp_path / "run", planted_frame(cases=20))
    rows = rows_of(tmp_path / "run", "tripod-llm")
    assert [row for row in rows if row["state"] == "filled" and "open" in row["what this run can say"]] == []
    state = {row["topic"]: row["state"] for row in rows}
    assert state["Where do the data come from and how were they chosen?"] == "open"
    assert state["How many answers of which systems?"] == "filled"
    assert state["Are the data shared?"] == "open"
    assert state["Were they blind to the judges' scores?"] == "open"
    assert all(bool(row["stated in"]) is (row["state"] == "filled") for row in rows)


@pytest.mark.parametrize("clinicians", [1, 3])
def test_every_kappa_says_on_which_answers_and_with_whom_it_is(tmp_path: Path, clinicians: int) -> None:
    people = {f"clinician-{place}": 0.5 for place in range(clinicians)}
    frame = planted_frame(cases=60, systems=("x", "y"), clinicians=people, repeats=2, rated_cases=50)
    page = page_of(tmp_path / "run", frame)
    tables = re.findall(r'<table[^>]*id="([^"]*)".*?<caption[^>]*>(.*?)</caption>(.*?)</table>', page)
    coefficients = {
        name: re.sub(r"<[^>]+>", "", caption)
        for name, caption, body in tables
        if re.search(r"kappa|ICC\(|rho", caption + body) and not name.startswith(ELSEWHERE)
    }
    assert len(coefficients) >= 8
    with_whom = r"single clinicians|the clinicians' (mean|one score)|clinician-0|every two raters"
    for name, caption in coefficients.items():
        assert re.search(r"on the (held-out )?answers that", caption), (name, caption)
        assert re.search(with_whom, caption), (name, caption)


def test_systems_with_the_same_mean_share_a_rank(tmp_path: Path) -> None:
    """One score for all systems' answers to a case: an earlier version printed ranks 1, 2, 3."""
    frame = planted_frame(cases=60, systems=("x", "y", "z"), dimensions=("accuracy",))
    first = frame.filter(pl.col("system") == "x").select("item", "rater", pl.col("score").alias("same"))
    frame = frame.join(first, on=["item", "rater"], how="left").with_columns(
        pl.when(pl.col("rater_kind") == "clinician")
        .then(pl.col("score"))
        .otherwise(pl.col("same"))
        .alias("score")
    )
    page = page_of(tmp_path / "run", frame.drop("same"))
    rows = rows_of(tmp_path / "run", "ranking-beside-clinicians")
    assert {row["jury's rank"] for row in rows} == {"1 (tied)"}
    assert sorted(row["clinicians' rank"] for row in rows) == ["1", "2", "3"]
    order = [row["system"] for row in rows]
    assert order == [row["system"] for row in sorted(rows, key=lambda row: row["clinicians' rank"])]
    assert f"{order[0]}: 1 (tied) by the jury, 1 by clinicians" in page
