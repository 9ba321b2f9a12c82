"""Judging by a passport: exactly that jury, its calibration, and for every case whether it lies inside; a file of
cases at once, or one by one, as a program sends them to a jury that stays ready."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from medjury.analysis.calibration import apply_calibrations, load_calibrations
from medjury.foundation.documents import read_document
from medjury.foundation.errors import MedjuryError
from medjury.foundation.files import private_folder, write_whole
from medjury.in_use.passports._document import Passport, RefusedError, expired, read_passport
from medjury.in_use.passports._population import Placed, Placing
from medjury.in_use.passports._rebuilding import answering_changes, jury_changes, jury_of, rebuilt_study
from medjury.in_use.passports._scope import InScope, all_outside, in_scope
from medjury.intake.cases import Case, CaseSource, LeftOut, clean_text
from medjury.store.ratings import Rating, guard_frame
from medjury.store.runs import RunFolder, from_files_words
from medjury.studies import (
    RunResult,
    Study,
    Watcher,
    answering_models,
    judge_cases,
    load_study,
    refuse_over_budget,
    run_study,
)
from medjury.tables import RatingTable, open_run, rating_table

Outside = Literal["flag", "refuse"]
Status = Literal["complete", "incomplete", "failed", "void"]
Answer = tuple[str, str]
_SCOPES = {
    "outside": "in a part of the cases for which the jury fails: they have no score there",
    "not known": "in a part for which nobody knows how good the jury is: judged, and marked",
}
JUDGED, SUMMARY = "judged.csv", "summary.json"


@dataclass(frozen=True)
class Judged:
    """What came of it. `placed` says of each case where it lies; `changes` why the passport is void."""

    folder: Path
    passport: Passport
    status: Status
    why: str
    placed: Mapping[Answer, Placed]
    outside: Outside
    scored: int = 0
    unscored: int = 0
    changes: tuple[str, ...] = ()
    rows: tuple[Mapping[str, Any], ...] = ()
    scoped: Mapping[Answer, Mapping[str, InScope]] = field(default_factory=dict)

    def in_state(self, state: str) -> list[Answer]:
        """Cases that lie so in the scope of some dimension."""
        return [key for key, own in self.scoped.items() if any(each == state for each, _ in own.values())]

    def scores(self, dimension: str) -> dict[Answer, float]:
        """The score of each scored case, calibrated where the passport has a calibration."""
        found = {}
        for row in self.rows:
            score = row["score"] if row["calibrated"] is None else row["calibrated"]
            if row["dimension"] == dimension and score is not None:
                found[row["item"], row["system"]] = float(score)
        return found

    def text(self) -> str:
        """The outcome in a few lines; what limits it comes first."""
        away = [each for each in self.placed.values() if not each.inside]
        kinds = Counter(reason.partition(":")[0] for each in away for reason in each.reasons)
        done = "refused, and not judged" if self.outside == "refuse" else "judged, and flagged"
        alpha = self.passport.population.novelty.alpha
        lines = [f"{self.status.upper()}: {self.why}" if self.why else self.status.upper()]
        if limit := self.passport.limit:
            lines.append(limit)
        lines += [
            f"{len(self.placed) - len(away):,} of {len(self.placed):,} cases are inside what was validated; "
            f"{len(away):,} are outside: {done}",
            *(f"  {count:,}: {reason}" for reason, count in kinds.most_common(8)),
            *(
                f"{len(cases):,} of them lie {where}"
                for state, where in _SCOPES.items()
                if (cases := self.in_state(state))
            ),
            f"(of cases like the validated ones at most {100 * alpha:g} % are flagged for their distance)",
            f"{self.scored:,} scores of {self.passport.who}, {self.unscored:,} without a score",
            f"Judged cases: {self.folder / JUDGED}",
        ]
        return "\n".join(lines)

    def to_json(self) -> str:
        """The same for a program."""
        away = [each.as_dict() for each in self.placed.values() if not each.inside]
        text = {
            "status": self.status,
            "why": self.why,
            "force": self.passport.force,
            "passport": self.passport.hash,
            "expires_at": self.passport.expires_at,
            "alpha": self.passport.population.novelty.alpha,
            "cases": len(self.placed),
            "outside": away,
            "outside_scope": [list(each) for each in self.in_state("outside")],
            "scope_not_known": [list(each) for each in self.in_state("not known")],
            "done_with_outside": self.outside,
            "scored": self.scored,
            "unscored": self.unscored,
            "changes": list(self.changes),
        }
        return json.dumps(text, indent=1, ensure_ascii=True)


_CALIBRATION, _PASSPORT = "calibration.json", "passport.json"
# By case, system and dimension.
Scores = dict[tuple[str, str, str], dict[str, Any]]
_USELESS = "the jury of this passport was not validated, so it does not judge"
_FIRST = 8  # cases after which it is known who answers


class _Inside:
    """The cases of a source that are to be judged."""

    def __init__(self, source: CaseSource, wanted: frozenset[Answer], most: int | None = None) -> None:
        self._source, self._wanted, self._most = source, wanted, most

    def __iter__(self) -> Iterator[Case]:
        given = 0
        for case in self._source:
            if (case.id, case.system) in self._wanted and (self._most is None or given < self._most):
                given += 1
                yield case

    @property
    def skipped(self) -> int:
        return self._source.skipped

    @property
    def left_out(self) -> LeftOut:
        return self._source.left_out


def judge_with_passport(
    path: str | Path,
    cases: str | Path,
    out: str | Path,
    *,
    outside: Outside = "flag",
    override: str | Path | None = None,
    signers: str | Path | None = None,
    allow_unvalidated: bool = False,
    progress: Watcher | None = None,
    preflight: bool = True,
    now: datetime | None = None,
) -> Judged:
    """Judge cases by the jury of a passport, into the folder `out`. Refused before the first call where the
    passport was edited, has expired, or would be another jury's. Where the model that answers is not the
    one that was validated, judging stops after the first cases and there are no scores."""
    passport = read_passport(path, signers)
    if passport.force == "unvalidated" and not allow_unvalidated:
        raise RefusedError(f"{path}: {_USELESS}; to try it out anyway: --allow-unvalidated")
    if why := expired(passport, now):
        raise RefusedError(f"{path}: the passport {why}")
    _refuse_unmade(path, passport)
    folder = Path(out)
    _refuse_other_passport(folder, passport)
    study = rebuilt_study(passport, cases, folder, override)
    _refuse_another_jury(path, passport, study)
    write_whole(folder / _PASSPORT, passport.text())
    placing = Placing(passport.population)
    placed: dict[Answer, Placed] = {}
    scoped: dict[Answer, Mapping[str, InScope]] = {}
    for case in study.cases:
        placed[case.id, case.system] = placing.place(case)
        scoped[case.id, case.system] = in_scope(passport.verdicts, case)
    wanted = frozenset(
        key
        for key, each in placed.items()
        if (each.inside or outside == "flag") and not all_outside(scoped[key])
    )
    result, changes = _asked(study, passport, wanted, progress, preflight)
    status: Status = "void" if changes else "complete" if result is None else result.status
    why = f"the model that answers is not the one that was validated: {'; '.join(changes)}" if changes else ""
    if result is not None and not why:
        why = result.why
    read = {} if result is None or changes or not result.judged else _scores(study, passport, folder)
    rows = [*judged_rows(passport, placed, scoped, read, wanted, status)]
    _write(rows, folder / JUDGED)
    scored = sum(row["score"] is not None for row in rows)
    found = Judged(
        folder,
        passport,
        status,
        why,
        placed,
        outside,
        scored,
        len(rows) - scored,
        changes,
        tuple(rows),
        scoped,
    )
    write_whole(folder / SUMMARY, found.to_json() + "\n")
    return found


def _refuse_unmade(path: str | Path, passport: Passport) -> None:
    if unmade := from_files_words(passport.jury.judges):
        raise RefusedError(f"{path}: this jury can judge no other case. {unmade[0]}")


def _refuse_another_jury(path: str | Path, passport: Passport, study: Study) -> None:
    if changes := jury_changes(passport.jury, jury_of(study)):
        raise RefusedError(
            f"{path}: the passport is void, because this is a different jury: {'; '.join(changes)}"
        )


def _refuse_other_passport(folder: Path, passport: Passport) -> None:
    if (folder / _PASSPORT).is_file() and read_passport(folder / _PASSPORT).hash != passport.hash:
        raise MedjuryError(f"{folder}: holds cases judged by another passport; name another folder")


def _asked(
    study: Study, passport: Passport, wanted: frozenset[Answer], progress: Watcher | None, preflight: bool
) -> tuple[RunResult | None, tuple[str, ...]]:
    """The run, and which models answered that were not validated. The first cases are judged first: they show who
    answers before the others are paid for, and are found in the store afterwards."""
    if not wanted:
        return None, ()
    result = None
    for most in (_FIRST, None) if len(wanted) > _FIRST else (None,):
        part = replace(study, cases=_Inside(study.cases, wanted, most))
        result = run_study(part, watch=progress, preflight=preflight)
        preflight = False
        answered = RunFolder(study.output).manifest.models_answered
        if changes := answering_changes(passport.jury.answered, answered):
            return result, changes
        if result.status == "incomplete":
            break
    return result, ()


def _scores(study: Study, passport: Passport, folder: Path) -> Scores:
    table = open_run(study.output)
    found = jury_scores(table, passport)
    calibrated_scores(table, passport, folder, found)
    return found


def jury_scores(table: RatingTable, passport: Passport) -> Scores:
    """By case and dimension the jury's score, or why there is none."""
    own = table.everything.filter(table.everything["rater"] == passport.rater)
    names = ("item", "system", "dimension", "score", "status", "reason")
    return {
        (item, system, dimension): {"score": score, "status": status, "reason": reason or ""}
        for item, system, dimension, score, status, reason in own.select(names).iter_rows()
    }


def calibrated_scores(table: RatingTable, passport: Passport, folder: Path, found: Scores) -> None:
    """Beside the scores that were found, those on the clinicians' scale, where the passport has a calibration."""
    if passport.calibration is None or not found:
        return
    file = folder / _CALIBRATION
    write_whole(file, json.dumps(passport.calibration))
    applied = apply_calibrations(table, load_calibrations(file), raters=passport.rater)
    for each in applied.ratings:
        found.setdefault((each.item, each.system, each.dimension), {})["calibrated"] = each.score


def judged_rows(
    passport: Passport,
    placed: Mapping[Answer, Placed],
    scoped: Mapping[Answer, Mapping[str, InScope]],
    read: Scores,
    wanted: frozenset[Answer],
    status: Status,
) -> Iterator[dict[str, Any]]:
    """A row for every case and dimension: none is left out, whatever became of it."""
    dimensions = [each.dimension for each in passport.verdicts]
    dimensions += sorted({dimension for _, _, dimension in read} - {*dimensions})
    words = {each.dimension: each.word for each in passport.verdicts}
    for (item, system), place in placed.items():
        for dimension in dimensions:
            own = scoped[item, system]
            scope, because = own.get(dimension, own[""])
            known = {} if scope == "outside" else read.get((item, system, dimension), {})
            reason = known.get("reason", "")
            state = known.get("status", "unscored")
            if status == "void":
                reason = "void: the model that answers is not the one that was validated"
            elif scope == "outside":
                reason = f"refused: outside the scope: {because}"
            elif (item, system) not in wanted:
                reason = "refused: outside what was validated"
            elif not known:
                reason = "not judged yet"
            yield {
                "item": item,
                "system": system,
                "dimension": dimension,
                "score": known.get("score"),
                "calibrated": known.get("calibrated"),
                "status": state,
                "reason": reason,
                "inside": place.inside,
                "p_value": place.p_value,
                "outside_because": "; ".join(place.reasons),
                "scope": scope,
                "scope_because": because,
                "verdict": words.get(dimension, "follows from others"),
                "force": passport.force,
                "passport": passport.hash[:16],
            }


def _write(rows: list[dict[str, Any]], file: Path) -> None:
    import polars as pl

    types: dict[str, Any] = {
        "score": pl.Float64,
        "calibrated": pl.Float64,
        "p_value": pl.Float64,
        "inside": pl.Boolean,
    }
    names = list(rows[0]) if rows else []
    frame = pl.DataFrame(
        {
            name: [clean_text(row[name]) if isinstance(row[name], str) else row[name] for row in rows]
            for name in names
        },
        schema={name: types.get(name, pl.String) for name in names},
    )
    write_whole(file, guard_frame(frame).write_csv())


_NO_CASES = "cases.jsonl"


@dataclass(frozen=True, slots=True)
class JudgedCase:
    """The jury's word on one case: a row for every dimension, where the case lies, and the judges' votes."""

    rows: tuple[dict[str, Any], ...]
    placed: Placed
    votes: tuple[Rating, ...] = ()


@dataclass(frozen=True, slots=True)
class ReadyJury:
    """The jury of a passport, built anew in a folder; its store, log and budget are kept there."""

    passport: Passport
    study: Study
    folder: Path

    @classmethod
    def open(
        cls,
        path: str | Path,
        folder: str | Path,
        override: str | Path | None = None,
        *,
        answers: str | Path | None = None,
        signers: str | Path | None = None,
    ) -> ReadyJury:
        """Refused where the passport was edited, where its jury failed its gate, and where the jury that could be
        built here is another one. `override` says how the judges are reached, or is a study file that has the
        very same jury; with recorded `answers` nobody is asked."""
        passport = read_passport(path, signers)
        if passport.force == "unvalidated":
            raise RefusedError(f"{path}: {_USELESS}")
        _refuse_unmade(path, passport)
        place = Path(folder)
        private_folder(place)
        stated = None if override is None else read_document(override).value
        if override is not None and isinstance(stated, dict) and "instrument" in stated:
            study = load_study(override)
        else:
            write_whole(place / _NO_CASES, "")
            study = rebuilt_study(passport, place / _NO_CASES, place, override, answers)
        _refuse_another_jury(path, passport, study)
        return cls(passport, study, place)

    def refuse_expired(self, now: datetime | None = None) -> None:
        if why := expired(self.passport, now):
            raise RefusedError(f"the passport {why}")

    def judge(self, case: Case, *, refuse_outside: bool = False, now: datetime | None = None) -> JudgedCase:
        """The jury's scores of a case, calibrated where the passport says how. A case outside what was validated
        is flagged, or not judged at all; one outside the scope has no score. Where the model that answers
        is not the one that was validated, there is no score."""
        self.refuse_expired(now)
        placed = Placing(self.passport.population).place(case)
        answer = (case.id, case.system)
        scoped = {answer: in_scope(self.passport.verdicts, case)}
        if (refuse_outside and not placed.inside) or all_outside(scoped[answer]):
            rows = judged_rows(self.passport, {answer: placed}, scoped, {}, frozenset(), "complete")
            return JudgedCase(tuple(rows), placed)
        found = judge_cases(self.study, [case])
        answered = answering_models(
            (each.rater, each.model_asked or "", each.model_answered, 1)
            for each in found
            if each.rater_kind == "judge" and each.model_answered
        )
        if changes := answering_changes(self.passport.jury.answered, answered):
            text = "; ".join(changes)
            raise RefusedError(
                f"the passport is void: the model that answers is not the one that was validated: {text}"
            )
        if not found:
            raise MedjuryError(
                "the jury gave no answer at all; look into its audit.jsonl, and send the text again"
            )
        table = rating_table(list(refuse_over_budget(found)))
        read = jury_scores(table, self.passport)
        calibrated_scores(table, self.passport, self.folder, read)
        rows = judged_rows(self.passport, {answer: placed}, scoped, read, frozenset({answer}), "complete")
        return JudgedCase(tuple(rows), placed, found)
