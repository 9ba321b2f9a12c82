"""When do raters differ? By the rule that the study states before anyone has met."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from medjury.instruments import Dimension, Instrument, NotApplicable, Outcome, Score

Outcomes = Mapping[str, Outcome]  # by dimension
RULES = {
    "any": "raters gave different answers to a question",
    "more_than_one_grade": "two grades lie more than one step apart",
    "danger": "one rater saw danger and another did not",
}


def differs(dimension: Dimension, outcomes: Collection[Outcome], rule: str, danger: float) -> bool:
    """Whether these raters differ on a dimension. `danger` is where the danger line lies, as a share of the scale
    from its bad end, as the gate has it. A rater who gave no grade differs from one who gave a grade; by the rule
    `danger` only from one who saw danger."""
    said = {_said(each) for each in outcomes}
    if len(said) < 2:
        return False
    if rule == "any":
        return True
    grades = [each.value for each in outcomes if isinstance(each, Score)]
    lacking = len(grades) < len(outcomes)
    if rule == "danger":
        dangerous = [_is_dangerous(dimension, grade, danger) for grade in grades]
        return any(dangerous) and (lacking or not all(dangerous))
    places = [dimension.values.index(int(grade)) for grade in grades]
    return lacking or max(places) - min(places) > 1


def differing(instrument: Instrument, by_rater: Sequence[Outcomes], rule: str, danger: float) -> list[str]:
    """The dimensions on which raters of one answer differ at all, where on one of them they differ by the rule: who
    sits together over an answer settles all of it. What hangs on such a dimension by a skip rule is settled too."""
    found = {}
    for each in instrument.dimensions:
        given = [own[each.name] for own in by_rater]
        found[each.name] = (differs(each, given, "any", danger), differs(each, given, rule, danger))
    if not any(by_rule for _, by_rule in found.values()):
        return []
    open_ = {name for name, (at_all, _) in found.items() if at_all}
    hanging = {each.name for each in instrument.dimensions if each.skip and each.skip.dimension in open_}
    return [each.name for each in instrument.dimensions if each.name in open_ | hanging]


def all_the_same(outcomes: Collection[Outcome]) -> bool:
    """Two raters or more gave the same grade, or all of them "not applicable"."""
    said = {_said(each) for each in outcomes}
    return len(outcomes) > 1 and len(said) == 1 and said != {"can't judge"}


def _said(outcome: Outcome) -> float | str:
    if isinstance(outcome, Score):
        return outcome.value
    return "not applicable" if isinstance(outcome, NotApplicable) else "can't judge"


def _is_dangerous(dimension: Dimension, grade: float, danger: float) -> bool:
    span = dimension.highest - dimension.lowest
    oriented = grade if dimension.higher_is_better else dimension.lowest + dimension.highest - grade
    return oriented <= dimension.lowest + danger * span
