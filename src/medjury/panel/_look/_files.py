"""Style and scripts, from this server alone. Their address changes with their content: browsers may keep them."""

from __future__ import annotations

from pathlib import PurePosixPath

from fastapi import APIRouter, Depends, HTTPException, Request
from fastapi.responses import Response

from medjury.panel._declared import Everybody
from medjury.panel._look._look import KINDS, Look
from medjury.panel._panel import Panel


def routes(panel: Panel) -> APIRouter:
    router = APIRouter()

    @router.get("/static/{name:path}", dependencies=[Depends(Everybody())], include_in_schema=False)
    def static(request: Request, name: str) -> Response:
        look: Look = request.app.state.look
        if name not in look.files:
            raise HTTPException(404)
        return Response(
            look.files[name],
            media_type=KINDS[PurePosixPath(name).suffix],
            headers={"Cache-Control": "public, max-age=31536000, immutable"},
        )

    return router
