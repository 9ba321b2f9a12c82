"""A pair in the evidence: both answers side by side under their names, and each judge's votes in both orders."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from tests.panel.evidence.planted_run import Reader
from tests.recipes.offline import run_recipe

from medjury.panel._evidence._run import EvidenceRun


def test_both_answers_and_the_votes_in_both_orders(
    tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    shutil.copytree(run_recipe(tmp_path_factory, "pairs"), tmp_path / "mine")
    run = EvidenceRun(tmp_path / "mine" / "runs" / "pairs")
    place = run.state.snapshot.keys.index(("reply-01", "atlas vs cirrus"))
    html = Reader(run).text(run.state.address(place))
    page = re.sub(r"\s+", " ", re.sub("<[^>]+>", " ", html))
    assert "mean of 2 orders" in page
    assert page.count("atlas shown first") >= 4 and page.count("cirrus shown first") >= 4
    assert "<h3>atlas</h3>" in html and "<h3>cirrus</h3>" in html and "There is no answer" not in page
