"""Every public function that gives an interval is on the page of coverage, with the design that checks it."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

from benchmarks.coverage import DESIGNS, NON_INFERIORITY, read, text

ROOT = Path(__file__).parents[2]
SOURCE, PAGE = ROOT / "src" / "medjury", ROOT / "docs" / "tables" / "coverage.md"
# Their types share a name with one that holds an interval, or carry it as it is, without making one.
NOT_OF_INTERVALS = {
    "instruments": {"read_reply"},
    "judging": {"ask_for"},
    "passports": {"check_passport", "judge_with_passport"},
    "ratings": {"open_store"},
    "statistics": {"undefined"},
    "studies": {"open_run"},
    "suites": {"read_results", "run_suite"},
    "tuning": {"read_settings"},
}


@cache
def _trees() -> dict[Path, ast.Module]:
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in SOURCE.rglob("*.py")}


def _words(node: ast.expr) -> set[str]:
    """The names in an annotation, also where it is a text."""
    parts = [
        getattr(each, "id", None) or getattr(each, "attr", None) or getattr(each, "value", None)
        for each in ast.walk(node)
    ]
    return {word for part in parts if isinstance(part, str) for word in re.findall(r"\w+", part)}


@cache
def _types_with_an_estimate() -> frozenset[str]:
    """`Estimate`, what holds its bounds as plain numbers, and every class of which a field, a method or a base
    gives one of these."""
    behind: dict[str, set[str]] = {}
    for tree in _trees().values():
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                said = behind.setdefault(node.name, set())
                for part in node.body:
                    if isinstance(part, ast.AnnAssign):
                        said |= _words(part.annotation)
                    elif (
                        isinstance(part, ast.FunctionDef) and part.returns is not None and part.name[0] != "_"
                    ):
                        said |= _words(part.returns)
                for base in node.bases:
                    said |= _words(base)
    known = {"Estimate", "SettlingRow", "Tested", "Verdict"}
    while more := {name for name, said in behind.items() if name not in known and said & known}:
        known |= more
    return frozenset(known)


def _public(room: Path) -> set[str]:
    tree = ast.parse((room / "__init__.pyi").read_text(encoding="utf-8"))
    return {alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names}


@cache
def functions_with_intervals() -> dict[str, set[str]]:
    """By room, the public functions whose result holds an estimate."""
    known = _types_with_an_estimate()
    giving = {
        (path, node.name)
        for path, tree in _trees().items()
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and node.returns is not None and _words(node.returns) & known
    }
    found: dict[str, set[str]] = {}
    for room in sorted(path.parent for path in SOURCE.glob("*/**/__init__.pyi")):
        inside = {name for path, name in giving if room in path.parents}
        found[room.name] = (inside & _public(room)) - NOT_OF_INTERVALS.get(room.name, set())
    return {room: names for room, names in found.items() if names}


def _rows() -> list[tuple[set[str], str]]:
    """Of every row of the page's table the functions, and where they are checked."""
    section = PAGE.read_text(encoding="utf-8").split("## Where each interval is checked")[1].split("<!--")[0]
    rows = [line.strip("| \n").split(" | ") for line in section.splitlines() if line.startswith("| `")]
    return [(set(re.findall(r"`(\w+)`", row[0])), row[2]) for row in rows]


def test_every_public_function_that_gives_an_interval_is_named() -> None:
    named = set().union(*(names for names, _ in _rows()))
    missing = {
        f"{room}.{name}" for room, names in functions_with_intervals().items() for name in names - named
    }
    assert not missing, (
        "name them in docs/tables/coverage.md, with the design of `benchmarks coverage` that checks them"
    )


def test_no_function_is_named_that_is_not_there() -> None:
    known = set().union(*functions_with_intervals().values())
    assert set().union(*(names for names, _ in _rows())) <= known


def test_functions_of_several_rooms_are_seen() -> None:
    found = functions_with_intervals()
    assert {"cohen_kappa", "agreement", "non_inferiority"} <= found["agreement"]
    assert "stability" in found["audits"] and "triage" in found["calibration"] and "rank" in found["ranking"]
    assert "cases" not in found


def test_every_design_that_is_named_was_drawn_and_every_design_checks_something() -> None:
    drawn = {cell["design"] for cell in read(PAGE)}
    designs = {name for _, where in _rows() for name in re.findall(r"\*([^*]+)\*", where)} - {
        "Non-inferiority"
    }
    for names, where in _rows():
        assert "*" in where or where.startswith("none"), names
    for named in designs:
        assert any(name.startswith(named) for name in drawn), named
    for design in DESIGNS:
        assert design.name in drawn, f"`python -m benchmarks coverage` has not drawn {design.name!r}"
        assert any(design.name.startswith(named) for named in designs), design.name


def test_the_page_shows_what_the_file_beside_it_has() -> None:
    assert text(read(PAGE)) in PAGE.read_text(encoding="utf-8"), "benchmarks.coverage.write writes both"


def test_every_cell_of_the_file_holds() -> None:
    """92 to 98.5 %, or refused; and of non-inferiority at most 6 % errors."""
    cells = read(PAGE)
    errors = [cell for cell in cells if cell["statistic"] == NON_INFERIORITY]
    assert len(cells) > 1500 and len(errors) == 12
    assert [cell for cell in errors if float(cell["percent"]) > 6] == []
    for cell in cells:
        if cell not in errors:
            assert (
                cell["refused"] == "over 90" if not cell["percent"] else 92 <= float(cell["percent"]) <= 98.5
            ), cell
