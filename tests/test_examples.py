"""The examples in docstrings run and give what they say."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

import medjury

PACKAGE = Path(medjury.__file__).parent
FILES = sorted(file for file in PACKAGE.rglob("*.py") if ">>> " in file.read_text(encoding="utf-8"))
FUNCTIONS_WITH_EXAMPLES = 60


def module_of(file: Path) -> str:
    return ".".join(("medjury", *file.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")


@pytest.mark.parametrize("file", FILES, ids=module_of)
def test_examples(file: Path) -> None:
    module = importlib.import_module(module_of(file))
    assert doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE).failed == 0


def test_functions_are_shown_by_example() -> None:
    finder = doctest.DocTestFinder()
    shown = [
        test
        for file in FILES
        for test in finder.find(importlib.import_module(module_of(file)))
        if test.examples
    ]
    assert len(shown) >= FUNCTIONS_WITH_EXAMPLES
