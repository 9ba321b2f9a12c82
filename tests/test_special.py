"""Special functions: scipy's own, and loaded by nobody who calls none."""

from __future__ import annotations

import subprocess
import sys

import pytest
import scipy.special

from medjury import special
from medjury.statistics import proportion


def test_the_functions_are_those_of_scipy() -> None:
    assert {getattr(special, name) for name in special.__all__} == {
        getattr(scipy.special, name) for name in special.__all__
    }


def test_scipy_is_loaded_when_the_first_function_is_called() -> None:
    code = (
        "import sys; from medjury.agreement import agreement, rater_pairs, plan_study\n"
        "from medjury.report import write_page\n"
        "from medjury.statistics import proportion\n"
        "proportion(20, 20); print('scipy' in sys.modules)\n"
        "proportion(19, 20); print('scipy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]


@pytest.mark.parametrize("confidence", [0.5, 0.8, 0.9, 0.95, 0.975, 0.99, 0.9996])
def test_where_all_succeed_the_exact_interval_is_the_quantile_to_the_last_digit(confidence: float) -> None:
    for n in (*range(1, 400), 1_000, 6_000, 123_457):
        found = proportion(n, n, confidence=confidence)
        assert found.low == float(scipy.special.betaincinv(n, 1, (1 - confidence) / 2))
        assert (found.value, found.high) == (1.0, 1.0) and type(found.low) is float
