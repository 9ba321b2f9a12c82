"""Validation: what may be trusted, and why: the evidence of a run, its rules, and the verdict."""

from medjury.doors import on_demand

with on_demand(__name__):
    from medjury.validation._clustered import clustered_share, patients
    from medjury.validation._colleague import Beside, Tested, colleague_test, consensus_danger
    from medjury.validation._evidence import Evidence, evidence_of
    from medjury.validation._exported import NUMBERS, finite, verdicts_json, verdicts_junit, worst_word
    from medjury.validation._planning import GatePlan, RulePower, plan_gate
    from medjury.validation._rule import (
        EXPLAINED,
        LINE_IDS,
        MEANING,
        STATISTICS,
        Rule,
        Word,
        about_each_judge,
        about_judge,
    )
    from medjury.validation._runs.compare_runs import compare_runs
    from medjury.validation._runs.run_changes import RunChange, RunComparison
    from medjury.validation._scope import LENGTH, THIRDS, Scope
    from medjury.validation._second_panel import (
        PanelComparison,
        PanelSafety,
        PanelWin,
        against_panel,
        panel_of,
    )
    from medjury.validation._settling import Settling, SettlingRow, settling
    from medjury.validation._tallies.adaptive import (
        ENDINGS,
        STOPPED,
        AdaptiveTally,
        DeliberationTally,
        OrderTally,
    )
    from medjury.validation._tallies.claims_roc import AnswerId, ShareCurve, share_curve
    from medjury.validation._tallies.loop_gains import Gain, LoopRun, loop_gains
    from medjury.validation._validate import Validation, Verdict, validate, validation_of
    from medjury.validation._ways.compare_ways import compare_ways
    from medjury.validation._ways.ways import FEWEST_CASES, Spent, Way, Ways

__all__ = [
    "ENDINGS",
    "EXPLAINED",
    "FEWEST_CASES",
    "LENGTH",
    "LINE_IDS",
    "MEANING",
    "NUMBERS",
    "STATISTICS",
    "STOPPED",
    "THIRDS",
    "AdaptiveTally",
    "AnswerId",
    "Beside",
    "DeliberationTally",
    "Evidence",
    "Gain",
    "GatePlan",
    "LoopRun",
    "OrderTally",
    "PanelComparison",
    "PanelSafety",
    "PanelWin",
    "Rule",
    "RulePower",
    "RunChange",
    "RunComparison",
    "Scope",
    "Settling",
    "SettlingRow",
    "ShareCurve",
    "Spent",
    "Tested",
    "Validation",
    "Verdict",
    "Way",
    "Ways",
    "Word",
    "about_each_judge",
    "about_judge",
    "against_panel",
    "clustered_share",
    "colleague_test",
    "compare_runs",
    "compare_ways",
    "consensus_danger",
    "evidence_of",
    "finite",
    "loop_gains",
    "panel_of",
    "patients",
    "plan_gate",
    "settling",
    "share_curve",
    "validate",
    "validation_of",
    "verdicts_json",
    "verdicts_junit",
    "worst_word",
]
