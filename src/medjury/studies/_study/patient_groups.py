"""Which cases go together: those of one patient, and those with one text."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable

from medjury.foundation.errors import MedjuryError
from medjury.intake.cases import Case

# A source of so many signs is the same case under two ids, whatever was answered; a shorter one may be a heading.
_LONG_SOURCE = 200


class PatientGroups:
    """Gathers the patients and the texts of cases as they pass."""

    def __init__(self) -> None:
        self._patient: dict[str, str] = {}
        self._keys: dict[str, dict[str, None]] = {}  # patients and texts to the cases that have them

    def add(self, case: Case) -> None:
        if case.patient and self._patient.setdefault(case.id, case.patient) != case.patient:
            raise MedjuryError(
                f"case {case.id!r} is of two patients; the answers of all systems to a case are about one patient"
            )
        for key in (f"patient {case.patient}" if case.patient else "", *_texts(case)):
            if key:
                self._keys.setdefault(key, {})[case.id] = None

    @property
    def repeated(self) -> int:
        """How many cases have the text of another case: so many fewer count."""
        sizes = Counter(self._groups(lambda key: not key.startswith("patient ")).values())
        return sum(sizes.values()) - len(sizes)

    def shared(self) -> dict[str, int]:
        """Case to number, of the cases that go with another; the others need no group."""
        return self._groups(lambda _: True)

    def _groups(self, wanted: Callable[[str], bool]) -> dict[str, int]:
        every = {item for items in self._keys.values() for item in items}
        leader: dict[str, str] = {}

        def lead(item: str) -> str:
            while leader.get(item, item) != item:
                item = leader[item]
            return item

        for key, items in self._keys.items():
            # A source that most cases have (one guideline for all) tells nobody apart.
            common = key.startswith("source ") and 2 * len(items) > len(every)
            if wanted(key) and len(items) > 1 and not common:
                first, *others = items
                for other in others:
                    leader[lead(other)] = lead(first)
        groups = {item: lead(item) for item in sorted(every)}
        sizes = Counter(groups.values())
        numbers: dict[str, int] = {}
        return {
            item: numbers.setdefault(own, len(numbers) + 1) for item, own in groups.items() if sizes[own] > 1
        }


def _texts(case: Case) -> tuple[str, str]:
    """What an answer with its source is known by, and what a long source is known by alone, whatever the white
    space."""
    source = " \0 ".join(
        [*(f"{name} {case.texts[name]}" for name in sorted(case.texts)), *(note.text for note in case.notes)]
    )
    source = " ".join(source.split())
    answer = " ".join(f"{case.candidate or ''} \0 {case.reference or ''}".split())
    long = f"source {_hash(source)}" if len(source) >= _LONG_SOURCE else ""
    return f"text {_hash(f'{source} {answer}')}" if case.candidate else "", long


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
