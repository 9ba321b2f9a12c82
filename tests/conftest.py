"""What all tests share: how hypothesis draws its examples, and one thread for the algebra of each worker.

In CI, where the variable CI is set, every run draws the same ones; elsewhere every run draws others, so that the
suite goes on looking, fifty for each test; `--hypothesis-profile=thorough` draws a thousand. No test fails because a machine is busy: there is no deadline, and drawing may take its time.

Each worker of the suite has a processor to itself. Two libraries of linear algebra that start a thread for every
processor wait for one another in loops: a fit of a second then takes half a minute.
"""

from __future__ import annotations

import gc
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy is loaded

from hypothesis import HealthCheck, settings

settings.register_profile(
    "varied", max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.register_profile("thorough", settings.get_profile("varied"), max_examples=1000)
settings.register_profile("ci", settings.get_profile("varied"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "varied")


def pytest_collection_finish() -> None:
    """What is loaded by now stays to the end: the garbage collector need not walk through it again and again."""
    gc.collect()
    gc.freeze()
