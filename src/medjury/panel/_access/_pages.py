"""A person's own page, the coordinator's pages of people and of the trail, and the routes of this part."""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import RedirectResponse, Response
from markupsafe import Markup
from sqlalchemy import select

from medjury.foundation.errors import MedjuryError
from medjury.models import is_local
from medjury.panel._access._api_keys import add_api_key_routes
from medjury.panel._access._open_id import add_open_id_routes
from medjury.panel._access._passkeys import add_passkey_routes, count_passkeys
from medjury.panel._access._passwords import (
    begin_attempt,
    check_new_password,
    hash_password,
    is_password,
    own_key,
    succeeded,
)
from medjury.panel._access._people import (
    Person,
    Role,
    add_person,
    change_person,
    names_of_people,
    people,
    person_by_id,
)
from medjury.panel._access._sessions import end_sessions
from medjury.panel._access._sign_in import (
    add_join_routes,
    add_sign_in_routes,
    invite,
    join_address,
    let_in,
    open_invitation_until,
    own_path,
    too_many_attempts,
    withdraw_invitations,
)
from medjury.panel._access._trail import about_in_words, check_trail, trail, trail_entries
from medjury.panel._access._visitors import Coordinator, Form, Rater, SentForm, Whoever
from medjury.panel._language import LANGUAGES, _
from medjury.panel._look import NavigationLink, page
from medjury.panel._panel import Panel
from medjury.panel._tables import people_table, stored

# A person's own page: their password, and signing out everywhere.


def add_account_routes(router: APIRouter, panel: Panel) -> None:
    @router.get("/account")
    def account(request: Request, person: Whoever) -> Response:
        return _account_page(request, panel, person)

    @router.post("/account/password")
    def change(request: Request, person: Whoever, form: SentForm) -> Response:
        now, key = panel.now(), own_key(person.id, "account page")
        with panel.database.writing() as connection:
            wait = begin_attempt(connection, (key,), now)
            old = connection.execute(
                select(people_table.c.password).where(people_table.c.id == person.id)
            ).scalar()
        if wait:
            return _account_page(request, panel, person, too_many_attempts(wait), 429)
        if old is not None and not is_password(old, form.get("present", "")):
            return _account_page(request, panel, person, _("Your current password is not right."), 403)
        with panel.database.writing() as connection:
            succeeded(connection, key)
        try:
            check_new_password(form.get("password", ""), form.get("again", ""), person.name)
        except MedjuryError as error:
            return _account_page(request, panel, person, str(error), 400)
        hashed = hash_password(form["password"])
        with panel.database.writing() as connection:
            change_person(connection, person, password=hashed)
            end_sessions(connection, person, now)
            trail(connection, person, "changed the password", now=now)
        return let_in(request, panel, person, "new password", "/account")

    @router.post("/account/language")
    def choose(request: Request, person: Rater, form: SentForm) -> Response:
        chosen = form.get("language", "")
        if chosen not in LANGUAGES:
            raise HTTPException(422)
        with panel.database.writing() as connection:
            change_person(connection, person, language=chosen)
        return RedirectResponse(own_path(form.get("next", "/")), 303)

    @router.post("/account/sign-out-everywhere")
    def everywhere(request: Request, person: Whoever, form: SentForm) -> Response:
        now = panel.now()
        with panel.database.writing() as connection:
            end_sessions(connection, person, now)
            trail(connection, person, "signed out everywhere", now=now)
        return let_in(request, panel, person, "this browser again", "/account")


def _account_page(
    request: Request, panel: Panel, person: Person, problem: str = "", status: int = 200
) -> Response:
    with panel.database.reading() as connection:
        password = connection.execute(
            select(people_table.c.password).where(people_table.c.id == person.id)
        ).scalar()
        count = count_passkeys(connection, person)
    return page(
        request,
        "access/account.html",
        status=status,
        problem=problem,
        has_password=password is not None,
        passkeys=panel.passkeys_work,
        count=count,
    )


MOST_AT_ONCE = 100


def _add_people(router: APIRouter, panel: Panel) -> None:
    @router.get("/people")
    def everyone(request: Request, person: Coordinator) -> Response:
        return _people_page(request, panel)

    @router.post("/people")
    def add(request: Request, person: Coordinator, form: SentForm) -> Response:
        now = panel.now()
        try:
            role = Role(form.get("role", ""))
        except ValueError:
            return _people_page(request, panel, problem="Choose a role.", status=400, typed=form)
        names = [each.strip() for each in form.get("name", "").splitlines() if each.strip()]
        emails = [each.strip() for each in form.get("email", "").splitlines()]
        try:
            if len(names) > MOST_AT_ONCE:
                raise MedjuryError(f"Invite at most {MOST_AT_ONCE} people at once; these are {len(names)}.")
            if len([each for each in emails if each]) > len(names):
                raise MedjuryError("There are more e-mail addresses than names.")
            emails += [""] * (len(names) - len(emails))
            with panel.database.writing() as connection:  # all of them, or nobody
                guests = [
                    add_person(connection, name, role, now=now, email=email)
                    for name, email in zip(names or [""], emails or [""], strict=False)
                ]
                made = [(guest, invite(connection, guest, by=person, now=now)) for guest in guests]
        except MedjuryError as error:
            return _people_page(request, panel, problem=str(error), status=400, typed=form)
        return _invited(request, panel, made)

    @router.post("/people/{identity}/invite")
    def again(request: Request, identity: str, person: Coordinator, form: SentForm) -> Response:
        now = panel.now()
        with panel.database.writing() as connection:
            guest = _known(person_by_id(connection, identity))
            secret = invite(connection, guest, by=person, now=now)
        return _invited(request, panel, [(guest, secret)])

    @router.post("/people/{identity}/disable")
    def disable(request: Request, identity: str, person: Coordinator, form: SentForm) -> Response:
        now = panel.now()
        if identity == person.id:
            return _people_page(request, panel, problem="You cannot lock yourself out.", status=400)
        with panel.database.writing() as connection:
            guest = _known(person_by_id(connection, identity))
            change_person(connection, guest, disabled_at=stored(now))
            end_sessions(connection, guest, now)
            withdraw_invitations(connection, guest, now)
            trail(connection, person, "locked out", guest.id, now=now)
        return RedirectResponse("/people", 303)

    @router.post("/people/{identity}/enable")
    def enable(request: Request, identity: str, person: Coordinator, form: SentForm) -> Response:
        with panel.database.writing() as connection:
            guest = _known(person_by_id(connection, identity))
            change_person(connection, guest, disabled_at=None)
            trail(connection, person, "let in again", guest.id, now=panel.now())
        return RedirectResponse("/people", 303)


def _known(found: Person | None) -> Person:
    if found is None:
        raise HTTPException(404)
    return found


def _people_page(
    request: Request, panel: Panel, *, problem: str = "", status: int = 200, typed: Form | None = None
) -> Response:
    now = panel.now()
    with panel.database.reading() as connection:
        states = people(connection)
        until = {each.id: open_invitation_until(connection, each, now) for each in states}
    return page(
        request,
        "access/people.html",
        status=status,
        people=states,
        until=until,
        roles=list(Role),
        problem=problem,
        typed=typed or {},
    )


def _invited(request: Request, panel: Panel, made: Sequence[tuple[Person, str]]) -> Response:
    """The links are shown once: only their hashes are kept."""
    links = [(guest, join_address(panel, secret)) for guest, secret in made]
    codes = [qr_code(link) for _, link in links]
    is_here = is_local(panel.host)
    return page(request, "access/invited.html", invitations=links, codes=codes, is_here=is_here)


def qr_code(link: str) -> Markup:
    """The link for a phone's camera: one path, made here, so that no address leaves this machine. Empty where the
    package for it is not installed."""
    try:
        import segno
    except ModuleNotFoundError:
        return Markup("")
    drawn = segno.make_qr(link, error="m").svg_inline(border=4, light="#fff", svgclass="qr", omitsize=True)
    return Markup(drawn)  # noqa: S704 - squares and nothing that a person typed


SHOWN = 500


def _add_trail(router: APIRouter, panel: Panel) -> None:
    @router.get("/trail")
    def everything(request: Request, person: Coordinator) -> Response:
        with panel.database.reading() as connection:
            entries = list(trail_entries(connection, newest=SHOWN))
            names = names_of_people(connection)
            try:
                last, problem = check_trail(connection), ""
            except MedjuryError as error:
                last, problem = None, str(error)
        return page(
            request,
            "access/trail.html",
            entries=entries,
            about=about_in_words,
            names=names,
            problem=problem,
            last=last,
            shown=SHOWN,
        )


_COORDINATOR = frozenset({Role.COORDINATOR})
NAVIGATION = (
    NavigationLink("/people", "People", _COORDINATOR, order=30),
    NavigationLink("/api-keys", "API keys", _COORDINATOR, order=85),
    NavigationLink("/trail", "Audit trail", _COORDINATOR, order=90),
)


def routes(panel: Panel) -> APIRouter:
    router = APIRouter()
    add_sign_in_routes(router, panel)
    add_join_routes(router, panel)
    add_passkey_routes(router, panel)
    add_open_id_routes(router, panel)
    add_account_routes(router, panel)
    _add_people(router, panel)
    add_api_key_routes(router, panel)
    _add_trail(router, panel)
    return router
