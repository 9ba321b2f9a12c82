"""The templates and files of all parts under one roof, and a page from a template.

`rating/case.html` is `case.html` in the `templates/` of the part `_rating`; its style and scripts lie in `static/`.
They come from this server alone. Their address changes with their content: browsers may keep them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path, PurePosixPath
from types import MappingProxyType, ModuleType
from typing import Any

from fastapi import APIRouter, Depends, HTTPException, Request
from fastapi.responses import HTMLResponse, Response
from jinja2 import Environment, FileSystemLoader, PrefixLoader, StrictUndefined
from markupsafe import Markup

from medjury.panel._declared import Everybody
from medjury.panel._language import LANGUAGES, language, translations
from medjury.panel._panel import Panel

KINDS = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
}


@dataclass(frozen=True)
class NavigationLink:
    """One entry at the head of the page, for the roles that may follow it; the lowest order is a role's home."""

    path: str
    label: str
    roles: frozenset[str]
    order: int = 50


@dataclass(frozen=True)
class Look:
    """What a page is made of. Files are read once: nothing that a visitor names is looked up on the disk."""

    templates: Environment
    files: Mapping[str, bytes]
    links: Sequence[NavigationLink]

    def links_of(self, role: str) -> list[NavigationLink]:
        return [link for link in self.links if role in link.roles]


def look_of(parts: Sequence[ModuleType], links: Sequence[NavigationLink]) -> Look:
    """Gather the templates and the files of these parts."""
    folders = [Path(part.__file__ or "").parent for part in parts]
    return Look(*gathered(tuple(folders)), tuple(links))


@cache
def gathered(folders: tuple[Path, ...]) -> tuple[Environment, Mapping[str, bytes]]:
    """The templates and the files of these parts, read and compiled once in a process."""
    named = {folder.name.strip("_"): folder for folder in folders}
    files = {
        f"{name}/{file.relative_to(folder / 'static').as_posix()}": file.read_bytes()
        for name, folder in named.items()
        for file in sorted((folder / "static").rglob("*"))
        if file.suffix in KINDS
    }
    templates = Environment(
        loader=PrefixLoader({name: FileSystemLoader(folder / "templates") for name, folder in named.items()}),
        autoescape=True,
        undefined=StrictUndefined,
        auto_reload=False,
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=["jinja2.ext.i18n"],
    )
    templates.install_gettext_callables(  # type: ignore[attr-defined]  # by the extension
        lambda text: translations(language()).gettext(text),
        lambda one, many, number: translations(language()).ngettext(one, many, number),
        newstyle=True,
    )
    marks = {name: hashlib.sha256(content).hexdigest()[:12] for name, content in files.items()}
    templates.globals["file"] = lambda name: f"/static/{name}?v={marks[name]}"
    return templates, MappingProxyType(files)


def page(request: Request, template: str, *, status: int = 200, **values: Any) -> HTMLResponse:
    """The page; a template always knows `person` (None where nobody is signed in), `links`, `csrf` (the hidden
    field that every form needs), `csrf_token`, `study`, `path`, `is_opened` (nothing was sent), `language` and
    `languages`."""
    look: Look = request.app.state.look
    person = getattr(request.state, "person", None)
    token = getattr(request.state, "csrf", "")
    study = request.app.state.panel.study
    known = {
        "person": person,
        "links": look.links_of(person.role) if person else [],
        "csrf_token": token,
        "csrf": Markup(f'<input type="hidden" name="csrf" value="{escape(token)}">'),  # noqa: S704 - escaped here
        "study": study.name if study else "",
        "path": request.url.path,
        "is_opened": request.method == "GET",
        "language": language(),
        "languages": LANGUAGES,
    }
    return HTMLResponse(look.templates.get_template(template).render(known | values), status_code=status)


def error_page(request: Request, status: int, title: str, message: str) -> HTMLResponse:
    """What went wrong and what to do, in the same frame."""
    return page(request, "look/error.html", status=status, title=title, message=message)


def routes(panel: Panel) -> APIRouter:
    router = APIRouter()

    @router.get("/static/{name:path}", dependencies=[Depends(Everybody())], include_in_schema=False)
    async def static(request: Request, name: str) -> Response:  # of what is in memory: without a thread
        look: Look = request.app.state.look
        if name not in look.files:
            raise HTTPException(404)
        return Response(
            look.files[name],
            media_type=KINDS[PurePosixPath(name).suffix],
            headers={"Cache-Control": "public, max-age=31536000, immutable"},
        )

    return router
