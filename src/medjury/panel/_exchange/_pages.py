"""The coordinator's page of exchange: into the study, out as files, in from files, and keys for programs."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import Response

from medjury.foundation.errors import MedjuryError
from medjury.panel._access import (
    Coordinator,
    Role,
    SentForm,
    trail,
)
from medjury.panel._exchange import _api
from medjury.panel._exchange._collecting import collect, counted_ratings
from medjury.panel._exchange._files import FORMATS, bring_in_sent
from medjury.panel._exchange._including import include
from medjury.panel._look import NavigationLink, page
from medjury.panel._panel import Panel

NAVIGATION = (NavigationLink("/exchange", "Exchange", frozenset({Role.COORDINATOR}), order=70),)


def routes(panel: Panel) -> APIRouter:
    router = APIRouter()
    pages = APIRouter(include_in_schema=False)
    _add_pages(pages, panel)
    _api.add_routes(router, panel)
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
