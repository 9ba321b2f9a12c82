"""The rules of the gate, one file each: a function from the evidence on a dimension to what was found.

To add a rule, add its file and its place in `RULES`; reports and verdicts show it by itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from medjury.tables import Measured
from medjury.validation._evidence import Evidence
from medjury.validation._rules.agreement_floor import agreement_floor
from medjury.validation._rules.clinicians import clinicians
from medjury.validation._rules.coverage import coverage
from medjury.validation._rules.doubly_rated import doubly_rated
from medjury.validation._rules.enough_cases import enough_cases
from medjury.validation._rules.finished import finished
from medjury.validation._rules.found import RuleFound
from medjury.validation._rules.grade_offset import grade_offset
from medjury.validation._rules.missing import missing
from medjury.validation._rules.no_copy import no_copy
from medjury.validation._rules.not_inferior import not_inferior
from medjury.validation._rules.offset import offset
from medjury.validation._rules.own_scores import own_scores
from medjury.validation._rules.part_agreement import part_agreement
from medjury.validation._rules.part_coverage import part_coverage
from medjury.validation._rules.part_offset import part_offset
from medjury.validation._rules.severe_errors import severe_errors
from medjury.validation._rules.singly_rated import singly_rated
from medjury.validation._rules.stated_before import stated_before
from medjury.validation._rules.unchanged import unchanged
from medjury.validation._rules.untouched import untouched
from medjury.validation._rules.within_systems import within_systems

# In the order of the report. A rule gives one finding, two where it asks for certainty too, or none where it does
# not apply to the dimension.
RULES: tuple[Callable[[Evidence, Measured], Sequence[RuleFound]], ...] = (
    finished,
    unchanged,
    stated_before,
    untouched,
    clinicians,
    enough_cases,
    doubly_rated,
    singly_rated,
    no_copy,
    own_scores,
    agreement_floor,
    not_inferior,
    within_systems,
    offset,
    grade_offset,
    severe_errors,
    coverage,
    missing,
    part_agreement,
    part_offset,
    part_coverage,
)
