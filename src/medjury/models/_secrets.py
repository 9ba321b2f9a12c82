"""Secrets are masked where foreign text enters: an endpoint may repeat a key that it was sent.

The gate masks every failure and every reply before anybody else sees them, so that no secret can reach a rating, a
record, the log, the manifest, the report or the store.
"""

from __future__ import annotations

import os
import re
from base64 import b64encode
from collections.abc import Iterable, Mapping
from dataclasses import replace
from urllib.parse import parse_qsl, quote, urlsplit

from medjury.foundation.errors import MedjuryError
from medjury.models._chat import ModelError, Reply
from medjury.models._faults import Place

MASKED = "***"
_SECRET = re.compile("auth|code|key|pass|secret|sig|token")
_SHORTEST = 4  # in what an endpoint says of a failure
_SHORTEST_IN_REPLY = 8  # in an answer, where a short text may be an ordinary word


class Mask:
    """Masks the secrets of the models that were added, in any case and in the forms they have in an address and in
    a header: "Bearer KEY" is repeated as KEY, and some put a key into base64."""

    def __init__(self) -> None:
        self._known: dict[str, bool] = {}
        self._in_failures: re.Pattern[str] | None = None
        self._in_replies: re.Pattern[str] | None = None

    def add(self, secrets: Mapping[str, bool]) -> None:
        """`secrets` are texts not to be repeated; True says that they are not to be in an answer either."""
        if secrets.items() <= self._known.items():
            return
        self._known |= secrets
        true = {form for each, secret in self._known.items() if secret for form in _forms(each)}
        self._in_failures = _pattern({*self._known, *true}, _SHORTEST)
        self._in_replies = _pattern(true, _SHORTEST_IN_REPLY)

    def failure(self, error: ModelError) -> None:
        if self._in_failures is not None:
            error.message = self._in_failures.sub(MASKED, error.message)
            error.args = (error.message,)

    def reply(self, reply: Reply) -> Reply:
        found = self._in_replies
        if found is None or not (found.search(reply.text) or found.search(reply.model)):
            return reply
        return replace(reply, text=found.sub(MASKED, reply.text), model=found.sub(MASKED, reply.model))


def _forms(secret: str) -> set[str]:
    parts = [each for each in secret.split() if len(each) >= _SHORTEST_IN_REPLY]
    coded = (b64encode(each.encode()).decode().rstrip("=") for each in (secret, *parts))
    return {secret, *parts, *coded}


def _pattern(secrets: Iterable[str], shortest: int) -> re.Pattern[str] | None:
    forms = {form for each in secrets for form in (each, quote(each, safe="")) if len(each) >= shortest}
    if not forms:
        return None
    return re.compile(
        "|".join(re.escape(each) for each in sorted(forms, key=len, reverse=True)), re.IGNORECASE
    )


def secrets_of_address(url: str) -> dict[str, bool]:
    """What an address holds beside the place: the values of its query, of which some are called a secret."""
    return {value: _SECRET.search(name.lower()) is not None for name, value in parse_qsl(urlsplit(url).query)}


def read_key(name: str, place: Place) -> str:
    """The key from the environment; it is never kept anywhere else."""
    key = os.environ.get(place.key_variable or "", "").strip()
    if not key:
        raise MedjuryError(
            f"model {name}: the environment variable {place.key_variable} is not set; it must hold the key "
            f"for {place.host} (export {place.key_variable}=... before the run; never write a key into a file)"
        )
    return key


def known_secrets(place: Place, url: str) -> dict[str, bool]:
    """What must not be repeated of how the endpoint is reached."""
    key = os.environ.get(place.key_variable or "", "").strip()
    return secrets_of_address(url) | ({key: True} if key else {})
