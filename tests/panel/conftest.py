"""What all tests of the panel share."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest
from anyio.from_thread import start_blocking_portal
from argon2 import PasswordHasher
from starlette.testclient import TestClient, _TestClientTransport
from tests.panel import in_one_call

from medjury.panel._access import _passwords


@pytest.fixture(autouse=True, scope="session")
def _passwords_are_quickly_hashed() -> Iterator[None]:
    """Real argon2 with the least work: dozens of people join in these tests."""
    with pytest.MonkeyPatch.context() as patch:
        quick = cache(lambda: PasswordHasher(time_cost=1, memory_cost=64, parallelism=1))
        patch.setattr(_passwords, "_hasher", quick)
        yield


@pytest.fixture(autouse=True, scope="session")
def _requests_share_an_event_loop() -> Iterator[None]:
    """As on a server: left to itself, a test client starts an event loop and its threads for every request, and
    goes there nine times."""
    with start_blocking_portal() as portal, pytest.MonkeyPatch.context() as patch:
        patch.setattr(TestClient, "portal", portal)
        patch.setattr(_TestClientTransport, "handle_request", in_one_call.answer)
        yield
