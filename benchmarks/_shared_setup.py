"""For `make mutants`: which tests reach a function through a set-up that they share.

mutmut writes down which functions run between the start and the end of a test. What a fixture of a module or of the
session runs would so belong to the first test alone that asks for it, and the others, which assert what it made,
would never be asked about a mutant there. Here it belongs to every test that uses the fixture.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

_REACHED: dict[Any, set[str]] = {}


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: Any) -> Generator[None, object, object]:
    from mutmut.state import state

    if fixturedef.scope == "function":
        return (yield)
    hits = state()._stats
    earlier = set(hits)
    hits.clear()
    try:
        return (yield)
    finally:
        _REACHED[fixturedef] = set(hits)
        hits |= earlier


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_teardown(item: Any) -> None:
    from mutmut.state import state

    for fixtures in item._fixtureinfo.name2fixturedefs.values():
        for each in fixtures:
            state()._stats.update(_REACHED.get(each, ()))
