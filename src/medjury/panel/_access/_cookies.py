"""Three cookies: the session of somebody who signed in, the visit of somebody who has not (for the forms' token),
and the device, by which a browser is known again in which somebody has signed in.

None can be read by a script or is sent with another site's forms. Over https their names say to the browser that
no other host may set them.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from medjury.panel._access._secrets import new_secret

if TYPE_CHECKING:
    from fastapi import Request
    from starlette.responses import Response

    from medjury.panel._panel import Panel

DEVICE_LASTS = timedelta(days=180)  # from the last sign-in on


def session_secret(request: Request) -> str | None:
    return request.cookies.get(_name(request.app.state.panel, "session")) or None


def set_session(response: Response, panel: Panel, secret: str) -> None:
    """Hand out a new session; the visit before it is over, and so is every form token of it."""
    _set(response, panel, "session", secret)
    _remove(response, panel, "visit")


def remove_session(response: Response, panel: Panel) -> None:
    _remove(response, panel, "session")


def form_secret(request: Request) -> str | None:
    """What the token of a form hangs on: the session, else the visit."""
    return session_secret(request) or request.cookies.get(_name(request.app.state.panel, "visit")) or None


def begin_visit(request: Request) -> str:
    """A new visit; its cookie is set on the answer by the guard."""
    secret = new_secret()
    request.state.new_visit = secret
    return secret


def set_visit(response: Response, panel: Panel, secret: str) -> None:
    _set(response, panel, "visit", secret)


def device_secret(request: Request) -> str | None:
    return request.cookies.get(_name(request.app.state.panel, "device")) or None


def set_device(response: Response, panel: Panel, secret: str) -> None:
    _set(response, panel, "device", secret, DEVICE_LASTS)


def _name(panel: Panel, kind: str) -> str:
    return f"__Host-medjury-{kind}" if panel.is_secure else f"medjury-{kind}"


def _set(response: Response, panel: Panel, kind: str, secret: str, lasts: timedelta | None = None) -> None:
    response.set_cookie(
        _name(panel, kind), secret, httponly=True, samesite="lax", secure=panel.is_secure, path="/",
        max_age=None if lasts is None else int(lasts.total_seconds()),
    )  # fmt: skip


def _remove(response: Response, panel: Panel, kind: str) -> None:
    response.delete_cookie(
        _name(panel, kind), httponly=True, samesite="lax", secure=panel.is_secure, path="/"
    )
