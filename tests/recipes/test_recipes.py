"""Recipes: written as a folder, run offline, never over what is there; what ships is what its generator makes."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
import tarfile
import zipfile
from html import unescape
from pathlib import Path

import pytest
from recipes._recording import PACKAGED, write_recipe_files
from tests.recipes.compared import read_table
from tests.recipes.offline import run_recipe

from medjury.cli import main
from medjury.store.runs import RunFolder
from medjury.studies import Recipe

ROOT = Path(__file__).parent.parent.parent
NAMES = [recipe.name for recipe in Recipe.all()]
SLOW_TO_MAKE = ("diagnosis-jury", "pdsqi9")


def files_in(folder: Path) -> dict[str, bytes]:
    return {
        file.relative_to(folder).as_posix(): file.read_bytes() for file in folder.rglob("*") if file.is_file()
    }


@pytest.mark.parametrize("name", NAMES)
def test_a_recipe_runs_offline_to_its_end(
    name: str, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "mine"
    assert main(["init", str(folder), "--recipe", name]) == 0
    assert f"medjury run {folder / 'study.yaml'}" in capsys.readouterr().out
    assert files_in(folder) == files_in(PACKAGED / name)
    assert (folder / "study.yaml").stat().st_mode & 0o777 == 0o600 and folder.stat().st_mode & 0o777 == 0o700
    ran = run_recipe(tmp_path_factory, name)
    told = (ran.parent / "told.txt").read_text(encoding="utf-8")
    assert told.startswith("COMPLETE") and "No model was asked" in told
    (run,) = (ran / "runs" / each for each in (ran.parent / "runs.txt").read_text().splitlines())
    assert (run / "report.html").exists() and all(each.sound for each in RunFolder(run).verify())


@pytest.mark.parametrize(
    "name",
    # The two that take longest to make with `make test-simulations`.
    [pytest.param(name, marks=[pytest.mark.simulation] * (name in SLOW_TO_MAKE)) for name in NAMES],
)
def test_what_ships_is_what_the_generator_makes(name: str, tmp_path: Path) -> None:
    made = importlib.import_module(f"recipes.{name.replace('-', '_')}").make()
    assert files_in(write_recipe_files(made, tmp_path / name)) == files_in(PACKAGED / name)


def named_by(page: str) -> set[tuple[str, str, str]]:
    """Run, kind and name of every exhibit; pages write `RUN: table NAME`, table `NAME` or `tables/NAME.csv`."""
    lists = re.findall(r"\b(table|figure)s?\s+((?:`[a-z-]+`(?:\s+and\s+)?)+)", page)
    return {
        *re.findall(r"`(?:([a-z-]+): )?(table|figure) ([a-z-]+)`", page),
        *(("", kind, name) for kind, names in lists for name in re.findall("`([a-z-]+)`", names)),
        *(("", *found) for found in re.findall(r"`(table|figure)s/([a-z0-9-]+)\.(?:csv|svg)`", page)),
    }


@pytest.mark.parametrize("name", NAMES)
def test_every_exhibit_and_section_that_the_page_names_is_in_its_report(
    name: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    page = (ROOT / "docs" / "recipes" / f"{name}.md").read_text(encoding="utf-8")
    runs = run_recipe(tmp_path_factory, name) / "runs"
    named = named_by(page)
    assert len(named) >= 12
    for run, kind, exhibit in sorted(named):
        place = runs / (run or name)
        report = (place / "report.html").read_text(encoding="utf-8")
        if kind == "figure":
            assert f'id="figure-{exhibit}"' in report and (place / "figures" / f"{exhibit}.svg").is_file()
        else:
            assert f'id="table-{exhibit}"' in report or f"tables/{exhibit}.csv" in report, exhibit
            assert read_table(place / "tables" / f"{exhibit}.csv"), exhibit
    report = unescape((runs / name / "report.html").read_text(encoding="utf-8"))
    assert all(f'id="{each}"' in report for each in re.findall("`#([a-z0-9-]+)`", page))
    assert all(f">{title}</h2>" in report for title in re.findall(r"section \*([^*]+)\*", page))


@pytest.mark.parametrize(
    ("name", "size", "calls", "rated", "twice"),
    [
        ("conversations", "96 cases, 2 systems", "288", 10, 10),
        ("criteria", "24 cases, 2 systems", "72", 12, 12),
        ("diagnosis-jury", "378 cases, 7 systems", "1,134", 54, 0),
        ("econsult", "40 cases", "757", 27, 20),
        ("medhelm-jury", "224 cases, 4 systems", "672", 56, 56),
        ("pairs", "75 pairs of answers, in both orders, 3 systems", "450", 25, 25),
        ("pdsqi9", "48 cases, 3 systems", "1,728", 29, 29),
        ("transcripts", "60 cases, 2 systems", "900", 10, 10),
    ],
)
def test_a_dry_run_tells_what_a_study_can_show_before_anything_is_spent(
    name: str,
    size: str,
    calls: str,
    rated: int,
    twice: int,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Of the dimension with the fewest cases that clinicians rated; turns of one conversation, and utterances of
    one call, are one. Development cases do not count."""
    assert main(["init", str(tmp_path / "mine"), "--recipe", name]) == 0
    capsys.readouterr()
    assert main(["run", str(tmp_path / "mine" / "study.yaml"), "--dry-run"]) == 0
    told = capsys.readouterr().out
    assert told.startswith(size) and f"In all {calls} calls expected" in told
    assert f"{rated} cases rated, {twice} of them by two clinicians" in told
    assert not (tmp_path / "mine" / "runs").exists()


@pytest.mark.parametrize("name", NAMES)
def test_made_up_ratings_validate_nothing(name: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    runs = run_recipe(tmp_path_factory, name) / "runs"
    verdicts = [row for file in runs.glob("*/tables/verdicts.csv") for row in read_table(file)]
    assert verdicts and {row["verdict"] for row in verdicts} == {"NOT VALIDATED"}


def test_the_list_has_one_line_for_each_recipe(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", "--list-recipes"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == NAMES
    assert all(len(line.split()) > 4 for line in lines)


def test_a_name_that_is_none_is_told_with_those_there_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["init", str(tmp_path / "x"), "--recipe", "diagnoses-jury"]) == 2
    told = capsys.readouterr().err
    assert "no recipe 'diagnoses-jury'; did you mean 'diagnosis-jury'?" in told
    assert all(name in told for name in NAMES) and not (tmp_path / "x").exists()


def test_nothing_is_written_over(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "study.yaml").write_text("mine")
    (tmp_path / "file").write_text("mine")
    for name in ("there", "file"):
        assert main(["init", str(tmp_path / name), "--recipe", "diagnosis-jury", "--force"]) == 2
        assert "nothing is written over; name another folder" in capsys.readouterr().err
    assert files_in(tmp_path) == {"there/study.yaml": b"mine", "file": b"mine"}
    (tmp_path / "empty").mkdir()
    assert main(["init", str(tmp_path / "empty"), "--recipe", "diagnosis-jury"]) == 0


def test_the_built_packages_hold_every_file_of_every_recipe(tmp_path: Path) -> None:
    pytest.importorskip("hatchling")
    for kind in ("wheel", "sdist"):
        done = subprocess.run(
            [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(tmp_path)],
            cwd=ROOT, capture_output=True, text=True, timeout=120,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    (wheel,), (source,) = tmp_path.glob("*.whl"), tmp_path.glob("*.tar.gz")
    wanted = {f"medjury/studies/recipes/{file}" for file in files_in(PACKAGED) if "__pycache__" not in file}
    assert len(wanted) > 5
    assert wanted <= set(zipfile.ZipFile(wheel).namelist())
    with tarfile.open(source) as archive:
        names = {name.partition("/src/")[2] for name in archive.getnames()}
    assert wanted <= names
