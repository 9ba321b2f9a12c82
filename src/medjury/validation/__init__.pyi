from ._clustered import clustered_share as clustered_share, patients as patients
from ._colleague import (
    Beside as Beside,
    Tested as Tested,
    colleague_test as colleague_test,
    consensus_danger as consensus_danger,
)
from ._evidence import Evidence as Evidence, evidence_of as evidence_of
from ._exported import (
    NUMBERS as NUMBERS,
    finite as finite,
    verdicts_json as verdicts_json,
    verdicts_junit as verdicts_junit,
    worst_word as worst_word,
)
from ._planning import GatePlan as GatePlan, RulePower as RulePower, plan_gate as plan_gate
from ._rule import (
    EXPLAINED as EXPLAINED,
    LINE_IDS as LINE_IDS,
    MEANING as MEANING,
    STATISTICS as STATISTICS,
    Rule as Rule,
    Word as Word,
    about_each_judge as about_each_judge,
    about_judge as about_judge,
)
from ._runs.compare_runs import compare_runs as compare_runs
from ._runs.run_changes import RunChange as RunChange, RunComparison as RunComparison
from ._scope import LENGTH as LENGTH, THIRDS as THIRDS, Scope as Scope
from ._second_panel import (
    PanelComparison as PanelComparison,
    PanelSafety as PanelSafety,
    PanelWin as PanelWin,
    against_panel as against_panel,
    panel_of as panel_of,
)
from ._settling import Settling as Settling, SettlingRow as SettlingRow, settling as settling
from ._tallies.adaptive import (
    ENDINGS as ENDINGS,
    STOPPED as STOPPED,
    AdaptiveTally as AdaptiveTally,
    DeliberationTally as DeliberationTally,
    OrderTally as OrderTally,
)
from ._tallies.claims_roc import AnswerId as AnswerId, ShareCurve as ShareCurve, share_curve as share_curve
from ._tallies.loop_gains import Gain as Gain, LoopRun as LoopRun, loop_gains as loop_gains
from ._validate import (
    Validation as Validation,
    Verdict as Verdict,
    validate as validate,
    validation_of as validation_of,
)
from ._ways.compare_ways import compare_ways as compare_ways
from ._ways.ways import FEWEST_CASES as FEWEST_CASES, Spent as Spent, Way as Way, Ways as Ways
