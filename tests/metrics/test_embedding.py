"""Sentence vectors are loaded when they are first asked for, and never fetched."""

from __future__ import annotations

from pathlib import Path

import pytest

from medjury.foundation.errors import MedjuryError
from medjury.texts.metrics import sentence_embedder


def test_nothing_is_loaded_before_the_first_text(tmp_path: Path) -> None:
    embed = sentence_embedder(tmp_path / "no such model")
    with pytest.raises(MedjuryError, match=r"torch|cannot be loaded"):
        embed(["chest pain"])
