"""The site's OpenID Connect provider: what it says about itself, its keys, and whom it signed in.

Only hosts that the site named are asked, and no redirect is followed.
"""

from __future__ import annotations

import json
import threading
import time
import urllib.error
import urllib.request
from base64 import b64encode
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from medjury.foundation.errors import MedjuryError
from medjury.models import host_of, is_local
from medjury.panel._access._open_id.identity_token import Identity, ProviderError, identity_in, key_for
from medjury.panel._open_id_settings import OpenIdSettings

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
            raise ProviderError(f"its {name} is no address") from None
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
