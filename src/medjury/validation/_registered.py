"""What was stated, and whether it was registered before a score was seen: protocol against run, name by name."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from medjury.statistics import counted, moment, percent
from medjury.store.runs import (
    EarlierProtocol,
    Erasure,
    GateRules,
    Manifest,
    Protocol,
    Registration,
    registration_now,
)
from medjury.tables import RatingTable
from medjury.validation._sentences import RULES

Difference = tuple[str, str, str]
# What a study file may state of its clinicians; see docs/roles.md.
_ROLES = ("reference", "second panel", "consensus", "labels")
_BLINDED = {None: "not stated", True: "yes", False: "no"}
# Whoever chooses, with the scores in hand, which answers are erased chooses the result. Up to this share of the
# registered answers an erasure is only shown.
MOST_ERASED = 0.05


@dataclass(frozen=True, slots=True)
class Standing:
    """How far the rules were stated beforehand. `met` None is not known; `moved` where the rules themselves were
    changed after they had been stated; `case` names the sentence that says why not, and `words` is put into it.
    `others` are all protocols for the same cases but the run's own, `erasures`
    what was erased of the registered cases, and `anchor` the line that could be published at the registration."""

    met: bool | None
    text: str
    case: str = ""
    words: Mapping[str, Any] = field(default_factory=dict)
    moved: bool = False
    others: tuple[EarlierProtocol, ...] = ()
    erasures: tuple[Erasure, ...] = ()
    anchor: str = ""

    @property
    def why(self) -> str:
        """Why it is not so, in a sentence."""
        return RULES["registered"].why[self.case].format(**self.words) if self.case else ""

    @property
    def erased(self) -> int:
        """How many of the registered answers were erased since."""
        return sum(each.cases for each in self.erasures)


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
        "judges": ", ".join(
            f"{each.name} ({'/'.join(m.title for m in each.models)})" for each in stated.judges
        ),
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
        "clinicians were blinded": _BLINDED[None if humans is None else humans.blinded],
    }


def _overrides(stated: Manifest | Protocol) -> dict[str, str]:
    """What a run set in place of its study file; a protocol is always made of the file itself."""
    words = "; ".join(stated.overrides) if isinstance(stated, Manifest) else ""
    return {"set in place of the study file": words} if words else {}


def _juries(stated: Manifest | Protocol) -> dict[str, str]:
    """Who votes, where not all judges do in the only jury; and the juries beside the first."""
    every = stated.juries or (stated.jury,)
    text = [
        f"{each.name}: {each.rule} of {', '.join(each.members) or 'all judges'}, quorum "
        f"{'more than half' if each.quorum is None else each.quorum}"
        for each in every
    ]
    return {"votes": "all judges" if len(every) == 1 and not every[0].members else "; ".join(text)}


def differences(first: Mapping[str, str], second: Mapping[str, str]) -> tuple[Difference, ...]:
    """(what, first, second) where the two differ."""
    names = dict.fromkeys([*first, *second])
    words = [(name, first.get(name, "not stated"), second.get(name, "not stated")) for name in names]
    return tuple(each for each in words if each[1] != each[2])


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
    known = manifest.registration
    # The same cases in another order, or without those that were erased, which the ledger knows by their hashes.
    same: tuple[str, ...] = ("data", "answers") if known is not None and known.whole else ()
    if protocol.humans is None or (same and known is not None and known.erasures and known.ratings_whole):
        same += ("clinicians", "division of clinicians")
    for name in same:
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
    manifest = table.run.manifest
    protocol = table.run.protocol if manifest is None else manifest.protocol
    known = None if manifest is None else registration_now(table.run.folder, manifest)
    found = _counted(manifest, protocol, known)
    if found is None:
        found = _unregistered(manifest) if protocol is None else _of_protocol(table, protocol, known)
    if not found.met and manifest is not None and manifest.earlier_rules:
        found = Standing(
            False,
            f"changed after the first run, {moment(manifest.stated_at)}",
            "changed after a run",
            moved=True,
        )
    if known is None:
        return found
    return replace(found, others=known.beside, erasures=known.erasures, anchor=known.anchor)


def _counted(
    manifest: Manifest | None, protocol: Protocol | None, known: Registration | None
) -> Standing | None:
    """The first protocol for the same cases counts, whatever came after it. Where the ledger was cut or changed,
    every earlier one that anybody remembers counts too: nobody gains by taking a line out."""
    if manifest is None or known is None or known.first is None:
        return None
    own = (manifest.rules if protocol is None else protocol.rules).hash()
    first = [known.first]
    if known.problem:
        since = _NEVER.isoformat() if protocol is None else protocol.registered_at
        first += [each for each in known.beside if each.registered_at < since]
    other = next((each for each in first if each.rules not in ("", own)), None)
    if other is None:
        return None
    name = f"protocol {other.hash[:16]}, registered {moment(other.registered_at)}"
    held = "these rules" if protocol is None else f"protocol {protocol.hash()[:16]}"
    return Standing(
        False,
        f"{held}; but {name}, was the first for these cases, with other rules",
        "another was first",
        {"name": name},
        moved=True,
    )


def _of_protocol(table: RatingTable, protocol: Protocol, known: Registration | None) -> Standing:
    manifest = table.run.manifest
    hash = protocol.hash()
    name = f"protocol {hash[:16]}, registered {moment(protocol.registered_at)}"
    if manifest is not None and manifest.protocol_hash != hash:
        return Standing(False, f"{name}: changed", "another protocol", moved=True)
    changed = () if manifest is None else changed_since(protocol, manifest)
    rules = [each for each in changed if each[0].startswith("rule ")]
    if rules:
        return Standing(
            False,
            f"{name}; changed since: {_listed(changed)}",
            "other rules",
            {"changed": _listed(rules)},
            moved=True,
        )
    if protocol.seen:
        seen = protocol.seen[0]
        return Standing(
            False,
            f"{name}, after {seen.run} had judged the same data",
            "scores existed",
            {"ratings": seen.ratings, "run": seen.run},
            # Rules had been registered, and others were when the scores were there.
            moved=bool(protocol.earlier),
        )
    found = _in_time(table, protocol, name, changed)
    return found if known is None or not found.met else _in_ledger(table, protocol, known, found)


def _in_ledger(table: RatingTable, protocol: Protocol, known: Registration, found: Standing) -> Standing:
    """A protocol that came in time and was kept to; is it the one that counts, for the data that it names?"""
    if known.problem:
        return Standing(
            False,
            f"{found.text}; {known.problem}",
            "ledger",
            {"problem": known.problem},
        )
    if known.tried:
        tried = known.tried[0]
        return Standing(
            False,
            f"{found.text}; {tried.run} had judged the same cases under another protocol",
            "second try",
            {"run": tried.run, "ratings": tried.ratings},
        )
    if not known.erasures:
        return found
    first = _time(_first_seen(table))
    late = sum(each.cases for each in known.erasures if first is None or (_time(each.at) or _NEVER) > first)
    text = f"{found.text}; {counted(known.erased, 'answer')} erased since"
    if late <= MOST_ERASED * protocol.cases:
        return replace(found, text=text)
    words = {"late": late, "cases": protocol.cases, "most": percent(MOST_ERASED)}
    return Standing(False, text, "erased", words)


def _in_time(table: RatingTable, protocol: Protocol, name: str, changed: tuple[Difference, ...]) -> Standing:
    first = _first_seen(table)
    then, since = _time(protocol.registered_at), _time(first)
    if then is None or since is None:
        return Standing(None, f"{name}; when the scores were made is not known", "no dates")
    if since < then:
        text = f"{name}, after the first rating ({moment(first)})"
        return Standing(False, text, "too late", {"first": moment(first)})
    if changed:
        listed = _listed(changed)
        return Standing(False, f"{name}; changed since: {listed}", "another study", {"changed": listed})
    return Standing(True, f"{name}, before {_what_came_first(table)} ({moment(first)}){_existing(table)}")


def _first_seen(table: RatingTable) -> str:
    """When the first score could be seen. Recorded answers had been scored before they were recorded: a run that is
    given them does not make them new."""
    manifest = table.run.manifest
    first = first_rating(table) or ("" if manifest is None else manifest.started_at)
    judges = () if manifest is None else manifest.judges
    moments = [model.recorded_at for judge in judges for model in judge.models if model.recorded]
    if not all(_time(each) for each in moments):
        return ""
    return min([first, *moments], key=lambda each: _time(each) or _NEVER)


def _what_came_first(table: RatingTable) -> str:
    """Scores in a file are not given in a run, they are read."""
    unmade = table.run.manifest is not None and table.run.manifest.from_files
    return "this run read the first score" if unmade else "the first rating"


def _existing(table: RatingTable) -> str:
    """What must be stated of scores that existed when the rules were registered."""
    found = () if table.run.manifest is None else table.run.manifest.from_files
    if not found:
        return ""
    named = ", ".join(f"{model.name} ({model.title})" for model in found)
    return f"; the scores of {named} existed when the rules were registered, and how they were made is not recorded"


def _unregistered(manifest: Manifest | None) -> Standing:
    if manifest is None:
        return Standing(False, "not registered", "no run")
    if not manifest.stated_at:
        return Standing(False, "not stated: these are the defaults", "defaults")
    return Standing(False, f"recorded {moment(manifest.stated_at)}, not registered", "not registered")


_NEVER = datetime.max.replace(tzinfo=UTC)


def _listed(changed: list[Difference] | tuple[Difference, ...]) -> str:
    return "; ".join(f"{what}: {then} -> {now}" for what, then, now in changed)


def _time(text: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found
