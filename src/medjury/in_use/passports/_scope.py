"""The scope of a passport: for which cases its verdict holds, for which the jury fails, and for which nobody knows.

A case in a part that fails is refused, dimension by dimension; one in a part that is not known is judged and
marked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from medjury.in_use.passports._document import PassportScope, PassportVerdict
from medjury.in_use.passports._novelty import record_word_count, word_count
from medjury.in_use.passports._population import number_of
from medjury.intake.cases import Case
from medjury.validation import Scope

State = Literal["holds", "not known", "outside"]


# Where a case lies in the scope of one dimension, and by which parts.
InScope = tuple[State, str]
_HOLDS: InScope = ("holds", "")


def passport_scope(
    scope: Scope, below: Mapping[str, tuple[float, ...]], cases: Iterable[Case]
) -> PassportScope:
    """A verdict's scope as a passport carries it. `below` has, for each column of numbers that was cut into
    thirds, the share of the answers below each cut; where in the numbers that is, the judged `cases` say."""
    known = list(cases)
    cuts = {}
    for column, shares in below.items():
        numbers = sorted(found for case in known if (found := _number(case, column)) is not None)
        if numbers:
            last = len(numbers) - 1
            cuts[column] = tuple(numbers[min(last, round(len(numbers) * share))] for share in shares)
    return PassportScope(
        holds=scope.holds,
        fails=scope.fails,
        not_known=scope.not_known,
        why=dict(scope.why),
        cases={name: scope.cases[name] for name in scope.not_known if name in scope.cases},
        cuts=cuts,
    )


def in_scope(verdicts: Sequence[PassportVerdict], case: Case) -> dict[str, InScope]:
    """By dimension, where the case lies. What follows from others (`""`) is where the worst of them is."""
    found = {each.dimension: _of(each.scope, case) for each in verdicts}
    order: tuple[State, ...] = ("holds", "not known", "outside")
    worst = max(found.values(), key=lambda each: order.index(each[0]), default=_HOLDS)
    return found | {"": worst}


def all_outside(found: Mapping[str, InScope]) -> bool:
    """Whether there is no dimension on which the case may be judged."""
    return all(state == "outside" for state, _ in found.values())


def _of(scope: PassportScope, case: Case) -> InScope:
    outside, unknown = [], []
    for column, parts in _columns(scope).items():
        value = _value(case, column, parts, scope.cuts.get(column))
        failing = [name for name, state in parts.items() if state == "fails"]
        if value is None:
            if failing:
                outside.append(f"no {column} is stated, and the jury fails for {', '.join(failing)}")
            else:
                unknown.append(f"no {column} is stated")
        elif value in failing:
            name = f"{column}={value}"
            outside.append(f"{name} ({why})" if (why := scope.why.get(name)) else name)
        elif parts.get(value) != "holds":
            unknown.append(f"{column}={value}")
    if outside:
        return "outside", "; ".join(outside)
    return ("not known", "; ".join(unknown)) if unknown else _HOLDS


def _columns(scope: PassportScope) -> dict[str, dict[str, str]]:
    """By column, the state of each value."""
    found: dict[str, dict[str, str]] = {}
    for state in ("holds", "fails", "not_known"):
        for name in getattr(scope, state):
            column, _, value = name.partition("=")
            found.setdefault(column, {})[value] = state
    return found


def _value(case: Case, column: str, parts: Mapping[str, str], cuts: tuple[float, ...] | None) -> str | None:
    """The part of the column that the case lies in; None where it does not say."""
    number = _number(case, column)
    if cuts is not None:
        return None if number is None else Scope.thirds[sum(number >= cut for cut in cuts)]
    stated = case.metadata.get(column)
    text = "" if stated is None else str(stated).strip()
    if text in parts or number is None:
        return text or None
    return f"{number:g}"  # 1, 1.0 and "1" are one value


def _number(case: Case, column: str) -> float | None:
    found = number_of(case, column)
    if found is None and column == Scope.length:
        return float(word_count(case) + record_word_count(case))
    return found
