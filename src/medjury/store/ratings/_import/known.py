"""What is known before an import: the study's cases, what may be stated of each, and what its instrument skips."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches

from medjury.foundation.documents import nearest
from medjury.instruments import Instrument, Reason, SkipRule
from medjury.intake.cases import Case, id_of, ids_by_name
from medjury.store.ratings._import.entries import content_hash
from medjury.store.ratings._rating import Rating

_MOST_COMPARED = 1_000


class UnclearSystemError(LookupError):
    """The item is a case, and several systems answered it: nobody can tell which answer a row is about."""


class KnownCases:
    """The ids of a study's cases and the systems that answered each; with `contents` a hash of what they wrote."""

    def __init__(self, cases: Iterable[Case], *, contents: bool = False) -> None:
        self._systems: dict[str, tuple[str, ...]] = {}
        self._contents: dict[tuple[str, str], str] = {}
        self._criteria: dict[str, dict[str, str]] = {}
        self._bare: dict[str, str] | None = None
        shared: dict[tuple[str, ...], tuple[str, ...]] = {}  # a million cases share a few sets of systems
        for case in cases:
            systems = (*self._systems.get(case.id, ()), case.system)
            self._systems[case.id] = shared.setdefault(systems, systems)
            if case.criteria:
                self._criteria.setdefault(case.id, {}).update(ids_by_name(case.criteria))
            if contents:
                self._contents[case.id, case.system] = content_hash(case.candidate or "")

    @property
    def answers(self) -> frozenset[tuple[str, str]]:
        """Every answer, by its item and its system."""
        return frozenset((item, system) for item, systems in self._systems.items() for system in systems)

    def system_of(self, item: str, system: str) -> str:
        """The system meant by a row: the only one that answered the item, where the row names none.

        Raises `LookupError` with what is wrong and what may be meant.
        """
        systems = self._systems.get(item)
        if systems is None:
            raise LookupError(f"is not the id of a case; {self._suggest(item)}")
        if system in systems:
            return system
        if system:
            raise LookupError(f"was not answered by system {system!r}; {nearest(system, sorted(systems))}")
        if len(systems) > 1:
            raise UnclearSystemError(
                f"was answered by {len(systems)} systems ({', '.join(sorted(systems)[:5])}); a column must say "
                "which of them was rated"
            )
        return systems[0]

    def criterion(self, item: str, named: str) -> str:
        """The id of a criterion of the case, named by that or by its words; `LookupError` where there is none."""
        ids = self._criteria.get(item, {})
        if (found := id_of(ids, named)) is None:
            known = ", ".join(dict.fromkeys(ids.values())) or "none"
            raise LookupError(
                f"is not a criterion of case {item!r}, or the words of two; its criteria are {known}"
            )
        return found

    def criteria(self, item: str) -> tuple[str, ...]:
        """The ids of the criteria of a case."""
        return tuple(dict.fromkeys(self._criteria.get(item, {}).values()))

    def content(self, item: str, system: str) -> str:
        return self._contents.get((item, system), "")

    def _suggest(self, item: str) -> str:
        if self._bare is None:
            self._bare = {_bare(name): name for name in self._systems}
        meant = self._bare.get(_bare(item))
        if meant is None and len(self._systems) <= _MOST_COMPARED:
            meant = next(iter(get_close_matches(item, self._systems, n=1)), None)
        if meant is not None:
            return f"did you mean {meant!r}?"
        return f"the cases have ids such as {next(iter(self._systems), '')!r}"


def _bare(name: str) -> str:
    """Spreadsheets drop leading zeros."""
    return name.casefold().lstrip("0")


# Labels of cases: a 0/1 column of the clinicians' file that says something of the case, not of an answer.

_VALUES = {"0": 0, "0.0": 0, "1": 1, "1.0": 1}


@dataclass(slots=True)
class CaseLabels:
    """Gathers one value of each label for each case; what is neither 0 nor 1, or differs, is a problem."""

    columns: Mapping[str, str]
    of: dict[str, dict[str, int]] = field(default_factory=dict)
    _places: dict[tuple[str, str], str] = field(default_factory=dict)

    def add(self, item: str, stated: Mapping[str, str], place: str) -> tuple[str, str] | None:
        """Take what one row says of its case; (column, what is wrong) where it cannot be taken."""
        for label, text in stated.items():
            if not text:
                continue
            column = self.columns[label].strip()
            value = _VALUES.get(text)
            if value is None:
                return column, f"the label {label} is 0 or 1, not {text[:40]!r}"
            known = self.of.setdefault(item, {}).setdefault(label, value)
            first = self._places.setdefault((item, label), place)
            if known != value:
                return (
                    column,
                    f"the label {label} of {item!r} is {value} here and {known} in {first}: a case has one",
                )
        return None


# A dimension that the instrument skips is not applicable: what clinicians left empty there is no gap.

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
