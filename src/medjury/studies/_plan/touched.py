"""What tuning and training have touched: cases that a prompt, its examples or weights were chosen on prove nothing.

A tuned instrument carries the marks of the cases it saw in its own file, so that no later study can validate it on
them, under whatever name and ids. Tunings whose folders lie beside the run folder, or in the study's store, are
held against the cases too: who copies a tuned prompt by hand leaves its tuning behind. A judge names its training's
folder (`trained: FOLDER`); a GGUF file that was exported into such a folder names it by lying there. What a
preference training started from is counted with it: its hours, its cost, its labels.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from medjury.foundation.errors import MedjuryError
from medjury.instruments import Instrument
from medjury.intake.cases import Case, RedactedCases, content_marks
from medjury.store.runs import TouchedBy, TuningManifest, files
from medjury.studies._file.models import JudgePart, ModelPart
from medjury.studies._study.study import Study, stored_runs

_TRAINING, _DATA, _LESSONS = "training.json", "data.json", ("train.jsonl", "development.jsonl")


def training_folder(study: Study, part: ModelPart) -> Path | None:
    """The folder of the training that a judge comes from; None where it comes from none, or is no judge."""
    if not isinstance(part, JudgePart):
        return None
    home = study.file.resolve().parent
    if part.trained is not None:
        folder = home / part.trained
        if not (folder / _TRAINING).is_file():
            raise MedjuryError(
                f"{study.file}: judge {part.name or part.kind}: {folder} has no {_TRAINING}; name the folder of a "
                "finished training in `trained`"
            )
        return folder
    weights = part.options.get("weights")
    beside = Path(weights).expanduser().parent if isinstance(weights, str) else None
    return beside if beside is not None and (beside / _TRAINING).is_file() else None


def training_folders(study: Study) -> Iterator[Path]:
    """Every training that a judge of the study comes from, and what it started from, each once."""
    seen: dict[Path, None] = {}
    for part in study.settings.judges:
        folder = training_folder(study, part)
        seen |= dict.fromkeys(() if folder is None else _chain(folder))
    yield from seen


def trained_facts(study: Study, part: ModelPart) -> dict[str, Any]:
    """What the report tells of a trained judge; empty where nobody trained it."""
    folder = training_folder(study, part)
    if folder is None:
        return {}
    chain = [(_read(each / _TRAINING), _read(each / _DATA), each) for each in _chain(folder)]
    cases = {name: set[str]() for name in ("training", "development")}
    for _, data, _ in chain:
        for name, known in cases.items():
            known |= set(data.get("sides", {}).get(name, ()))
    costs = [facts.get("cost") for facts, _, _ in chain]
    labels = {label for *_, each in chain for label in _labels(each)}
    return {
        "way": " after ".join(str(facts["method"]).upper() for facts, _, _ in chain),
        "training": len(cases["training"]),
        "validation": len(cases["development"] - cases["training"]),
        "labels": len(labels) or None,
        "calls": None,
        "cost": None if None in costs else sum(costs),
        "hours": sum(facts["hours"] * max(facts["gpus"], 1) for facts, _, _ in chain),
        "device": chain[0][0]["device"],
    }


def marks_of(folder: Path) -> list[str]:
    """The marks of the cases that a training saw."""
    return list(_read(folder / files.TOUCHED).get("marks", ()))


def _chain(folder: Path) -> Iterator[Path]:
    """The training, then the one whose merged weights it started from, and so on."""
    while (folder / _TRAINING).is_file():
        yield folder
        folder = Path(str(_read(folder / _TRAINING).get("base", ""))).parent


def _labels(folder: Path) -> Iterator[tuple[str, str, str]]:
    """Whose grades of which answer were learned from; completions that are shown again count once."""
    for name in _LESSONS:
        lines = (folder / name).read_text(encoding="utf-8").splitlines() if (folder / name).is_file() else []
        for row in map(json.loads, lines):
            if row.get("rater"):
                yield row["item"], row["system"], row["rater"]


def _read(file: Path) -> dict[str, Any]:
    return dict(json.loads(file.read_text(encoding="utf-8"))) if file.is_file() else {}


# Under this name in the `parameters` of an instrument lies what its tuning says of itself.
TUNED = "tuning"


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
        self._tunings = _tunings(study, rehearse)  # by what a reader knows it, the marks of the cases it saw
        redacted = study.cases if isinstance(study.cases, RedactedCases) else None
        self._raw = redacted.with_raw() if redacted is not None and self._tunings else None
        self._found: dict[str, set[str]] = {what: set() for what in self._tunings}

    def add(self, case: Case) -> bool:
        """Whether tuning has touched the case, redacted or as it is in the file."""
        if not self._tunings:
            return False
        marks = content_marks(case)
        if self._raw is not None:
            marks |= content_marks(next(self._raw)[0])
        hit = False
        for what, seen in self._tunings.items():
            if not marks.isdisjoint(seen):
                self._found[what].add(case.id)
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


def _tunings(study: Study, rehearse: bool) -> dict[str, set[str]]:
    """Every tuning that is known here, with the marks of its cases: of the instruments in use, in folders beside
    the run, in the store. A rehearsal does not open the store, which might have to be made for it."""
    found: dict[str, set[str]] = {}
    for what, marks in (*_known(study), *(() if rehearse else _in_store(study.store))):
        found.setdefault(what, set()).update(marks)
    return found


def _known(study: Study) -> Iterator[tuple[str, Iterable[str]]]:
    for instrument in {
        each.fingerprint(): each
        for each in (study.instrument, *(judge.instrument for judge in study.jury.judges))
    }.values():
        if marks := touched_marks(instrument):
            yield f"the tuning of the instrument {instrument.name} {instrument.version}", marks
    folder = study.file.resolve().parent
    for place in dict.fromkeys((study.output.resolve().parent, folder)):
        for where, manifest in TuningManifest.all_in(place) if place.is_dir() else ():
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
    for _, each in stored_runs(address):
        if marks := each.manifest.get("touched_marks"):
            study, folder = (str(each.manifest.get(name, "")) for name in ("study", "folder"))
            yield _tuning_name(study, folder), marks
