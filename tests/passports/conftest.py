"""One validated run and its passport for all tests of passports."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest
from tests.loopback import LoopbackServer
from tests.passports.card_schema import DOCS
from tests.passports.passported import as_clinicians, validated_run

from medjury.in_use.passports import Passport, make_passport


@pytest.fixture(scope="package", autouse=True)
def every_card_fits_the_schema() -> Iterator[None]:
    """Whatever card a test makes, the schema's own validator is asked about it."""
    schema, text = jsonschema.Draft202012Validator(json.loads(DOCS.read_text())), Passport.text

    def fitting(card: Passport) -> str:
        made = text(card)
        if card.hash:
            schema.validate(json.loads(made))
        return made

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Passport, "text", fitting)
        yield


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
