"""The rooms: each imports only from its left, and lists in its `__init__.pyi` exactly what it offers."""

from __future__ import annotations

import ast
import importlib
import re
import statistics
from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path

import pytest

import medjury

PACKAGE = Path(medjury.__file__).parent

# Left to right. A room may import from any room before it, never from one after it; the same holds inside a room.
ORDER = (
    "foundation", "statistics", "intake", "instruments", "models", "store", "judging", "tables", "analysis",
    "validation", "texts", "report", "studies", "suites", "tuning", "in_use", "panel", "cli",
)  # fmt: skip
INSIDE = {
    "analysis": ("agreement", "calibration", "audits", "ranking"),
    "in_use": ("passports", "watching", "programs"),
    "store": ("ratings", "runs"),
    "texts": ("transcripts", "metrics"),
}
# Every package that offers names: it has a list of them beside it.
DOORS = sorted(file.parent for file in PACKAGE.glob("*/**/__init__.pyi"))


def module_of(file: Path) -> str:
    parts = ("medjury", *file.relative_to(PACKAGE).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def imports_in(file: Path) -> tuple[ast.Import | ast.ImportFrom, ...]:
    """What a file imports: at its head, in functions, and for its types alone; a room what its list offers. Each is
    read once for all tests."""
    found = [*ast.walk(ast.parse(file.read_text(encoding="utf-8")))]
    listed = file.with_suffix(".pyi")
    if listed.exists():
        for node in ast.walk(ast.parse(listed.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                inside = f"{module_of(file)}.{node.module}" if node.module else module_of(file)
                found.append(ast.ImportFrom(inside, node.names, 0))
    return tuple(node for node in found if isinstance(node, ast.Import | ast.ImportFrom))


def imports_of(file: Path, known: Collection[str]) -> set[str]:
    """The modules of the package that a file imports."""
    found: set[str] = set()
    for node in imports_in(file):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif node.module:
            named = {alias: f"{node.module}.{alias.name}" for alias in node.names}
            found |= {full if full in known else node.module for full in named.values()}
    return (found & set(known)) - {module_of(file)}


def circle(graph: Mapping[str, Collection[str]]) -> list[str]:
    """One circle of imports, from a module back to itself; empty where there is none."""
    done: set[str] = set()
    path: list[str] = []

    def walk(module: str) -> list[str]:
        if module in path:
            return [*path[path.index(module) :], module]
        if module in done:
            return []
        path.append(module)
        for other in sorted(graph[module]):
            if found := walk(other):
                return found
        done.add(path.pop())
        return []

    return next((found for module in sorted(graph) if (found := walk(module))), [])


def imported_modules(file: Path) -> set[str]:
    names: set[str] = set()
    for node in imports_in(file):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif node.module:
            assert node.level == 0, f"{file}: relative import; write the whole path"
            names |= {node.module}
    return names


def test_analyses_load_no_way_of_judging_and_no_text_metric_before_they_meet_one() -> None:
    """Both are a quarter of the package; a report of plain ratings needs neither."""
    rooms = ("statistics", "tables", "analysis", "validation", "report")
    heads = {
        file: [
            node.module
            for node in ast.parse(file.read_text("utf-8")).body
            if isinstance(node, ast.ImportFrom)
        ]
        for room in rooms
        for file in (PACKAGE / room).rglob("*.py")
    }
    assert not [
        file for file, names in heads.items() if {"medjury.judging", "medjury.texts.metrics"} & {*names}
    ]


def test_every_folder_is_a_room_with_a_place_in_the_order() -> None:
    folders = {each.name for each in PACKAGE.iterdir() if each.is_dir() and each.name != "__pycache__"}
    assert folders == set(ORDER)
    loose = {each.name for each in PACKAGE.iterdir() if each.is_file()}
    assert loose == {"__init__.py", "__init__.pyi", "__main__.py", "py.typed", "version.py"}


@pytest.mark.parametrize("room", ORDER)
def test_a_room_imports_only_from_its_left(room: str) -> None:
    right = set(ORDER[ORDER.index(room) + 1 :])
    inside = INSIDE.get(room, ())
    for file in (PACKAGE / room).rglob("*.py"):
        own = file.relative_to(PACKAGE / room).parts[0]
        later = inside[inside.index(own) + 1 :] if own in inside else ()
        for module in imported_modules(file):
            parts = [*module.split("."), "", ""]
            if parts[0] == "medjury" and parts[1]:
                told = f"{file.relative_to(PACKAGE)} imports {module}, on its right"
                assert parts[1] not in right and not (parts[1] == room and parts[2] in later), told


@pytest.mark.parametrize("room", ORDER)
def test_a_room_is_entered_by_its_front_door(room: str) -> None:
    """Private modules are private: others import from the package that offers names, not from its `_files`."""
    for file in (PACKAGE / room).rglob("*.py"):
        for module in imported_modules(file):
            parts = module.split(".")
            private = next((place for place, part in enumerate(parts) if part.startswith("_")), 0)
            if parts[0] == "medjury" and private:
                offering = PACKAGE.joinpath(*parts[1:private])
                assert file.is_relative_to(offering), f"{file.relative_to(PACKAGE)} reaches into {module}"


@pytest.mark.parametrize("door", DOORS, ids=lambda door: str(door.relative_to(PACKAGE)))
def test_every_name_that_is_offered_is_there(door: Path) -> None:
    module = importlib.import_module(".".join(("medjury", *door.relative_to(PACKAGE).parts)))
    assert module.__doc__, f"{door}/__init__.py says what the room is for"
    assert module.__all__
    assert all(hasattr(module, name) for name in module.__all__)


def test_no_import_goes_round_in_a_circle() -> None:
    """Imports at the head of a file, inside functions and for types alike: what needs one another is one thing."""
    files = {module_of(file): file for file in PACKAGE.rglob("*.py")}
    graph = {module: imports_of(file, files.keys()) for module, file in files.items()}
    graph["medjury"] = set()  # the front door names every room for type checkers, and no room enters by it
    assert circle(graph) == []
    assert not [module for module, found in graph.items() if "medjury" in found]


def test_a_circle_would_be_found() -> None:
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c", "b"]
    assert circle({"a": {"b", "c"}, "b": {"c"}, "c": ()}) == []


def test_every_room_within_a_room_says_what_it_holds_and_has_a_line_in_the_plan_of_the_house() -> None:
    plan = (PACKAGE.parents[1] / "docs" / "architecture.md").read_text(encoding="utf-8")
    for door in PACKAGE.glob("*/**/__init__.py"):
        name = str(door.parent.relative_to(PACKAGE))
        assert ast.get_docstring(ast.parse(door.read_text(encoding="utf-8"))), f"{name} says nothing"
        if "/_" not in name:
            assert f"`{name}/`" in plan, f"docs/architecture.md does not name {name}"


def test_no_file_has_a_name_that_says_nothing() -> None:
    vague = {"utils.py", "helpers.py", "common.py", "misc.py"}
    assert not [file for file in PACKAGE.rglob("*.py") if file.name in vague]


READS_A_FILE = re.compile(
    r"\b(?:read_parquet|read_csv|read_ndjson|read_excel|read_text|read_bytes|load_workbook|read_rating_table)\(|\.open\(|\bopen\("
)
# What is read there is no table of ratings: a calibration, an adaptive rule or a triage rule that somebody saved.
SAVED_BY_US = {"analysis/calibration/_written.py"}


@pytest.mark.parametrize("room", ["analysis", "validation"])
def test_no_analysis_reads_a_file_by_itself(room: str) -> None:
    """Ratings come from `tables/` alone, so that every analysis sees the same patients, scale, jury and cases."""
    found = {
        str(file.relative_to(PACKAGE))
        for file in (PACKAGE / room).rglob("*.py")
        if READS_A_FILE.search(file.read_text(encoding="utf-8"))
    }
    assert found <= SAVED_BY_US


def test_commands_are_thin() -> None:
    """A command parses, calls and prints; half of them fit on one screen."""
    lines = [len(file.read_text(encoding="utf-8").splitlines()) for file in (PACKAGE / "cli").glob("*.py")]
    assert statistics.median(lines) < 60
