"""A core install is enough: every analysis and the page of the report run without a single extra."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from tests.cli.core_only import core_distributions, hidden_packages
from tests.loopback import LoopbackServer

RUN, TABLE = "runs/small", "runs/small/ratings.csv"
RATED = ["--reference", "ward,clinic", "--dimension", "accuracy"]
COMMANDS = {
    "run": ["run", "study.yaml", "--quiet"],
    "agreement": ["agreement", TABLE, *RATED, "--scale", "1", "5", "--resamples", "99"],
    "calibrate": ["calibrate", "report", TABLE, *RATED, "--scale", "1", "5", "--resamples", "99"],
    "estimate": ["estimate", TABLE, *RATED, "--scale", "1", "5"],
    "triage": ["triage", TABLE, "--dimension", "accuracy", "--scale", "1", "5"],
    "rank": ["rank", TABLE, "--dimension", "accuracy", "--resamples", "99"],
    "audit": ["audit", TABLE, "--dimension", "accuracy", "--cases", "cases.jsonl", "--resamples", "99"],
    "plan": ["plan", "kappa", "--shares", "0.2,0.3,0.5", "--value", "0.6", "--width", "0.2"],
    "metrics": [
        "metrics",
        "pairs.csv",
        "--reference",
        "said",
        "--hypothesis",
        "heard",
        "--out",
        "scored.csv",
    ],
    "report": ["report", RUN],
    "compare": ["compare", RUN, RUN, "--resamples", "200"],
    "verify": ["verify", RUN],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the commands run: 30 cases of 2 systems, rated by 2 clinicians, and a few pairs of texts."""
    return tmp_path_factory.mktemp("core")


@pytest.fixture(scope="module")
def told(folder: Path) -> dict[str, Any]:
    """What every command answered, all of them in one process without extras."""
    rows = [(f"case-{number}", system) for number in range(30) for system in ("a", "b")]
    cases = [{"id": case, "system": system, "candidate": f"{case} of {system}.", "texts": {"context": "A note."}}
             for case, system in rows]  # fmt: skip
    (folder / "cases.jsonl").write_text("".join(json.dumps(each) + "\n" for each in cases))
    grades = random.Random(0)
    scores = [
        f"{case},{system},{rater},accuracy,{grades.randint(1, 5)}"
        for case, system in rows
        for rater in ("ward", "clinic")
    ]
    (folder / "humans.csv").write_text("\n".join(["item,system,rater,dimension,score", *scores]) + "\n")
    (folder / "pairs.csv").write_text("said,heard\ntwo tablets a day,two tablet a day\nno pain,no pain\n")
    with LoopbackServer() as server:
        judges = [
            {"kind": "openai", "name": name, "url": server.url, "model": name} for name in ("one", "two")
        ]
        study = {"study": "small", "cases": "cases.jsonl", "instrument": "note_quality",
                 "dimensions": ["accuracy"], "judges": judges,
                 "humans": {"path": "humans.csv", "keep_names": True}, "report": {"resamples": 200}}  # fmt: skip
        (folder / "study.yaml").write_text(
            "".join(f"{key}: {json.dumps(each)}\n" for key, each in study.items())
        )
        words = [sys.executable, "-m", "tests.cli.core_only", json.dumps(list(COMMANDS.values()))]
        done = subprocess.run(
            words, cwd=folder, env=environment(), capture_output=True, text=True, check=False
        )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    return {**found, "commands": dict(zip(COMMANDS, found["commands"], strict=True))}


def environment() -> dict[str, str]:
    """This test's own path, so that the process finds the same medjury and the tests."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(each for each in sys.path if each)}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_runs(command: str, told: dict[str, Any]) -> None:
    answer = told["commands"][command]
    assert answer["status"] == 0, answer["err"]
    assert answer["out"].strip() or command == "run"
    assert "pip install" not in answer["out"] + answer["err"]


def test_the_page_has_its_numbers_and_says_what_figures_need(told: dict[str, Any], folder: Path) -> None:
    page = (folder / RUN / "report.html").read_text()
    assert "NOT VALIDATED" in page and "kappa" in page
    assert "pip install 'medjury[report]'" in page.replace("&#x27;", "'")
    assert not list(folder.rglob("*.svg")) and list((folder / RUN / "tables").iterdir())


def test_what_is_hidden_is_what_an_extra_or_a_test_brings(told: dict[str, Any]) -> None:
    """The trick itself: the packages are here, and the commands could not load them."""
    assert {"numpy", "scipy", "polars"} <= core_distributions()
    oracles = {"matplotlib", "sklearn", "statsmodels", "pingouin", "krippendorff", "pandas", "pytest"}
    assert all(find_spec(name) for name in oracles) and oracles <= hidden_packages()
    assert not hidden_packages() & set(told["loaded"])
    assert {"numpy", "scipy", "polars"} <= set(told["loaded"])
