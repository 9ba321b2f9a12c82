"""A user's files in a recipe's place: `medjury recipes check` says what they hold and which tables they are enough
for, and the report has these tables and no others."""

from __future__ import annotations

import csv
import json
import random
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.recipes.compared import read_table
from tests.recipes.designs import RUNS
from tests.recipes.offline import nobody_reached, run_recipe

from medjury.cli import main
from medjury.foundation.errors import MedjuryError
from medjury.studies import Recipe
from medjury.studies.inspection import check_recipe

RECIPES = ["conversations", "criteria", "pairs", *sorted(set(RUNS.values()))]
# Whether a jury misses danger is known when it has judged.
OF_THE_OUTCOME = {"missed-danger"}
DIMENSIONS = ("faithful", "complete", "readable")
JUDGES = ("oak", "elm", "yew", "ash", "fir")
SYSTEMS = ("first-scribe", "second-scribe", "third-scribe")


def tables_in(run: Path) -> set[str]:
    """The names of a report's tables, but for those of single rules of the gate."""
    names = {file.stem for file in (run / "tables").glob("*.csv")}
    return {name for name in names if not re.match(r"(gate|preconditions)-\d", name)}


def told(found: Any, file: str) -> set[str]:
    (study,) = (each for each in found.studies if each.file == file)
    return {each.name for each in study.tables if not each.needs}


@pytest.mark.parametrize("recipe", RECIPES)
def test_the_tables_that_are_told_are_those_of_the_report(
    recipe: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = run_recipe(tmp_path_factory, recipe)
    found = check_recipe(folder)
    assert found.recipe == recipe and found.is_sound
    files = {yaml.safe_load((folder / each.file).read_text())["study"]: each.file for each in found.studies}
    for run in (folder / "runs").iterdir():
        assert told(found, files[run.name]) == tables_in(run) - OF_THE_OUTCOME, run.name
    assert all(not each.lost for each in found.studies)


def write_csv(file: Path, rows: list[dict[str, Any]]) -> None:
    with file.open("w", newline="", encoding="utf-8") as opened:
        writer = csv.DictWriter(opened, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def instrument() -> dict[str, Any]:
    grades = {grade: f"Step {grade} of 7, where 7 is best." for grade in range(1, 8)}
    return {
        "name": "ward_notes", "version": "1.0", "title": "Three questions on notes, 1 to 7",
        "instructions": "Grade the note beside what was said on the ward.",
        "inputs": [{"name": "context", "label": "Said"}, {"name": "reference", "label": "Model", "required": False},
                   {"name": "candidate", "label": "Note"}],
        "dimensions": [
            {"name": name, "label": name.capitalize(), "definition": f"Is it {name}?", "grades": grades}
            for name in DIMENSIONS
        ],
        "composites": [{"name": "whole", "label": "Mean", "weights": dict.fromkeys(DIMENSIONS, 1 / 3)}],
    }  # fmt: skip


def mine(folder: Path, *, cases: int = 42) -> Path:
    """The recipe `medhelm-jury` with other files: 42 patients, three systems, grades from 1 to 7, nine clinicians
    of whom two read one answer of each case, and five judges whose scores are in one table."""
    assert main(["init", str(folder), "--recipe", "medhelm-jury"]) == 0
    for name in ("answers.jsonl.gz", "notes.yaml", "replies.yaml", "cases-notes.jsonl", "cases-replies.jsonl",
                 "scores.csv", "costs.csv"):  # fmt: skip
        (folder / name).unlink()
    draw = random.Random(7)
    answers, people, scores = [], [], []
    for number in range(cases):
        item, said = (
            f"visit-{number:02}",
            f"Cough for {number + 2} days, no fever, lungs clear in visit {number}.",
        )
        for place, system in enumerate(SYSTEMS):
            answers.append({
                "id": item, "system": system, "patient": f"patient-{number}", "reference": said,
                "candidate": f"{system} writes: {said}" + " Codeine was given." * (place == 2),
                "texts": {"context": f"Doctor: {said}"}, "metadata": {"benchmark": ("round", "letter")[number % 2]},
            })  # fmt: skip
            truth = {name: draw.randint(1, 7) for name in DIMENSIONS}
            overlooked = number in (4, 9) and place == number % 3  # a danger that two judges do not see
            truth |= {"faithful": 1} if overlooked else {}
            for judge in JUDGES:
                scores += [
                    {"item": item, "system": system, "rater": judge, "dimension": name,
                     "score": 6 if overlooked and judge in JUDGES[:2] and name == "faithful"
                     else min(7, max(1, grade + draw.choice((-1, 0, 0, 1))))}
                    for name, grade in truth.items()
                ]  # fmt: skip
            readers = ((number * 2) % 9, (number * 2 + 1) % 9) if place == number % 3 else ()
            people += [
                {"item": item, "system": system, "rater": f"reader-{reader}", "specialty": "medicine",
                 "years": 4 + reader, "dimension": name, "score": min(7, max(1, grade + draw.choice((-1, 0, 1))))}
                for reader in readers
                for name, grade in truth.items()
            ]  # fmt: skip
    (folder / "cases.jsonl").write_text(
        "".join(json.dumps(each) + "\n" for each in answers), encoding="utf-8"
    )
    (folder / "instrument.yaml").write_text(yaml.safe_dump(instrument(), sort_keys=False), encoding="utf-8")
    write_csv(folder / "clinicians.csv", people)
    write_csv(folder / "grades.csv", scores)
    study = yaml.safe_load((folder / "study.yaml").read_text(encoding="utf-8"))
    study["instrument"], study["dimensions"] = "instrument.yaml", list(DIMENSIONS)
    study["judges"] = [
        {"kind": "scores", "name": name, "path": "grades.csv", "rater": name, "vendor": f"House of {name}"}
        for name in JUDGES
    ]
    study["gate"]["severe_dimensions"] = ["faithful"]
    study["report"]["resamples"] = 200  # the least: which tables there are does not hang on it
    study["report"]["system_vendors"] = dict(
        zip(SYSTEMS, ("House of oak", "House of elm", "none"), strict=True)
    )
    (folder / "study.yaml").write_text(yaml.safe_dump(study, sort_keys=False), encoding="utf-8")
    return folder


def test_files_of_another_shape_give_every_table_of_the_recipes_report(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = mine(tmp_path / "mine")
    capsys.readouterr()
    assert main(["recipes", "check", str(folder)]) == 0
    text = capsys.readouterr().out
    assert "126 answers to 42 cases" in text and "faithful 1 to 7" in text
    assert "5 judges, 5 of them with stored scores, a jury of 5" in text
    assert "9 in the reference" in text and "two or more scored 42 answers" in text
    assert re.search(r"grades\.csv +yours +stored scores \(study\.yaml\)", text)
    with nobody_reached():
        assert main(["run", str(folder / "study.yaml"), "--quiet"]) == 0
    own, recipes = (
        place / "runs" / "medhelm-jury" for place in (folder, run_recipe(tmp_path_factory, "medhelm-jury"))
    )
    made, theirs = tables_in(own), tables_in(recipes)
    found = check_recipe(folder)
    # No model answered where all scores come from a file: the one table that cannot be, and the check says why.
    assert theirs - made - OF_THE_OUTCOME == {"answering-models"} == set(found.studies[0].lost)
    assert "answering-models: a judge that asks a model: all scores are from files" in text
    assert told(found, "study.yaml") == made - OF_THE_OUTCOME
    # A table that has rows there has rows here, and so has every figure: of these judges, dimensions and systems.
    filled, theirs_filled = (
        {name for name in made & theirs if read_table(run / "tables" / f"{name}.csv")}
        for run in (own, recipes)
    )
    assert theirs_filled <= filled, theirs_filled - filled
    figures, theirs_figures = ({file.name for file in (run / "figures").iterdir()} for run in (own, recipes))
    # Of scores from a file nobody knows calls or cost, against which this figure draws agreement.
    assert theirs_figures - figures == {"ways-of-judging.svg"}
    rows = {name: read_table(own / "tables" / f"{name}.csv") for name in filled}
    for column, wanted in (("system", {*SYSTEMS}), ("judge", {*JUDGES}),
                           ("dimension", {name.capitalize() for name in DIMENSIONS} | {"Mean"})):  # fmt: skip
        told_of = {
            str(row[column]) for name in rows for row in rows[name] if column in row and name != "unscored"
        }
        assert wanted <= told_of, (column, told_of)
        assert not any("accuracy" in each.lower() or "juror" in each for each in told_of), told_of


def test_what_a_smaller_study_lacks_is_told_table_by_table(tmp_path: Path) -> None:
    folder = mine(tmp_path / "mine", cases=12)
    (study,) = check_recipe(folder).studies
    needs = {each.name: each.needs for each in study.tables}
    assert needs["calibration"] == "25 cases with a clinician's score on one dimension; there are 12"
    assert needs["second-panel"] == "ratings of a second panel: `humans: {second_panel: NAME}`"
    assert needs["agreement"] == needs["ranking"] == ""
    assert {"calibration", "calibration-curves", "ranking-agreement-calibrated"} <= set(study.lost)
    assert "second-panel" not in study.lost, "the recipe has no second panel either"
    (folder / "clinicians.csv").write_text(
        "item,system,rater,dimension,score\nvisit-00,first-scribe,one,faithful,4\n"
    )
    needs = {each.name: each.needs for each in check_recipe(folder).studies[0].tables}
    assert needs["human-baseline"] == "answers that two clinicians of the reference scored"


def test_recorded_answers_to_other_cases_are_told_before_a_run_leaves_all_unscored(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "mine"
    assert main(["init", str(folder), "--recipe", "econsult"]) == 0
    assert check_recipe(folder).is_sound
    cases = (folder / "cases.jsonl").read_text(encoding="utf-8")
    (folder / "cases.jsonl").write_text(cases.replace("echocardiogram", "ultrasound scan"), encoding="utf-8")
    capsys.readouterr()
    assert main(["recipes", "check", str(folder), "--json"]) == 2
    shown = capsys.readouterr()
    assert json.loads(shown.out)["sound"] is False
    assert "recorded answers, which are about the recipe's own files and not about cases.jsonl" in shown.err
    assert "physicians.csv is the recipe's own: made-up grades of the recipe's cases" in shown.err


def test_ratings_of_yours_do_not_pass_as_made_up(tmp_path: Path) -> None:
    (study,) = check_recipe(mine(tmp_path / "mine")).studies
    assert any(each.startswith("`humans.illustrative` is true") for each in study.notes)
    assert any(each.startswith("`humans.keep_names` is true") for each in study.notes)


def test_a_file_that_cannot_be_read_is_told_with_its_line_and_the_others_are_checked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "mine"
    assert main(["init", str(folder), "--recipe", "conversations"]) == 0
    ratings = (folder / "tools.csv").read_text(encoding="utf-8").replace("choice,4", "choice,9", 1)
    (folder / "tools.csv").write_text(ratings, encoding="utf-8")
    capsys.readouterr()
    assert main(["recipes", "check", str(folder)]) == 2
    text = capsys.readouterr().out
    assert "9" in text and "row 2" in text and "1 study file cannot be run yet" in text
    found = check_recipe(folder)
    assert {each.file: bool(each.problems) for each in found.studies} == {
        "study.yaml": False,
        "tools.yaml": True,
    }


def test_the_recipe_is_known_by_a_file_that_is_left_or_by_its_name(tmp_path: Path) -> None:
    folder = mine(tmp_path / "mine")
    assert check_recipe(folder).recipe == "medhelm-jury"
    (folder / "README.md").unlink()
    unknown = check_recipe(folder)
    assert unknown.recipe == "" and "which recipe it is after is not known" in unknown.text()
    stated = check_recipe(folder, recipe="medhelm-jury")
    assert stated.recipe == "medhelm-jury" and stated.studies[0].lost == ("answering-models",)


def test_what_is_no_recipes_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MedjuryError, match="not a folder; name the one that `medjury init --recipe` wrote"):
        check_recipe(tmp_path / "none")
    with pytest.raises(MedjuryError, match="holds no study file"):
        check_recipe(tmp_path)
    with pytest.raises(MedjuryError, match="there is no recipe 'medhelm'"):
        check_recipe(tmp_path, recipe="medhelm")


def test_nothing_is_written_and_no_clinicians_name_leaves_the_file(tmp_path: Path) -> None:
    folder = mine(tmp_path / "mine")
    before = {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}
    text = check_recipe(folder).text()
    assert {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()} == before
    assert "reader-" not in text and "Codeine" not in text


def test_the_page_names_the_files_of_every_recipe() -> None:
    page = (Path(__file__).parents[2] / "docs" / "recipes" / "your-data.md").read_text(encoding="utf-8")
    for recipe in Recipe.all():
        (row,) = (line for line in page.splitlines() if line.startswith(f"| [{recipe.name}]"))
        parts = {name.partition("/")[0] for name in recipe.files()} - {"README.md"}
        missing = {part for part in parts if f"`{part}" not in row}
        assert not missing, (recipe.name, missing)


def without_people(folder: Path, study: dict[str, Any]) -> None:
    study.pop("humans")


def one_judge(folder: Path, study: dict[str, Any]) -> None:
    study["judges"], study["jury"] = study["judges"][:1], "none"


def few_cases(folder: Path, study: dict[str, Any]) -> None:
    mine(folder / "few", cases=8)
    for name in ("cases.jsonl", "clinicians.csv", "grades.csv"):
        (folder / "few" / name).replace(folder / name)
    (folder / "few" / "study.yaml").unlink()


def one_reader(folder: Path, study: dict[str, Any]) -> None:
    with (folder / "clinicians.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    first = {(row["item"], row["dimension"]): {**row, "rater": "only"} for row in reversed(rows)}
    write_csv(folder / "clinicians.csv", list(first.values()))


@pytest.mark.parametrize("poorer", [without_people, one_judge, few_cases, one_reader])
def test_of_poorer_files_the_report_has_what_was_told_and_no_more(poorer: Any, tmp_path: Path) -> None:
    folder = mine(tmp_path / "mine")
    file = folder / "study.yaml"
    study = yaml.safe_load(file.read_text(encoding="utf-8"))
    poorer(folder, study)
    file.write_text(yaml.safe_dump(study, sort_keys=False), encoding="utf-8")
    found = check_recipe(folder)
    with nobody_reached():
        assert main(["run", str(file), "--quiet"]) == 0
    assert told(found, "study.yaml") == tables_in(folder / "runs" / "medhelm-jury") - OF_THE_OUTCOME
