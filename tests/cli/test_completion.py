"""Completion by the shell, and defaults from the environment."""

from __future__ import annotations

import contextlib
import io
import os
import pty
import select
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from medjury.cli import main

ASK = """
source {script}
COMP_WORDS=({words} "{begun}"); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
_medjury_complete
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


OFFERED = [
    ("medjury", "ag", ["agreement"]),
    ("medjury", "--v", ["--version"]),
    ("medjury run study.yaml", "--ke", ["--keep-going"]),
    ("medjury calibrate", "a", ["apply"]),
    ("medjury agreement runs/one --by", "sys", ["system"]),
    ("medjury completion", "fi", ["fish"]),
    ("medjury instruments show", "--sch", ["--schema"]),
    ("medjury triage", "--no-such", []),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The script of every shell, in a file that is named after it."""
    place = tmp_path_factory.mktemp("completion")
    for shell in ("bash", "zsh", "fish"):
        out = io.StringIO()
        with contextlib.redirect_stdout(out), pytest.MonkeyPatch.context() as patch:
            patch.setenv("MEDJURY_WIDTH", "40")  # a script is never folded
            assert main(["completion", shell]) == 0
        (place / f"medjury.{shell}").write_text(out.getvalue())
    return place


def without(shell: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(shutil.which(shell) is None, reason=f"there is no {shell} here")


@without("bash")
@pytest.mark.parametrize(("words", "begun", "offered"), OFFERED)
def test_bash_completes_commands_options_and_choices(
    folder: Path, words: str, begun: str, offered: list[str]
) -> None:
    asked = ASK.format(script=folder / "medjury.bash", words=words, begun=begun)
    done = subprocess.run(["bash", "--norc", "-c", asked], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert done.stdout.split() == offered


@without("fish")
def test_fish_completes_them_too(folder: Path) -> None:
    asked = "".join(f"; complete -C '{words} {begun}'; echo ." for words, begun, _ in OFFERED)
    done = subprocess.run(
        ["fish", "--no-config", "-c", f"source {folder / 'medjury.fish'}{asked}"],
        capture_output=True, text=True, check=True, cwd=folder,
    )  # fmt: skip
    assert done.stderr == ""
    assert [part.split() for part in done.stdout.split(".\n")[:-1]] == [offered for *_, offered in OFFERED]


@without("zsh")
def test_zsh_completes_them_at_a_terminal(folder: Path) -> None:
    """Its completion is asked for by a key alone, so the key is pressed."""
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(folder)
        os.execvpe("zsh", ["zsh", "-f", "-i"], {**os.environ, "TERM": "dumb", "ZDOTDIR": str(folder)})
    try:
        press(
            terminal, "autoload -U compinit && compinit -u -D; source ./medjury.zsh; echo re''ady\n", "ready"
        )
        for words, begun, offered in OFFERED:
            if offered:
                press(terminal, f"{words} {begun}\t", f"{words} {offered[0]} ")
                press(terminal, "\x15echo go''ne\n", "gone")
    finally:
        os.close(terminal)
        os.waitpid(process, 0)


def press(terminal: int, keys: str, wanted: str) -> None:
    """Type, and read until what is wanted is there, for a quarter of a minute at most."""
    os.write(terminal, keys.encode())
    seen, end = "", time.monotonic() + 15
    while wanted not in seen:
        assert time.monotonic() < end, f"{keys!r} gave {seen!r}"
        if select.select([terminal], [], [], 0.2)[0]:
            seen += os.read(terminal, 65536).decode(errors="replace")


def test_a_hidden_option_is_not_offered(folder: Path) -> None:
    assert "--compare " not in (folder / "medjury.bash").read_text(), "an earlier name of --raters"


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
