"""One validated run and its passport for all tests of passports."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.loopback import LoopbackServer
from tests.passports.passported import as_clinicians, validated_run

from medjury.in_use.passports import make_passport


@pytest.fixture(scope="package")
def validated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[LoopbackServer, Path, str]]:
    """The endpoint, the run folder, and the text of its passport."""
    with LoopbackServer() as server:
        run = validated_run(tmp_path_factory.mktemp("validated"), server)
        yield server, run, make_passport(run).text()


@pytest.fixture
def server(validated: tuple[LoopbackServer, Path, str]) -> LoopbackServer:
    validated[0].endpoint.behaviours = as_clinicians
    return validated[0]


@pytest.fixture
def run(validated: tuple[LoopbackServer, Path, str]) -> Path:
    return validated[1]


@pytest.fixture
def passport(validated: tuple[LoopbackServer, Path, str], server: LoopbackServer, tmp_path: Path) -> Path:
    file = tmp_path / "passport.json"
    file.write_text(validated[2])
    return file
