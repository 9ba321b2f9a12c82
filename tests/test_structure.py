"""The rooms: each imports only from its left, and says in `__all__` exactly what it offers."""

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

# Left to right. A room may import from any room before it, never from one after it.
ORDER = (
    "cases", "instruments", "models", "ratings", "runs", "statistics", "tables", "judging", "agreement",
    "transcripts", "metrics", "calibration", "audits", "ranking", "validation", "report", "studies",
    "tuning", "suites", "recipes", "inspection", "passports", "watching", "panel", "cli",
)  # fmt: skip
ROOMS = [room for room in ORDER if (PACKAGE / room).is_dir()]


def module_of(file: Path) -> str:
    parts = ("medjury", *file.relative_to(PACKAGE).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def imports_in(file: Path) -> tuple[ast.Import | ast.ImportFrom, ...]:
    """What a file imports: at its head, in functions, and for its types alone. Each is read once for all tests."""
    found = ast.walk(ast.parse(file.read_text(encoding="utf-8")))
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
    rooms = ("statistics", "tables", "agreement", "calibration", "audits", "ranking", "validation", "report")
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
    assert folders <= set(ORDER)


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_only_from_its_left(room: str) -> None:
    right = set(ORDER[ORDER.index(room) + 1 :])
    for file in (PACKAGE / room).rglob("*.py"):
        for module in imported_modules(file):
            parts = module.split(".")
            if parts[0] == "medjury" and len(parts) > 1:
                assert parts[1] not in right, f"{file.relative_to(PACKAGE)} imports {module}, on its right"


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_is_entered_by_its_front_door(room: str) -> None:
    """Private modules are private: other rooms import from the package, not from its `_files`."""
    for file in (PACKAGE / room).rglob("*.py"):
        for module in imported_modules(file):
            parts = module.split(".")
            if parts[0] == "medjury" and len(parts) > 2 and parts[1] != room:
                assert not parts[2].startswith("_"), f"{file.relative_to(PACKAGE)} reaches into {module}"


@pytest.mark.parametrize("room", ROOMS)
def test_public_names_are_complete_and_sorted(room: str) -> None:
    module = importlib.import_module(f"medjury.{room}")
    assert module.__doc__, f"{room}/__init__.py says what the room is for"
    tree = ast.parse(Path(module.__file__ or "").read_text(encoding="utf-8"))
    imported = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(f"medjury.{room}")
        for alias in node.names
    }
    assert set(module.__all__) == imported
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
        if "/" in name:
            assert ast.get_docstring(ast.parse(door.read_text(encoding="utf-8"))), f"{name} says nothing"
            assert f"`{name}/`" in plan, f"docs/architecture.md does not name {name}"


def test_all_records_are_made_in_one_way() -> None:
    """The standard decorator compiles up to six methods of each class as it is loaded: see `records.py`."""
    standard = [
        file.relative_to(PACKAGE).as_posix()
        for file in PACKAGE.rglob("*.py")
        for node in imports_in(file)
        if isinstance(node, ast.ImportFrom)
        and node.module == "dataclasses"
        and "dataclass" in {alias.name for alias in node.names}
    ]
    assert standard == ["records.py"]


def test_no_file_has_a_name_that_says_nothing() -> None:
    vague = {"utils.py", "helpers.py", "common.py", "misc.py"}
    assert not [file for file in PACKAGE.rglob("*.py") if file.name in vague]


READS_A_FILE = re.compile(
    r"\b(?:read_parquet|read_csv|read_ndjson|read_excel|read_text|read_bytes|load_workbook|read_rating_table)\(|\.open\(|\bopen\("
)
# What is read there is no table of ratings: a calibration, an adaptive rule or a triage rule that somebody saved.
SAVED_BY_US = {"calibration/_saved.py", "calibration/_stored_triage/file.py"}


@pytest.mark.parametrize("room", ["agreement", "calibration", "audits", "ranking", "validation"])
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
