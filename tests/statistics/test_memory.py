"""Resampling asks for the same memory again and again: it is kept, and linear algebra stays on one thread."""

from __future__ import annotations

import platform
import subprocess
import sys

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from medjury.statistics import one_thread_each

_PAGES_FETCHED = """
import resource, sys
import numpy as np
from medjury.statistics import keep_freed_memory
if sys.argv[1] == "keep":
    keep_freed_memory()
def pages():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
def work():
    blocks = [np.ones(1 << 19) for _ in range(4)]
work()
before = pages()
for _ in range(20):
    work()
print(pages() - before)
"""


def pages_fetched(how: str) -> int:
    done = subprocess.run(
        [sys.executable, "-c", _PAGES_FETCHED, how], capture_output=True, text=True, check=True
    )
    return int(done.stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other allocators have rules of their own")
def test_freed_blocks_are_not_fetched_from_the_system_again() -> None:
    assert pages_fetched("keep") * 10 < pages_fetched("as it is")


def test_linear_algebra_has_one_thread_while_it_lasts_and_its_own_number_afterwards() -> None:
    np.ones((2, 2)) @ np.ones((2, 2))

    def threads() -> list[int]:
        return [each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"]

    before = threads()
    with one_thread_each():
        assert before and set(threads()) == {1}
    assert threads() == before
