"""The page on importing ratings does what it says: its files, commands and code are run, its output compared."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from medjury.cli import main

PAGE = Path(__file__).parents[2] / "docs" / "importing-ratings.md"
_BLOCK = re.compile(
    r"(?:^`(?P<name>[\w.-]+)`\n\n)?^```(?P<kind>\w+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)


def test_every_example_on_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    output, compared, commands = "", 0, 0
    for block in _BLOCK.finditer(PAGE.read_text(encoding="utf-8")):
        kind, text = block["kind"], block["text"]
        if block["name"]:
            (tmp_path / block["name"]).write_text(text, encoding="utf-8")
        elif kind == "sh":
            for line in text.splitlines():
                main(line.removeprefix("medjury ").split())
                commands += 1
            captured = capsys.readouterr()
            output = captured.out + captured.err
        elif kind == "text":
            assert output == text
            compared += 1
        elif kind == "python":
            exec(compile(text, str(PAGE), "exec"), {})
            assert "3 ratings from 4 rows" in capsys.readouterr().out
    assert (compared, commands) == (5, 7)
    assert (tmp_path / "study.sqlite.names-key").stat().st_mode & 0o777 == 0o600
    exported = (tmp_path / "all.csv").read_text(encoding="utf-8")
    assert "Dr Ada Lee" not in exported
    assert "ALEE" not in exported
    assert len(exported.splitlines()) == 1 + 3 + 4 + 3
