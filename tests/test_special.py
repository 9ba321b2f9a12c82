"""Special functions: scipy's own, and loaded by nobody who calls none."""

from __future__ import annotations

import subprocess
import sys

import scipy.special

from medjury import special


def test_the_functions_are_those_of_scipy() -> None:
    assert {getattr(special, name) for name in special.__all__} == {
        getattr(scipy.special, name) for name in special.__all__
    }


def test_scipy_is_loaded_when_the_first_function_is_called() -> None:
    code = (
        "import sys; from medjury.agreement import agreement, rater_pairs, plan_study\n"
        "from medjury.report import write_page\n"
        "from medjury.statistics import proportion\n"
        "print('scipy' in sys.modules); proportion(19, 20); print('scipy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]
