"""The coordinator's page of exchange (into the study, out as files, in from files, and keys for programs), and what
programs may ask: how far the panel is, its ratings, and the study's jury on a text. Every answer to them is JSON.

People come first: what a program asks for is done in places of its own, of which there are few. A program that
finds none free is asked to come again (429), so that a jury that does not answer holds up no page of the panel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, TypeVar

import anyio
from fastapi import APIRouter, Depends, HTTPException, Request
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from medjury.foundation.errors import MedjuryError
from medjury.in_use.passports import ReadyJury, RefusedError
from medjury.intake.cases import Case
from medjury.panel._access._api_keys import api_access
from medjury.panel._access._people import Person, Role
from medjury.panel._access._trail import trail
from medjury.panel._access._visitors import Coordinator, SentForm
from medjury.panel._design._rounds import rounds
from medjury.panel._exchange._collecting import collect, counted_ratings, include, round_state
from medjury.panel._exchange._files import FORMATS, bring_in_sent
from medjury.panel._look import NavigationLink, page
from medjury.panel._panel import Panel
from medjury.store.runs import files
from medjury.studies import (
    OverBudgetError,
    RatedStudy,
    StudyInUseError,
    judge_cases,
    load_study,
    refuse_over_budget,
)

JUDGING_AT_ONCE, READING_AT_ONCE = 8, 4
COME_AGAIN_SECONDS = 5
_T = TypeVar("_T")
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
        description="specialty, site, language, age: a passport recognises its cases by these",
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


_Answers = dict[int | str, dict[str, Any]]
_READ: _Answers = {status: {"model": Problem} for status in (401, 429)}
_REFUSED: _Answers = {status: {"model": Problem} for status in (401, 402, 409, 422, 429, 503)}
_BODY = {
    "requestBody": {
        "required": True,
        "content": {"application/json": {"schema": ToJudge.model_json_schema()}},
    }
}


class Places:
    """How much programs may have done at once, in threads that serve nobody else. It is counted on the event loop,
    so that whoever finds no place free takes no thread to learn it."""

    def __init__(self, most: int) -> None:
        self._free = most

    async def do(self, work: Callable[[], _T]) -> _T:
        """What `work` returns; refused where every place is taken."""
        if not self._free:
            raise _come_again("The panel is handling as many requests from programs as it can at once.")
        self._free -= 1
        try:
            return await anyio.to_thread.run_sync(work, limiter=anyio.CapacityLimiter(1))
        finally:
            self._free += 1


def _come_again(why: str) -> HTTPException:
    seconds = str(COME_AGAIN_SECONDS)
    return HTTPException(429, f"{why} Wait {seconds} seconds, then send it again.", {"Retry-After": seconds})


def add_routes(router: APIRouter, panel: Panel) -> None:
    judging, reading = Places(JUDGING_AT_ONCE), Places(READING_AT_ONCE)

    @router.get("/api/rounds", responses=_READ, operation_id="rounds", tags=["panel"])
    async def progress(caller: _Caller) -> list[RoundProgress]:
        """How far every round is."""
        return await reading.do(lambda: _progress(panel))

    @router.get("/api/ratings", responses=_READ, operation_id="ratings", tags=["panel"])
    async def ratings(caller: _Caller) -> list[GivenRating]:
        """Every rating that counts, the last word of each rater."""
        return await reading.do(lambda: _ratings(panel))

    @router.post("/api/judge", responses=_REFUSED, operation_id="judge", tags=["jury"], openapi_extra=_BODY)
    async def judge(request: Request, caller: _Caller) -> Judged:
        """Let the study's jury grade a text, by the study's instrument, budget, log and allowed hosts; or the jury
        of a passport, where the panel is served with one. 402: the budget is spent and the jury has no grade for
        the text. 429: too much is being judged at this moment; the header Retry-After says when to come again."""
        body = await request.body()  # read, but not looked into before there is a place for it
        return await judging.do(lambda: _judged(panel, body))


def _progress(panel: Panel) -> list[RoundProgress]:
    with panel.database.reading() as connection:
        return [
            RoundProgress(
                round=each.name, kind=each.kind, state=each.state, cases=done.items, raters=len(done.raters),
                assigned=done.assigned, done=done.done,
            )
            for each in rounds(connection)
            for done in [round_state(connection, each)]
        ]  # fmt: skip


def _ratings(panel: Panel) -> list[GivenRating]:
    with panel.database.reading() as connection:
        return [
            GivenRating(**{name: getattr(each, name) for name in GivenRating.model_fields})
            for each in collect(connection)
        ]


def _judged(panel: Panel, body: bytes) -> Judged:
    try:
        text = ToJudge.model_validate_json(body)
    except ValidationError:
        raise HTTPException(422) from None
    if panel.jury is not None:
        with _in_words(panel.jury.folder):
            return by_passport(panel.jury, text, panel)
    if panel.study is None or not panel.study.settings.judges:
        raise HTTPException(409, "This study names no judges.")
    with _in_words(panel.study.file.resolve().parent):
        return by_study(panel.study, text)


@contextmanager
def _in_words(folder: Path) -> Iterator[None]:
    """What the jury could not do, with a status that fits; where the study lies is nobody's business."""
    try:
        yield
    except StudyInUseError:
        raise _come_again("With a budget the jury judges one text at a time, and it is busy.") from None
    except MedjuryError as error:
        status = (
            409 if isinstance(error, RefusedError) else 402 if isinstance(error, OverBudgetError) else 422
        )
        raise HTTPException(status, str(error).replace(f"{folder}/", "")) from None


def by_study(rated: RatedStudy, text: ToJudge) -> Judged:
    """The votes and the word of the study's own jury, which nobody may have validated."""
    study = load_study(rated.file)
    found = refuse_over_budget(judge_cases(study, [_case(text)]))
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


def by_passport(jury: ReadyJury, text: ToJudge, panel: Panel) -> Judged:
    """The word of a validated jury: its score, the calibrated one, and whether the text lies inside."""
    word = jury.judge(_case(text), now=panel.now())
    instrument, passport = jury.study.instrument, jury.passport
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


NAVIGATION = (NavigationLink("/exchange", "Exchange", frozenset({Role.COORDINATOR}), order=70),)


def routes(panel: Panel) -> APIRouter:
    router = APIRouter()
    pages = APIRouter(include_in_schema=False)
    _add_pages(pages, panel)
    add_routes(router, panel)
    router.routes.extend(pages.routes)
    return router


def _add_pages(router: APIRouter, panel: Panel) -> None:
    def shown(request: Request, *, status: int = 200, **values: Any) -> Response:
        with panel.database.reading() as connection:
            ratings = collect(connection)
        return page(
            request,
            "exchange/exchange.html",
            status=status,
            formats=FORMATS,
            counted=counted_ratings(ratings),
            **{"problem": "", "report": "", "made": "", **values},
        )

    @router.get("/exchange")
    def exchange(request: Request, person: Coordinator) -> Response:
        return shown(request)

    @router.get("/exchange/ratings/{kind}")
    def download(kind: str, person: Coordinator) -> Response:
        format_ = FORMATS.get(kind)
        if format_ is None or panel.study is None:
            raise HTTPException(404)
        with panel.database.writing() as connection:
            ratings = collect(connection)
            trail(connection, person, "took the ratings", kind, now=panel.now())
        name = f"ratings-{kind}.{format_.ending}"
        return Response(
            format_.write(ratings, panel.study.instrument),
            media_type=format_.media_type,
            headers={"Content-Disposition": f'attachment; filename="{name}"'},
        )

    @router.post("/exchange/include")
    def include_now(request: Request, person: Coordinator, form: SentForm) -> Response:
        if panel.study is None:
            raise HTTPException(404)
        try:
            study = panel.study_now
            assert study is not None
            count, made = include(study, panel.database)
        except MedjuryError as error:
            command = f"Or, at the machine of the panel: medjury panel include {panel.study.file.name}"
            return shown(request, problem=f"{error}\n{command}", status=400)
        with panel.database.writing() as connection:
            trail(connection, person, "included ratings in the study", str(count), now=panel.now())
        return shown(request, made=made)

    @router.post("/exchange/import")
    def bring(request: Request, person: Coordinator, form: SentForm) -> Response:
        sent = {
            name: file for name, file in form.files.items() if name in ("file", "mapping") and file.content
        }
        if panel.study is None or "file" not in sent:
            return shown(request, problem="Choose a file of ratings.", status=400)
        try:
            imported = bring_in_sent(panel.study, panel.database, sent, now=panel.now())
        except MedjuryError as error:
            return shown(request, problem=str(error), status=400)
        with panel.database.writing() as connection:
            trail(connection, person, "brought in ratings", sent["file"].name[:200], now=panel.now())
        return shown(request, report=imported.report.text())
