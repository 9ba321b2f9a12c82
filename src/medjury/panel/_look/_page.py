"""A page from a template."""

from __future__ import annotations

from html import escape
from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse
from markupsafe import Markup

from medjury.panel._look._look import Look


def page(request: Request, template: str, *, status: int = 200, **values: Any) -> HTMLResponse:
    """The page; a template always knows `person` (None where nobody is signed in), `links`, `csrf` (the hidden
    field that every form needs), `csrf_token`, `study` and `path`."""
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
    }
    return HTMLResponse(look.templates.get_template(template).render(known | values), status_code=status)


def error_page(request: Request, status: int, title: str, message: str) -> HTMLResponse:
    """What went wrong and what to do, in the same frame."""
    return page(request, "look/error.html", status=status, title=title, message=message)
