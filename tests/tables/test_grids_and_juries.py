"""Grids and juries: every rater's score of every unit, and votes that become one."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
from tests.tables.run_folders import nans, rows_of

from medjury.tables import rating_table
from medjury.tables._grid import count_unscored, joined, make_grids
from medjury.tables._panel import open_panel


def in_folder(call: Callable[[Path], Any]) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        return call(Path(folder))


def mapped(folder: Path) -> Path:
    (folder / "wide.csv").write_text("case,quality (anna),quality (bo)\n1,1,2\n2,3,3\n")
    (folder / "m.yaml").write_text(
        "item: case\ncolumns: '{dimension} ({rater})'\nfiles:\n  - file: wide.csv\n"
    )
    return folder / "m.yaml"


def test_grids_are_joined_unit_by_unit() -> None:
    rows = rating_table(
        pl.concat(
            [rows_of({"judge a": [1, 2]}, systems=("s",)), rows_of({"judge a": [5]}, dimension="zeal")]
        ),
        scale=(1, 5),
    ).rows
    made = make_grids(rows, {"accuracy": None, "zeal": None}, ["judge a"])
    whole = joined("all", list(made.values()), None)
    assert (
        whole.dimension,
        whole.items.tolist(),
        whole.systems.tolist(),
        whole.clusters.tolist(),
        nans(whole.scores["judge a"]),
        whole.states["judge a"].tolist(),
        nans(whole.repeat_spread["judge a"]),
        whole.scale,
    ) == (
        "all",
        ["case 0", "case 1", "case 0"],
        ["s", "s", ""],
        ["item case 0", "item case 1", "item case 0"],
        [1.0, 2.0, 5.0],
        [1, 1, 1],
        [None, None, None],
        None,
    )


def test_unscored_ratings_are_counted_by_rater_and_reason() -> None:
    frame = rows_of({"judge b": [None, None, 1], "judge a": [None, 2, 3]}).with_columns(
        pl.when(pl.col("item") == "case 1").then(None).otherwise("reason").alias("reason")
    )
    assert count_unscored(frame) == {"judge a": {"parse": 1}, "judge b": {"parse": 1, "unknown": 1}}


def test_a_table_of_jury_votes_follows_the_run() -> None:
    table = rating_table(
        rows_of({"judge a": [1, 2], "judge b": [3, None]}), scale=(1, 5), jury="median", quorum=1
    )
    roles = table.roles(need_reference=False)
    votes = table.jury_votes("accuracy", roles)
    assert (
        votes and nans(votes[0]),
        table.jury_votes("accuracy", None),
        nans(table.grid("accuracy", roles).scores["jury"]),
        table.jury_rule.rule,
        table.jury_rule.quorum,
        table.jury_asked,
    ) == ([2.0, 2.0], None, [2.0, 2.0], "median", 1, True)


def test_judges_of_a_mapping_file_are_judges_and_clinicians_in_their_own_place() -> None:
    found = {
        role: in_folder(lambda folder, role=role: open_panel(mapped(folder), role, named={}))
        for role in ("judge", "clinician")
    }
    assert {
        role: (each.title, each.frame["rater_kind"].unique().to_list(), each.frame["score"].to_list())
        for role, each in found.items()
    } == {
        "judge": ("JUDGES (m.yaml)", ["judge"], [1.0, 2.0, 3.0, 3.0]),
        "clinician": ("HUMANS (m.yaml)", ["clinician"], [1.0, 2.0, 3.0, 3.0]),
    }
