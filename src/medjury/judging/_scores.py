"""A judge whose scores exist already, in a file: nobody is asked, and how the scores were made is not known.

The file is read as clinicians' tables are (`read_ratings`). What has no score in it (an empty cell, a grade off the
scale, an answer that the file does not have) is unscored with its reason, never a number.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from medjury.foundation.clock import utc_now
from medjury.foundation.documents import nearest
from medjury.foundation.errors import MedjuryError, no_such
from medjury.instruments import TRANSIENT, Instrument, Outcome, Reason, Score, Unscored
from medjury.intake.cases import Case
from medjury.judging._rater import Expected, PlainRater, Rated, Unit, make_units
from medjury.judging._rows import outcome_columns
from medjury.models import ChatModel, Gate
from medjury.store.ratings import ImportedRatings, KnownCases, Rating, read_ratings, table_files
from medjury.store.runs import SCORES, ManifestScores, file_hash

_NOBODY = "nobody is named"  # the rater of a file in which no column names one
_NOTHING = Expected()
_ABSENT = Unscored(Reason.MISSING, "the file has no score of this answer on this dimension")
_SHOWN = 12

Answer = tuple[str, str]


@dataclass(frozen=True)
class ScoresFile:
    """Tables of scores and how they are read: once for all judges whose scores are in them, and only when somebody
    asks. The cases say which answers there are, and are read once for all files."""

    path: Path
    instrument: Instrument
    cases: Callable[[], KnownCases]
    mapping: Path | Mapping[str, Any] | None = None

    @cached_property
    def hash(self) -> str:
        """SHA-256 of the table, as `sha256sum` gives it; of several, the hash of their hashes."""
        return self._hashed()

    def _hashed(self) -> str:
        tables = table_files(self.path, self.mapping)
        if missing := [each for each in tables if not each.is_file()]:
            raise MedjuryError(no_such(missing[0]))
        hashes = [file_hash(each) for each in tables]
        return hashes[0] if len(hashes) == 1 else hashlib.sha256("\n".join(hashes).encode()).hexdigest()

    @cached_property
    def reading(self) -> str:
        """The hash of the mapping; empty where the columns have our own names."""
        if isinstance(self.mapping, Mapping):
            return hashlib.sha256(json.dumps(self.mapping, sort_keys=True, default=str).encode()).hexdigest()
        described = self.path if self.path.suffix.lower() in (".yaml", ".yml") else self.mapping
        return "" if described is None else file_hash(described)

    @cached_property
    def imported(self) -> ImportedRatings:
        """Every rating in the tables."""
        hash = self.hash
        found = read_ratings(
            self.path,
            mapping=self.mapping,
            instrument=self.instrument,
            cases=self.cases(),
            on_bad="unscored",
            on_unknown="drop",
            advice=f"Correct {self.path.name}, or say in `mapping` how it is read: `only: {{dimension: "
            f"[{self.instrument.dimensions[0].name}]}}`, for one, leaves out the rows of other dimensions.",
            one_rater=_NOBODY,
            every_cell=True,
        )
        if self._hashed() != hash:
            raise MedjuryError(f"{self.path.name}: was changed while it was read; run again")
        return found


@dataclass(frozen=True)
class ScoresJudge(PlainRater):
    """The scores of one rater in a file, on one repeat; `rater` and `repeat` say which where there are several."""

    name: str
    file: ScoresFile
    rater: str | None = None
    repeat: int | None = None
    vendor: str | None = None

    @property
    def instrument(self) -> Instrument:
        return self.file.instrument

    @property
    def models(self) -> Sequence[ChatModel]:
        return ()

    def _stated(self) -> Sequence[object]:
        """Other scores are another judge: whatever the file is called, and wherever it lies."""
        file = self.file
        return [SCORES, file.hash, file.reading, self.rater, self.repeat, self.instrument.fingerprint()]

    def describe(self) -> Mapping[str, object]:
        model: dict[str, Any] = {"name": self.name, "kind": SCORES, "file": self.file.path.name}
        model |= {"scores": self.file.hash} | ({"vendor": self.vendor} if self.vendor else {})
        stated = {"rater": self.rater, "repeat": self.repeat, "mapping": self.file.reading or None}
        chosen = {name: value for name, value in stated.items() if value is not None}
        return {"strategy": SCORES, "prompt": "none", "models": [model], **chosen}

    def units(self, case: Case, repeat: int) -> list[Unit]:
        own = [tuple(each.id for each in case.criteria)] if self.instrument.by_case else None
        return make_units(self, case, repeat, own)

    def expected(self, unit: Unit) -> Expected:
        return _NOTHING

    async def rate(self, unit: Unit, gate: Gate) -> Rated:
        """The rows of one answer. What its scores took when they were made is not known."""
        now, instrument = utc_now(), f"{self.instrument.name}@{self.instrument.version}"
        found = self.outcomes.get((unit.case.id, unit.case.system), {})
        rows = []
        for dimension in unit.dimensions:
            score, status, reason, explanation = outcome_columns(found.get(dimension, _ABSENT))
            rows.append(
                Rating(
                    unit.case.id, unit.case.system, self.name, "judge", instrument, dimension, unit.repeat, score,
                    status, reason, explanation, None, None, None, None, now, unit.key,
                )
            )  # fmt: skip
        return Rated(rows)

    @cached_property
    def outcomes(self) -> Mapping[Answer, Mapping[str, Outcome]]:
        """By answer and dimension, what the file says. Refused where nobody can tell whose scores are meant."""
        rows = self._rows()
        grades = {each.name: frozenset(map(float, each.values)) for each in self.instrument.dimensions}
        if self.instrument.by_case:
            marks = frozenset(map(float, self.instrument.dimensions[0].values))
            grades = {row.dimension: marks for row in rows if row.dimension not in grades}
        found: dict[Answer, dict[str, Outcome]] = {}
        for row in rows:
            if row.dimension not in grades:
                continue  # a composite, in a table of ratings that we wrote
            said = _lasting(row.outcome, grades[row.dimension])
            before = found.setdefault((row.item, row.system), {}).setdefault(row.dimension, said)
            if before != said:
                raise MedjuryError(
                    f"{self.file.path.name}: {row.item!r} has two different scores on {row.dimension}; keep "
                    "one of the rows"
                )
        rated = {dimension for own in found.values() for dimension in own}
        if self.instrument.by_case:
            return found
        if without := [name for name in grades if name not in rated]:
            raise MedjuryError(
                f"{self.file.path.name}: has no score of {self.name} on {', '.join(without)}; add them, or name "
                f"those that are graded: `dimensions: [{', '.join(name for name in grades if name in rated)}]`"
            )
        return found

    def _asked(self, item: str) -> tuple[str, ...]:
        """What a score of an answer to this item could be on."""
        return self.file.cases().criteria(item) if self.instrument.by_case else self.groups[0]

    def _rows(self) -> list[Rating]:
        ratings, place = self.file.imported.ratings, self.file.path.name
        raters = sorted({row.rater for row in ratings})
        if self.rater is None and len(raters) > 1:
            raise MedjuryError(
                f"{place}: holds the scores of {len(raters):,} raters; say which are this judge's, `rater: NAME`: "
                f"{_listed(raters)}"
            )
        if self.rater is not None and raters == [_NOBODY]:
            raise MedjuryError(f"{place}: no column names a rater; take `rater: {self.rater}` out")
        if self.rater is not None and self.rater not in raters:
            raise MedjuryError(
                f"{place}: has no rater {self.rater!r}; {nearest(self.rater, raters[:_SHOWN])}"
            )
        rows = [row for row in ratings if row.rater == (self.rater or raters[0])]
        repeats = sorted({row.repeat for row in rows})
        if self.repeat is None and len(repeats) > 1:
            raise MedjuryError(
                f"{place}: holds {len(repeats):,} repeats; say which is taken, `repeat: NUMBER`: "
                f"{_listed([str(each) for each in repeats])}"
            )
        if self.repeat is not None and self.repeat not in repeats:
            raise MedjuryError(
                f"{place}: has no repeat {self.repeat}; it has {_listed([str(each) for each in repeats])}"
            )
        taken = repeats[0] if self.repeat is None else self.repeat
        return [row for row in rows if row.repeat == taken]

    def read(self) -> ManifestScores:
        """What became of every score in the file, for the manifest: nothing is left out without being counted."""
        imported, answers = self.file.imported, self.file.cases().answers
        said = Counter[str]()
        for dimensions in self.outcomes.values():
            for outcome in dimensions.values():
                _, status, reason, _ = outcome_columns(outcome)
                said[status if reason is None else reason.value] += 1
        rows, asked = self._rows(), {answer: self._asked(answer[0]) for answer in answers}
        graded = {name for own in asked.values() for name in own}
        unknown = {each: count for each, count in imported.unknown.items() if each[0] == rows[0].rater}
        left_out = {
            **imported.report.left_out,
            "scores of other raters or repeats": len(imported.ratings) - len(rows),
            "scores on dimensions that the study does not grade": sum(
                row.dimension not in graded for row in rows
            ),
        }
        return ManifestScores(
            judge=self.name,
            file=self.file.path.name,
            hash=self.file.hash,
            counts=dict(said),
            absent=sum(len(asked[answer]) - len(self.outcomes.get(answer, ())) for answer in answers),
            unknown=sum(unknown.values()),
            unknown_answers=len(unknown),
            left_out={what: count for what, count in left_out.items() if count and "unknown" not in what},
            warnings=tuple(imported.report.warnings),
        )


def _lasting(outcome: Outcome, grades: frozenset[float]) -> Outcome:
    """What the file says, once more on the scale; a failure that could pass then is over now."""
    if isinstance(outcome, Score) and outcome.value not in grades:
        return Unscored(Reason.OUT_OF_RANGE, f"{outcome.value:g} is not on the scale")
    if isinstance(outcome, Unscored) and outcome.reason in TRANSIENT:
        return Unscored(
            Reason.MISSING, f"unscored in the file: {outcome.reason.value}. {outcome.message}".strip()
        )
    return outcome


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
