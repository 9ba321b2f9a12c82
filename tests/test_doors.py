"""Rooms import what they offer when somebody asks for it, and look like any other package."""

from __future__ import annotations

import builtins
import importlib
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest

import medjury

ROOMS = sorted(
    path.parent.name
    for path in Path(medjury.__file__).parent.glob("*/__init__.py")
    if "on_demand" in path.read_text(encoding="utf-8")
)


@pytest.mark.parametrize("name", ROOMS)
def test_every_name_a_room_offers_is_there_and_is_listed(name: str) -> None:
    room = importlib.import_module(f"medjury.{name}")
    assert room.__all__ and set(room.__all__) <= set(dir(room))
    for offered in room.__all__:
        found = getattr(room, offered)
        assert found is getattr(room, offered) and type(found).__name__ != "_Promise"
    with pytest.raises(AttributeError, match=f"module 'medjury.{name}' has no attribute 'nothing_like_it'"):
        room.nothing_like_it  # noqa: B018


def test_a_room_loads_a_file_when_its_name_is_asked_for(tmp_path: Path) -> None:
    package = tmp_path / "house"
    package.mkdir()
    (package / "__init__.py").write_text(
        textwrap.dedent(
            """
            from medjury.doors import on_demand

            with on_demand(__name__):
                from house import _kitchen as kitchen
                from house._attic import chest as box
            """
        ),
        encoding="utf-8",
    )
    (package / "_attic.py").write_text("print('attic')\nchest = 'old letters'\n", encoding="utf-8")
    (package / "_kitchen.py").write_text("print('kitchen')\n", encoding="utf-8")
    script = (
        "import house; print(sorted(name for name in dir(house) if name[0] != '_'));"
        "print(house.box, house.box); print(house.kitchen.__name__); from house import box; import json"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == [
        "['box', 'kitchen', 'on_demand']",
        "attic",
        "old letters old letters",
        "kitchen",
        "house._kitchen",
    ]


def test_what_a_file_lacks_or_breaks_is_said_when_it_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "shed").mkdir()
    (tmp_path / "shed" / "__init__.py").write_text(
        "from medjury.doors import on_demand\nwith on_demand(__name__):\n    from shed._tools import saw\n",
        encoding="utf-8",
    )
    (tmp_path / "shed" / "_tools.py").write_text("import a_package_nobody_has\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", "import shed; print('open'); shed.saw"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout == "open\n" and "No module named 'a_package_nobody_has'" in done.stderr


def test_other_threads_import_as_ever_and_nothing_is_left_behind() -> None:
    before = builtins.__import__
    seen: list[object] = []

    def importing() -> None:
        for _ in range(200):
            import json.tool

            seen.append(json.tool)

    threads = [threading.Thread(target=importing) for _ in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(50):
        importlib.reload(importlib.import_module("medjury.watching"))
    for thread in threads:
        thread.join()
    assert len(seen) == 800 and {type(each).__name__ for each in seen} == {"module"}
    assert builtins.__import__ is before
