"""Runs commands in a Python that finds only what `pip install medjury` brings, whatever else is installed.

    python -m tests.cli.core_only '[["agreement", "ratings.csv", "--reference", "ada"]]'

prints one JSON object: for each command its exit status and what it printed.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import io
import json
import sys
import tomllib
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PROJECT = Path(__file__).parents[2] / "pyproject.toml"


def core_distributions() -> set[str]:
    """The distributions of a core install: the project's dependencies and theirs, without extras."""
    found: set[str] = set()
    open_ends = [Requirement(line) for line in tomllib.loads(PROJECT.read_text())["project"]["dependencies"]]
    while open_ends:
        wanted = open_ends.pop()
        name = canonicalize_name(wanted.name)
        if name in found or (wanted.marker and not wanted.marker.evaluate({"extra": ""})):
            continue
        found.add(name)
        open_ends += map(Requirement, importlib.metadata.requires(name) or ())
    return found


def hidden_packages() -> set[str]:
    """The importable names of everything else that is installed here."""
    core = core_distributions() | {"medjury"}
    owners = importlib.metadata.packages_distributions()
    return {name for name, brought in owners.items() if core.isdisjoint(map(canonicalize_name, brought))}


class CoreFinder:
    """Finds what Python's own finder finds, less the hidden packages: they are absent, not broken."""

    def __init__(self, hidden: set[str]) -> None:
        self.hidden = hidden

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if name.partition(".")[0] in self.hidden:
            return None
        return PathFinder.find_spec(name, path, target)  # type: ignore[arg-type]


def main() -> None:
    hidden = hidden_packages()
    for name in [each for each in sys.modules if each.partition(".")[0] in hidden]:
        del sys.modules[name]
    sys.meta_path[:] = [CoreFinder(hidden) if each is PathFinder else each for each in sys.meta_path]  # type: ignore[list-item]
    from medjury.cli import main as medjury

    told = []
    for words in json.loads(sys.argv[1]):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                status: object = medjury(words)
            except SystemExit as stopped:  # an option that is no option
                status = stopped.code
        told.append({"status": status, "out": out.getvalue(), "err": err.getvalue()})
    print(json.dumps({"commands": told, "loaded": sorted({each.partition(".")[0] for each in sys.modules})}))


if __name__ == "__main__":
    main()
