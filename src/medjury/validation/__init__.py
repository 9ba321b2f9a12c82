"""Validation: what may be trusted, and why: the evidence of a run, its rules, and the verdict."""

from medjury.validation._adaptive_tally import STOPPED, AdaptiveTally
from medjury.validation._claims_roc import Answer, ShareCurve, share_curve
from medjury.validation._compare import compare_runs
from medjury.validation._comparison import RunComparison
from medjury.validation._deliberation_tally import ENDINGS, Tally, check_story
from medjury.validation._evidence import CONSENSUS, SCORED, Evidence, Measured, read_run
from medjury.validation._gate import MEANING, NAMES, Gate, Verdict, Word, agreement_of, gate_of, judge_gate
from medjury.validation._loop_gains import Gain, Run, loop_gains, patients
from medjury.validation._numbers import Numbers, compute, danger_limits, oriented
from medjury.validation._ways import FEWEST_CASES, Price, Way, Ways, compare_ways

__all__ = [
    "CONSENSUS",
    "ENDINGS",
    "FEWEST_CASES",
    "MEANING",
    "NAMES",
    "SCORED",
    "STOPPED",
    "AdaptiveTally",
    "Answer",
    "Evidence",
    "Gain",
    "Gate",
    "Measured",
    "Numbers",
    "Price",
    "Run",
    "RunComparison",
    "ShareCurve",
    "Tally",
    "Verdict",
    "Way",
    "Ways",
    "Word",
    "agreement_of",
    "check_story",
    "compare_runs",
    "compare_ways",
    "compute",
    "danger_limits",
    "gate_of",
    "judge_gate",
    "loop_gains",
    "oriented",
    "patients",
    "read_run",
    "share_curve",
]
