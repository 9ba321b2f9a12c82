"""Running a suite: candidates answer benchmarks, answers are marked or judged, and what it took is counted."""

from medjury.suites._running._plan import SuitePlan, plan_suite
from medjury.suites._running._run import (
    SuiteRun,
    gold_cases,
    keep_answerable,
    keep_probe,
    read_results,
    run_suite,
    save_results,
)
from medjury.suites._running._suite import Suite, load_suite, make_suite

__all__ = [
    "Suite",
    "SuitePlan",
    "SuiteRun",
    "gold_cases",
    "keep_answerable",
    "keep_probe",
    "load_suite",
    "make_suite",
    "plan_suite",
    "read_results",
    "run_suite",
    "save_results",
]
