"""Who is who in a study: panels, consensus and labels of the study file are those of the run and its table."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest
from tests.loopback import LoopbackServer

from medjury.analysis.agreement import rater_pairs
from medjury.foundation.errors import MedjuryError
from medjury.store.runs import RunFolder
from medjury.studies import check_study, gate_outlook, load_study, register_study, run_study
from medjury.tables import RatingTable, open_run
from medjury.validation import validate

Write = Callable[..., Path]
PANELS = {"Ada": "primary", "Ben": "primary", "Cid": "primary", "Dan": "rescore", "Eve": "rescore"}
SCORES = {
    "Ada": [1, 2, 3, 4, 5, 2],
    "Ben": [1, 2, 4, 4, 5, 3],
    "Cid": [5, 2, 5, 1, 5, 4],
    "Dan": [5, 5, 5, 5, 5, 5],
    "Eve": [5, 5, 5, 5, 5, 1],
}
ROLES = {"reference": "primary", "second_panel": "rescore", "consensus": "majority"}


def people(
    folder: Path, *, names: Sequence[str] = tuple(PANELS), **columns: Callable[[str, int], Any]
) -> None:
    """A long file of clinicians' ratings; `columns` add what a function of rater and case says."""
    with (folder / "people.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["item", "system", "rater", "panel", "dimension", "score", *columns])
        for name in names:
            for case, score in enumerate(SCORES[name]):
                for dimension in ("accuracy", "completeness", "clarity"):
                    more = [said(name, case) for said in columns.values()]
                    writer.writerow([f"case-{case}", "a", name, PANELS[name], dimension, score, *more])


def ran(study: Path) -> RatingTable:
    result = run_study(load_study(study))
    assert result.status == "complete", result.why
    return open_run(result.folder)


def said_of(study: Path) -> str:
    with pytest.raises(MedjuryError) as refused:
        run_study(load_study(study))
    return str(refused.value)


def test_the_reference_is_the_named_panel_by_the_stated_rule(write_study: Write, tmp_path: Path) -> None:
    people(tmp_path)
    table = ran(write_study(humans={"file": "people.csv", "keep_names": True, **ROLES}))
    assert (table.people.reference, table.people.second_panel, table.people.consensus) == (
        ("Ada", "Ben", "Cid"),
        ("Dan", "Eve"),
        "majority",
    )
    grid = table.grid("accuracy")
    reference = table.reference_scores(grid)
    assert reference[[0, 1, 3, 4]].tolist() == [1, 2, 4, 5], "two of three decide"
    assert np.isnan(reference[[2, 5]]).all(), "three different words are no majority"
    assert grid.scores["rescore"][:5].tolist() == [5] * 5, "the second panel has a consensus of its own"
    roles = table.roles()
    assert roles.reference == ("Ada", "Ben", "Cid")
    assert roles.raters == ("juror", "jury", "rescore", "Dan", "Eve") and roles.on_trial == ("jury",)
    humans = json.loads((tmp_path / "runs" / "small" / "manifest.json").read_text())["humans"]
    assert humans["reference"] == ["Ada", "Ben", "Cid"] and humans["consensus"] == "majority"
    assert humans["second_panel"] == {"name": "rescore", "members": ["Dan", "Eve"]}
    rows = rater_pairs(table).rows  # Dan with the panel of Dan and Eve is no pair, and a panel is no judge
    assert {name for row in rows for name in (row.first, row.second)} == {*PANELS, "juror", "jury"}
    of_people = [row.group for row in rows if row.first in PANELS and row.second in PANELS]
    assert set(of_people) == {"human with human"}


def test_the_second_panel_changes_nothing_of_the_reference(write_study: Write, tmp_path: Path) -> None:
    """Dan and Eve would pull every mean up; only leaving them out of it keeps the mean where it was."""
    people(tmp_path)
    humans = {"path": "people.csv", "keep_names": True, "reference": "primary", "second_panel": "rescore"}
    table = ran(write_study(humans=humans))
    grid = table.grid("accuracy")
    panel = np.mean([SCORES[name] for name in ("Ada", "Ben", "Cid")], axis=0)
    everybody = np.mean(list(SCORES.values()), axis=0)
    assert np.allclose(table.reference_scores(grid), panel) and not np.allclose(panel, everybody)


def test_by_default_everybody_without_another_part_is_the_reference(
    write_study: Write, tmp_path: Path
) -> None:
    people(tmp_path)
    table = ran(write_study(humans={"path": "people.csv", "keep_names": True, "second_panel": ["Eve"]}))
    assert table.people.reference == () and table.people.panel == "", "one rater needs no consensus"
    assert table.roles().reference == ("Ada", "Ben", "Cid", "Dan")
    assert "Eve" in table.roles().raters


def test_the_study_names_people_and_the_run_folder_holds_pseudonyms(
    write_study: Write, tmp_path: Path
) -> None:
    people(tmp_path, years=lambda name, case: 10 + len(name), specialty=lambda name, case: "renal")
    file = (
        tmp_path / "people.csv"
    )  # three letters may stand in packed bytes by chance, and a surname does not
    file.write_text(re.sub(f",({'|'.join(PANELS)}),", r",\1 Nightingale,", file.read_text()))
    reference = ["Ada Nightingale", "Ben Nightingale"]
    study = write_study(humans={"path": "people.csv", "reference": reference, "second_panel": "rescore"})
    table = ran(study)
    assert len(table.people.reference) == 2 and all(
        name.startswith("clinician-") for name in table.people.reference
    )
    assert table.run.profiles[table.people.reference[0]] == {
        "panel": "primary",
        "years": "13",
        "specialty": "renal",
    }
    folder = load_study(study).output
    for file in folder.iterdir():
        content = file.read_bytes()
        assert b"Nightingale" not in content, file.name
        if file.suffix == ".parquet":
            content = polars.read_parquet(file).write_csv().encode()
        if file.suffix != ".sqlite":
            assert not any(name.encode() in content for name in PANELS), file.name
    assert all(check.sound for check in RunFolder(folder).verify())
    lines = (folder / "raters.csv").read_text().replace("renal", "cardiac")
    (folder / "raters.csv").write_text(lines)
    assert [check.what for check in RunFolder(folder).verify() if not check.sound] == ["raters.csv"]


def test_an_adjudicator_settles_where_the_reference_differs(write_study: Write, tmp_path: Path) -> None:
    people(tmp_path, names=("Ada", "Ben", "Cid"))
    humans = {"path": "people.csv", "keep_names": True, "consensus": "adjudicated", "adjudicator": "Cid"}
    table = ran(write_study(humans=humans))
    assert table.roles().reference == ("Ada", "Ben")
    assert table.reference_scores(table.grid("accuracy")).tolist() == SCORES["Cid"]
    measured = table.dimension("accuracy")
    word = table.danger_word(table.grid("accuracy"), measured, ("Ada", "Ben"))
    assert word.tolist() == SCORES["Cid"], "danger is by the settled word too"


def test_labels_of_a_case_are_in_the_run(write_study: Write, tmp_path: Path) -> None:
    people(tmp_path, wrong=lambda name, case: case % 2 if name != "Eve" else "")
    table = ran(write_study(humans={"path": "people.csv", "labels": {"routine_is_wrong": "wrong"}}))
    assert table.run.labels == {f"case-{case}": {"routine_is_wrong": case % 2} for case in range(6)}


def test_labels_may_come_from_the_cases(write_study: Write, tmp_path: Path) -> None:
    people(tmp_path)
    cases = [
        {"id": f"case-{n}", "system": "a", "candidate": "S.", "texts": {"context": "N."}, "wrong": n % 2}
        for n in range(6)
    ]
    humans = {"path": "people.csv", "labels": {"routine_is_wrong": "wrong"}}
    table = ran(write_study(cases=cases, humans=humans))
    assert table.run.labels["case-1"] == {"routine_is_wrong": 1} and len(table.run.labels) == 6


@pytest.mark.parametrize(
    ("roles", "where", "told"),
    [
        ({"reference": "first"}, "humans.reference", "the panels are primary, rescore"),
        ({"second_panel": ["Zoe"]}, "humans.second_panel", "no clinician is called 'Zoe'"),
        (
            {"reference": ["Ada", "Dan"], "second_panel": "rescore"},
            "humans.second_panel",
            "is in the reference and in the second panel",
        ),
        ({"adjudicator": "Ada"}, "humans", "say `consensus: adjudicated`"),
        ({"consensus": "adjudicated"}, "humans", "name it: `adjudicator: NAME`"),
        (
            {"consensus": "adjudicated", "adjudicator": "Ada", "reference": "primary"},
            "humans.adjudicator",
            "is in the reference too",
        ),
        ({"labels": {"routine_is_wrong": "nowhere"}}, "humans.labels.routine_is_wrong", "a column 'nowhere'"),
        ({"reference": []}, "humans.reference", "names nobody"),
    ],
)
def test_a_role_that_cannot_be_is_refused_with_its_line(
    write_study: Write, tmp_path: Path, server: LoopbackServer, roles: dict[str, Any], where: str, told: str
) -> None:
    people(tmp_path)
    message = said_of(write_study(humans={"path": "people.csv", **roles}))
    assert f"study.yaml, line 6: {where}" in message and told in message
    assert not server.calls


def test_a_label_is_0_or_1_and_one_for_a_case(write_study: Write, tmp_path: Path) -> None:
    humans = {"path": "people.csv", "labels": {"routine_is_wrong": "wrong"}}
    people(tmp_path, wrong=lambda name, case: "yes" if case == 2 else 0)
    assert "row 8, column 'wrong': the label routine_is_wrong is 0 or 1, not 'yes'" in said_of(
        write_study(humans=humans)
    )
    people(tmp_path, wrong=lambda name, case: int(name == "Ben" and case == 0))
    message = said_of(write_study(humans=humans))
    assert "of 'case-0' is 1 here and 0 in people.csv, row 2: a case has one" in message


def test_a_majority_needs_grades(write_study: Write, tmp_path: Path) -> None:
    people(tmp_path)
    (tmp_path / "people.yaml").write_text("scale: {pain: {from: 0, to: 10}}\n")
    with (tmp_path / "people.csv").open("a") as file:
        file.write("case-1,a,Ada,primary,pain,2.5\n")
    humans = {"path": "people.csv", "mapping": "people.yaml", "reference": "primary", "consensus": "majority"}
    assert "pain has scores such as 2.5" in said_of(write_study(humans=humans))


def test_a_rater_in_two_panels_is_refused(write_study: Write, tmp_path: Path) -> None:
    people(tmp_path)
    with (tmp_path / "people.csv").open("a") as file:
        file.write("case-1,a,Ada,rescore,accuracy,2\n")
    assert "a rater has one panel" in said_of(write_study(humans="people.csv"))


@pytest.mark.parametrize(
    ("after", "told"),
    [
        ({"consensus": "mean"}, "consensus: majority -> not stated"),
        ({"second_panel": None}, "second panel: rescore -> not stated"),
        ({"reference": ["Ada", "Ben"]}, "reference: primary -> 2 named raters"),
    ],
)
def test_roles_that_were_changed_after_registering_are_found_out(
    write_study: Write, tmp_path: Path, after: dict[str, Any], told: str
) -> None:
    people(tmp_path)
    humans = {"path": "people.csv", **ROLES}
    made = register_study(load_study(write_study(humans=humans)))
    assert not any(name in made.file.read_text() for name in PANELS), "the protocol names nobody"
    changed = {name: value for name, value in {**humans, **after}.items() if value is not None}
    folder = run_study(load_study(write_study(humans=changed))).folder
    said = validate(folder, resamples=200).verdicts[0].rule("registered")
    assert not said.met and told in said.found


def test_moving_a_rater_to_the_other_panel_is_found_out(write_study: Write, tmp_path: Path) -> None:
    """The words of the study file stay the same; the division of the people does not."""
    people(tmp_path)
    study = write_study(humans={"path": "people.csv", **ROLES})
    register_study(load_study(study))
    (tmp_path / "people.csv").write_text(
        (tmp_path / "people.csv").read_text().replace("Cid,primary", "Cid,rescore")
    )
    folder = run_study(load_study(study)).folder
    said = validate(folder, resamples=200).verdicts[0].rule("registered")
    assert "division of clinicians" in said.found and not said.met


def test_a_second_panel_teaches_no_judge(write_study: Write, tmp_path: Path, server: LoopbackServer) -> None:
    """Worked examples show the reference's grades: those of a second panel, all 5, would show in the prompt."""
    people(tmp_path)
    humans = {"path": "people.csv", "reference": "primary", "second_panel": "rescore"}
    examples = {"shots": 1, "cases": ["case-0", "case-1"], "clinicians": 3}
    run_study(load_study(write_study(humans=humans, examples=examples)))
    # The answer to case 1 can be shown no other example than case 0, on which two of three said 1.
    (call,) = (each for each in server.calls if "Summary 1." in each.json["messages"][-1]["content"])
    (shown,) = (json.loads(each["content"]) for each in call.json["messages"] if each["role"] == "assistant")
    assert {name: given["score"] for name, given in shown.items()} == dict.fromkeys(shown, 1), shown


def test_what_a_plan_can_show_counts_the_reference_alone(write_study: Write, tmp_path: Path) -> None:
    people(tmp_path)
    study = load_study(
        write_study(humans={"path": "people.csv", "reference": ["Ada"], "second_panel": "rescore"})
    )
    assert gate_outlook(study, check_study(study)).clinicians == 1


def test_the_study_names_what_ranks_the_systems(write_study: Write) -> None:
    study = write_study(report={"rank_by": "clarity"})
    assert run_study(load_study(study)).status == "complete"
    assert RunFolder(load_study(study).output).manifest.report.rank_by == ("clarity",)
    with pytest.raises(MedjuryError, match="has no dimension or composite 'clearness'"):
        load_study(write_study(report={"rank_by": ["clearness"]}))


@pytest.mark.parametrize(("by", "dangerous"), [("any", 4), ("majority", 2)])
def test_a_plan_tells_what_the_reference_rated_and_calls_dangerous(
    write_study: Write, tmp_path: Path, by: str, dangerous: int
) -> None:
    """A grade of 2 or less is dangerous: for anybody of the primary panel in cases 0, 1, 3 and 5, for most in 0 and
    1. The second panel, which saw no danger but in case 5, has no word."""
    people(tmp_path)
    rules = {"danger_by": by, "severe_dimensions": ["accuracy"]}
    study = load_study(write_study(humans={"path": "people.csv", **ROLES}, gate=rules))
    told = gate_outlook(study, check_study(study)).text()
    rated = "6 cases, 6 by two clinicians or more"
    assert f"Rated so far: accuracy {rated}, {dangerous} dangerous; " in told
    assert f"clarity {rated}" in told and f"clarity {rated}, " not in told
    assert "The second panel scored 6 of the 6 answers again." in told
    assert told.index("Rated so far") < told.index("\nrule "), (
        "what is there stands before what may come of it"
    )
