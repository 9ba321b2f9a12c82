"""Joining by an invitation. Opening the link shows a page; only what the person sends from it uses the link up."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response

from medjury.foundation.errors import MedjuryError
from medjury.panel._access._credentials import joined, set_password
from medjury.panel._access._forms import Form, form_of
from medjury.panel._access._joining.invitations import invited, use_invitation
from medjury.panel._access._passkeys.passkeys import passkeys_work
from medjury.panel._access._passwords import check_new_password, hash_password
from medjury.panel._access._people import Person
from medjury.panel._access._sign_in import let_in
from medjury.panel._access._visitors import anyone
from medjury.panel._look import error_page, page
from medjury.panel._panel import Panel


def add_routes(router: APIRouter, panel: Panel) -> None:
    @router.get("/join/{secret}")
    def invitation(request: Request, secret: str, _: Annotated[Person | None, Depends(anyone)]) -> Response:
        with panel.database.reading() as connection:
            guest = invited(connection, secret, panel.now())
        if guest is None:
            return over(request)
        return _join_page(request, guest, secret)

    @router.post("/join/{secret}")
    def join(
        request: Request,
        secret: str,
        _: Annotated[Person | None, Depends(anyone)],
        form: Annotated[Form, Depends(form_of)],
    ) -> Response:
        with panel.database.reading() as connection:
            guest = invited(connection, secret, panel.now())
        if guest is None:
            return over(request)
        password = form.get("password", "")
        try:
            check_new_password(password, form.get("again", ""), guest.name)
        except MedjuryError as error:
            return _join_page(request, guest, secret, str(error), 400)
        hashed = hash_password(password)
        with panel.database.writing() as connection:
            person = use_invitation(connection, secret, panel.now())
            if person is not None:
                joined(connection, person, "a password", panel.now())
                set_password(connection, person, hashed)
        return let_in(request, panel, person, "invitation") if person else over(request)


def _join_page(
    request: Request, guest: Person, secret: str, problem: str = "", status: int = 200
) -> Response:
    panel: Panel = request.app.state.panel
    return page(
        request,
        "access/join.html",
        status=status,
        guest=guest,
        secret=secret,
        problem=problem,
        passkeys=passkeys_work(panel),
        open_id=panel.open_id,
    )


def over(request: Request) -> Response:
    """One answer for a link that was used, withdrawn, is too old, or never was one."""
    return error_page(
        request,
        404,
        "This invitation no longer works",
        "It was used, withdrawn or is too old. Sign in if you have joined already; else ask the coordinator of the "
        "study for a new one.",
    )
