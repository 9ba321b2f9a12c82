"""What the adapters that use a vendor's SDK share: the key, the missing package, the fault that ends a call."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

from medjury.foundation.errors import MedjuryError
from medjury.instruments import Reason
from medjury.models._chat import ModelError
from medjury.models._connection import ForbiddenHostError, TooLargeError
from medjury.models._faults import LostReplyError, NotSentError, Place, fault, redirect_fault
from medjury.models._secrets import secrets_of_address


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


def missing_package(name: str, extra: str) -> MedjuryError:
    return MedjuryError(f"model {name}: this kind needs another package: pip install 'medjury[{extra}]'")


def status_fault(
    place: Place, status: int, words: str, prompt: Iterable[str], location: str | None, after: float | None
) -> ModelError:
    """The fault of an answer that was not a success."""
    if 300 <= status < 400:
        return redirect_fault(place, location)
    return fault(place, status, words, prompt, after)


def unreadable(place: Place) -> LostReplyError:
    return LostReplyError(
        Reason.PROVIDER, f"the answer of {place.host} is cut off, or not what was expected", retry=True
    )


def connection_fault(place: Place, error: BaseException) -> ModelError:
    """The fault of a call that broke without a status, whatever an SDK wrapped its cause in."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ForbiddenHostError):
            return NotSentError(Reason.PROVIDER, str(cause), fatal=True)
        if isinstance(cause, TooLargeError):
            return LostReplyError(Reason.PROVIDER, f"the answer of {place.host} is too large: {cause}")
        if type(cause).__name__ in ("ConnectError", "ClientConnectorError", "ConnectionRefusedError"):
            message = f"no connection to {place.host}: is the endpoint running?"
            return NotSentError(Reason.PROVIDER, message, retry=True)
        cause = cause.__cause__ or cause.__context__
    message = f"the connection to {place.host} broke, the answer is lost"
    return LostReplyError(Reason.PROVIDER, message, retry=True)


@asynccontextmanager
async def bounded(place: Place, seconds: float) -> AsyncIterator[None]:
    """Bounds the whole call in time; a connection that is refused or breaks becomes a `ModelError`."""
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        raise LostReplyError(
            Reason.TIMEOUT, f"{place.host} gave no whole answer within {seconds:g} s", retry=True
        ) from None
    except OSError as error:
        raise connection_fault(place, error) from None
    except (json.JSONDecodeError, RecursionError):
        raise unreadable(place) from None
