"""What all tests share: how hypothesis draws its examples, and one thread for the algebra of each worker.

In CI, where the variable CI is set, every run draws the same ones; elsewhere every run draws others, so that the
suite goes on looking, fifty for each test; `--hypothesis-profile=thorough` draws a thousand. No test fails because
a machine is busy: there is no deadline, and drawing may take its time.

Each worker of the suite has a processor to itself. Two libraries of linear algebra that start a thread for every
processor wait for one another in loops: a fit of a second then takes half a minute.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy is loaded

import pytest
from hypothesis import HealthCheck, settings
from tests import chromium

if TYPE_CHECKING:
    from playwright.sync_api import Browser

gc.disable()  # until all tests are found: nothing of what they load is given back

settings.register_profile(
    "varied", max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.register_profile("thorough", settings.get_profile("varied"), max_examples=1000)
settings.register_profile("ci", settings.get_profile("varied"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "varied")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Workers begin with the recipes, each with others: a recipe is run once for all tests, and who needs it while
    another worker runs it can only wait."""
    first: dict[str, pytest.Item] = {}
    for item in items:
        folder, name = item.path.parent.name, item.path.stem
        if folder == "recipes" and not name.startswith("test_every"):
            first.setdefault(name, item)
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    if len(first) < 2 or workers < 2:
        return
    rest = [item for item in items if item not in first.values()]
    share = -(-len(items) // workers)
    for place, item in enumerate(first.values()):
        rest.insert(place % workers * share + place // workers, item)
    items[:] = rest


def pytest_collection_finish() -> None:
    """What is loaded by now stays to the end: the garbage collector need not walk through it again and again, nor
    look after every seven hundred new objects, which is a twentieth of the suite."""
    gc.collect()
    gc.freeze()
    gc.enable()
    gc.set_threshold(20_000, 20, 20)


@pytest.fixture(autouse=True, scope="session")
def _the_browser_ends_with_the_session() -> Iterator[None]:
    yield
    chromium.stop()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium.browser() as opened:
        yield opened
