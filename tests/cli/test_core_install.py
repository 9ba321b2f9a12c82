"""A core install is enough: every analysis and the page of the report run without a single extra."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from tests.cli.core_only import core_distributions, hidden_packages
from tests.loopback import Call, LoopbackServer

TEXT = re.compile(r"case-\d+ of [ab]\.")
RUN, TABLE = "runs/small", "runs/small/ratings.csv"
RATED = ["--reference", "ward,clinic", "--dimension", "accuracy"]
COMMANDS = {
    "run": ["run", "study.yaml", "--quiet"],
    "agreement": ["agreement", TABLE, *RATED, "--scale", "1", "5", "--resamples", "99"],
    "calibrate": ["calibrate", "report", TABLE, *RATED, "--scale", "1", "5", "--resamples", "99"],
    "estimate": ["estimate", TABLE, *RATED, "--scale", "1", "5"],
    "triage": ["triage", TABLE, *RATED, "--scale", "1", "5", "--resamples", "99"],
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
    "verify": ["runs", "verify", RUN],
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
    chance = random.Random(0)
    grades = {f"{case} of {system}.": chance.randint(1, 5) for case, system in rows}
    scores = [
        f"{case},{system},{rater},accuracy,{near(grades[f'{case} of {system}.'], chance)}"
        for case, system in rows
        for rater in ("ward", "clinic")
    ]
    (folder / "humans.csv").write_text("\n".join(["item,system,rater,dimension,score", *scores]) + "\n")
    (folder / "pairs.csv").write_text("said,heard\ntwo tablets a day,two tablet a day\nno pain,no pain\n")

    def answer(call: Call) -> str:
        """A grade near the truth, another for every judge and case."""
        score = near(grades[str(TEXT.search(call.prompt)[0])], random.Random(call.body))  # type: ignore[index]
        return "ok:" + json.dumps({"accuracy": {"explanation": "as the note shows", "score": score}})

    with LoopbackServer(answer) as server:
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


def near(grade: int, chance: random.Random) -> int:
    return min(5, max(1, grade + chance.choice((-1, 0, 0, 1))))


def environment() -> dict[str, str]:
    """This test's own path, so that the process finds the same medjury and the tests."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(each for each in sys.path if each)}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_runs(command: str, told: dict[str, Any]) -> None:
    answer = told["commands"][command]
    assert answer["status"] == 0, answer["err"]
    assert answer["out"].strip() or command == "run"
    assert "pip install" not in answer["out"] + answer["err"]


def test_the_page_has_its_numbers_its_tables_and_its_figures(told: dict[str, Any], folder: Path) -> None:
    page = (folder / RUN / "report.html").read_text()
    assert "AUXILIARY" in page and "kappa" in page and "pip install" not in page
    assert list((folder / RUN / "figures").glob("*.svg")) and list((folder / RUN / "tables").glob("*.csv"))


def test_what_is_hidden_is_what_an_extra_or_a_test_brings(told: dict[str, Any]) -> None:
    """The trick itself: the packages are here, and the commands could not load them."""
    assert {"numpy", "scipy", "polars"} <= core_distributions()
    oracles = {"matplotlib", "sklearn", "statsmodels", "pingouin", "krippendorff", "pandas", "pytest"}
    assert all(find_spec(name) for name in oracles) and oracles <= hidden_packages()
    assert not hidden_packages() & set(told["loaded"])
    assert {"numpy", "scipy", "polars"} <= set(told["loaded"])
