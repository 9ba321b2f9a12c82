"""`medjury look FILE --write MAPPING`: a table as people have it is read as it is, with no hand on its mapping, or
refused with the one fact that is missing."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from tests.inspection.people import READ, REFUSED, Made

from medjury.cli import main
from medjury.intake import READERS
from medjury.intake.cases import read_cases
from medjury.store.ratings import read_ratings
from medjury.studies.inspection import look
from medjury.tables import rating_table

NAMES = [*READ, *(name for name, made in REFUSED.items() if made.options)]


def test_there_are_enough() -> None:
    assert len(READ) >= 20


@pytest.mark.parametrize("name", NAMES)
def test_a_table_is_read_as_it_is(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made: Made = (READ | REFUSED)[name]
    file, mapping = made.write(tmp_path), tmp_path / "mapping.yaml"
    options = [word for key, value in made.options.items() for word in ("--map", f"{key}={value}")]
    assert main(["look", str(file), "--write", str(mapping), *options]) == 0, capsys.readouterr()
    shown = capsys.readouterr().out
    found = [
        each
        for each in read_ratings(file, mapping=mapping, on_bad="unscored").ratings
        if each.score is not None
    ]
    scores = {(each.item, each.system, each.rater, each.dimension, each.score) for each in found}
    assert len(scores) == len(found) == made.scores
    assert set(made.some) <= scores
    counts = [len({each[at] for each in scores}) for at in (0, 2, 3)]
    assert counts == [made.cases, made.raters, made.dimensions]
    assert f"  cases: {made.cases}\n" in shown
    status = main(["agreement", str(file), "--mapping", str(mapping), "--resamples", "50"])
    told = capsys.readouterr()
    if made.raters > 1 and "judge" not in str(yaml.safe_load(mapping.read_text()).get("rater_kind")):
        assert status == 0 and any(each in told.out for each in {each[3] for each in made.some}), told.err
    if made.scale is not None:
        assert yaml.safe_load(mapping.read_text())["scale"] == made.scale


@pytest.mark.parametrize("name", REFUSED)
def test_a_table_that_lacks_a_fact_is_refused_with_that_fact(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = REFUSED[name].write(tmp_path)
    assert main(["look", str(file), "--write", str(tmp_path / "mapping.yaml")]) == 2
    told = capsys.readouterr()
    assert REFUSED[name].missing in told.err and "no mapping was written" in told.err
    assert not (tmp_path / "mapping.yaml").exists()


def test_a_table_that_may_be_two_things_is_counted_as_both(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, mapping = tmp_path / "answers.csv", tmp_path / "mapping.yaml"
    answers = ["Give adrenaline into the muscle of the thigh.", "After two days where the kidneys work."]
    rows = "".join(
        f"{at},What is to be done first in this case?,{text},{at + 3}\n" for at, text in enumerate(answers)
    )
    file.write_text(f"question_id,question,answer,accuracy\n{rows}")
    assert main(["look", str(file)]) == 0
    told = capsys.readouterr().out
    assert "Read so: 2 scores of 2 items by 1 raters" in told
    assert "It may be read as cases too (2 cases with candidate, question): --as cases" in told
    assert main(["look", str(file), "--as", "cases", "--write", str(mapping)]) == 0
    assert f"Next: medjury cases check {file} --mapping {mapping}" in capsys.readouterr().out
    assert [each.candidate for each in read_cases(file, mapping=mapping)] == answers
    assert main(["cases", "check", str(file), "--mapping", str(mapping)]) == 0


def test_what_somebody_else_wrote_is_not_replaced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, mapping = READ["initials of raters"].write(tmp_path), tmp_path / "mapping.yaml"
    mapping.write_text("item: Patient\n")
    assert main(["look", str(file), "--write", str(mapping)]) == 2
    assert "is there already" in capsys.readouterr().err and mapping.read_text() == "item: Patient\n"
    mapping.unlink()
    for _ in range(2):
        assert main(["look", str(file), "--write", str(mapping)]) == 0


def test_the_scale_of_a_mapping_is_that_of_the_table(tmp_path: Path) -> None:
    file, mapping = READ["initials of raters"].write(tmp_path), tmp_path / "mapping.yaml"
    assert main(["look", str(file), "--write", str(mapping)]) == 0
    (dimension,) = rating_table(file, mapping=mapping).dimensions
    assert dimension.grades is not None and dimension.grades.values == (1, 2, 3, 4, 5)


def test_short_texts_without_a_grade_are_cases(tmp_path: Path) -> None:
    (tmp_path / "cases.csv").write_text("id,candidate,context\na,Well.,A note.\n")
    found = look(tmp_path / "cases.csv")
    assert (found.kind.name, found.kind.other, found.problem) == ("table of cases", None, "")


@pytest.mark.parametrize("other", ["llama-3", "Ada"])
def test_what_is_no_grade_of_a_judge_is_a_failure_and_is_kept(other: str, tmp_path: Path) -> None:
    file, mapping = tmp_path / "ratings.csv", tmp_path / "m.yaml"
    grades = ["nan", "NA", "", *map(str, [1, 2, 3, 4, 5] * 4)]
    rows = [f"c{at},{who},{grade}\n" for at, grade in enumerate(grades) for who in ("gpt-4o", other)]
    file.write_text("case_id,rater,accuracy\n" + "".join(rows))
    assert main(["look", str(file), "--write", str(mapping)]) == 0
    found = read_ratings(file, mapping=mapping)
    judges = [each for each in found.ratings if each.rater_kind == "judge"]
    assert len(judges) == len(grades) * (1 + (other == "llama-3"))
    lost = [each for each in found.ratings if each.status != "scored"]
    assert {each.status for each in lost} == {"unscored"} and len(lost) == 3 * (1 + (other == "llama-3"))


@pytest.mark.parametrize("ending", READERS)
def test_a_damaged_table_of_a_known_form_is_no_unknown_file(ending: str, tmp_path: Path) -> None:
    (tmp_path / f"t{ending}").write_bytes(b"\x00\x01\x02 not a table")
    found = look(tmp_path / f"t{ending}").kind
    assert found.name != "file of a kind that is not known here"
