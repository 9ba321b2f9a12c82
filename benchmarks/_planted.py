"""Planted studies: cases of known quality, clinicians who err by a known amount, and juries whose defect is known
because it was planted. Each is a real study: a file of cases with texts and metadata, the clinicians' ratings, a
file of scores for every judge, registered, run and judged by the gate. Juries on the same cases and beside the same
clinicians are judges of one study, so that a good jury is tried beside the bad ones."""

from __future__ import annotations

import csv
import json
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from medjury.studies import load_study, register_study, run_study
from medjury.tables import open_run
from medjury.validation import Verdict, validate

Floats = np.ndarray[Any, np.dtype[np.float64]]
Codes = np.ndarray[Any, np.dtype[np.int64]]
Texts = np.ndarray[Any, np.dtype[np.str_]]
RESAMPLES = 400
SPECIALTIES = ("medicine", "cardiology", "oncology", "paediatrics", "surgery")


@dataclass(frozen=True)
class Scale:
    """Grades, and the qualities from which on each but the first is given."""

    grades: tuple[float, ...] = (1.0, 2.0, 3.0, 4.0, 5.0)
    cuts: tuple[float, ...] = (1.5, 2.5, 3.5, 4.5)

    def __call__(self, quality: Floats) -> Floats:
        return np.asarray(self.grades)[np.searchsorted(self.cuts, quality, side="right")]


FIVE = Scale()


@dataclass(frozen=True, eq=False)
class World:
    """One row for each answer: `truth` is its quality (1 to 5, not rounded), `humans` has a column of grades for
    each clinician, NaN where he or she did not rate. `columns` are what is known of its case."""

    case: Codes
    system: Codes
    truth: Floats
    humans: Floats
    columns: dict[str, Texts]
    patient: Codes | None
    texts: Codes  # answers with the same number have the same text
    scale: Scale

    @property
    def size(self) -> int:
        return len(self.truth)

    @property
    def order(self) -> Floats:
        """The place of each case in time, from 0 to 1."""
        return self.case / self.case.max()

    @property
    def mean(self) -> Floats:
        return np.asarray(np.nanmean(self.humans, axis=1))

    @property
    def lowest(self) -> Floats:
        return np.asarray(np.nanmin(self.humans, axis=1))

    @property
    def alone(self) -> Any:
        """Answers with one rating."""
        return (~np.isnan(self.humans)).sum(axis=1) == 1

    def rater(self, draw: np.random.Generator, noise: float = 0.4, offset: float = 0.0) -> Floats:
        """One more rater, who errs independently of all others."""
        return self.scale(self.truth + offset + draw.normal(0, noise, self.size))

    def chance(self, draw: np.random.Generator) -> Floats:
        """Grades that have nothing to do with the answers, in the shares that clinicians use."""
        return draw.permutation(self.scale(self.truth))


def world(
    seed: int,
    *,
    cases: int = 320,
    systems: Sequence[float] = (-0.15, 0.15),
    quality: str = "ward",
    danger: float = 0.25,
    spread: float = 0.5,
    noise: float | Sequence[float] = 0.4,
    strictness: Sequence[float] = (),
    lapses: float = 0.0,
    clinicians: int = 2,
    each: int = 2,
    doubly: int | None = None,
    patient_of: int = 1,
    texts: int | None = None,
    scale: Scale = FIVE,
    specialties: Sequence[str] = SPECIALTIES,
    shares: Sequence[float] = (0.27, 0.23, 0.2, 0.15, 0.15),
    described: bool = True,
) -> World:
    """A study: `cases` answered by systems of these effects. On a `ward` a share of the answers is dangerous and
    the rest mostly good; `even` quality is the same for every grade, `hard` differs by case more than by answer,
    `narrow` has this `spread`. Each case is rated by `each` of the `clinicians`, and beyond the first `doubly` by
    one of them. `texts` is how many different cases there are under all the ids.
    Without `described` nothing more is known of the cases."""
    draw = np.random.default_rng([seed, 20])
    number = len(systems)
    case, system = np.repeat(np.arange(cases), number), np.tile(np.arange(number), cases)
    size = cases * number
    effect = np.asarray(systems, dtype=float)[system]
    patient = case // patient_of
    if quality == "ward":
        bad = draw.random(size) < danger
        truth = np.where(bad, draw.normal(1.6, 0.5, size), draw.normal(4.0, 0.7, size))
        truth = truth + 0.4 * draw.normal(size=cases)[patient] + effect
    elif quality == "hard":
        truth = 3.2 + 1.1 * draw.normal(size=cases)[case] + draw.normal(0, 0.45, size) + effect
    elif quality == "narrow":
        truth = 3.0 + draw.normal(0, spread, size) + effect
    else:
        truth = draw.uniform(0.8, 5.2, size) + effect
    same = np.arange(size) if texts is None else (case % texts) * number + system
    truth = truth[same]
    noises = np.broadcast_to(np.asarray(noise, dtype=float), clinicians)
    strict = np.asarray(strictness, dtype=float) if len(strictness) else np.zeros(clinicians)
    seats = np.argsort(draw.random((cases, clinicians)), axis=1)[:, :each]
    humans = np.full((size, clinicians), np.nan)
    for place in range(clinicians):
        rated = (seats == place).any(axis=1)
        if doubly is not None:
            rated &= (np.arange(cases) < doubly) | (seats[:, 0] == place)
        seen = scale(truth + strict[place] + draw.normal(0, noises[place], size)[same])
        lapse = draw.random(size) < lapses
        seen[lapse] = draw.choice(scale.grades, int(lapse.sum()))
        humans[:, place] = np.where(rated[case], seen, np.nan)
    columns = (
        {}
        if not described
        else {
            "specialty": draw.choice(list(specialties), cases, p=list(shares))[case],
            "sex": draw.choice(["f", "m"], cases)[case],
            "age_group": draw.choice(["18-39", "40-64", "65 and older"], cases, p=[0.3, 0.35, 0.35])[case],
            "site": draw.choice(["north", "south", "east", "west"], cases)[case],
            "length": np.asarray([f"{each:.0f}" for each in draw.lognormal(6.5, 0.6, cases)])[case],
            "date": np.asarray([f"2026-{1 + day // 28:02d}-{1 + day % 28:02d}" for day in range(336)])[
                (np.arange(cases) * 336) // cases
            ][case],
        }
    )
    return World(case, system, truth, humans, columns, patient if patient_of > 1 else None, same, scale)


Jury = Callable[[World, np.random.Generator], "Floats | list[Floats]"]


@dataclass(frozen=True, eq=False)
class Setting:
    """Cases and clinicians that several juries are tried on, what the study file adds, and in which order it is
    registered and run."""

    name: str
    make: Callable[[int], World]
    study: Mapping[str, Any] = field(default_factory=dict)
    blinded: bool | None = True
    instrument: Mapping[str, Any] | None = None
    dimension: str = "accuracy"
    excused: bool = False  # what has no score is called not applicable
    run: Callable[[Path, World], Path] | None = None


@dataclass(frozen=True, eq=False)
class Kind:
    """A planted jury. A good one must be VALIDATED, a bad one not; where only `parts` are bad it may be, as long as
    these are outside the verdict's scope. `argued` says why a suspect one is not bad: nobody would notice."""

    name: str
    setting: Setting
    jury: Jury
    good: bool = False
    parts: tuple[str, ...] = ()
    argued: str = ""

    @property
    def sort(self) -> str:
        return "good" if self.good else "argued" if self.argued else "bad"


def tried(kinds: Sequence[Kind], seed: int, folder: Path) -> dict[str, Verdict]:
    """The gate's verdict on each of these juries of one setting."""
    setting = kinds[0].setting
    made = setting.make(seed)
    names: dict[str, str] = {}
    judges: dict[str, Floats] = {}
    juries: list[dict[str, Any]] = []
    for place, kind in enumerate(kinds):
        said = kind.jury(made, np.random.default_rng([seed, zlib.crc32(kind.name.encode())]))
        names[kind.name] = f"jury-{place}"
        if isinstance(said, list):
            members = [f"juror-{place}-{number}" for number in range(len(said))]
            judges |= dict(zip(members, said, strict=True))
            juries.append({"name": names[kind.name], "members": members})
        else:
            judges[names[kind.name]] = said
    file = _write(folder, made, setting, judges, juries)
    run = (setting.run or registered)(file, made)
    table = open_run(run)
    return {
        kind.name: validate(
            table, raters=[names[kind.name]], dimensions=[setting.dimension], resamples=RESAMPLES
        ).verdicts[0]
        for kind in kinds
    }


def registered(file: Path, _: World) -> Path:
    """Registered, then run: as it should be."""
    study = load_study(file)
    register_study(study)
    run_study(study)
    return study.output


def ran(file: Path) -> Path:
    study = load_study(file)
    run_study(study)
    return study.output


def changed(file: Path, **settings: Any) -> None:
    """Other settings in the study file."""
    study = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps({**study, **settings}), encoding="utf-8")


def ids(made: World) -> list[str]:
    return [f"case-{number:04d}" for number in made.case.tolist()]


def case_rows(made: World) -> list[dict[str, Any]]:
    items = ids(made)
    rows = []
    for place, (item, text) in enumerate(zip(items, made.texts.tolist(), strict=True)):
        number = text // int(made.system.max() + 1)
        row: dict[str, Any] = {
            "id": item,
            "system": f"system-{made.system[place]}",
            "candidate": f"Summary {text} of the visit.",
            "texts": {"context": f"Conversation {number} with the patient."},
            "metadata": {name: str(values[place]) for name, values in made.columns.items()},
        }
        if made.patient is not None:
            row["patient"] = f"patient-{made.patient[place]}"
        rows.append(row)
    return rows


def _write(
    folder: Path,
    made: World,
    setting: Setting,
    judges: Mapping[str, Floats],
    juries: Sequence[Mapping[str, Any]],
) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    items, systems = ids(made), [f"system-{number}" for number in made.system.tolist()]
    rows = case_rows(made)
    (folder / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    def write(name: str, scores: Mapping[str, Floats], blank: bool) -> None:
        excused = blank and setting.excused
        with (folder / name).open("w", newline="", encoding="utf-8") as opened:
            writer = csv.writer(opened)
            writer.writerow(("item", "system", "rater", "dimension", "score", *("status",) * excused))
            for rater, column in scores.items():
                for item, system, score in zip(items, systems, column.tolist(), strict=True):
                    if blank or score == score:
                        said = f"{score:g}" if score == score else ""
                        status = ("scored" if said else "not_applicable",) * excused
                        writer.writerow((item, system, rater, setting.dimension, said, *status))

    write("humans.csv", {f"Dr {n + 1}": column for n, column in enumerate(made.humans.T)}, blank=False)
    for name, scores in judges.items():
        write(f"{name}.csv", {name: scores}, blank=True)
    humans: dict[str, Any] = {"path": "humans.csv"}
    if setting.blinded is not None:
        humans["blinded"] = setting.blinded
    study: dict[str, Any] = {
        "study": "planted",
        "cases": "cases.jsonl",
        "instrument": "note_quality",
        "dimensions": [setting.dimension],
        "judges": [{"kind": "scores", "name": name, "path": f"{name}.csv"} for name in judges],
        "humans": humans,
        "max_unscored": 1,
        "gate": {},
        **setting.study,
    }
    if setting.instrument is not None:
        write_instrument(folder, setting.instrument)
        study["instrument"] = "instrument.yaml"
    if juries:
        study["juries"] = list(juries)
    file = folder / "study.yaml"
    file.write_text(json.dumps(study), encoding="utf-8")
    return file


def write_instrument(folder: Path, stated: Mapping[str, Any]) -> None:
    """Its grades are whole numbers, which JSON has no keys for."""
    (folder / "instrument.yaml").write_text(yaml.safe_dump(stated), encoding="utf-8")


def instrument(grades: Sequence[float], *, turned: bool = False, optional: bool = False) -> dict[str, Any]:
    """An instrument with one dimension of these grades."""
    return {
        "name": "planted",
        "version": "1.0",
        "title": "Planted",
        "licence": "Apache-2.0",
        "instructions": "Grade the text.",
        "inputs": [
            {"name": "context", "label": "Source"},
            {"name": "candidate", "label": "Text to grade"},
        ],
        "dimensions": [
            {
                "name": "accuracy",
                "label": "Accuracy",
                "safety": True,
                "definition": "Is it true?",
                **({"higher_is_better": False} if turned else {}),
                **({"may_be_not_applicable": True} if optional else {}),
                "grades": {int(each): f"Grade {each:g}." for each in grades},
            }
        ],
    }
