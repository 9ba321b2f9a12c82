"""Calibrations on disk: versioned JSON that says where each came from, and refuses to be used on anything else."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from medjury.analysis.calibration._cross_fit import FINAL, apply_folds, calibrator_kind
from medjury.analysis.calibration._maps import Calibrator, Cases, on_scale
from medjury.analysis.calibration._study_result import CalibrationStudy, RaterCalibration, Refusal
from medjury.analysis.calibration._written import as_json, load_document, save_document
from medjury.foundation.errors import MedjuryError
from medjury.statistics import Floats, Result, flat
from medjury.tables import JuryName, JuryRule

FORMAT = "medjury calibration"


@dataclass(frozen=True, slots=True, eq=False)
class SavedCalibration:
    """A fitted calibration with its provenance. `folds` holds the maps fitted without each fold, and
    `fold_of` the fold of every case that taught (by a hash of its name), so that a case is never calibrated
    by its own label. A jury has several `members`, and the `rule` by which it was formed of them."""

    rater: str
    members: tuple[str, ...]
    dimension: str
    instrument: str
    reference: tuple[str, ...]
    grades: tuple[float, ...]
    final: Calibrator
    folds: tuple[Calibrator, ...]
    fold_of: Mapping[str, int]
    n_labels: int
    n_cases: int
    seed: int
    data_sha256: str
    medjury: str
    created_at: str
    rule: JuryRule

    def check(self, **given: str) -> None:
        """Refuse another rater, another dimension or another version of the instrument, and say which."""
        for what, name in given.items():
            own = getattr(self, what)
            if own != name:
                raise MedjuryError(
                    f"this calibration is for {what} {own or '(not stated)'!r}, not for "
                    f"{name or '(not stated)'!r}. Fit one for it: medjury calibrate fit."
                )

    def apply(self, scores: ArrayLike, *, cases: Cases) -> AppliedCalibration:
        """Calibrate scores; cases that taught this calibration get the map that was fitted without them."""
        given = on_scale(scores, self.final.scale, f"{self.rater}'s")
        fold = self.fold_numbers(cases)
        calibrated, far = apply_folds(given, fold, list(self.folds), self.final)
        scored = ~np.isnan(given)
        own = int((scored & (fold != FINAL)).sum())
        new, unscored = int(scored.sum()) - own, int((~scored).sum())
        return AppliedCalibration(self.rater, self.dimension, calibrated, own, new, unscored, far)

    def fold_numbers(self, cases: Cases) -> NDArray[np.int64]:
        """The fold in which each case taught; −1 for a case that did not."""
        names = [str(case) for case in cases]
        known = {name: self.fold_of.get(case_hash(name), FINAL) for name in set(names)}
        return np.array([known[name] for name in names], dtype=np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class AppliedCalibration:
    """Calibrated scores of a rater on a dimension; how many came from an out-of-fold map, how many from the final
    one, how many items had no score, and how many scores lay beyond the fitted range."""

    rater: str
    dimension: str
    scores: Floats
    n_out_of_fold: int
    n_new: int
    n_unscored: int
    n_outside: int

    def as_dict(self) -> dict[str, Any]:
        return flat(self, "rater", "dimension", "n_out_of_fold", "n_new", "n_unscored", "n_outside")


def case_hash(name: str) -> str:
    """A case's name as the file keeps it. It keeps names out of sight; it does not make them secret."""
    return hashlib.sha256(f"medjury case\0{name}".encode()).hexdigest()[:16]


@dataclass(frozen=True, eq=False)
class CalibrationFile(Result[RaterCalibration]):
    """A calibration file that was written."""

    path: str
    rows: tuple[RaterCalibration, ...]
    refused: tuple[Refusal, ...]
    warnings: tuple[str, ...]

    def to_json(self) -> str:
        return as_json(
            {
                "file": self.path,
                "calibrations": self.to_dicts(),
                "refused": [each.as_dict() for each in self.refused],
                "warnings": list(self.warnings),
            }
        )

    def text(self) -> str:
        wrote = f"\nWrote {len(self.rows)} calibrations to {self.path}."
        hint = "See what they change: medjury calibrate report"
        return "\n".join([*(f"! {each}" for each in self.refused), super().text(), wrote, hint])


def save_calibrations(study: CalibrationStudy, path: str | Path) -> CalibrationFile:
    """Write every calibration of a study to one JSON file."""
    cases: dict[str, dict[str, int]] = {}
    entries = []
    for each in study.calibrations:
        fold_of = {case_hash(name): fold for name, fold in sorted(each.fitted.fold_of.items())}
        digest = hashlib.sha256(json.dumps(fold_of, sort_keys=True).encode()).hexdigest()[:12]
        cases[digest] = fold_of
        entries.append(_entry(each, study, digest))
    save_document(path, FORMAT, {"calibrations": entries, "case_folds": cases})
    return CalibrationFile(str(path), study.calibrations, study.refused, study.warnings)


def load_calibrations(path: str | Path) -> tuple[SavedCalibration, ...]:
    """Read a calibration file; one that is damaged, or of another format version, is refused."""

    def read(content: Mapping[str, Any]) -> tuple[SavedCalibration, ...]:
        return tuple(_calibration(entry, content) for entry in content["calibrations"])

    return load_document(path, FORMAT, read, "medjury calibrate fit")


def _entry(each: RaterCalibration, study: CalibrationStudy, digest: str) -> dict[str, Any]:
    pairs, grid = each.pairs, each.part.grid
    known = pairs.known
    columns = (grid.items, grid.systems, pairs.scores, pairs.labels)
    data = json.dumps(sorted(zip(*(column[known].tolist() for column in columns), strict=True)))
    rule = {"rule": study.jury_rule.rule, "quorum": study.jury_rule.quorum}
    return {
        "judge": each.rater,
        "members": list(each.members),
        **({"jury": rule} if len(each.members) > 1 else {}),
        "dimension": each.dimension,
        "instrument": each.part.instrument,
        "reference": list(study.reference),
        "grades": list(each.grades),
        "method": each.fitted.method,
        "seed": each.fitted.seed,
        "folds": len(each.fitted.calibrators),
        "n_labels": pairs.n,
        "n_cases": pairs.n_cases,
        "data_sha256": hashlib.sha256(data.encode()).hexdigest(),
        "final": asdict(each.fitted.final),  # type: ignore[call-overload]
        "by_fold": [asdict(calibrator) for calibrator in each.fitted.calibrators],  # type: ignore[call-overload]
        "case_folds": digest,
    }


def _calibration(entry: Mapping[str, Any], content: Mapping[str, Any]) -> SavedCalibration:
    kind = calibrator_kind(entry["method"])
    names = [field.name for field in fields(kind)]

    def calibrator(stored: Mapping[str, Any]) -> Calibrator:
        if sorted(stored) != sorted(names):
            raise ValueError(f"a {entry['method']} calibration has {', '.join(names)}")
        return _sound(kind(**{name: _frozen(value) for name, value in stored.items()}))

    folds = tuple(calibrator(each) for each in entry["by_fold"])
    fold_of = {str(case): int(fold) for case, fold in content["case_folds"][entry["case_folds"]].items()}
    if len(folds) != entry["folds"] or not set(fold_of.values()) <= set(range(len(folds))):
        raise ValueError("the folds do not fit together")
    return SavedCalibration(
        rater=str(entry["judge"]),
        members=tuple(entry["members"]),
        dimension=str(entry["dimension"]),
        instrument=str(entry["instrument"]),
        reference=tuple(entry["reference"]),
        grades=_frozen(entry["grades"]),
        final=calibrator(entry["final"]),
        folds=folds,
        fold_of=fold_of,
        n_labels=int(entry["n_labels"]),
        n_cases=int(entry["n_cases"]),
        seed=int(entry["seed"]),
        data_sha256=str(entry["data_sha256"]),
        medjury=str(content["medjury"]),
        created_at=str(content["created_at"]),
        rule=_rule(entry.get("jury", {}), str(entry["judge"])),
    )


def _rule(stored: Mapping[str, Any], name: str) -> JuryRule:
    """The rule of a jury."""
    made = JuryRule(**stored, name=name)
    if made.rule not in get_args(JuryName):
        raise ValueError(f"there is no jury rule {made.rule!r}")
    return made


def _sound(calibrator: Calibrator) -> Calibrator:
    """Refuse what no fit could have written: a map that falls, or leaves its scale."""
    low, high = calibrator.scale
    values = calibrator.predict(np.linspace(low, high, 101))
    if not np.isfinite(values).all() or (np.diff(values) < -1e-9).any() or not low < high:
        raise ValueError(f"a {calibrator.method} map that is not monotone")
    return calibrator


def _frozen(value: Any) -> Any:
    """Numbers and tuples of numbers, nothing else: the file holds no code."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        return tuple(_frozen(each) for each in value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"{value!r} is not a number")
    return float(value)
