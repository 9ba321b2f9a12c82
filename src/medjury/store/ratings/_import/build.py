"""Turns entries into ratings, or into problems: every check of an import is made here, on every row."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Literal, get_args

from medjury.foundation.documents import nearest
from medjury.instruments import Instrument, NotApplicable, Outcome, Reason, Score, Unscored
from medjury.intake import is_blank
from medjury.intake.cases import MET_WORDS, NOT_APPLICABLE_WORDS
from medjury.store.ratings._import.cell import GradeRange, positive_number, read_cell, scale_of
from medjury.store.ratings._import.entries import Entry
from medjury.store.ratings._import.known import (
    CaseLabels,
    KnownCases,
    UnclearSystemError,
    forbidden,
    skipped,
    why,
)
from medjury.store.ratings._import.mapping import SourcePart
from medjury.store.ratings._import.report import ImportReport, Problem, short
from medjury.store.ratings._import.suspicious import RaterSeen, Times
from medjury.store.ratings._profiles import Profiles
from medjury.store.ratings._pseudonyms import Pseudonyms
from medjury.store.ratings._rating import RaterKind, Rating, Status

_LONGEST_REPEAT = 9  # digits

OnBad = Literal["refuse", "unscored"]
OnUnknown = Literal["refuse", "drop"]


@dataclass(slots=True)
class Builder:
    """Collects the ratings of an import, and all that is wrong with them."""

    report: ImportReport
    now: str
    instrument: Instrument | None = None
    cases: KnownCases | None = None
    pseudonyms: Pseudonyms | None = None
    on_bad: OnBad = "refuse"
    on_unknown: OnUnknown = "refuse"
    every_cell: bool = False  # each cell was to hold a score, so that an empty one is unscored
    ratings: list[Rating] = field(default_factory=list)
    raters: dict[str, RaterSeen] = field(default_factory=dict)
    unchecked: set[str] = field(default_factory=set)  # dimensions without a scale
    labels: CaseLabels = field(default_factory=lambda: CaseLabels({}))
    profiles: Profiles = field(default_factory=Profiles)
    patients: dict[str, str] = field(default_factory=dict)  # by item, whose it is
    times: Times = field(default_factory=Times)
    unknown: Counter[tuple[str, str, str]] = field(default_factory=Counter)  # rater, item, system: left out
    sheets: dict[Path, set[str | None]] = field(default_factory=dict)  # that were read, by workbook
    _asked: set[str] = field(default_factory=set)  # dimensions that some row is about, rated or not
    _blank: Counter[tuple[str, str, str]] = field(default_factory=Counter)  # of those, cells left empty
    _unfilled: list[tuple[Entry, SourcePart]] = field(default_factory=list)
    _places: dict[tuple[object, ...], Entry] = field(default_factory=dict)  # of scores that may be skipped
    _seen: dict[tuple[object, ...], tuple[tuple[Outcome, float | None], str]] = field(default_factory=dict)
    _contents: dict[tuple[str, str], tuple[str, str]] = field(default_factory=dict)

    def add(self, entry: Entry, source: SourcePart) -> None:
        """Take one entry of a file."""
        try:
            entry = self._of_criterion(entry)
            self._take_labels(entry)
            self._take_patient(entry)
            outcome = self._outcome(entry, source)
            if outcome is None:
                self.report.not_rated += 1
                if self.every_cell or _of_judge(entry, source):
                    self._unfilled.append((entry, source))
                if self._may_be_skipped(name := entry.fields["dimension"]):
                    self._blank[entry.fields.get("item", ""), entry.fields.get("rater", ""), name] += 1
                return
            self._keep(self._again(self._rating(entry, outcome, source), source), entry)
        except _RefusedEntry as refused:
            self._problem(entry, *refused.args)
        except _UnknownItem as left:
            self._leave_out(left)

    def _of_criterion(self, entry: Entry) -> Entry:
        """An entry on a criterion of its case, under the criterion's id, with its mark as a number."""
        if self.instrument is None or not self.instrument.by_case:
            return entry
        fields, word = entry.fields, str(entry.cell).strip().casefold()
        if self.cases is not None and fields.get("item") and fields.get("dimension"):
            try:
                named = self.cases.criterion(fields["item"], fields["dimension"])
            except LookupError as error:
                if self.on_unknown == "drop" or not self.cases.criteria(fields["item"]):
                    named = fields["dimension"]  # the case is not there, which is found below
                else:
                    raise _RefusedEntry(
                        f"{short(fields['dimension'])} {error.args[0]}", "dimension"
                    ) from None
            fields = {**fields, "dimension": named}
        if word in NOT_APPLICABLE_WORDS:
            return replace(entry, fields=fields, cell=None, null=True)
        return replace(entry, fields=fields, cell=MET_WORDS.get(word, entry.cell))

    def settle(self) -> None:
        """What can be known only when all is read: skipped dimensions, two panels of one rater, odd times."""
        if self.instrument is not None:
            self._skip(self.instrument)
        self._fill()
        for _, panels in self.profiles.two_panels():
            (first, where), (second, also) = list(panels.items())[:2]
            file, row = also.rsplit(", row ", 1)
            message = (
                f"a rater is in the panel {second!r} here and in {first!r} in {where}: a rater has one panel"
            )
            self.report.problems.append(Problem(file, int(row), "panel", "", message))
        self.report.warnings += [*self.profiles.warnings(), *self.times.warnings()]

    def _skip(self, instrument: Instrument) -> None:
        """What the instrument's own rule skips is not applicable; a score there is a bad one."""
        replaced: dict[tuple[object, ...], Rating] = {}
        names = {seen.shown: name for name, seen in self.raters.items()}
        kinds = ("clinician", "judge") if self.every_cell else ("clinician",)
        for none, own, rule in skipped(self.ratings, instrument, self._asked, kinds):
            if own is None:
                blank = (none.item, names[none.rater], none.dimension)
                if self._blank[blank]:
                    self._blank[blank] -= 1
                    self.report.not_rated -= 1
                self._count(none)
                self.ratings.append(none)
            elif self.on_bad == "refuse":
                self._problem(self._places[_identity(own)], why(rule))
            else:
                replaced[_identity(own)] = forbidden(own, rule)
        if replaced:
            self.report.scored -= len(replaced)
            self.report.unscored[Reason.OUT_OF_RANGE] += len(replaced)
            self.ratings[:] = [replaced.get(_identity(each), each) for each in self.ratings]

    def _fill(self) -> None:
        """Empty cells of which each was to hold a score, as rows without one; not where another row has it, nor
        where the instrument skips the dimension."""
        known = {_identity(each) for each in self.ratings}
        for entry, source in self._unfilled:
            try:
                rating = self._rating(entry, Unscored(Reason.EMPTY, "the score is empty in the file"), source)
            except _RefusedEntry as refused:
                self._problem(entry, *refused.args)
                continue
            except _UnknownItem as left:
                self._leave_out(left)
                continue
            if _identity(rating) not in known:
                known.add(_identity(rating))
                self.report.not_rated -= 1
                self._count(rating)
                self.ratings.append(rating)

    def _take_labels(self, entry: Entry) -> None:
        self._asked.add(entry.fields.get("dimension", ""))
        if not entry.labels:
            return
        wrong = self.labels.add(entry.fields.get("item", ""), entry.labels, f"{entry.file}, row {entry.row}")
        if wrong is not None:
            self._problem(entry, wrong[1], wrong[0])

    def _take_patient(self, entry: Entry) -> None:
        item, patient = entry.fields.get("item"), entry.fields.get("patient")
        if item and patient and (first := self.patients.setdefault(item, patient)) != patient:
            raise _RefusedEntry(
                f"item {item!r} has the patient {patient!r} here and {first!r} before: it belongs to one",
                "patient",
            )

    def add_rating(self, rating: Rating, entry: Entry) -> None:
        """Take one rating that was read whole."""
        try:
            rating = self._on_scale(rating)
            system, rater = self._who(rating.item, rating.system, rating.rater, rating.rater_kind, entry)
            self._keep(replace(rating, system=system, rater=rater), entry)
        except _RefusedEntry as refused:
            self._problem(entry, *refused.args)
        except _UnknownItem as left:
            self._leave_out(left)

    def _leave_out(self, left: _UnknownItem) -> None:
        self.report.unknown_items += 1
        self.unknown[left.args] += 1

    def _again(self, rating: Rating, source: SourcePart) -> Rating:
        """A rating that comes again with another score is the rater's next repeat, where the mapping says so."""
        own = (rating.outcome, rating.probability)
        while source.again == "repeat" and self._seen.get(_identity(rating), (own, ""))[0] != own:
            repeat = rating.repeat + 1
            key = rating_key(rating.item, rating.system, rating.rater, rating.instrument, repeat)
            rating = replace(rating, repeat=repeat, key=key)
        return rating

    def _keep(self, rating: Rating, entry: Entry) -> None:
        place = f"{entry.file}, row {entry.row}"
        identity = _identity(rating)
        own = (rating.outcome, rating.probability)
        stated, where = self._seen.setdefault(identity, (own, place))
        if where is not place:
            if stated != own:
                raise _RefusedEntry(
                    f"is rated a second time, with a different score than in {where}: keep one of them"
                )
            self.report.duplicates += 1
            return
        self._count(rating)
        self.ratings.append(rating)
        self._asked.add(rating.dimension)
        if rating.score is not None and self._may_be_skipped(rating.dimension):
            self._places[identity] = entry

    def _who(self, item: str, system: str, rater: str, kind: str, entry: Entry) -> tuple[str, str]:
        """The system and the rater as they enter the ratings, after the checks on them."""
        if self.cases is not None:
            try:
                system = self.cases.system_of(item, system)
            except LookupError as error:
                # An answer that is there, and not told apart from another, is not one that the study does not have.
                unclear = self.every_cell and isinstance(error, UnclearSystemError)
                if self.on_unknown == "drop" and not unclear:
                    raise _UnknownItem(rater, item, system) from None
                raise _RefusedEntry(f"item {item!r} {error.args[0]}", "item") from None
        self._check_content(item, system, entry)
        name = rater
        if self.pseudonyms is not None and kind == "clinician":
            rater = self.pseudonyms.pseudonym(rater)
        seen = self.raters.get(name)
        if seen is None:
            seen = self.raters[name] = RaterSeen(rater, f"{entry.file}, row {entry.row}")
        seen.ratings += 1
        return system, rater

    def _outcome(self, entry: Entry, source: SourcePart) -> Outcome | None:
        """What the entry says; a bad score is a problem or an unscored row, as was asked for."""
        dimension = entry.fields.get("dimension", "")
        if not dimension:
            raise _RefusedEntry("has no dimension", "dimension")
        stated = self._stated(entry)
        if stated is not None:
            return stated
        if entry.null and self._may_be_not_applicable(dimension):
            return NotApplicable(entry.explanation)
        outcome: Outcome | None = entry.failure
        if outcome is None:
            outcome = read_cell(entry.cell, self._scale(dimension, source), source.codes(dimension))
        if isinstance(outcome, Unscored):
            if self.on_bad == "refuse":
                self._problem(entry, outcome.message)
            return Unscored(outcome.reason, f"{short(entry.cell)} {outcome.message}")
        if isinstance(outcome, Score) and entry.explanation:
            return Score(outcome.value, entry.explanation)
        return outcome if outcome is None or isinstance(outcome, Score) else NotApplicable(entry.explanation)

    def _stated(self, entry: Entry) -> Outcome | None:
        """What the columns `status` and `reason` say, where they say that there is no score."""
        status = entry.fields.get("status")
        if status is None:
            return None
        if status not in get_args(Status):
            raise _RefusedEntry(f"status {status!r}: {nearest(status, get_args(Status))}", "status")
        if (status == "scored") == is_blank(entry.cell):
            raise _RefusedEntry(f"status {status}, but the score is {short(entry.cell)}", "status")
        if status == "scored":
            return None
        if status == "not_applicable":
            return NotApplicable(entry.explanation)
        reason, reasons = entry.fields.get("reason", ""), [each.value for each in Reason]
        if reason not in reasons:
            raise _RefusedEntry(f"reason {reason!r}: {nearest(reason, reasons)}", "reason")
        return Unscored(Reason(reason), entry.explanation)

    def _scale(self, dimension: str, source: SourcePart) -> GradeRange | None:
        scale = source.scales.get(dimension, source.scales.get(""))
        if self.instrument is not None and self.instrument.by_case:
            return scale_of(self.instrument.dimensions[0])
        if self.instrument is not None:
            try:
                return scale_of(self.instrument.dimension(dimension))
            except KeyError:
                if dimension not in source.scales:
                    hint = nearest(dimension, [each.name for each in self.instrument.dimensions])
                    message = f"{self.instrument.name} has no dimension {dimension!r}; {hint}"
                    raise _RefusedEntry(message, "dimension") from None
        if scale is None:
            self.unchecked.add(dimension)
        return scale

    def _may_be_not_applicable(self, name: str) -> bool:
        if self.instrument is not None and self.instrument.by_case:
            return True
        for dimension in self.instrument.dimensions if self.instrument else ():
            if dimension.name == name:
                return dimension.may_be_not_applicable or dimension.skip is not None
        return False

    @property
    def skippable(self) -> frozenset[str]:
        """The dimensions that the instrument may skip: nobody need have rated them."""
        known = self.instrument.dimensions if self.instrument else ()
        return frozenset(each.name for each in known if each.skip is not None)

    def _may_be_skipped(self, name: str) -> bool:
        return name in self.skippable

    def _rating(self, entry: Entry, outcome: Outcome, source: SourcePart) -> Rating:
        fields = entry.fields
        for name in ("item", "rater"):
            if not fields.get(name):
                raise _RefusedEntry(f"has a rating, but no {name}", name)
        given = fields.get("rater_kind") or source.kind_of(fields["rater"])
        if given not in get_args(RaterKind):
            raise _RefusedEntry(f"rater_kind {given!r}: {nearest(given, get_args(RaterKind))}", "rater_kind")
        repeat = fields.get("repeat", "0")
        if not repeat.isascii() or not repeat.isdigit() or len(repeat) > _LONGEST_REPEAT:
            raise _RefusedEntry(f"repeat {short(repeat)} is not a whole number", "repeat")
        measured, probability = _measured(fields, source.decimal), _probability(fields, source.decimal)
        instrument = fields.get("instrument") or self._label()
        system, rater = self._who(fields["item"], fields.get("system", ""), fields["rater"], given, entry)
        if given == "clinician":
            self.profiles.add(rater, fields, f"{entry.file}, row {entry.row}")
            self.times.add((fields["item"], system, rater), measured, entry.share, "seconds" in fields)
        score, reason, explanation = None, None, ""
        if isinstance(outcome, Score):
            score, explanation = outcome.value, outcome.explanation
        elif isinstance(outcome, Unscored):
            reason, explanation = outcome.reason, outcome.message
        else:
            explanation = outcome.explanation
        return Rating(
            fields["item"], system, rater, given, instrument,  # type: ignore[arg-type]
            fields["dimension"], int(repeat), score, _status(outcome), reason, explanation,
            measured / entry.share if measured else None,
            None, None, None, self.now, rating_key(fields["item"], system, rater, instrument, int(repeat)),
            probability=probability,
        )  # fmt: skip

    def _label(self) -> str:
        return f"{self.instrument.name}@{self.instrument.version}" if self.instrument else ""

    def _on_scale(self, rating: Rating) -> Rating:
        """A score in a table that we wrote is on the scale too, where the instrument has its dimension. The mean
        of a jury need not be one of the grades."""
        if rating.score is None or self.instrument is None or rating.instrument not in ("", self._label()):
            return rating
        for dimension in self.instrument.dimensions:
            scale = scale_of(dimension)
            other = dimension.name != rating.dimension and not self.instrument.by_case
            if other or scale.holds(rating.score) or rating.rater_kind == "jury":
                continue
            message = f"is not on the scale ({scale})"
            if self.on_bad == "refuse":
                raise _RefusedEntry(message)
            explanation = f"{rating.score} {message}"
            return replace(
                rating, score=None, status="unscored", reason=Reason.OUT_OF_RANGE, explanation=explanation
            )
        return rating

    def _check_content(self, item: str, system: str, entry: Entry) -> None:
        """The same id must mean the same text in every file, and the text of the study's case."""
        if not entry.content:
            return
        if self.cases is not None:
            ours = self.cases.content(item, system)
            if ours and entry.content.startswith("words-") and ours != entry.content:
                raise _RefusedEntry(f"item {item!r} has another text here than in the cases", "item")
        place = f"{entry.file}, row {entry.row}"
        first, where = self._contents.setdefault((item, system), (entry.content, place))
        if first != entry.content:
            raise _RefusedEntry(f"item {item!r} has another text here than in {where}", "item")

    def _count(self, rating: Rating) -> None:
        if rating.reason is not None:
            self.report.unscored[rating.reason] += 1
        elif rating.score is not None:
            self.report.scored += 1
        else:
            self.report.not_applicable += 1

    def _problem(self, entry: Entry, message: str, column: str | None = None) -> None:
        shown = short(entry.cell) if column is None else ""
        problem = Problem(entry.file, entry.row, entry.column if column is None else column, shown, message)
        if self.report.problems[-1:] == [problem]:
            return  # a cell that cannot be read is one problem, not one per dimension
        self.report.problems.append(problem)


class _RefusedEntry(Exception):  # noqa: N818 - it never leaves this file
    """Something is wrong that cannot be kept as an unscored row: what, and in which column."""


class _UnknownItem(Exception):  # noqa: N818 - it never leaves this file
    """The item is not among the cases, and such rows are to be left out."""


def _identity(rating: Rating) -> tuple[object, ...]:
    return rating.item, rating.system, rating.rater, rating.instrument, rating.dimension, rating.repeat


def _measured(fields: Mapping[str, str], decimal: str) -> float | None:
    """The time that a row gives, in seconds; None where it gives none."""
    for unit, length in (("seconds", 1), ("minutes", 60)):
        if (stated := fields.get(unit)) is not None:
            number = positive_number(stated, decimal)
            if number is None:
                raise _RefusedEntry(f"{unit} {short(stated)} is not a number of {unit}", unit)
            return number * length
    return None


def _probability(fields: Mapping[str, str], decimal: str) -> float | None:
    """With which probability the answer was drawn for the rater; None where the row does not say."""
    if (stated := fields.get("probability")) is None:
        return None
    number = positive_number(stated, decimal)
    if number is None or not 0.0 < number <= 1.0:
        raise _RefusedEntry(f"probability {short(stated)} is not above 0 and at most 1", "probability")
    return number


@lru_cache(maxsize=4096)
def rating_key(item: str, system: str, rater: str, instrument: str, repeat: int) -> str:
    """The key of an imported rating: what was rated, by whom, with what. Its score is not part of it, so a
    corrected file adds a new attempt to the same key, and an unchanged one adds nothing."""
    parts = ["import", item, system, rater, instrument, repeat]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _status(outcome: Outcome) -> Status:
    if isinstance(outcome, Score):
        return "scored"
    return "not_applicable" if isinstance(outcome, NotApplicable) else "unscored"


def _of_judge(entry: Entry, source: SourcePart) -> bool:
    """A judge was asked for each cell: an empty one is a failure, where a clinician's was not rated."""
    fields = entry.fields
    return (fields.get("rater_kind") or source.kind_of(fields.get("rater", ""))) == "judge"
