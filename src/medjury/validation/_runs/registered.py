"""What was stated, and whether it was registered before a score was seen: protocol against run, name by name."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime

from medjury.records import dataclass
from medjury.runs import GateRules, Manifest, ManifestJudge, Protocol
from medjury.statistics import moment
from medjury.tables import RatingTable

Difference = tuple[str, str, str]
# What a study file may state of its clinicians; see docs/roles.md.
_ROLES = ("reference", "second panel", "consensus", "labels")


@dataclass(frozen=True, slots=True)
class Standing:
    """How far the rules were stated beforehand. `met` None is not known; `moved` where the rules themselves were
    changed after they had been stated."""

    met: bool | None
    said: str
    why: str = ""
    moved: bool = False


def stated_things(stated: Manifest | Protocol) -> dict[str, str]:
    """All that a protocol fixes and a run repeats, each under its name."""
    rules, instrument, jury, humans = stated.rules, stated.instrument, stated.jury, stated.humans
    return {
        **{f"rule {name}": rule_shown(rules, name) for name in GateRules.model_fields},
        **_overrides(stated),
        "touched by tuning": "; ".join(f"{each.what}: {each.cases:,}" for each in stated.touched)
        or "nothing",
        "data": stated.data_hash[:12],
        "answers": f"{stated.cases:,}",
        "instrument": f"{instrument.name} {instrument.version}",
        "instrument's words": instrument.fingerprint[:12],
        "prompt": stated.prompt_version,
        "judges": ", ".join(f"{judge.name} ({_models(judge)})" for judge in stated.judges),
        "ways of judging": ", ".join(f"{judge.name}: {judge.strategy}" for judge in stated.judges),
        "judges' settings": ", ".join(judge.settings_hash[:8] for judge in stated.judges),
        "jury": f"{jury.rule}, repeats: {jury.repeats}",
        "quorum": "more than half" if jury.quorum is None else str(jury.quorum),
        **_juries(stated),
        "clinicians": "none"
        if humans is None
        else f"{humans.ratings:,} ratings ({humans.hash[:12] or 'no hash'})",
        **{name: "not stated" if humans is None else humans.roles.get(name, "not stated") for name in _ROLES},
        "division of clinicians": "none" if humans is None else humans.roles_hash[:12] or "none",
        "clinicians were blinded": _yes_or_no(None if humans is None else humans.blinded),
    }


def _yes_or_no(stated: bool | None) -> str:
    return "not stated" if stated is None else "yes" if stated else "no"


def _overrides(stated: Manifest | Protocol) -> dict[str, str]:
    """What a run set in place of its study file; a protocol is always made of the file itself."""
    told = "; ".join(stated.overrides) if isinstance(stated, Manifest) else ""
    return {"set in place of the study file": told} if told else {}


def _juries(stated: Manifest | Protocol) -> dict[str, str]:
    """Who votes, where not all judges do in the only jury; and the juries beside the first."""
    every = stated.juries or (stated.jury,)
    said = [
        f"{each.name}: {each.rule} of {', '.join(each.members) or 'all judges'}, quorum "
        f"{'more than half' if each.quorum is None else each.quorum}"
        for each in every
    ]
    return {"votes": "all judges" if len(every) == 1 and not every[0].members else "; ".join(said)}


def differences(first: Mapping[str, str], second: Mapping[str, str]) -> tuple[Difference, ...]:
    """(what, first, second) where the two differ."""
    names = dict.fromkeys([*first, *second])
    told = [(name, first.get(name, "not stated"), second.get(name, "not stated")) for name in names]
    return tuple(each for each in told if each[1] != each[2])


def rule_shown(rules: GateRules, name: str) -> str:
    """A rule in a few characters; a list of cases as its length and a hash, which tells two lists apart."""
    value = getattr(rules, name)
    if name == "development_cases":
        listed = hashlib.sha256("\n".join(sorted(value)).encode()).hexdigest()[:8]
        return f"{len(value):,} cases ({listed})" if value else "none"
    if isinstance(value, tuple | list):
        return ", ".join(map(str, value)) or "none"
    return "not stated" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def changed_since(protocol: Protocol, manifest: Manifest) -> tuple[Difference, ...]:
    """What a run has otherwise than its protocol. Clinicians who had not rated when it was registered may have
    rated since; ratings that were there must not change."""
    then, now = stated_things(protocol), stated_things(manifest)
    if protocol.humans is None:
        for name in ("clinicians", "division of clinicians"):
            then.pop(name), now.pop(name)
    if then["clinicians were blinded"] == "not stated":  # it may be stated later
        del now["clinicians were blinded"], then["clinicians were blinded"]
    return differences(then, now)


def first_rating(table: RatingTable) -> str:
    """When the first judge's rating came about, as the ratings say; "" where they do not."""
    import polars as pl

    rows = table.everything
    if "created_at" not in rows.columns:
        return ""
    judged = rows.filter(pl.col("rater_kind").is_in(["judge", "jury"]))["created_at"].drop_nulls()
    first = judged.min() if judged.dtype == pl.String else None
    return str(first or "")


def standing(table: RatingTable) -> Standing:
    """Were the rules of these ratings registered before the first of them? Rules that nobody registered were not
    stated beforehand: whoever saw the scores of one run could have stated them for the next, under another name."""
    manifest = table.manifest
    protocol = table.protocol if manifest is None else manifest.protocol
    found = _unregistered(manifest) if protocol is None else _of_protocol(table, protocol)
    if found.met or manifest is None or not manifest.earlier_rules:
        return found
    return Standing(
        False,
        f"changed after the first run, {moment(manifest.stated_at)}",
        "The rules were changed after scores had been seen; only rules stated beforehand can validate a jury.",
        moved=True,
    )


def _of_protocol(table: RatingTable, protocol: Protocol) -> Standing:
    manifest = table.manifest
    hash = protocol.hash()
    name = f"protocol {hash[:16]}, registered {moment(protocol.registered_at)}"
    if manifest is not None and manifest.protocol_hash != hash:
        why = "The protocol in the manifest is not the one that was registered: its hash is another."
        return Standing(False, f"{name}: changed", why, moved=True)
    changed = () if manifest is None else changed_since(protocol, manifest)
    rules = [each for each in changed if each[0].startswith("rule ")]
    if rules:
        return Standing(
            False,
            f"{name}; changed since: {_listed(changed)}",
            f"The rules are not those that were registered ({_listed(rules)}); only rules stated beforehand can "
            "validate a jury.",
            moved=True,
        )
    if protocol.seen:
        seen = protocol.seen[0]
        return Standing(
            False,
            f"{name}, after {seen.run} had judged the same data",
            f"The rules were registered when {seen.ratings:,} ratings of the same data existed already "
            f"({seen.run}): whoever stated them could have seen the scores.",
            # Rules had been registered, and others were when the scores were there.
            moved=bool(protocol.earlier),
        )
    return _in_time(table, protocol, name, changed)


def _in_time(table: RatingTable, protocol: Protocol, name: str, changed: tuple[Difference, ...]) -> Standing:
    first = _first_seen(table)
    then, since = _time(protocol.registered_at), _time(first)
    if then is None or since is None:
        return Standing(
            None,
            f"{name}; when the scores were made is not known",
            "Nobody recorded when the scores were made, so nobody knows whether the rules were stated before them.",
        )
    if since < then:
        return Standing(
            False,
            f"{name}, after the first rating ({moment(first)})",
            f"The rules were registered after the first rating ({moment(first)}); rules that are chosen after the "
            "scores are known prove nothing.",
        )
    if changed:
        return Standing(
            False,
            f"{name}; changed since: {_listed(changed)}",
            f"The rules were registered for another study than was run: {_listed(changed)}.",
        )
    return Standing(True, f"{name}, before the first rating ({moment(first)})")


def _first_seen(table: RatingTable) -> str:
    """When the first score could be seen. Recorded answers had been scored before they were recorded: a run that is
    given them does not make them new."""
    manifest = table.manifest
    first = first_rating(table) or ("" if manifest is None else manifest.started_at)
    judges = () if manifest is None else manifest.judges
    moments = [model.recorded_at for judge in judges for model in judge.models if model.recorded]
    if not all(_time(each) for each in moments):
        return ""
    return min([first, *moments], key=lambda each: _time(each) or _NEVER)


def _unregistered(manifest: Manifest | None) -> Standing:
    nothing = "Rules that are chosen after the scores are known prove nothing."
    if manifest is None:
        return Standing(
            False, "not registered", f"Nobody registered these rules before the scores were made. {nothing}"
        )
    if not manifest.stated_at:
        why = f"No rules were stated before the run, so the default ones are shown. {nothing}"
        return Standing(False, "not stated: these are the defaults", why)
    return Standing(
        False,
        f"recorded {moment(manifest.stated_at)}, not registered",
        "Nobody registered the rules before the run: they may have been chosen after scores of the same cases had "
        "been seen. Register the next study first: `medjury register STUDY`.",
    )


_NEVER = datetime.max.replace(tzinfo=UTC)


def _listed(changed: list[Difference] | tuple[Difference, ...]) -> str:
    return "; ".join(f"{what}: {then} -> {now}" for what, then, now in changed)


def _time(text: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found


def _models(judge: ManifestJudge) -> str:
    return "/".join(model.title for model in judge.models)
