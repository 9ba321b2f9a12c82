"""Signing in with the site's own account (OpenID Connect, authorization code with PKCE).

Nobody gets in who was not invited: an account is known by its subject once it has joined, and joins by its link, or
by the verified e-mail address that the coordinator wrote into a still open invitation.
"""

from __future__ import annotations

import hashlib
import json
import math
import sys
import threading
import time
import urllib.error
import urllib.request
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from hmac import compare_digest
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode, urlsplit

import jwt
from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import Response
from sqlalchemy import select, update

from medjury.foundation.errors import MedjuryError
from medjury.models import host_of, is_local
from medjury.panel._access._people import Person, compared, person_by_id, person_of
from medjury.panel._access._sessions import form_secret, hash_of, keep_challenge, new_secret, take_challenge
from medjury.panel._access._sign_in import (
    invited,
    joined,
    let_in,
    open_invitation_of,
    over,
    own_path,
    use_invitation,
)
from medjury.panel._access._visitors import Anyone, SentForm
from medjury.panel._language import _
from medjury.panel._look import error_page, page
from medjury.panel._panel import OpenIdSettings, Panel
from medjury.panel._tables import people_table

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection


# The identity token: nothing is believed that the provider has not signed, for us, for this sign-in, now.

CLOCKS_MAY_DIFFER = timedelta(minutes=2)
# Signed by the provider's private key: never in a way for which a secret that we share, or no key at all, would do.
_KEY_KINDS = {
    **dict.fromkeys(("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"), "RSA"),
    **dict.fromkeys(("ES256", "ES384", "ES512"), "EC"),
    "EdDSA": "OKP",
}


class ProviderError(MedjuryError):
    """The provider cannot be asked, or what it says cannot be believed."""


# Whom the provider signed in: the subject, and the e-mail address where the provider says that it is verified.
Identity = tuple[str, str | None]


def key_for(keys: Sequence[Any], kid: str | None, algorithm: str) -> dict[str, Any] | None:
    """The one key for signatures that has this id and fits this way of signing."""
    fits = [
        key
        for key in keys
        if isinstance(key, dict)
        and key.get("use", "sig") == "sig"
        and key.get("kty") == _KEY_KINDS[algorithm]
        and (kid is None or key.get("kid") == kid)
    ]
    return fits[0] if len(fits) == 1 else None


def identity_in(
    token: str,
    key_of: Callable[[str | None, str], dict[str, Any] | None],
    settings: OpenIdSettings,
    *,
    nonce: str,
    now: datetime,
) -> Identity:
    """Whom the token names, once everything about it was checked."""
    claims = _signed(token, key_of, settings)
    if not compare_digest(str(claims.get("nonce", "")).encode(), nonce.encode()):
        raise ProviderError("the identity token belongs to another sign-in")
    _refuse_other_times(claims, now)
    audiences = claims["aud"] if isinstance(claims["aud"], list) else [claims["aud"]]
    if (len(audiences) > 1 or "azp" in claims) and claims.get("azp") != settings.client_id:
        raise ProviderError("the identity token was made for another client")
    subject, email = claims["sub"], claims.get("email")
    if not isinstance(subject, str) or not 0 < len(subject) <= 255:
        raise ProviderError("the identity token names nobody")
    return subject, email if claims.get("email_verified") is True and isinstance(email, str) else None


def _signed(
    token: str, key_of: Callable[[str | None, str], dict[str, Any] | None], settings: OpenIdSettings
) -> dict[str, Any]:
    try:
        header = jwt.get_unverified_header(token)
        algorithm, kid = header.get("alg"), header.get("kid")
        if algorithm not in _KEY_KINDS:
            raise ProviderError("the identity token has a signature that proves nothing")
        key = key_of(kid, algorithm)
        if key is None:
            raise ProviderError("the identity token is signed by a key that the provider does not name")
        return jwt.decode(
            token,
            jwt.PyJWK(key, algorithm),
            algorithms=[algorithm],
            audience=settings.client_id,
            issuer=settings.issuer,
            options={
                "require": ["iss", "sub", "aud", "exp", "iat"],
                "verify_exp": False,  # times are checked by the panel's own clock
                "verify_iat": False,
                "verify_nbf": False,
            },
        )
    except (jwt.PyJWTError, ValueError, TypeError, RecursionError):
        raise ProviderError("the identity token is not from the provider, or not for us") from None


def _refuse_other_times(claims: Mapping[str, Any], now: datetime) -> None:
    moment, slack = now.timestamp(), CLOCKS_MAY_DIFFER.total_seconds()
    made, ends, begins = claims["iat"], claims["exp"], claims.get("nbf", 0)
    for said in (made, ends, begins):
        if isinstance(said, bool) or not isinstance(said, int | float) or not math.isfinite(said):
            raise ProviderError("the identity token has no readable times")
    if ends <= moment - slack or max(made, begins) > moment + slack:
        raise ProviderError("the identity token is not valid now; compare the clocks of both machines")


# The site's OpenID Connect provider: what it says about itself, its keys, and whom it signed in.
#
# Only hosts that the site named are asked, and no redirect is followed.

_SECONDS, _LARGEST = 10, 1 << 20
_KEPT_SECONDS, _ASKED_AGAIN_SECONDS = 600, 30


class Provider:
    """Asks the provider, and remembers for some minutes what it says about itself."""

    def __init__(self, settings: OpenIdSettings) -> None:
        self.settings = settings
        self._lock = threading.Lock()
        self._kept: dict[str, tuple[float, dict[str, Any]]] = {}

    def sign_in_address(self, *, back_to: str, state: str, nonce: str, challenge: str) -> str:
        """Where the browser goes to sign in."""
        address = self._said("authorization_endpoint")
        asked = {
            "response_type": "code",
            "client_id": self.settings.client_id,
            "redirect_uri": back_to,
            "scope": "openid email",
            "state": state,
            "nonce": nonce,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        return f"{address}{'&' if urlsplit(address).query else '?'}{urlencode(asked)}"

    def is_named_by(self, issuer: str | None) -> bool:
        """Whether an answer comes from this provider by what it says itself. One that always says so (RFC 9207) is
        not believed when it does not: the answer may be another's."""
        if issuer is None:
            return self._discovered().get("authorization_response_iss_parameter_supported") is not True
        return issuer == self.settings.issuer

    def identity(self, *, code: str, back_to: str, verifier: str, nonce: str, now: datetime) -> Identity:
        """Whom the code stands for, from the token that the provider gives us for it."""
        fields = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": back_to,
            "code_verifier": verifier,
            "client_id": self.settings.client_id,
        }
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        if secret := self.settings.client_secret:
            if "client_secret_basic" in self._discovered().get(
                "token_endpoint_auth_methods_supported", ["client_secret_basic"]
            ):
                pair = f"{quote(self.settings.client_id, safe='')}:{quote(secret, safe='')}"
                headers["Authorization"] = f"Basic {b64encode(pair.encode()).decode()}"
            else:
                fields["client_secret"] = secret
        answer = self._fetch(self._said("token_endpoint"), urlencode(fields).encode(), headers)
        token = answer.get("id_token")
        if not isinstance(token, str):
            raise ProviderError("the provider gave no identity token")
        return identity_in(token, self._key, self.settings, nonce=nonce, now=now)

    def _key(self, kid: str | None, algorithm: str) -> dict[str, Any] | None:
        """The key that a token names; where we do not know it, the provider may have a new one."""
        for patience in (_KEPT_SECONDS, _ASKED_AGAIN_SECONDS):
            keys = self._kept_or_fetched(self._said("jwks_uri"), patience).get("keys")
            if found := key_for(keys if isinstance(keys, list) else [], kid, algorithm):
                return found
        return None

    def _discovered(self) -> dict[str, Any]:
        address = f"{self.settings.issuer.rstrip('/')}/.well-known/openid-configuration"
        found = self._kept_or_fetched(address, _KEPT_SECONDS)
        if found.get("issuer") != self.settings.issuer:
            raise ProviderError(
                f"the provider calls itself {found.get('issuer')!r}; write exactly that as `issuer`, if it is right"
            )
        return found

    def _said(self, name: str) -> str:
        """One of the provider's addresses: by https or on this machine, and at a host that the site named."""
        address = self._discovered().get(name)
        if not isinstance(address, str):
            raise ProviderError(f"the provider does not say its {name}")
        try:
            host = host_of(address)
        except MedjuryError:
            raise ProviderError(f"its {name} is not an address") from None
        named = {each.strip().lower().rstrip(".") for each in self.settings.allow_hosts}
        if not is_local(host) and (urlsplit(address).scheme != "https" or host not in named):
            raise ProviderError(f"its {name} is at {host}, which may not be reached: add it to `allow_hosts`")
        return address

    def _kept_or_fetched(self, address: str, patience: float) -> dict[str, Any]:
        with self._lock:
            kept = self._kept.get(address)
            if kept and time.monotonic() - kept[0] < patience:
                return kept[1]
            fresh = self._fetch(address)
            self._kept[address] = (time.monotonic(), fresh)
            return fresh

    def _fetch(
        self, address: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> dict[str, Any]:
        request = urllib.request.Request(  # noqa: S310 - http(s) alone: host_of has seen it
            address, body, {"Accept": "application/json", **(headers or {})}
        )
        opener = urllib.request.build_opener(_NoRedirect, urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=_SECONDS) as answer:
                text = answer.read(_LARGEST + 1)
            found = json.loads(text) if len(text) <= _LARGEST else None
        except (OSError, ValueError, RecursionError):
            raise ProviderError("the site's sign-in service does not answer as it should") from None
        if not isinstance(found, dict):
            raise ProviderError("the site's sign-in service does not answer as it should")
        return found


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Another address than the one we asked is not the provider."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


_PURPOSE, _RETURN = "sign in with the site's account", "/sign-in/openid/return"


def add_open_id_routes(router: APIRouter, panel: Panel) -> None:
    if panel.open_id is None:
        return
    provider = Provider(panel.open_id)

    @router.post("/sign-in/openid")
    def begin(request: Request, visitor: Anyone, form: SentForm) -> Response:
        return _go(request, panel, provider, {"next": own_path(form.get("next", "/"))})

    @router.post("/join/{secret}/openid")
    def begin_to_join(request: Request, secret: str, visitor: Anyone, form: SentForm) -> Response:
        with panel.database.reading() as connection:
            if invited(connection, hash_of(secret), panel.now()) is None:
                return over(request)
        return _go(request, panel, provider, {"next": "/", "invitation": hash_of(secret)})

    @router.get(_RETURN)
    def come_back(
        request: Request, visitor: Anyone, code: str = "", state: str = "", iss: str | None = None
    ) -> Response:
        with panel.database.writing() as connection:
            kept = take_challenge(connection, state, _PURPOSE, form_secret(request) or "", panel.now())
        try:
            if kept is None or not code or not provider.is_named_by(iss):
                return _failed(request, _("It took too long, was stopped, or began in another browser."))
            identity = provider.identity(
                code=code, back_to=panel.public_url + _RETURN, verifier=kept["verifier"], nonce=kept["nonce"],
                now=panel.now(),
            )  # fmt: skip
        except ProviderError as error:
            print(f"medjury panel: sign-in with the site's account: {error}", file=sys.stderr, flush=True)
            return _failed(request, _("The site's sign-in service gave an answer that cannot be trusted."))
        with panel.database.writing() as connection:
            person = _person(connection, panel, identity, kept.get("invitation"))
        if person is None:
            return _failed(request, _("That account is not invited here. Ask the coordinator for a link."))
        return let_in(request, panel, person, "the site's account", kept["next"])


def _go(request: Request, panel: Panel, provider: Provider, kept: dict[str, str]) -> Response:
    """Send the browser to the provider, from a page of ours: a form may not lead to another site."""
    state, nonce, verifier = new_secret(), new_secret(), new_secret()
    challenge = urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
    browser = form_secret(request)
    if browser is None:
        raise HTTPException(403)
    try:
        address = provider.sign_in_address(
            back_to=panel.public_url + _RETURN, state=state, nonce=nonce, challenge=challenge
        )
    except ProviderError as error:
        print(f"medjury panel: sign-in with the site's account: {error}", file=sys.stderr, flush=True)
        return _failed(request, _("The site's sign-in service cannot be reached. Try again later."), 502)
    with panel.database.writing() as connection:
        content = {**kept, "nonce": nonce, "verifier": verifier}
        keep_challenge(connection, state, _PURPOSE, browser, content, panel.now())
    return page(request, "access/go.html", address=address)


def _person(
    connection: Connection, panel: Panel, identity: Identity, invitation: str | None
) -> Person | None:
    assert panel.open_id is not None
    subject, now = f"{panel.open_id.issuer} {identity[0]}", panel.now()
    email = compared(identity[1]) if identity[1] else None
    row = connection.execute(select(people_table).where(people_table.c.subject == subject)).first()
    if row is not None and invitation is None:
        return None if row.disabled_at is not None else person_of(row)
    if invitation is None and email is not None:
        invitation = open_invitation_of(connection, email, now)
    guest = use_invitation(connection, invitation, now) if invitation else None
    if guest is None:
        return None
    state = person_by_id(connection, guest.id)
    taken = row is not None and row.id != guest.id
    if taken or (state is not None and state.email is not None and state.email != email):
        raise HTTPException(
            403, _("This invitation is for somebody with another account.")
        )  # and stays unused
    joined(connection, guest, "the site's account", now)
    connection.execute(update(people_table).where(people_table.c.id == guest.id).values(subject=subject))
    return guest


def _failed(request: Request, message: str, status: int = 403) -> Response:
    return error_page(request, status, _("You are not signed in"), message)
