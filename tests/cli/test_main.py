"""The front door: quick, and errors are for the reader."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from medjury.cli import main
from medjury.cli._main import COMMANDS, HEADINGS, command_function
from medjury.foundation.errors import MedjuryError

HEAVY = {"numpy", "scipy", "polars", "pydantic", "sqlalchemy", "aiohttp", "yaml", "matplotlib", "asyncio"}


def test_help_imports_nothing_heavy() -> None:
    program = (
        "import sys; from medjury.cli import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        f"print('HEAVY', sorted({HEAVY!r} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "HEAVY []"


def test_every_command_has_its_file() -> None:
    for name in {*COMMANDS} - {"runs"}:  # a heading of others
        for found in ("add{}_arguments", "run{}"):
            assert callable(command_function(found, name.split()[-1]))


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main([*name.split(), "--help"])
    assert stopped.value.code == 0
    assert COMMANDS[name][:20] in capsys.readouterr().out


def test_help_has_five_headings_of_eight_lines_at_most(capsys: pytest.CaptureFixture[str]) -> None:
    """Each command fits on one line of eighty columns."""
    with pytest.raises(SystemExit):
        main(["--help"])
    shown = capsys.readouterr().out
    parts = dict(re.findall(r"(?m)^(\w+):\n((?:  .+\n)+)", shown.split("exit\n", 1)[1]))
    assert list(parts) == list(HEADINGS) == ["Start", "Judge", "Trust", "Clinicians", "Expert"]
    for heading, lines in parts.items():
        assert [line.split()[0] for line in lines.splitlines()] == list(HEADINGS[heading])
        assert len(lines.splitlines()) <= 8


def test_a_command_that_moved_is_found_by_its_old_name(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["verify", "runs/mine"])
    assert stopped.value.code == 2
    assert "did you mean runs verify?" in capsys.readouterr().err


def test_an_error_is_one_message_without_a_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["run", "no-such-study.yaml"]) == 2
    told = capsys.readouterr().err
    where = "check its name and folder"
    assert told == f"medjury: no-such-study.yaml: there is no such file; {where}\n"


def test_an_advice_names_no_option_that_the_command_lacks(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(options: object) -> int:
        raise MedjuryError("two reviews; name one (--reference). Or sign it (--sign KEY).")

    monkeypatch.setattr("medjury.cli.verify.run", broken)
    assert main(["runs", "verify", "somewhere"]) == 2
    assert capsys.readouterr().err == "medjury: two reviews; name one. Or sign it (--sign KEY).\n"


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("medjury ")


def test_a_missing_extra_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(options: object) -> int:
        raise ModuleNotFoundError("No module named 'matplotlib.figure'", name="matplotlib.figure")

    monkeypatch.setattr("medjury.cli.verify.run", broken)
    assert main(["runs", "verify", "somewhere"]) == 2
    assert capsys.readouterr().err.endswith('pip install "medjury[report]"\n')
