"""The SBOM is valid CycloneDX and complete: every locked package of this machine, as it is installed."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
TOOL = ROOT / "requirements" / "sbom.py"


def make(out: Path) -> tuple[dict[str, Any], list[dict[str, str]]]:
    subprocess.run([sys.executable, str(TOOL), "--out", str(out)], check=True, capture_output=True)
    with (out / "licences.csv").open(encoding="utf-8", newline="") as file:
        return json.loads((out / "sbom.cdx.json").read_text()), list(csv.DictReader(file))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], list[dict[str, str]]]:
    return make(tmp_path_factory.mktemp("sbom"))


def locked() -> dict[str, str]:
    """Read from the lock in another way than the tool does."""
    found = {}
    for line in (ROOT / "requirements" / "develop.txt").read_text().splitlines():
        if line[:1].isalnum():
            wanted = Requirement(line.rstrip(" \\"))
            if wanted.marker is None or wanted.marker.evaluate():
                found[canonicalize_name(wanted.name)] = next(iter(wanted.specifier)).version
    return found


def test_every_locked_package_is_in_it_and_installed_so(
    made: tuple[dict[str, Any], list[dict[str, str]]],
) -> None:
    document, licences = made
    libraries = {
        each["name"]: each["version"] for each in document["components"] if each["type"] == "library"
    }
    assert libraries == locked() == {row["package"]: row["version"] for row in licences}
    assert all(metadata.version(name) == version for name, version in libraries.items())


def test_every_package_that_is_imported_to_run_is_required(
    made: tuple[dict[str, Any], list[dict[str, str]]],
) -> None:
    scopes = {each["name"]: each["scope"] for each in made[0]["components"]}
    for line in metadata.requires("medjury") or []:
        wanted = Requirement(line)
        if wanted.marker is None:
            assert scopes[canonicalize_name(wanted.name)] == "required", wanted.name
    assert scopes["pydantic-core"] == "required" and scopes["anthropic"] == "optional"
    assert scopes["pytest"] == "excluded"


def test_the_document_is_valid_cyclonedx(made: tuple[dict[str, Any], list[dict[str, str]]]) -> None:
    """What the schema of CycloneDX 1.5 demands of the parts that are used."""
    document, _ = made
    assert (
        document["bomFormat"] == "CycloneDX" and document["specVersion"] == "1.5" and document["version"] == 1
    )
    assert re.fullmatch(r"urn:uuid:[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}", document["serialNumber"])
    assert document.keys() <= {
        "bomFormat", "specVersion", "serialNumber", "version", "metadata", "components", "dependencies",
    }  # fmt: skip
    components = [document["metadata"]["component"], *document["components"]]
    for each in components:
        assert each["type"] in ("application", "library", "machine-learning-model") and each["name"]
        assert each.get("scope", "required") in ("required", "optional", "excluded")
        if each["type"] != "machine-learning-model":
            assert re.fullmatch(r"pkg:pypi/[a-z0-9]+(-[a-z0-9]+)*@[^\s@]+", each["purl"])
            [licence] = each["licenses"]
            assert licence.get("expression") or licence["license"]["name"]
        for each_hash in each.get("hashes", ()):
            assert each_hash["alg"] == "SHA-256" and re.fullmatch(r"[0-9a-f]{64}", each_hash["content"])
    references = [each["bom-ref"] for each in components]
    assert len(references) == len(set(references))
    depending = [each["ref"] for each in document["dependencies"]]
    assert len(depending) == len(set(depending)) and set(depending) <= set(references)
    for each in document["dependencies"]:
        assert len(each["dependsOn"]) == len(set(each["dependsOn"])) and set(each["dependsOn"]) <= set(
            references
        )


def test_the_weights_of_the_embedded_model_are_in_it(
    made: tuple[dict[str, Any], list[dict[str, str]]],
) -> None:
    [weights] = [each for each in made[0]["components"] if each["type"] == "machine-learning-model"]
    assert weights["name"].endswith(".gguf") and weights["hashes"]


def test_what_a_site_installs_has_a_licence_and_is_not_under_the_gpl(
    made: tuple[dict[str, Any], list[dict[str, str]]],
) -> None:
    for row in made[1]:
        if row["scope"] != "excluded":
            assert row["licence"] != "not stated", row
            assert not re.search(r"(?<!L)GPL", row["licence"]), row


def test_the_same_installation_gives_the_same_document(
    made: tuple[dict[str, Any], list[dict[str, str]]], tmp_path: Path
) -> None:
    assert make(tmp_path) == made


def test_another_installation_than_the_locked_one_is_refused(tmp_path: Path) -> None:
    (tmp_path / "develop.txt").write_text("pytest==0.0.1 \\\n    --hash=sha256:00\nno-such-thing==1.0 \\\n")
    tool = tmp_path / "sbom.py"
    tool.write_text(TOOL.read_text(encoding="utf-8"), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(tool)], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.returncode == 1 and "pytest is installed as" in done.stderr
    assert "no-such-thing 1.0 is not installed" in done.stderr and not (tmp_path / "dist").exists()
