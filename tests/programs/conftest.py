"""A card, the recorded answers of its jury on a few cases, and ways in which the jury is another one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.loopback import LoopbackServer
from tests.passports.conftest import passport, run, server, validated
from tests.passports.passported import row

from medjury.in_use.programs import CardJury

__all__ = ["passport", "run", "server", "validated"]


@pytest.fixture
def card(passport: Path) -> Path:
    return passport


@pytest.fixture
def answers(card: Path, server: LoopbackServer, tmp_path: Path) -> Path:
    """What the jury answered on the cases 201 to 204; of 203 the endpoint refused."""
    grade = server.endpoint.behaviours
    server.endpoint.behaviours = lambda call: "refusal" if "Visit 203." in call.prompt else grade(call)
    file = tmp_path / "answers.jsonl.gz"
    with CardJury(card) as jury:
        for number in range(201, 205):
            jury.judge(row(number))
        assert jury.record(file) == 4
    server.endpoint.behaviours = grade
    return file


@pytest.fixture
def swapped(tmp_path: Path, server: LoopbackServer) -> Path:
    """How the judges are reached here, where somebody serves another model."""
    file = tmp_path / "swapped.yaml"
    file.write_text(json.dumps({"judges": {"juror": {"url": server.url, "model": "other"}}}))
    return file
