"""A card, the recorded answers of its jury on a few cases, and ways in which the jury is another one."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.loopback import LoopbackServer
from tests.passports.conftest import passport, run, server, validated
from tests.passports.passported import as_clinicians, row

from medjury.cli import main
from medjury.in_use.programs import CardJury

__all__ = ["passport", "run", "server", "validated"]


@pytest.fixture
def card(passport: Path) -> Path:
    return passport


@pytest.fixture(scope="package")
def recorded(validated: tuple[LoopbackServer, Path, str], tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """What the jury answered on the cases 201 to 204; of 203 the endpoint refused."""
    server, _, text = validated
    server.endpoint.behaviours = lambda call: (
        "refusal" if "Visit 203." in call.prompt else as_clinicians(call)
    )
    folder = tmp_path_factory.mktemp("recorded")
    (folder / "card.json").write_text(text)
    with CardJury(folder / "card.json") as jury:
        for number in range(201, 205):
            jury.judge(row(number))
        assert jury.record(folder / "answers.jsonl") == 4
    return (folder / "answers.jsonl").read_bytes()


@pytest.fixture
def answers(recorded: bytes, tmp_path: Path) -> Path:
    file = tmp_path / "answers.jsonl"
    file.write_bytes(recorded)
    return file


@pytest.fixture(scope="package")
def signed(
    validated: tuple[LoopbackServer, Path, str], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Path]:
    """A card with a signature, and the key that made it. Tests only read them."""
    if shutil.which("ssh-keygen") is None:
        pytest.skip("ssh-keygen is not here")
    (_, run, _), folder = validated, tmp_path_factory.mktemp("signed")
    key, file = folder / "key", folder / "signed.json"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    assert main(["passport", "make", str(run), "--out", str(file), "--sign", str(key)]) == 0
    return file, key.with_suffix(".pub")


@pytest.fixture
def swapped(tmp_path: Path, server: LoopbackServer) -> Path:
    """How the judges are reached here, where somebody serves another model."""
    file = tmp_path / "swapped.yaml"
    file.write_text(json.dumps({"judges": {"juror": {"url": server.url, "model": "other"}}}))
    return file
