"""What tells groups of cases apart (specialty, site, sex) is written into the run folder, and nothing else that is
known of a case: a run folder may travel. Of numbers and dates with many values only the place in their order is
written: the third of a number, the twenty-fourth of a date."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Collection, Mapping
from datetime import date, datetime
from pathlib import Path

from medjury.foundation.files import whole_file
from medjury.intake.cases import Case
from medjury.store.ratings import guard_frame
from medjury.store.runs import files
from medjury.tables import MOST_GROUPS, identifies, tells_groups

Answer = tuple[str, str]  # a case and a system
PartsOfCases = Mapping[str, Mapping[Answer, str]]  # by name
_THIRDS = ("lowest third", "middle third", "highest third")
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
    starts = [order[len(order) * share // len(shares)] for share in range(1, len(shares))]
    return {answer: shares[bisect_right(starts, number)] for answer, number in numbers.items()}


def write_parts(parts: PartsOfCases, folder: Path) -> list[str]:
    """Write the parts into a run folder, and name the files written: none where nothing is known. The file has a
    line for each case, or, where the answers to a case differ, for each answer."""
    file = folder / files.PARTS
    if not parts:
        file.unlink(missing_ok=True)
        return []
    answers = sorted({answer for of in parts.values() for answer in of})
    lines = [(*answer, *(of.get(answer) for of in parts.values())) for answer in answers]
    by_case = {(item, *known) for item, _, *known in lines}
    one_each = len(by_case) == len({item for item, *_ in by_case})
    import polars as pl

    key = ("item",) if one_each else ("item", "system")
    frame = pl.DataFrame(
        sorted(by_case) if one_each else lines, schema=dict.fromkeys((*key, *parts), pl.String), orient="row"
    )
    with whole_file(file) as opened:
        # The name of a case is that of its ratings, to the letter; what is said of it is people's text.
        opened.write(
            pl.concat([frame.select(key), guard_frame(frame.drop(key))], how="horizontal").write_csv()
        )
    return [files.PARTS]
