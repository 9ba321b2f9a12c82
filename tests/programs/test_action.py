"""The steps of action.yml, run as they are in a shell: the verdict, its file, the comment, and a refusal."""

from __future__ import annotations

import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import yaml
from tests.loopback import LoopbackServer
from tests.passports.passported import write_study

ROOT = Path(__file__).parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
MEDJURY = f'#!/bin/sh\nexec "{sys.executable}" -m medjury "$@"\n'
# It writes down what it was given, and fails where there is no token, as the real one does.
GH = '#!/bin/sh\n[ "$GH_TOKEN" = secret ] || exit 4\necho "$@" >> "$0.calls"\ncp "$5" "$0.page"\n'


def act(folder: Path, program: str = MEDJURY, **given: str) -> tuple[int, dict[str, str], str]:
    """Every step in its order, as a runner does: the exit status, the outputs, and the page of the summary."""
    folder.mkdir(exist_ok=True)
    commands = folder / "bin"
    commands.mkdir(exist_ok=True)
    for name, text in {"medjury": program, "gh": GH}.items():
        (commands / name).write_text(text)
        (commands / name).chmod(0o755)
    inputs = {name: each.get("default", "") for name, each in ACTION["inputs"].items()} | given
    known = {f"inputs.{name}": value for name, value in inputs.items()}
    known |= {"github.repository": "site/scribe", "github.event.pull_request.number": "7"}
    runner = {
        "GITHUB_ACTION_PATH": str(ROOT), "RUNNER_TEMP": str(folder),
        "GITHUB_STEP_SUMMARY": str(folder / "summary.md"), "GITHUB_OUTPUT": str(folder / "output"),
        "PATH": f"{commands}:{os.environ['PATH']}",
    }  # fmt: skip
    status = 0
    for step in ACTION["runs"]["steps"]:
        assert step["shell"] == "bash" and "${{" not in step["run"], (
            "values reach the shell as variables alone"
        )
        own = {
            name: known[value.removeprefix("${{").removesuffix("}}").strip()]
            for name, value in step.get("env", {}).items()
        }
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            env={**os.environ, **runner, **own}, cwd=folder, capture_output=True, text=True, check=False,
        )  # fmt: skip
        if status := done.returncode:
            break
    output = folder / "output"
    outputs = dict(line.split("=", 1) for line in output.read_text().splitlines()) if output.exists() else {}
    summary = folder / "summary.md"
    return status, outputs, summary.read_text() if summary.exists() else done.stderr


def test_a_validated_run_of_a_signed_card_passes_and_the_page_is_a_comment(
    run: Path, signed: tuple[Path, Path], tmp_path: Path
) -> None:
    card, signers = map(str, signed)
    status, outputs, page = act(tmp_path / "good", run=str(run), card=card, signers=signers, token="secret")
    assert (status, outputs) == (0, {"verdict": "VALIDATED"}), page
    assert page.startswith("### Medjury: VALIDATED\n\n    VALIDATED\n")
    suite = ElementTree.parse(tmp_path / "good" / "medjury.xml").getroot()
    assert {each.get("name") for each in suite.iter("testcase")} > {"agreement", "missed_danger"}
    gh = tmp_path / "good" / "bin"
    assert (gh / "gh.calls").read_text().startswith("pr comment 7 --body-file ")
    assert (gh / "gh.page").read_text() == page


def test_a_swapped_model_is_refused(server: LoopbackServer, card: Path, tmp_path: Path) -> None:
    """The study is run first, with another model, and that run is gated: no earlier one."""
    other: dict[str, Any] = {"kind": "openai", "name": "juror", "url": server.url, "model": "other"}
    study = write_study(tmp_path / "site", server, cases=20, judges=[other | {"temperature": 0}])
    status, outputs, page = act(
        tmp_path / "bad", run="runs/gated", study=str(study), card=str(card), token="expired"
    )
    assert (status, outputs) == (6, {"verdict": "REFUSED"}), page
    assert (tmp_path / "bad" / "runs" / "gated" / "manifest.json").exists()
    assert "a different jury: juror, model" in page
    assert not (tmp_path / "bad" / "bin" / "gh.calls").exists(), "a comment that fails changes nothing"


def test_a_card_that_no_trusted_key_signed_is_refused(
    run: Path, card: Path, signed: tuple[Path, Path], tmp_path: Path
) -> None:
    status, outputs, page = act(tmp_path / "bad", run=str(run), card=str(card), signers=str(signed[1]))
    assert (status, outputs) == (6, {"verdict": "REFUSED"}), page


def test_the_verdict_is_a_word_whatever_is_printed_before_it(run: Path, tmp_path: Path) -> None:
    """A run with cases for development says first how many are set aside."""
    said = "#!/bin/sh\necho '12 cases count; 3 are set aside'\necho 'NOT VALIDATED'\nexit 4\n"
    status, outputs, page = act(tmp_path / "gate", said, run=str(run))
    assert (status, outputs) == (4, {"verdict": "NOT VALIDATED"})
    assert page.startswith("### Medjury: NOT VALIDATED\n\n    12 cases count")


def test_wrong_input_ends_before_the_gate(run: Path, tmp_path: Path) -> None:
    status, outputs, _ = act(tmp_path / "none", run=str(run), study=str(tmp_path / "missing.yaml"))
    assert status not in (0, 3) and outputs == {}, "an earlier run is no verdict on a study that cannot run"
