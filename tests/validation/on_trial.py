"""A jury on trial in a few lines: scores by rater, and the evidence that rules read, without a bootstrap table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import polars as pl
from tests.tables.run_folders import rows_of

from medjury.runs import GateRules
from medjury.tables import Measured, rating_table, with_rules
from medjury.validation import Evidence, RuleFound
from medjury.validation._evidence import roles_of

Scores = Mapping[str, Sequence[float | None]]


def on_trial(
    scores: Scores | pl.DataFrame,
    *,
    scale: tuple[float, ...] | None = (1, 5),
    systems: Sequence[str] = ("",),
    known: Mapping[str, Sequence[Any]] | None = None,
    confidence: float = 0.95,
    **rules: Any,
) -> Evidence:
    """The evidence of these scores; `known` has what is known of each case, such as its `patient`."""
    frame = scores if isinstance(scores, pl.DataFrame) else rows_of(scores, systems=systems)
    if known is not None:
        cases = len(next(iter(known.values())))
        facts = pl.DataFrame({"item": [f"case {place}" for place in range(cases)], **known})
        frame = frame.join(facts, on="item", how="left", maintain_order="left")
    table = rating_table(frame, scale=scale)
    if rules:
        table = with_rules(table, GateRules(**rules))
    roles = roles_of(table)
    rater = roles.jury or (roles.raters[0] if len(roles.raters) == 1 else "")
    return Evidence(table, roles, rater, None, confidence=confidence, resamples=200)


def ruled(
    rule: Callable[[Evidence, Measured], Sequence[RuleFound]], *scores: Scores | pl.DataFrame, **settings: Any
) -> Sequence[RuleFound]:
    """What one rule finds on the first dimension."""
    evidence = on_trial(*scores, **settings)
    return rule(evidence, evidence.table.dimensions[0])


def told(found: RuleFound) -> tuple[str, str, str, bool, str]:
    """What a reader sees of a finding."""
    return found.asked, found.found, found.state, found.essential, found.why
