from ._clustered import clustered_share as clustered_share
from ._clustered import patients as patients
from ._colleague import (
    Beside as Beside,
)
from ._colleague import (
    Tested as Tested,
)
from ._colleague import (
    colleague_test as colleague_test,
)
from ._colleague import (
    consensus_danger as consensus_danger,
)
from ._evidence import Evidence as Evidence
from ._evidence import evidence_of as evidence_of
from ._exported import (
    NUMBERS as NUMBERS,
)
from ._exported import (
    finite as finite,
)
from ._exported import (
    verdicts_json as verdicts_json,
)
from ._exported import (
    verdicts_junit as verdicts_junit,
)
from ._exported import (
    worst_word as worst_word,
)
from ._planning import GatePlan as GatePlan
from ._planning import RulePower as RulePower
from ._planning import plan_gate as plan_gate
from ._rule import (
    EXPLAINED as EXPLAINED,
)
from ._rule import (
    LINE_IDS as LINE_IDS,
)
from ._rule import (
    MEANING as MEANING,
)
from ._rule import (
    STATISTICS as STATISTICS,
)
from ._rule import (
    Rule as Rule,
)
from ._rule import (
    Word as Word,
)
from ._rule import (
    about_each_judge as about_each_judge,
)
from ._rule import (
    about_judge as about_judge,
)
from ._runs.compare_runs import compare_runs as compare_runs
from ._runs.run_changes import RunChange as RunChange
from ._runs.run_changes import RunComparison as RunComparison
from ._scope import LENGTH as LENGTH
from ._scope import THIRDS as THIRDS
from ._scope import Scope as Scope
from ._second_panel import (
    PanelComparison as PanelComparison,
)
from ._second_panel import (
    PanelSafety as PanelSafety,
)
from ._second_panel import (
    PanelWin as PanelWin,
)
from ._second_panel import (
    against_panel as against_panel,
)
from ._second_panel import (
    panel_of as panel_of,
)
from ._settling import Settling as Settling
from ._settling import SettlingRow as SettlingRow
from ._settling import settling as settling
from ._tallies.adaptive import (
    ENDINGS as ENDINGS,
)
from ._tallies.adaptive import (
    STOPPED as STOPPED,
)
from ._tallies.adaptive import (
    AdaptiveTally as AdaptiveTally,
)
from ._tallies.adaptive import (
    DeliberationTally as DeliberationTally,
)
from ._tallies.adaptive import (
    OrderTally as OrderTally,
)
from ._tallies.claims_roc import AnswerId as AnswerId
from ._tallies.claims_roc import ShareCurve as ShareCurve
from ._tallies.claims_roc import share_curve as share_curve
from ._tallies.loop_gains import Gain as Gain
from ._tallies.loop_gains import LoopRun as LoopRun
from ._tallies.loop_gains import loop_gains as loop_gains
from ._validate import (
    Validation as Validation,
)
from ._validate import (
    Verdict as Verdict,
)
from ._validate import (
    validate as validate,
)
from ._validate import (
    validation_of as validation_of,
)
from ._ways.compare_ways import compare_ways as compare_ways
from ._ways.ways import FEWEST_CASES as FEWEST_CASES
from ._ways.ways import Spent as Spent
from ._ways.ways import Way as Way
from ._ways.ways import Ways as Ways
