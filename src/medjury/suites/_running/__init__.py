"""Running a suite: candidates answer benchmarks, answers are marked or judged, and what it took is counted."""

from medjury.suites._running._checks import gold_cases, keep_answerable, keep_probe
from medjury.suites._running._plan import SuitePlan, plan_suite
from medjury.suites._running._run import SuiteRun, run_suite
from medjury.suites._running._saved import read_results, save_results
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
