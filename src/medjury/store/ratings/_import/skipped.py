"""A dimension that the instrument skips is not applicable: what clinicians left empty there is no gap."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace

from medjury.instruments import Instrument, Reason, SkipRule
from medjury.store.ratings._rating import Rating

Answered = tuple[str, str, str, str, int]  # item, system, rater, instrument, repeat


def skipped(
    ratings: Iterable[Rating],
    instrument: Instrument,
    asked: Collection[str],
    kinds: Collection[str] = ("clinician",),
) -> Iterator[tuple[Rating, Rating | None, SkipRule]]:
    """Where a skip rule holds: "not applicable" as a rating, the score that was given all the same (None where the
    rater left it empty), and the rule. Dimensions that nobody was `asked` about are left alone."""
    rules = {each.name: each.skip for each in instrument.dimensions if each.skip and each.name in asked}
    if not rules:
        return
    wanted = {*rules, *(rule.dimension for rule in rules.values())}
    answers: dict[Answered, dict[str, Rating]] = {}
    for each in ratings:
        if each.dimension in wanted and each.rater_kind in kinds:
            answer = (each.item, each.system, each.rater, each.instrument, each.repeat)
            answers.setdefault(answer, {})[each.dimension] = each
    yield from _held(answers, rules)


def _held(
    answers: Mapping[Answered, Mapping[str, Rating]], rules: Mapping[str, SkipRule]
) -> Iterator[tuple[Rating, Rating | None, SkipRule]]:
    for given in answers.values():
        for name, rule in rules.items():
            ruling, own = given.get(rule.dimension), given.get(name)
            if ruling is None or ruling.score != rule.equals:
                continue
            if own is None or own.status == "scored":
                # The time was that of the whole answer, and others have shared it already.
                none = replace(
                    ruling, dimension=name, score=None, status="not_applicable", explanation="", seconds=None
                )
                yield none, own, rule


def forbidden(rating: Rating, rule: SkipRule) -> Rating:
    """A score where the rule says that there is none to give: it is kept as a row without a score."""
    words = f"{rating.score:g} {why(rule)}"
    return replace(rating, score=None, status="unscored", reason=Reason.OUT_OF_RANGE, explanation=words)


def why(rule: SkipRule) -> str:
    return f"is a score where {rule.dimension} is {rule.equals}, which the instrument skips: leave it empty"
