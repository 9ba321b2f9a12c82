"""The identity token: nothing is believed that the provider has not signed, for us, for this sign-in, now."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from hmac import compare_digest
from typing import Any

import jwt

from medjury.foundation.errors import MedjuryError
from medjury.panel._open_id_settings import OpenIdSettings

CLOCKS_MAY_DIFFER = timedelta(minutes=2)
# Signed by the provider's private key: never in a way for which a secret that we share, or no key at all, would do.
_KEY_KINDS = {
    **dict.fromkeys(("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"), "RSA"),
    **dict.fromkeys(("ES256", "ES384", "ES512"), "EC"),
    "EdDSA": "OKP",
}


class ProviderError(MedjuryError):
    """The provider cannot be asked, or what it says cannot be believed."""


@dataclass(frozen=True)
class Identity:
    """Whom the provider signed in. The e-mail address is there only where the provider says that it is verified."""

    subject: str
    email: str | None


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
    return Identity(
        subject, email if claims.get("email_verified") is True and isinstance(email, str) else None
    )


def _signed(
    token: str, key_of: Callable[[str | None, str], dict[str, Any] | None], settings: OpenIdSettings
) -> dict[str, Any]:
    try:
        header = jwt.get_unverified_header(token)
        algorithm, kid = header.get("alg"), header.get("kid")
        if algorithm not in _KEY_KINDS:
            raise ProviderError("the identity token is signed in a way that proves nothing")
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
