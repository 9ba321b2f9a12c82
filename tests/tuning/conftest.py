"""The planted world on a loopback endpoint."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.loopback import LoopbackServer
from tests.tuning.world import answer

pytest.importorskip("gepa", reason="tuning needs pip install 'medjury[tuning]'")


@pytest.fixture
def server() -> Iterator[LoopbackServer]:
    with LoopbackServer(answer) as server:
        yield server
