"""Runs read once for all tests; and after each test: what the registry gives to it is what it compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache

import pytest
from tests.recipes.compared import SEEN, compared, numeric_columns
from tests.recipes.every_number import CHECKED_BY
from tests.recipes.offline import run_recipe
from tests.recipes.rated import Rated


@pytest.fixture(scope="session")
def rated(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Rated]:
    """What a run's ratings and tables say, by the run's name."""
    from tests.recipes.designs import RUNS, design

    @cache
    def read(run: str) -> Rated:
        how = design(run)
        folder = run_recipe(tmp_path_factory, RUNS[run])
        return Rated(folder / "runs" / run, how.people, how.consensus, how.aside)

    return read


@pytest.fixture(autouse=True)
def compares_what_it_is_listed_for(request: pytest.FixtureRequest) -> Iterator[None]:
    """Every column that `every_number` gives to this test; of a test on several reports, those the report has."""
    SEEN.clear()
    yield
    name, module = request.function.__name__, request.module.__name__.rpartition(".")[2]
    listed = CHECKED_BY.get(name, set()) | CHECKED_BY.get(f"{module}.{name}", set())
    parameters = request.node.callspec.params if hasattr(request.node, "callspec") else {}
    if listed and "run" in parameters and "rated" in request.fixturenames:
        tables = request.getfixturevalue("rated")(parameters["run"]).run / "tables"
        listed = listed & {place for file in tables.glob("*.csv") for place in numeric_columns(file)}
    assert listed <= compared(), listed - compared()
