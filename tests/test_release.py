"""What is released: one version, a citation, one wheel for everybody, a container that was tried."""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
import yaml
from tests.panel.served import served_by_command

from medjury import __version__
from medjury.cli._main import add_commands

ROOT = Path(__file__).parent.parent
SUITES = ROOT / "src/medjury/suites/library"
SAMPLES = SUITES / "samples"
DOCKERFILE = ROOT / "Dockerfile"


def steps() -> list[tuple[str, str]]:
    """The Dockerfile's instructions, in order, lines that go on joined."""
    text = re.sub(r"\\\n", " ", DOCKERFILE.read_text(encoding="utf-8"))
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [(word, rest.strip()) for word, _, rest in (line.partition(" ") for line in lines)]


def test_the_version_stands_in_one_place() -> None:
    for file in ("pyproject.toml", "CITATION.cff", "mkdocs.yml", "Dockerfile"):
        assert f'version = "{__version__}"' not in (ROOT / file).read_text(encoding="utf-8"), file
    assert f"## {__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8") or "Unreleased" in (
        ROOT / "CHANGELOG.md"
    ).read_text(encoding="utf-8")


def test_the_citation_is_one() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["cff-version"] == "1.2.0"
    assert {"message", "title", "authors", "license"} <= citation.keys()


def test_the_workflow_builds_every_platform() -> None:
    jobs = yaml.safe_load((ROOT / ".github/workflows/wheels.yml").read_text(encoding="utf-8"))["jobs"]
    systems = {*jobs["build"]["strategy"]["matrix"]["os"]}
    assert systems >= {"ubuntu-latest", "ubuntu-24.04-arm", "macos-latest", "windows-latest"}


@pytest.mark.skipif(sys.platform != "linux", reason="hadolint comes for Linux")
def test_the_dockerfile_has_no_fault_that_its_critic_knows() -> None:
    found = subprocess.run(
        [Path(sys.executable).with_name("hadolint"), str(DOCKERFILE)], capture_output=True, text=True
    )
    assert (found.returncode, found.stdout) == (0, "")


def said_commands() -> list[list[str]]:
    """What the Dockerfile lets `medjury` do by itself, and every command line that its first lines show."""
    own = dict(steps())
    assert json.loads(own["ENTRYPOINT"]) == ["medjury"]
    shown = re.findall(r"^#   docker run .*? medjury (.*?)(?:   .*)?$", DOCKERFILE.read_text(), re.MULTILINE)
    return [json.loads(own["CMD"]), *map(shlex.split, shown)]


@pytest.mark.parametrize("words", said_commands(), ids=" ".join)
def test_every_command_line_of_the_dockerfile_is_accepted(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Read by the command line as it is; the panel is served as well, until it states how to stop it."""
    parser = argparse.ArgumentParser("medjury")
    add_commands(parser, words[0])
    options = parser.parse_args(words)
    assert options.command == words[0]
    if words[0] != "panel":
        return
    assert f"{options.port}:{options.port} " in DOCKERFILE.read_text(), "the port that is let through"
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cases.jsonl").write_text(
        '{"id": "a", "candidate": "Well.", "texts": {"context": "A note."}}\n'
    )
    (tmp_path / options.study).write_text("study: ward\ncases: cases.jsonl\ninstrument: note_quality\n")
    _, _, study, *rest = words
    with served_by_command(Path(study), *rest) as lines:  # at a free port
        assert f"is at http://localhost:{options.port}" in lines[0], lines
        assert any("/join/" in line for line in lines) and not any("Warning" in line for line in lines)


def test_nobody_in_the_container_is_root() -> None:
    users = [rest for word, rest in steps() if word == "USER"]
    assert users and users[-1] not in ("0", "root")
    after = [word for word, _ in steps()][[word for word, _ in steps()].index("USER") :]
    assert "COPY" not in after


@pytest.fixture(scope="module")
def container(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """Every step is carried out as the Dockerfile says it, with the folder in the place of `/`. The packages of the
    lock are those of this environment, found and not fetched again; what is not there would be missed by pip.
    Nothing is compiled to bytecode but what runs here."""
    root = place = tmp_path_factory.mktemp("container")
    environment = dict(os.environ, HOME=str(root), PIP_NO_INDEX="1", PIP_NO_COMPILE="1")
    environment.pop("PYTHONPATH", None)
    own = sysconfig.get_path("purelib")
    for word, rest in steps():
        here = re.sub(r"(?<![\w.$])/(opt|build|work)\b", rf"{root}/\1", rest)
        if word == "WORKDIR":
            place = Path(here)
            place.mkdir(parents=True, exist_ok=True)
        elif word == "COPY" and not rest.startswith("--from"):
            *sources, target = rest.split()
            (place / target).parent.mkdir(parents=True, exist_ok=True)
            for source in sources:
                subprocess.run(["cp", "-r", str(ROOT / source), str(place / target)], check=True)
        elif word == "ENV":
            for setting in shlex.split(here):
                name, _, value = setting.partition("=")
                environment[name] = os.path.expandvars(value.replace("$PATH", environment["PATH"]))
        elif word == "RUN" and "useradd" in rest:
            (root / "opt/models").mkdir(parents=True)
            (root / "work").mkdir()
        elif word == "RUN" and "models pull" in rest:
            continue  # 93 MB of weights; `medjury models pull` has tests of its own
        elif word == "RUN":
            for command in here.split(" && "):
                done = subprocess.run(
                    command, shell=True, cwd=place, env=environment, capture_output=True, text=True
                )
                assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
                if " -m venv " in command:
                    site = next((root / "opt/medjury/lib").glob("python3*")) / "site-packages"
                    (site / "beside.pth").write_text(own)
    return root, environment


def test_the_steps_of_the_container_work_in_a_clean_folder(container: tuple[Path, dict[str, str]]) -> None:
    root, environment = container
    entry = [word for start in ("ENTRYPOINT", "CMD") for word in yaml.safe_load(dict(steps())[start])]
    assert entry == ["medjury", "demo"]
    python = root / "opt/medjury/bin/python"
    for words, said in (
        (["medjury", "--version"], f"medjury {__version__}\n"),
        ([python, "-c", "import medjury; print(medjury.__file__)"], str(root)),  # its own copy
    ):
        done = subprocess.run(words, cwd=root / "work", env=environment, capture_output=True, text=True)
        assert done.stdout.startswith(said)


def test_there_is_one_wheel_for_everybody(container: tuple[Path, dict[str, str]]) -> None:
    """As pip records what it built of the source and installed."""
    root, _ = container
    (record,) = root.glob(f"opt/medjury/lib/python3*/site-packages/medjury-{__version__}.dist-info/RECORD")
    assert "\nTag: py3-none-any\n" in (record.with_name("WHEEL")).read_text()
    names = [line.split(",")[0] for line in record.read_text().splitlines()]
    schema = "../../../share/medjury/judge-card.schema.json"
    assert {"medjury/instruments/library/pdsqi9.yaml", schema} <= set(names)
    assert sum(name.startswith("medjury/panel/locale/") and name.endswith(".po") for name in names) == 3
    for folder, form in ((SAMPLES, "*"), (SUITES, "*.yaml")):
        files = {path.relative_to(ROOT / "src").as_posix() for path in folder.rglob(form) if path.is_file()}
        assert files and files <= set(names), f"{files - set(names)} is left out of the wheel"


def locks() -> list[str]:
    """The files of requirements that something is installed from: by the Makefile, the container, a workflow."""
    places = [ROOT / "Makefile", DOCKERFILE, *(ROOT / ".github/workflows").glob("*.yml")]
    text = "\n".join(place.read_text(encoding="utf-8") for place in places).replace("\\\n", " ")
    named = {
        (line.strip(), name)
        for line in text.splitlines()
        for name in re.findall(r"(?:^|\s)(?:-r|--requirement)[ =](requirements/\S+)", line)
    }
    unchecked = [line for line, _ in named if "--require-hashes" not in line and "$(UV)" not in line]
    assert not unchecked and re.search(r"^UV = .*--require-hashes", text, re.MULTILINE)
    return sorted({name for _, name in named})


def test_every_requirement_that_is_installed_has_a_hash() -> None:
    found = locks()
    assert {"requirements/develop.txt", "requirements/learned.txt", "requirements/image.txt"} <= set(found)
    assert not [name for name in found if "overrides" in name], "overrides are read by `make lock` alone"
    for name in found:
        text = (ROOT / name).read_text(encoding="utf-8").replace("\\\n", " ")
        lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
        assert lines and not [
            line for line in lines if not re.search(r"==\S+ .*--hash=sha256:[0-9a-f]{64}", line)
        ]


def test_what_is_only_resolved_with_pins_nothing() -> None:
    """Every other file of requirements is an input of the lock: a pin in it would look as if installed."""
    others = {f"requirements/{each.name}" for each in (ROOT / "requirements").glob("*.txt")} - set(locks())
    assert others == {"requirements/learned-overrides.txt", "requirements/interop-overrides.txt"}
    for name in others:
        text = (ROOT / name).read_text(encoding="utf-8")
        assert "==" not in re.sub(r";.*", "", text) and "nothing is installed from this file" in text
