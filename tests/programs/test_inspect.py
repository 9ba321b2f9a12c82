"""The scorer `medjury/jury` in the real Inspect, found by its entry point: scores, or NaN with the reason."""

from __future__ import annotations

import json
import math
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from tests.loopback import LoopbackServer
from tests.passports.passported import grade, row
from tests.suites.exchange.juries import nothing_leaves
from tests.suites.exchange.test_with_inspect import run as evaluate

from medjury.in_use.passports import RefusedError

inspect_ai = pytest.importorskip(
    "inspect_ai", reason="inspect_ai is not installed; `make test-interop` brings it"
)
pytestmark = pytest.mark.filterwarnings("ignore")
PYPROJECT = Path(__file__).parents[2] / "pyproject.toml"


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What an installation of this checkout would write beside other packages."""
    points = tomllib.loads(PYPROJECT.read_text())["project"]["entry-points"]["inspect_ai"]
    folder = tmp_path / "site" / "medjury-0.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: medjury\nVersion: 0\n")
    lines = "".join(f"{name} = {module}\n" for name, module in points.items())
    (folder / "direct_url.json").write_text(
        json.dumps({"url": PYPROJECT.parent.as_uri(), "dir_info": {"editable": True}})
    )
    (folder / "entry_points.txt").write_text(f"[inspect_ai]\n{lines}")
    monkeypatch.setattr(sys, "path", [str(folder.parent), *sys.path])
    # Inspect looks for what is installed once, and another test may have made it look before.
    from inspect_ai._util.entrypoints import clear_entry_points_state
    from inspect_ai._util.package import get_package_direct_url

    clear_entry_points_state()
    get_package_direct_url.cache_clear()


def scorer(**given: Any) -> Any:
    """As `inspect score --scorer medjury/jury -S card=...` makes it."""
    from inspect_ai._util.registry import registry_create
    from inspect_ai.scorer import Scorer

    made: Scorer = registry_create(
        "scorer", "medjury/jury", **{name: str(value) for name, value in given.items()}
    )
    return made


def task(scored_by: Any, *numbers: int) -> Any:
    from inspect_ai import Task
    from inspect_ai.dataset import Sample

    samples = [
        Sample(
            id=str(number),
            input=row(number)["texts"]["context"],
            metadata={**row(number)["metadata"], "system": "a"},
        )
        for number in numbers
    ]
    return Task(dataset=samples, scorer=scored_by)


def test_every_sample_has_scores_or_nan_with_the_reason(
    installed: None, card: Path, answers: Path, server: LoopbackServer, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    before = len(server.calls)
    said = [row(201)["candidate"], row(203)["candidate"], "Visit 204. something else.", ""]
    with nothing_leaves(monkeypatch) as tried:
        log = evaluate(task(scorer(card=card, answers=answers), 201, 203, 204, 202), tmp_path / "logs", said)
    assert tried == [] and len(server.calls) == before
    scores = {each.id: each.scores["jury"] for each in log.samples}
    assert scores["201"].value == {"accuracy": grade(201)} and scores["201"].explanation == "juror: so it is"
    assert scores["201"].metadata["inside"]
    for number, reason in (("203", "refusal"), ("204", "not_stored")):
        assert math.isnan(scores[number].value)
        assert scores[number].metadata["unscored"] == {"accuracy": f"no_quorum; juror: {reason}"}
    assert math.isnan(scores["202"].value) and scores["202"].reason == "no_response"
    (result,) = log.results.scores
    assert result.metrics["mean"].value == grade(201), (
        "what has no score is left out of the mean, and counted"
    )
    assert (result.scored_samples, result.unscored_samples) == (1, 3)


def test_a_swapped_model_is_refused_when_it_is_named_and_when_it_answers(
    installed: None, card: Path, swapped: Path, server: LoopbackServer, tmp_path: Path
) -> None:
    with pytest.raises(RefusedError, match="a different jury: juror, model"):
        scorer(card=card, study=swapped)
    server.endpoint.behaviours = lambda call: "model:m-2031-01-01"
    with pytest.raises(AssertionError, match=r"RefusedError.*the model that answers is not the one"):
        evaluate(task(scorer(card=card), 208), tmp_path / "logs", [row(208)["candidate"]])
