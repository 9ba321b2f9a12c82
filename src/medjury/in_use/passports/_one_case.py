"""A validated jury that stays ready for single cases, as a program sends them one by one."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from medjury.foundation.documents import read_document
from medjury.foundation.errors import MedjuryError
from medjury.foundation.files import private_folder, write_whole
from medjury.in_use.passports._document import Passport, RefusedError, expired, read_passport
from medjury.in_use.passports._judging import calibrated_scores, judged_rows, jury_scores
from medjury.in_use.passports._population import Placed, Placing
from medjury.in_use.passports._rebuilding import answering_changes, jury_changes, jury_of, rebuilt_study
from medjury.in_use.passports._scope import all_outside, in_scope
from medjury.intake.cases import Case
from medjury.store.ratings import Rating
from medjury.store.runs import from_files_words
from medjury.studies import Study, answering_models, judge_cases, load_study, refuse_over_budget
from medjury.tables import rating_table

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
            raise RefusedError(f"{path}: the jury of this passport was not validated, so it does not judge")
        if unmade := from_files_words(passport.jury.judges):
            raise RefusedError(f"{path}: this jury can judge no other case. {unmade[0]}")
        place = Path(folder)
        private_folder(place)
        stated = None if override is None else read_document(override).value
        if override is not None and isinstance(stated, dict) and "instrument" in stated:
            study = load_study(override)
        else:
            write_whole(place / _NO_CASES, "")
            study = rebuilt_study(passport, place / _NO_CASES, place, override, answers)
        if changes := jury_changes(passport.jury, jury_of(study)):
            raise RefusedError(
                f"{path}: the passport is void, because this is a different jury: {'; '.join(changes)}"
            )
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
