"""The pages of the recipes after a paper list every table and figure of it, say of each where it is or why it is
not, and every command that they name runs. That what they name is in the reports, `test_recipes` checks."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest
from tests.recipes.offline import nobody_reached, run_recipe

from medjury.cli import main

ROOT = Path(__file__).parents[2]
PAPERS = ROOT.parent / "shared" / "papers"


def _numbered(kind: str, last: int, before: str = "") -> list[str]:
    return [f"{kind} {before}{number}" for number in range(1, last + 1)]


# By recipe: the paper, and all of its tables and figures, those of appendix and supplement too.
EXHIBITS = {
    "diagnosis-jury": ("000", [*_numbered("Figure", 8), *_numbered("Table", 2), *_numbered("Table", 6, "A."),
                               *_numbered("Figure", 3, "A.")]),
    "econsult": ("001", ["Table 1", *_numbered("Figure", 5), *_numbered("Supplemental Figure", 2)]),
    "transcripts": ("002", [*_numbered("Figure", 8), *_numbered("Table", 11)]),
    "medhelm-jury": ("003", [*_numbered("Figure", 5), *_numbered("Table", 4), "Table B1", "Table B2", "Table C3",
                             "Figure D1", "Table E4", "Table G5"]),
    "pdsqi9": ("004", [*_numbered("Figure", 3), *_numbered("Table", 7), *_numbered("Supplementary Table", 2),
                       *_numbered("Supplementary Note", 2)]),
}  # fmt: skip
# What asks models or the network is not run here.
ASKS = ("medjury tune", "medjury bench run")


def rows_of(name: str) -> list[list[str]]:
    """The cells of the page's table of exhibits: what is in the paper, and the column `here`."""
    page = (ROOT / "docs" / "recipes" / f"{name}.md").read_text(encoding="utf-8")
    part = page.partition("## Every table and figure of the paper")[2].partition("\n## ")[0]
    lines = [line for line in part.splitlines() if line.startswith("|")]
    head, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert all(len(row) == len(head) for row in rows)
    return [[row[0], row[head.index("here")]] for row in rows]


@pytest.mark.parametrize("name", EXHIBITS)
def test_every_table_and_figure_of_the_paper_is_listed_with_its_place_or_the_reason(name: str) -> None:
    rows = rows_of(name)
    for exhibit in EXHIBITS[name][1]:
        assert any(re.match(rf"{re.escape(exhibit)}(?![\d.])", first) for first, _ in rows), exhibit
    for first, here in rows:
        if here.startswith("not here"):
            assert len(here.split()) > 6, f"{first}: no reason"
        else:
            assert re.search(r"`[^`]+`|\]\(|section \*|^as (Fig|Tab)|\*[A-Z]", here), f"{first}: no place"


@pytest.mark.parametrize("name", EXHIBITS)
def test_the_paper_itself_has_no_table_or_figure_that_is_not_listed(name: str) -> None:
    number, listed = EXHIBITS[name]
    if not PAPERS.is_dir():
        pytest.skip("shared/papers is not here")
    (file,) = PAPERS.glob(f"{number}_*.txt")
    text, _, _ = file.read_text(encoding="utf-8").partition("\nReferences\n")
    found = {
        f"{before}{'Table' if kind[0] == 'T' else 'Figure'} {letter}{digits}"
        for before, kind, letter, digits in re.findall(
            r"\b(Supplement\w+ )?(Tables?|Figures?|Figs?\.?) ((?:[A-Z]\.?)?)(\d+)", text
        )
    }
    assert found and not found - set(listed), found - set(listed)


@pytest.mark.parametrize("name", EXHIBITS)
def test_every_command_that_the_table_names_runs(
    name: str, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    shutil.copytree(run_recipe(tmp_path_factory, name), tmp_path / "mine")
    monkeypatch.chdir(tmp_path / "mine")
    words = " ".join(here for _, here in rows_of(name))
    commands = dict.fromkeys(re.findall(r"`(medjury [^`]+)`", words))
    assert commands
    for command in commands:
        if not command.startswith(ASKS):
            with nobody_reached():
                status = main(shlex.split(command.replace("RUN", f"runs/{name}"))[1:])
            assert status == 0, f"{command}\n{capsys.readouterr().err}"
