"""Skip rules: a dimension that another one makes meaningless is not applicable, whatever was answered."""

from __future__ import annotations

from collections.abc import Mapping

from medjury.instruments._instrument import Instrument
from medjury.instruments._outcome import NotApplicable, Outcome, Reason, Score, Unscored


def apply_skips(instrument: Instrument, outcomes: Mapping[str, Outcome]) -> dict[str, Outcome]:
    """The outcomes after the skip rules.

    Where the rule's dimension has the value, the skipped one is not applicable whatever was answered. Where
    it has another value, or none, "not applicable" is refused. Where the rule's dimension was not asked in
    the same answer there is nothing to check against, and the answer stands: call again on the merged
    outcomes when each dimension is asked in a call of its own.
    """
    result = dict(outcomes)
    for dimension in instrument.dimensions:
        rule = dimension.skip
        if rule is None or dimension.name not in result or rule.dimension not in result:
            continue
        ruling, own = result[rule.dimension], result[dimension.name]
        if isinstance(ruling, Score) and ruling.value == rule.equals:
            if not isinstance(own, NotApplicable):
                result[dimension.name] = NotApplicable(own.explanation if isinstance(own, Score) else "")
        elif isinstance(own, NotApplicable):
            result[dimension.name] = Unscored(
                Reason.MISSING,
                f"it may be not applicable only when {rule.dimension} is {rule.equals}",
            )
    return result
