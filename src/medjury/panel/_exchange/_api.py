"""For programs: how far the panel is, its ratings, and the study's jury on a text. Every answer is JSON."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException
from pydantic import BaseModel, ConfigDict, Field

from medjury.cases import Case
from medjury.errors import MedjuryError
from medjury.panel._access import Person, api_access
from medjury.panel._design import rounds
from medjury.panel._exchange._collecting import collect
from medjury.panel._exchange._progress import round_state
from medjury.panel._panel import Panel
from medjury.passports import PassportDoor, RefusedError
from medjury.runs import files
from medjury.studies import judge_cases, load_study

_Caller = Annotated[Person, Depends(api_access)]
_LONGEST = 2_000_000
_Text = Annotated[str, Field(max_length=_LONGEST, pattern=r"^[^\x00]*$")]
_Name = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f]*$")]


class Problem(BaseModel):
    """What is wrong, in words."""

    error: str


class RoundProgress(BaseModel):
    """How far one round is."""

    round: str
    kind: str
    state: str
    cases: int
    raters: int
    assigned: int
    done: int


class GivenRating(BaseModel):
    """One rating of a clinician."""

    item: str
    system: str
    rater: str
    panel: str
    dimension: str
    score: float | None
    status: str
    reason: str | None
    explanation: str
    seconds: float | None
    probability: float | None


class ToJudge(BaseModel):
    """A text that the study's jury is to grade."""

    model_config = ConfigDict(extra="forbid")

    id: _Name
    candidate: _Text = Field(description="the answer to be graded")
    system: Annotated[str, Field(max_length=200, pattern=r"^[^\x00-\x1f]*$")] = ""
    texts: dict[_Name, _Text] = Field(
        default={}, max_length=50, description="the instrument's other inputs, by name"
    )
    reference: _Text | None = None
    metadata: dict[_Name, str | float] = Field(
        default={},
        max_length=50,
        description="specialty, site, language, age: by these a passport knows its cases",
    )


class JudgedRating(BaseModel):
    """One grade: a judge's, or the jury's. Where there is none, its reason."""

    rater: str
    rater_kind: str
    dimension: str
    score: float | None
    status: str
    reason: str | None
    explanation: str
    calibrated: float | None = Field(
        default=None, description="on the clinicians' scale, by the passport's calibration"
    )
    scope: str | None = Field(
        default=None,
        description="where the text lies in the passport's scope: holds, not known, or outside (no score)",
    )


class Judged(BaseModel):
    """The jury's word on a text, and how far it may be trusted."""

    id: str
    instrument: str
    verdict: dict[str, str] | None = Field(
        description="by dimension, the verdict on this jury; null: never validated"
    )
    ratings: list[JudgedRating]
    passport: str | None = Field(
        default=None, description="of the passport that the jury judges by, its first signs"
    )
    inside: bool | None = Field(
        default=None, description="whether the text is like those that were validated"
    )
    outside_because: list[str] = []


_REFUSED: dict[int | str, dict[str, Any]] = {
    401: {"model": Problem},
    409: {"model": Problem},
    422: {"model": Problem},
    503: {"model": Problem},
}


def add_routes(router: APIRouter, panel: Panel) -> None:
    @router.get("/api/rounds", responses={401: {"model": Problem}}, operation_id="rounds", tags=["panel"])
    def progress(caller: _Caller) -> list[RoundProgress]:
        """How far every round is."""
        with panel.database.reading() as connection:
            return [
                RoundProgress(
                    round=each.name, kind=each.kind, state=each.state, cases=done.items, raters=len(done.raters),
                    assigned=done.assigned, done=done.done,
                )
                for each in rounds(connection)
                for done in [round_state(connection, each)]
            ]  # fmt: skip

    @router.get("/api/ratings", responses={401: {"model": Problem}}, operation_id="ratings", tags=["panel"])
    def ratings(caller: _Caller) -> list[GivenRating]:
        """Every rating that counts, the last word of each rater."""
        with panel.database.reading() as connection:
            return [
                GivenRating(**{name: getattr(each, name) for name in GivenRating.model_fields})
                for each in collect(connection)
            ]

    @router.post("/api/judge", responses=_REFUSED, operation_id="judge", tags=["jury"])
    def judge(text: ToJudge, caller: _Caller) -> Judged:
        """Let the study's jury grade a text, by the study's instrument, budget, log and allowed hosts; or the jury
        of a passport, where the panel is served with one."""
        if panel.jury is not None:
            return by_passport(panel.jury, text, panel)
        if panel.study is None or not panel.study.settings.judges:
            raise HTTPException(409, "This study names no judges.")
        try:
            study = load_study(panel.study.file)
            found = judge_cases(study, [_case(text)])
        except MedjuryError as error:
            folder = panel.study.file.resolve().parent  # where the study lies is nobody's business
            raise HTTPException(422, str(error).replace(f"{folder}/", "")) from None
        return Judged(
            id=text.id,
            instrument=f"{study.instrument.name}@{study.instrument.version}",
            verdict=verdicts_of(study.output),
            ratings=[
                JudgedRating(
                    rater=each.rater, rater_kind=each.rater_kind, dimension=each.dimension, score=each.score,
                    status=each.status, reason=None if each.reason is None else each.reason.value,
                    explanation=each.explanation,
                )
                for each in found
            ],
        )  # fmt: skip


def by_passport(door: PassportDoor, text: ToJudge, panel: Panel) -> Judged:
    """The word of a validated jury: its score, the calibrated one, and whether the text lies inside."""
    try:
        word = door.judge(_case(text), now=panel.now())
    except RefusedError as error:
        raise HTTPException(409, str(error).replace(f"{door.folder}/", "")) from None
    except MedjuryError as error:
        raise HTTPException(422, str(error).replace(f"{door.folder}/", "")) from None
    instrument, passport = door.study.instrument, door.passport
    return Judged(
        id=text.id,
        instrument=f"{instrument.name}@{instrument.version}",
        verdict={each.dimension: each.word for each in passport.verdicts},
        ratings=[
            JudgedRating(
                rater=passport.rater, rater_kind="jury", dimension=row["dimension"], score=row["score"],
                status=row["status"], reason=row["reason"] or None, explanation="", calibrated=row["calibrated"],
                scope=row["scope"],
            )
            for row in word.rows
        ],
        passport=passport.hash[:16],
        inside=word.placed.inside,
        outside_because=list(word.placed.reasons),
    )  # fmt: skip


def _case(text: ToJudge) -> Case:
    return Case(
        id=text.id,
        system=text.system,
        candidate=text.candidate,
        reference=text.reference,
        texts=text.texts,
        metadata=text.metadata,
    )


def verdicts_of(folder: Path) -> dict[str, str] | None:
    """The verdict on the study's jury by dimension, from its last complete run; None where there is none."""
    file = folder / files.MANIFEST
    return _verdicts(folder, file.stat().st_mtime_ns) if file.is_file() else None


@lru_cache(maxsize=4)
def _verdicts(folder: Path, _written: int) -> dict[str, str] | None:
    from medjury.tables import open_run
    from medjury.validation import evidence_of, validation_of

    try:
        evidence = evidence_of(open_run(folder))
    except MedjuryError:
        return None
    found = validation_of(evidence)
    return (
        {each.dimension: found.word(each.dimension) for each in found.verdicts}
        if evidence.clinicians
        else None
    )
