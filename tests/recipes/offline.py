"""Recipes as a user writes and runs them, on a machine where nobody can be reached: each run once for all tests."""

from __future__ import annotations

import contextlib
import io
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.once import made_once

from medjury.cli import main

STUDIES = {
    "conversations": ("study", "tools"),
    "diagnosis-jury": ("study", "ward-reference", "stability"),
    "medhelm-jury": ("study", "notes", "replies"),
}


@contextmanager
def nobody_reached() -> Iterator[None]:
    """No socket can be connected."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a recipe asks nobody")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", refuse)
        patch.setattr(socket.socket, "connect_ex", refuse)
        patch.setattr(socket, "create_connection", refuse)
        yield


def run_demonstration(factory: pytest.TempPathFactory) -> Path:
    """The folder of `medjury demo` with its recorded jury. Tests only read in it, or in a copy."""

    def make(place: Path) -> None:
        with nobody_reached(), contextlib.redirect_stdout(io.StringIO()):
            assert main(["demo", "--folder", str(place / "demo"), "--no-live", "--quiet"]) == 0

    return made_once(factory, "demonstration", make) / "demo"


def run_recipe(factory: pytest.TempPathFactory, name: str) -> Path:
    """The recipe's folder after all its studies were run. Beside it lies what the first run told (`told.txt`) and
    which run folders there were then (`runs.txt`). Tests only read in it."""

    def make(place: Path) -> None:
        folder = place / "mine"
        with nobody_reached():
            assert main(["init", str(folder), "--recipe", name]) == 0
            for study in STUDIES.get(name, ("study",)):
                with contextlib.redirect_stdout(io.StringIO()) as told:
                    assert main(["run", str(folder / f"{study}.yaml"), "--quiet"]) == 0
                if study == "study":
                    (place / "told.txt").write_text(told.getvalue(), encoding="utf-8")
                    runs = sorted(each.name for each in (folder / "runs").iterdir())
                    (place / "runs.txt").write_text("\n".join(runs), encoding="utf-8")

    return made_once(factory, f"recipe-{name}", make) / "mine"
