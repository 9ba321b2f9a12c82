"""How many cases a study of a good planted jury needs: what `medjury plan gate` says after a large pilot of it."""

from __future__ import annotations

from functools import cache

from tests.report.adversaries.juries import Planted
from tests.report.adversaries.worlds import KNOWN

from medjury.agreement import GatePlan, expected_from, plan_gate
from medjury.tables import rating_table
from medjury.validation import rehearse_gate

PILOT_SEED, PILOT_CASES = 20_260_101, 2000
# Studies drawn of a size where the plan is by simulation.
STUDIES = 60


@cache
def planned(planted: Planted, cases: int = 200, simulated: bool = False) -> GatePlan:
    """`medjury plan gate --pilot … --systems N --cases CASES`, with `--simulate 60` where `simulated`."""
    frame = planted.make(PILOT_SEED, PILOT_CASES)
    pilot = expected_from(rating_table(frame.drop(KNOWN), scale=(1, 5)))
    systems = frame["system"].n_unique()
    if simulated:
        return rehearse_gate(expected=pilot, cases=cases, systems=systems, studies=STUDIES)
    return plan_gate(expected=pilot, cases=cases, systems=systems)


def planned_cases(planted: Planted, simulated: bool = False) -> int:
    """The cases that give this jury a chance of 80 % to meet the whole gate."""
    needed = planned(planted, simulated=simulated).cases_needed
    assert needed is not None, f"no number of cases is enough for the jury {planted.name!r}"
    return needed
