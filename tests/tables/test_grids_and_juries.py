"""Grids and juries: every rater's score of every unit, and votes that become one."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.tables.run_folders import rows_of, run_folder

from medjury.store.runs import GateRules
from medjury.tables import SCORED, UNSCORED, open_run, rating_table
from medjury.tables._grid import count_unscored, joined, make_grids
from medjury.tables._jury import JuryRule, add_jury, jury_votes
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


def numbers(values: Any) -> list[Any]:
    return [None if np.isnan(each) else float(each) for each in values.tolist()]


def test_grids_of_dimensions_keep_their_own_units_and_repeats() -> None:
    rows = rating_table(
        pl.concat(
            [rows_of({"judge a": [1, 2], "judge b": [3, None]}), rows_of({"judge a": [5]}, dimension="zeal")]
        ),
        scale=(1, 5),
    ).rows
    made = make_grids(rows, {"accuracy": None, "zeal": None, "none": None}, ["judge a", "judge b", "judge c"])
    assert {
        name: (
            grid.items.tolist(),
            {rater: numbers(scores) for rater, scores in grid.scores.items()},
            {rater: states.tolist() for rater, states in grid.states.items()},
        )
        for name, grid in made.items()
    } == {
        "accuracy": (
            ["case 0", "case 1"],
            {"judge a": [1.0, 2.0], "judge b": [3.0, None], "judge c": [None, None]},
            {"judge a": [1, 1], "judge b": [1, 2], "judge c": [0, 0]},
        ),
        "zeal": (
            ["case 0"],
            {"judge a": [5.0], "judge b": [None], "judge c": [None]},
            {"judge a": [1], "judge b": [0], "judge c": [0]},
        ),
        "none": (
            [],
            {"judge a": [], "judge b": [], "judge c": []},
            {"judge a": [], "judge b": [], "judge c": []},
        ),
    }


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
        numbers(whole.scores["judge a"]),
        whole.states["judge a"].tolist(),
        numbers(whole.repeat_spread["judge a"]),
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


def test_a_grid_takes_one_more_rater_and_some_of_its_units() -> None:
    rows = rating_table(rows_of({"judge a": [1, 2, 3]}), scale=(1, 5)).rows
    grid = (
        make_grids(rows, {"accuracy": None}, ["judge a"])["accuracy"]
        .with_rater("jury", np.array([2.0, 3.0, 4.0]), np.array([1, 1, 1], dtype=np.uint8))
        .where(np.array([True, False, True]))
    )
    assert (
        grid.dimension,
        grid.items.tolist(),
        grid.systems.tolist(),
        grid.clusters.tolist(),
        {rater: numbers(scores) for rater, scores in grid.scores.items()},
        {rater: states.tolist() for rater, states in grid.states.items()},
        {rater: numbers(each) for rater, each in grid.repeat_spread.items()},
    ) == (
        "accuracy",
        ["case 0", "case 2"],
        ["", ""],
        ["item case 0", "item case 2"],
        {"judge a": [1.0, 3.0], "jury": [2.0, 4.0]},
        {"judge a": [1, 1], "jury": [1, 1]},
        {"judge a": [None, None], "jury": [None, None]},
    )


def test_unscored_ratings_are_counted_by_rater_and_reason() -> None:
    frame = rows_of({"judge b": [None, None, 1], "judge a": [None, 2, 3]}).with_columns(
        pl.when(pl.col("item") == "case 1").then(None).otherwise("reason").alias("reason")
    )
    assert count_unscored(frame) == {"judge a": {"parse": 1}, "judge b": {"parse": 1, "unknown": 1}}


def test_votes_become_one_by_each_rule_and_quorum() -> None:
    rows = rating_table(
        rows_of({"judge a": [1, 1, 1, None], "judge b": [2, 1, None, None], "judge c": [5, 5, None, None]}),
        scale=(1, 5),
    ).rows
    grid = make_grids(rows, {"accuracy": None}, ["judge a", "judge b", "judge c", "judge d"])["accuracy"]
    assert [
        (
            rule.rule,
            rule.quorum,
            numbers(jury_votes(grid, ["judge a", "judge b", "judge c"], rule).scores),
            jury_votes(grid, ["judge a", "judge b", "judge c"], rule).states.tolist(),
            jury_votes(grid, ["judge a", "judge b", "judge c"], rule).unscored,
        )
        for rule in (
            JuryRule(),
            JuryRule("median"),
            JuryRule("majority"),
            JuryRule("mean", 1),
            JuryRule("mean", 9),
        )
    ] == [
        ("mean", None, [2.6666666666666665, 2.3333333333333335, None, None], [1, 1, 2, 2], {"no_quorum": 2}),
        ("median", None, [2.0, 1.0, None, None], [1, 1, 2, 2], {"no_quorum": 2}),
        ("majority", None, [None, 1.0, None, None], [2, 1, 2, 2], {"no_quorum": 2, "tie": 1}),
        ("mean", 1, [2.6666666666666665, 2.3333333333333335, 1.0, None], [1, 1, 1, 2], {"no_quorum": 1}),
        ("mean", 9, [2.6666666666666665, 2.3333333333333335, None, None], [1, 1, 2, 2], {"no_quorum": 2}),
    ]


def test_a_judge_without_a_row_has_no_seat() -> None:
    rows = rating_table(rows_of({"judge a": [1, None], "judge b": [2, 4]}), scale=(1, 5)).rows
    grid = make_grids(rows, {"accuracy": None}, ["judge a", "judge b", "judge d"])["accuracy"]
    made = add_jury(grid, ["judge a", "judge b", "judge d"], JuryRule(quorum=2, name="board"))
    assert (list(made.scores), numbers(made.scores["board"]), made.states["board"].tolist()) == (
        ["judge a", "judge b", "judge d", "board"],
        [1.5, None],
        [1, 2],
    )


def test_what_does_not_apply_to_most_judges_does_not_apply_to_the_jury() -> None:
    frame = rows_of({"judge a": [None, None], "judge b": [None, 4], "judge c": [1, 2]}).with_columns(
        pl.when(pl.col("score").is_null()).then(pl.lit("not_applicable")).otherwise("status").alias("status")
    )
    grid = make_grids(
        rating_table(frame, scale=(1, 5)).rows, {"accuracy": None}, ["judge a", "judge b", "judge c"]
    )["accuracy"]
    votes = jury_votes(grid, ["judge a", "judge b", "judge c"], JuryRule(quorum=1))
    assert (numbers(votes.scores), votes.states.tolist(), votes.unscored) == ([None, 3.0], [3, 1], {})


@pytest.mark.parametrize(("quorum", "needed"), [(None, (1, 2, 2, 3)), (2, (1, 2, 2, 2)), (9, (1, 2, 3, 4))])
def test_how_many_votes_are_needed(quorum: int | None, needed: tuple[int, ...]) -> None:
    for seats, votes in enumerate(needed, start=1):
        judges = [f"judge {place}" for place in range(seats)]
        given = {name: [4 if votes > place else None] for place, name in enumerate(judges)}
        one_fewer = {**given, judges[votes - 1]: [None]}
        for scores, state in ((given, SCORED), (one_fewer, UNSCORED)):
            rows = rating_table(rows_of(scores), scale=(1, 5)).rows
            grid = make_grids(rows, {"accuracy": None}, judges)["accuracy"]
            assert jury_votes(grid, judges, JuryRule(quorum=quorum)).states.tolist() == [state]


def test_a_table_of_jury_votes_follows_the_run() -> None:
    table = rating_table(
        rows_of({"judge a": [1, 2], "judge b": [3, None]}), scale=(1, 5), jury="median", quorum=1
    )
    roles = table.roles(need_reference=False)
    votes = table.jury_votes("accuracy", roles)
    assert (
        votes and numbers(votes.scores),
        table.jury_votes("accuracy", None),
        numbers(table.grid("accuracy", roles).scores["jury"]),
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


def test_a_run_folder_says_its_rule_patients_and_settings() -> None:
    stated = {
        "jury": {"rule": "majority", "quorum": 2, "name": "board"},
        "report": {"resamples": 77, "seed": 5, "system_vendors": {"s": "v"}},
        "gate": GateRules(floor=0.3).model_dump(),
    }
    frame = rows_of({"clinician a": [1, 2], "judge b": [1, 3], "judge c": [2, 2]})
    found = in_folder(
        lambda folder: open_run(
            run_folder(folder / "run", frame, patients={"case 0": "p", "case 1": "p"}, **stated)
        )
    )
    assert (
        found.jury_rule.rule,
        found.jury_rule.quorum,
        found.jury_rule.name,
        found.settings.resamples,
        found.seed(None),
        found.seed(9),
        found.resamples(None),
        found.resamples(3),
        found.rules.floor,
        dict(found.run.system_vendors),
        found.by_patient,
        found.run.folder.name,
        found.run.manifest.status,
        found.instrument,
    ) == ("majority", 2, "board", 77, 5, 9, 77, 3, 0.3, {"s": "v"}, True, "run", "complete", None)


def test_settings_can_be_replaced_when_a_run_is_opened() -> None:
    assert (
        in_folder(
            lambda folder: open_run(run_folder(folder / "run", rows_of({"judge b": [1, 3]})), resamples=12)
        ).settings.resamples
        == 12
    )
