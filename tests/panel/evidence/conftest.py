"""A whole study for all tests of the evidence: the recipe econsult, run offline as a user runs it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.recipes.offline import run_recipe


@pytest.fixture(scope="session")
def econsult(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its run folder: claims, verdicts in both orders, five judges side by side, three physicians."""
    folder = tmp_path_factory.mktemp("recipe") / "econsult"
    shutil.copytree(run_recipe(tmp_path_factory, "econsult"), folder)
    return folder / "runs" / "econsult"
