"""While the database is out of reach, as when it is restarted, a page says so and keeps what was typed: it holds
the form that was sent, with a button that sends it again."""

from __future__ import annotations

from fastapi import Request
from fastapi.responses import Response
from sqlalchemy.exc import InterfaceError, OperationalError, TimeoutError

from medjury.panel._access._forms import Form, read_fields
from medjury.panel._look import page

WAIT_SECONDS = 5
TOLD = "The panel cannot reach its database just now. Try again in a moment."


def is_out_of_reach(error: Exception) -> bool:
    """Whether the database failed, and not what was asked of it."""
    return isinstance(error, InterfaceError | OperationalError | TimeoutError)


async def out_of_reach_page(request: Request) -> Response:
    """What happened, and the way to send the form again, with or without JavaScript."""
    sent: Form | None = getattr(request.state, "form", None)
    if sent is None and request.method == "POST":
        try:
            sent = await read_fields(request)
        except Exception:  # nothing that we could read was sent
            sent = None
    can_send = sent is not None and not sent.files and "password" not in sent
    address = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    request.state.person, request.state.csrf = None, ""
    answer = page(
        request,
        "access/out_of_reach.html",
        status=503,
        fields=sent.fields if sent is not None and can_send else (),
        is_sent=request.method == "POST",
        address=address,
    )
    answer.headers["Retry-After"] = str(WAIT_SECONDS)
    return answer
