"""What is known of cases and raters besides scores, in small files of the run folder: groups, patients, labels."""

from __future__ import annotations

import csv
import io
import json
import math
from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from medjury.foundation.errors import MedjuryError
from medjury.foundation.files import write_whole
from medjury.intake.cases import Case, CaseCriteria, criterion_row
from medjury.store.ratings import PROFILE, guard_frame
from medjury.store.runs import files
from medjury.studies._file.study_file import HumansPart
from medjury.studies._study.study import Study
from medjury.tables import MOST_GROUPS, identifies, tells_groups

if TYPE_CHECKING:
    import polars

    from medjury.store.ratings import ImportedRatings


Answer = tuple[str, str]  # a case and a system
PartsOfCases = Mapping[str, Mapping[Answer, str]]  # by name
_THIRDS = ("lowest values", "middle values", "highest values")
_DATE, _DATES = "date", 24  # the column that orders cases in time, and into how many shares


class CaseParts:
    """Gathers, as cases pass, what their metadata say: under the names that are `asked` for whatever it is, under
    others as long as it has few values. What is `set_aside` (a label of the outcome) is never gathered."""

    def __init__(self, asked: Collection[str], set_aside: Collection[str] = ()) -> None:
        self._asked = frozenset(asked)
        self._closed = (set(set_aside) - self._asked) | {"item", "system"}  # the key of the file
        self._values: dict[str, dict[str, str]] = {}
        self._of: dict[str, dict[Answer, str]] = {}
        self._ordered: dict[str, dict[Answer, float]] = {}  # numbers, and dates as numbers
        self._many: set[str] = set()  # names of these with more values than make groups
        self._clusters: set[str] = set()

    def add(self, case: Case) -> None:
        # A prefix keeps a patient called 7 apart from a case called 7.
        self._clusters.add(f"patient {case.patient}" if case.patient else f"case {case.id}")
        for name, stated in case.metadata.items():
            value = str(stated).strip()
            if name in self._closed or not value:
                continue
            answer, number = (case.id, case.system), _number(name, value)
            if number is not None:
                self._ordered.setdefault(name, {})[answer] = number
            elif name in self._many:  # a text among very many numbers: nobody knows its place
                self._closed.add(name)
            if name in self._many:
                continue
            values = self._values.setdefault(name, {})
            kept = values.setdefault(value, value)  # one object for all cases that have it
            if len(values) > MOST_GROUPS and name not in self._asked:
                (self._closed if number is None else self._many).add(name)
                self._of.pop(name, None)
                continue
            self._of.setdefault(name, {})[answer] = kept

    @property
    def found(self) -> PartsOfCases:
        """By name, what each answer's case says, of those names that make groups."""
        clusters = len(self._clusters)
        found = {
            name: of
            for name, of in self._of.items()
            if name in self._asked or tells_groups(name, self._values[name], clusters)
        }
        for name, numbers in self._ordered.items():
            if name not in found and name not in self._closed and (name == _DATE or name in self._many):
                found[name] = _places(numbers, name)
        return dict(sorted(found.items()))


def _number(name: str, value: str) -> float | None:
    """A number, or the day of the column `date`; None for anything else, and for numbers that only name a case."""
    try:
        if name == _DATE:
            return float(date.toordinal(datetime.fromisoformat(value)))
        if identifies(name):
            return None
        return found if math.isfinite(found := float(value)) else None
    except ValueError:
        return None


def _places(numbers: Mapping[Answer, float], name: str) -> dict[Answer, str]:
    """Each answer's share in the order; equal numbers are in the same one."""
    shares = [f"{share:02}" for share in range(1, _DATES + 1)] if name == _DATE else _THIRDS
    order = sorted(numbers.values())
    above = next((number for number in order if number > order[0]), order[0])  # the lowest are in the first
    starts = [max(above, order[len(order) * share // len(shares)]) for share in range(1, len(shares))]
    return {answer: shares[bisect_right(starts, number)] for answer, number in numbers.items()}


def write_facts(
    folder: Path,
    patients: Mapping[str, int],
    parts: PartsOfCases,
    criteria: CaseCriteria,
    profiles: Mapping[str, Mapping[str, str]],
    labels: Mapping[str, Mapping[str, int]],
) -> list[str]:
    """Write into a run folder what is known of its cases and raters, and name the files written: none of what
    nobody knows."""
    texts = {
        files.PATIENTS: _patients(patients),
        files.PARTS: _parts(parts),
        files.CRITERIA: _criteria(criteria),
        files.RATERS: _raters(profiles),
        files.LABELS: _labels(labels),
    }
    for name, text in texts.items():
        if text:
            write_whole(folder / name, text)
        else:
            (folder / name).unlink(missing_ok=True)
    return [name for name, text in texts.items() if text]


def _parts(parts: PartsOfCases) -> str:
    """A line for each case, or, where the answers to a case differ, for each answer."""
    if not parts:
        return ""
    answers = sorted({answer for of in parts.values() for answer in of})
    lines = [(*answer, *(of.get(answer) for of in parts.values())) for answer in answers]
    by_case = {(item, *known) for item, _, *known in lines}
    one_each = len(by_case) == len({item for item, *_ in by_case})
    import polars as pl

    key = ("item",) if one_each else ("item", "system")
    frame = pl.DataFrame(
        sorted(by_case) if one_each else lines, schema=dict.fromkeys((*key, *parts), pl.String), orient="row"
    )
    # The name of a case is that of its ratings, to the letter; what describes it is people's text.
    return pl.concat([frame.select(key), guard_frame(frame.drop(key))], how="horizontal").write_csv()


class CaseVendors:
    """Collects the vendor of every system; one for which the cases name two has none that is known."""

    def __init__(self) -> None:
        self._named: dict[str, set[str]] = {}

    def add(self, case: Case) -> None:
        if case.vendor:
            self._named.setdefault(case.system, set()).add(case.vendor)

    def known(self) -> dict[str, str]:
        return {system: next(iter(names)) for system, names in self._named.items() if len(names) == 1}


def _patients(groups: Mapping[str, int]) -> str:
    """The groups of the cases that go with another; nothing where no patient has two cases."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerows([("item", "patient"), *sorted(groups.items())] if groups else ())
    return text.getvalue()


def _criteria(found: CaseCriteria) -> str:
    if not found.of:
        return ""
    of = {item: [criterion_row(each) for each in own] for item, own in found.of.items()}
    characters = [[*answer, size] for answer, size in found.lengths.items()]
    return json.dumps({"criteria": of, "characters": characters, "tags": found.tags})


def case_labels(study: Study, part: HumansPart, imported: ImportedRatings) -> dict[str, dict[str, int]]:
    """By case, its labels: from the clinicians' file, or, where it has no such column, from the cases."""
    found = {item: dict(own) for item, own in imported.labels.items()}
    elsewhere = {
        label: column for label, column in part.labels.items() if label not in imported.label_columns
    }
    if not part.labels:
        return {}
    seen: set[str] = set()
    known: set[str] = set()
    for case in study.cases:
        known.add(case.id)
        for label, column in elsewhere.items():
            value = case.metadata.get(column)
            if value is None or value == "":
                continue
            seen.add(label)
            if value not in (0, 1, "0", "1"):
                raise _wrong(
                    study, label, f"is 0 or 1 for each case, but {case.id!r} has {str(value)[:40]!r}"
                )
            if found.setdefault(case.id, {}).setdefault(label, int(value)) != int(value):
                raise _wrong(
                    study, label, f"differs between the answers to {case.id!r}; a case has one value"
                )
    for label, column in elsewhere.items():
        if label not in seen:
            raise _wrong(
                study,
                label,
                f"neither the clinicians' file nor the cases have a column {column!r}; correct its name",
            )
    return {item: own for item, own in sorted(found.items()) if item in known}


def _raters(profiles: Mapping[str, Mapping[str, str]]) -> str:
    """Who the raters are, under their pseudonyms. What describes them is people's text."""
    frame = _table("rater", PROFILE, profiles)
    return "" if frame is None else guard_frame(frame).write_csv()


def _labels(labels: Mapping[str, Mapping[str, int]]) -> str:
    """The labels of the cases, whose names are those of their ratings, to the letter."""
    frame = _table("item", sorted({name for own in labels.values() for name in own}), labels)
    return "" if frame is None else frame.write_csv()


def _table(
    key: str, names: Sequence[str], rows: Mapping[str, Mapping[str, str]] | Mapping[str, Mapping[str, int]]
) -> polars.DataFrame | None:
    """A line for each row, with the columns of which something is known; None where nothing is."""
    used = [name for name in names if any(name in each for each in rows.values())]
    if not used:
        return None
    import polars

    lines = [(name, *(str(own.get(each, "")) for each in used)) for name, own in sorted(rows.items())]
    return polars.DataFrame(lines, schema=dict.fromkeys((key, *used), polars.String), orient="row")


def _wrong(study: Study, label: str, problem: str) -> MedjuryError:
    return MedjuryError(study.document.complaint(("humans", "labels", label), problem))
