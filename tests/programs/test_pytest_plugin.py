"""The pytest plugin in pytest itself: grades by recorded answers, live on request, and no other jury."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

from tests.loopback import LoopbackServer
from tests.passports.passported import row

PLUGIN = "medjury.in_use.programs.for_pytest"
ROOT = Path(__file__).parents[2]
TESTS = """
import json, pytest
rows = json.load(open("rows.json"))

def test_good(medjury):
    medjury.judge(rows["204"]).at_least("accuracy", 5).at_most("accuracy", 5)

def test_poor(medjury):
    medjury.judge(rows["201"]).at_least("accuracy", 3)

def test_declined(medjury):
    medjury.judge(rows["203"]).at_least("accuracy", 1)

def test_declined_either_way(medjury):
    medjury.judge(rows["203"]).at_most("accuracy", 5)

def test_outside(medjury):
    with pytest.warns(UserWarning, match="outside what the jury was validated on"):
        medjury.judge(rows["202"] | {"system": "new"})

def test_unknown(medjury):
    with pytest.raises(ValueError, match="grades accuracy, and no 'clarity'"):
        medjury.judge(rows["202"]).at_least("clarity", 1)
"""


def run_tests(folder: Path, card: Path, *options: str, text: str = TESTS, **ini: Path) -> str:
    """What pytest prints for these tests, in a process of its own, where only this plugin is loaded."""
    (folder / "rows.json").write_text(json.dumps({str(number): row(number) for number in range(201, 210)}))
    (folder / "test_notes.py").write_text(text)
    named = {"medjury_card": card, **ini}
    (folder / "pytest.ini").write_text(
        "[pytest]\n" + "".join(f"{name} = {file}\n" for name, file in named.items())
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", PLUGIN, "-p", "no:cacheprovider", "-rA", *options],
        cwd=folder, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": ""},
    )  # fmt: skip
    return done.stdout + done.stderr


def test_texts_are_graded_by_recorded_answers(
    card: Path, answers: Path, server: LoopbackServer, tmp_path: Path
) -> None:
    before = len(server.calls)
    told = run_tests(tmp_path, card, medjury_answers=answers)
    assert "3 failed, 3 passed" in told, told
    assert "case-201: accuracy is 2, not at least 3" in told
    assert told.count("AssertionError: case-203: accuracy is UNSCORED: no_quorum; juror: refusal") >= 2, (
        "and is no grade at all"
    )
    assert "Visit 20" not in told, "no text of a case is printed"
    assert len(server.calls) == before


def test_live_asks_and_records(card: Path, server: LoopbackServer, tmp_path: Path) -> None:
    text = (
        'import json\ndef test_it(medjury):\n    case = json.load(open("rows.json"))["209"]\n'
        '    medjury.judge(case).at_least("accuracy", 5)\n'
    )
    file, before = tmp_path / "new.jsonl", len(server.calls)
    assert "medjury_answers in the ini file" in run_tests(tmp_path, card, text=text)
    told = run_tests(tmp_path, card, "--medjury-live", text=text, medjury_answers=file)
    assert "1 passed" in told and len(server.calls) == before + 1, told
    told = run_tests(tmp_path, card, text=text, medjury_answers=file)
    assert "1 passed" in told and len(server.calls) == before + 1, told


def test_a_swapped_model_is_refused(
    card: Path, swapped: Path, server: LoopbackServer, tmp_path: Path
) -> None:
    before = len(server.calls)
    told = run_tests(tmp_path, card, "--medjury-live", medjury_study=swapped)
    assert "6 errors" in told and "a different jury: juror, model" in told, told
    assert len(server.calls) == before


def test_pytest_starts_without_medjury_being_loaded() -> None:
    """The entry point names the plugin, and loading it brings nothing that takes time."""
    points = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]
    assert points["pytest11"] == {"medjury": PLUGIN}
    heavy = {
        "numpy",
        "polars",
        "pydantic",
        "scipy",
        "yaml",
        "aiohttp",
        "sqlalchemy",
        "medjury.in_use.passports",
    }
    code = f"import pytest, sys, {PLUGIN}; print(sorted({heavy!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
