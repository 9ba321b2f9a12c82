"""Completion by the shell, and defaults from the environment."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from medjury.cli import main

ASK = """
source {script}
COMP_WORDS=({words} "{begun}"); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
_medjury_complete
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import contextlib
    import io

    out = io.StringIO()
    with contextlib.redirect_stdout(out), pytest.MonkeyPatch.context() as patch:
        patch.setenv("MEDJURY_WIDTH", "40")  # a script is never folded
        assert main(["completion", "bash"]) == 0
    file = tmp_path_factory.mktemp("completion") / "medjury.bash"
    file.write_text(out.getvalue())
    return file


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash here")
@pytest.mark.parametrize(
    ("words", "begun", "offered"),
    [
        ("medjury", "ag", ["agreement"]),
        ("medjury", "--v", ["--version"]),
        ("medjury run study.yaml", "--ke", ["--keep-going"]),
        ("medjury calibrate", "a", ["apply"]),
        ("medjury agreement runs/one --by", "sys", ["system"]),
        ("medjury completion", "fi", ["fish"]),
        ("medjury instruments show", "--sch", ["--schema"]),
        ("medjury triage", "--no-such", []),
    ],
)
def test_bash_completes_commands_options_and_choices(
    script: Path, words: str, begun: str, offered: list[str]
) -> None:
    asked = ASK.format(script=script, words=words, begun=begun)
    done = subprocess.run(["bash", "--norc", "-c", asked], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert done.stdout.split() == offered


def test_a_hidden_option_is_not_offered(script: Path) -> None:
    assert "--compare " not in script.read_text(), "an earlier name of --raters"


def test_a_variable_is_the_default_of_its_option(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MEDJURY_WIDTH", "40")
    main(["instruments", "list"])
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 40
    monkeypatch.setenv("MEDJURY_WIDE", "yes")
    main(["instruments", "list"])
    assert max(map(len, capsys.readouterr().out.splitlines())) > 40
    monkeypatch.setenv("MEDJURY_QUIET", "perhaps")
    assert main(["report", str(tmp_path)]) == 2
    assert "MEDJURY_QUIET is 'perhaps'; set it to 1 or 0, or unset it" in capsys.readouterr().err
