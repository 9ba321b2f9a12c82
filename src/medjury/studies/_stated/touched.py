"""What tuning has touched: cases that a prompt, or its examples, were chosen on prove nothing about it.

A tuned instrument carries the marks of the cases it saw in its own file, so that no later study can validate it on
them, under whatever name and ids. Tunings whose folders lie beside the run folder, or in the study's store, are
held against the cases too: who copies a tuned prompt by hand leaves its tuning behind.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from medjury.instruments import Instrument
from medjury.intake.cases import Case, RedactedCases, content_marks
from medjury.store.ratings import is_empty_file, open_store
from medjury.store.runs import TouchedBy, files, tunings_in
from medjury.studies._stated.trained import marks_of, training_folders
from medjury.studies._study import Study

# Under this name in the `parameters` of an instrument lies what its tuning says of itself.
TUNED = "tuning"


@dataclass(frozen=True, slots=True)
class Touching:
    """A tuning, as a reader knows it, and the marks of the cases that it saw."""

    what: str
    marks: frozenset[str]


def tuned_facts(instrument: Instrument) -> Mapping[str, Any]:
    """What an instrument's file says of its tuning; empty where nobody tuned it."""
    found = instrument.parameters.get(TUNED)
    return found if isinstance(found, Mapping) else {}


def touched_marks(instrument: Instrument) -> frozenset[str]:
    """The marks of the cases that an instrument was tuned on."""
    return frozenset(str(tuned_facts(instrument).get("touched", "")).split())


class TouchedCases:
    """Gathers, as the cases of a study pass, those that tuning has touched."""

    def __init__(self, study: Study, *, rehearse: bool = False) -> None:
        self._tunings = tuple(_tunings(study, rehearse))
        redacted = study.cases if isinstance(study.cases, RedactedCases) else None
        self._raw = redacted.with_raw() if redacted is not None and self._tunings else None
        self._found: dict[str, set[str]] = {each.what: set() for each in self._tunings}

    def add(self, case: Case) -> bool:
        """Whether tuning has touched the case, redacted or as it is in the file."""
        if not self._tunings:
            return False
        marks = content_marks(case)
        if self._raw is not None:
            marks |= content_marks(next(self._raw)[0])
        hit = False
        for each in self._tunings:
            if not marks.isdisjoint(each.marks):
                self._found[each.what].add(case.id)
                hit = True
        return hit

    @property
    def cases(self) -> tuple[str, ...]:
        return tuple(sorted(set().union(*self._found.values()))) if self._found else ()

    @property
    def by(self) -> tuple[TouchedBy, ...]:
        return tuple(TouchedBy(what=what, cases=len(found)) for what, found in self._found.items() if found)

    def notes(self) -> tuple[str, ...]:
        return tuple(
            f"{each.what} has seen {each.cases:,} of these cases: they count as development cases, and "
            "are left out of the validation"
            for each in self.by
        )


def _tunings(study: Study, rehearse: bool) -> Iterator[Touching]:
    """Every tuning that is known here: of the instruments in use, in folders beside the run, in the store. A
    rehearsal does not open the store, which might have to be made for it."""
    found: dict[str, Counter[str]] = {}
    for what, marks in (*_known(study), *(() if rehearse else _in_store(study.store))):
        found.setdefault(what, Counter()).update(marks)
    for what, marks in found.items():
        yield Touching(what, frozenset(marks))


def _known(study: Study) -> Iterator[tuple[str, Iterable[str]]]:
    for instrument in {
        each.fingerprint(): each
        for each in (study.instrument, *(judge.instrument for judge in study.jury.judges))
    }.values():
        if marks := touched_marks(instrument):
            yield f"the tuning of the instrument {instrument.name} {instrument.version}", marks
    folder = study.file.resolve().parent
    for place in dict.fromkeys((study.output.resolve().parent, folder)):
        for where, manifest in tunings_in(place) if place.is_dir() else ():
            yield _tuning_name(manifest.study, where.name), manifest.touched
        for file in sorted(place.glob(f"*/{files.TOUCHED}")):
            yield _training_name(file.parent), marks_of(file.parent)
    for trained in training_folders(study):
        yield _training_name(trained), marks_of(trained)


def _training_name(folder: Path) -> str:
    return f"the training of a judge ({folder.name})"


def _tuning_name(study: str, folder: str) -> str:
    return f"the tuning of {study} ({folder})"


def _in_store(address: str) -> Iterator[tuple[str, Iterable[str]]]:
    place = address.removeprefix("sqlite:///")
    if "://" not in place and (not Path(place).is_file() or is_empty_file(address)):
        return  # not made yet, or about to be refused by the run itself
    with open_store(address, create=False) as store:
        for each in store.runs():
            if marks := each.manifest.get("touched_marks"):
                yield (
                    _tuning_name(str(each.manifest.get("study", "")), str(each.manifest.get("folder", ""))),
                    marks,
                )
