"""A whole study for all tests of the evidence: the recipe econsult, run offline as a user runs it."""

from __future__ import annotations

from pathlib import Path

import pytest

from medjury.cli import main


@pytest.fixture(scope="session")
def econsult(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its run folder: claims, verdicts in both orders, five judges side by side, three physicians."""
    folder = tmp_path_factory.mktemp("recipe") / "econsult"
    assert main(["init", str(folder), "--recipe", "econsult"]) == 0
    assert main(["run", str(folder / "study.yaml"), "--quiet"]) == 0
    return folder / "runs" / "econsult"
