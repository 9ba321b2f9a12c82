"""The pytest plugin in pytest itself: grades by recorded answers, live on request, and no other jury."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from tests.loopback import LoopbackServer
from tests.passports.passported import row

pytest_plugins = ["pytester"]
PLUGIN = "medjury.in_use.programs.for_pytest"
ROOT = Path(__file__).parents[2]
TESTS = """
import pytest

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


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pytest within loads no plugin but this one, installed or not."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)


def run_tests(within: pytest.Pytester, card: Path, *options: str, text: str = TESTS, **ini: Path) -> str:
    """What pytest prints for these tests."""
    named = "".join(f"{name} = {file}\n" for name, file in {"medjury_card": card, **ini}.items())
    within.makefile(".ini", pytest=f"[pytest]\n{named}")
    within.makepyfile(f"rows = { {str(number): row(number) for number in range(201, 210)} }\n{text}")
    done = within.runpytest_inprocess("-p", PLUGIN, "-p", "no:cacheprovider", "-rA", *options)
    return "\n".join([*done.outlines, *done.errlines])


def test_texts_are_graded_by_recorded_answers(
    card: Path, answers: Path, server: LoopbackServer, pytester: pytest.Pytester
) -> None:
    before = len(server.calls)
    told = run_tests(pytester, card, medjury_answers=answers)
    assert "3 failed, 3 passed" in told, told
    assert "case-201: accuracy is 2, not at least 3" in told
    assert told.count("AssertionError: case-203: accuracy is UNSCORED: no_quorum; juror: refusal") >= 2, (
        "and is no grade at all"
    )
    assert "Visit 20" not in told, "no text of a case is printed"
    assert len(server.calls) == before


def test_live_asks_and_records(card: Path, server: LoopbackServer, pytester: pytest.Pytester) -> None:
    text = '\ndef test_it(medjury):\n    medjury.judge(rows["209"]).at_least("accuracy", 5)\n'
    file, before = pytester.path / "new.jsonl", len(server.calls)
    assert "medjury_answers in the ini file" in run_tests(pytester, card, text=text)
    told = run_tests(pytester, card, "--medjury-live", text=text, medjury_answers=file)
    assert "1 passed" in told and len(server.calls) == before + 1, told
    told = run_tests(pytester, card, text=text, medjury_answers=file)
    assert "1 passed" in told and len(server.calls) == before + 1, told


def test_a_swapped_model_is_refused(
    card: Path, swapped: Path, server: LoopbackServer, pytester: pytest.Pytester
) -> None:
    before = len(server.calls)
    told = run_tests(pytester, card, "--medjury-live", medjury_study=swapped)
    assert "6 errors" in told and "a different jury: juror, model" in told, told
    assert len(server.calls) == before


def test_a_card_that_no_trusted_key_signed_is_refused(
    card: Path, answers: Path, signed: tuple[Path, Path], pytester: pytest.Pytester
) -> None:
    text = '\ndef test_it(medjury):\n    medjury.judge(rows["204"]).at_least("accuracy", 5)\n'
    for named, expected in ((signed[0], "1 passed"), (card, "there is no signature")):
        files = {"medjury_answers": answers, "medjury_signers": signed[1]}
        assert expected in run_tests(pytester, named, text=text, **files)


def test_a_suite_with_a_medjury_of_its_own_is_left_alone(pytester: pytest.Pytester) -> None:
    """Where the plugin is installed: its fixture gives way, and it adds no warning under the strictest settings."""
    pytester.makeini("[pytest]\nfilterwarnings = error\naddopts = --strict-markers --strict-config\n")
    pytester.makeconftest("import pytest\n\n@pytest.fixture\ndef medjury():\n    return 7\n")
    pytester.makepyfile("def test_own(medjury):\n    assert medjury == 7\n")
    done = pytester.runpytest_subprocess("-p", PLUGIN, "-p", "no:cacheprovider")
    done.assert_outcomes(passed=1)


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
