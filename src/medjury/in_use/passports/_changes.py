"""What a jury has otherwise than its passport: any of it voids the passport."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from medjury.in_use.passports._document import PassportJury
from medjury.models import NOT_TOLD, same_model
from medjury.store.runs import AnsweringModel, ManifestJudge, ManifestJury

# Where a model is reached is no part of what it is.
_ELSEWHERE = ("host", "recorded", "recorded_at")


def jury_changes(passport: PassportJury, now: PassportJury) -> tuple[str, ...]:
    """Every difference between the jury of a passport and one that would judge, with both values."""
    said = [
        *_differ("instrument", _instrument(passport), _instrument(now)),
        *_differ("prompt", passport.prompt_version, now.prompt_version),
        *_differ("judges", [each.name for each in passport.judges], [each.name for each in now.judges]),
        *_differ("jury", _jury(passport.jury), _jury(now.jury)),
        *_differ("juries", [*map(_jury, passport.juries)], [*map(_jury, now.juries)]),
    ]
    own = {each.name: each for each in now.judges}
    for judge in passport.judges:
        if judge.name in own:
            said += _judge_changes(judge, own[judge.name])
    return tuple(said)


def answering_changes(validated: Iterable[AnsweringModel], now: Iterable[AnsweringModel]) -> tuple[str, ...]:
    """Models that answer now and did not answer when the jury was validated."""
    known: dict[tuple[str, str], set[str]] = {}
    for each in validated:
        known.setdefault((each.judge, each.asked), set()).add(each.answered)
    said = []
    for each in now:
        names = known.get((each.judge, each.asked), set())
        if each.answered in names:
            continue
        told = names - {NOT_TOLD}
        if names and not told and same_model(each.asked, each.answered):
            continue  # nobody said who answered then; the one asked for does not contradict that
        was = " or ".join(sorted(told)) or "nobody"
        says = (
            "does not say which model answered"
            if each.answered == NOT_TOLD
            else f"is answered by {each.answered}"
        )
        said.append(f"{each.judge}: {each.asked} {says}; validated was {was}")
    return tuple(said)


def _judge_changes(then: ManifestJudge, now: ManifestJudge) -> list[str]:
    models = [[_model(each) for each in judge.models] for judge in (then, now)]
    said = _differ(f"{then.name}, model", *models)
    settings = [{"strategy": each.strategy, **each.others} for each in (then, now)]
    for name in dict.fromkeys([*settings[0], *settings[1]]):
        said += _differ(f"{then.name}, {name}", *(each.get(name, "not stated") for each in settings))
    if then.settings_hash != now.settings_hash and not said:
        said.append(f"{then.name}: its prompt or settings are others than those that were validated")
    return said


def _model(model: Any) -> Mapping[str, Any]:
    return {name: value for name, value in model.content().items() if name not in _ELSEWHERE}


def _instrument(jury: PassportJury) -> str:
    return f"{jury.instrument.name} {jury.instrument.version} ({jury.instrument.fingerprint[:12]})"


def _jury(jury: ManifestJury) -> str:
    quorum = "more than half" if jury.quorum is None else jury.quorum
    who = ", ".join(jury.members) or "all judges"
    return f"{jury.name}: {jury.rule} of {who}, quorum {quorum}, repeats {jury.repeats}"


def _differ(what: str, then: Any, now: Any) -> list[str]:
    return [] if then == now else [f"{what}: {_shown(then)} was validated, not {_shown(now)}"]


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return "; ".join(map(_shown, value)) or "none"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {each}" for name, each in value.items())
    return str(value)
