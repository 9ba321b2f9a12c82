"""The examples in the room's docstrings run and give what they say."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

import medjury.agreement

FILES = sorted(Path(medjury.agreement.__file__).parent.glob("_[a-z]*.py"))
FUNCTIONS_WITH_EXAMPLES = 25


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_examples(file: Path) -> None:
    module = importlib.import_module(f"medjury.agreement.{file.stem}")
    assert doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE).failed == 0


def test_the_room_shows_its_functions_by_example() -> None:
    finder = doctest.DocTestFinder()
    modules = [importlib.import_module(f"medjury.agreement.{file.stem}") for file in FILES]
    shown = [test for module in modules for test in finder.find(module) if test.examples]
    assert len(shown) >= FUNCTIONS_WITH_EXAMPLES
