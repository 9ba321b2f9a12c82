"""Names that two tables write differently (`case-001` and `1`): the rule that makes them meet."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from medjury.foundation.documents import nearest
from medjury.foundation.errors import MedjuryError
from medjury.tables._two_tables.doubt import AS_THEY_ARE, Answer, Doubt
from medjury.tables._two_tables.panel import Panel

_ONE_NUMBER = re.compile(r"\D*?(\d+)(?:\.0+)?\D*")
_WORDS = {"item": "Ids of cases", "system": "Names of systems", "dimension": "Names of dimensions"}
MATCHED = tuple(_WORDS)


def _no_blanks(name: str) -> str:
    return "".join(name.split())


def _no_case(name: str) -> str:
    return re.sub(r"[\W_]", "", name.casefold())


def _no_zeros(name: str) -> str:
    whole = re.sub(r"(\d)\.0+$", r"\1", name.strip())
    return re.sub(r"(?<!\d)0+(?=\d)", "", _no_case(whole))


def _number(name: str) -> str:
    """The one number in a name; a name that has none, or two, stays what it is and meets no number."""
    found = _ONE_NUMBER.fullmatch(name.strip())
    return str(int(found[1])) if found else f"no number: {name}"


RULES: dict[str, Callable[[str], str]] = {
    "ignore blanks": _no_blanks,
    "ignore case and signs": _no_case,
    "ignore case, signs and leading zeros": _no_zeros,
    "compare numbers alone": _number,
}


def id_doubt(panels: Sequence[Panel], field: str) -> Doubt | None:
    """A doubt where some rule makes more names meet than meet as they are. A rule that would make two names of one
    table the same is never offered."""
    mine, theirs = (_names(each, field) for each in panels)
    as_written = len(set(mine) & set(theirs))
    best, most = "", as_written
    for rule, key in RULES.items():
        if rule == "compare numbers alone" and field != "item":
            continue
        keys = [{key(name) for name in names} for names in (mine, theirs)]
        if [len(each) for each in keys] == [len(mine), len(theirs)] and len(keys[0] & keys[1]) > most:
            best, most = rule, len(keys[0] & keys[1])
    if not best:
        return None
    known = {RULES[best](name): name for name in theirs}
    pairs = ((name, known.get(RULES[best](name))) for name in mine)
    example = next((one, other) for one, other in pairs if other is not None and one != other)
    question = (
        f"{_WORDS[field]} are written differently: {as_written:,} of {len(mine):,} in {panels[0].title} are also "
        f"in {panels[1].title} as they are written, and {most:,} by the rule {best!r} (so that {example[0]!r} and "
        f"{example[1]!r} are the same). Are they the same?"
    )
    apply = Answer(f"yes, {best}", {f"match.{field}": best})
    keep = Answer(f"no, take them {AS_THEY_ARE}", {f"match.{field}": AS_THEY_ARE})
    return Doubt(question, (apply, keep), apply)


def with_matched(panels: Sequence[Panel], field: str, rule: str) -> list[Panel]:
    """The panels with the judges' names as clinicians write them, by the rule; how many met by it is told."""
    import polars as pl

    humans, judges = panels
    if rule == AS_THEY_ARE:
        return [humans, judges]
    if rule not in RULES:
        raise MedjuryError(
            f"match.{field}: there is no rule {rule!r}; {nearest(rule, [*RULES, AS_THEY_ARE])}"
        )
    key = RULES[rule]
    for panel in panels:
        seen: dict[str, str] = {}
        for name in _names(panel, field):
            if (other := seen.setdefault(key(name), name)) != name:
                raise MedjuryError(
                    f"{panel.title}: the rule {rule!r} makes {other!r} and {name!r} the same {field}; choose "
                    f"another rule, or say --map 'match.{field}={AS_THEY_ARE}'"
                )
    written = {key(name): name for name in _names(humans, field)}
    new = {name: written[key(name)] for name in _names(judges, field) if key(name) in written}
    changed = sum(name != other for name, other in new.items())
    frame = judges.frame.with_columns(pl.col(field).replace(new)) if new else judges.frame
    return [humans, replace(judges, frame=frame).saying(
        f"{_WORDS[field].lower()} were matched by the rule {rule!r}: {len(new):,} match, {changed:,} of them were "
        "written differently"
    )]  # fmt: skip


def _names(panel: Panel, field: str) -> list[str]:
    if not panel.has(field):
        return []
    return [str(name) for name in panel.frame[field].drop_nulls().unique(maintain_order=True).to_list()]
