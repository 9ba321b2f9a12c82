"""`make sbom`: which software Medjury is made of here, and under which licences.

Writes an SBOM (CycloneDX 1.5, JSON) and a table of licences from the lock and from what is installed: every
package of `requirements/develop.txt` that belongs on this machine, and the weights of the embedded model. `scope`
tells what a site needs: `required` by the core, `optional` with an extra, `excluded` where it only serves tests. A
package that is not installed in the locked version is an error: an SBOM of something else is worse than none.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
import sys
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from medjury.models._embedded_weights import FILE, PACKAGE, SHA256
from medjury.version import __version__

LOCK = Path(__file__).with_name("develop.txt")
EXTRAS = ("local", "speed", "report", "postgres", "anthropic", "google", "redact")
_LOCKED = re.compile(r"^([A-Za-z0-9._-]+==[^\s;]+(?: ?; [^\\\n]+)?)", re.MULTILINE)
_NOT_STATED = "not stated"


@dataclass(frozen=True)
class Package:
    name: str
    version: str
    scope: str
    licence: str
    is_expression: bool  # an SPDX expression, and not the package's own words
    needs: tuple[str, ...]

    @property
    def purl(self) -> str:
        return f"pkg:pypi/{self.name}@{self.version}"

    def component(self) -> dict[str, object]:
        licence = {"expression": self.licence} if self.is_expression else {"license": {"name": self.licence}}
        return {
            "type": "library",
            "bom-ref": self.purl,
            "name": self.name,
            "version": self.version,
            "scope": self.scope,
            "licenses": [licence],
            "purl": self.purl,
        }


def locked(lock: Path = LOCK) -> dict[str, str]:
    """Name to version of all that the lock puts on this machine."""
    found: dict[str, str] = {}
    for line in _LOCKED.findall(lock.read_text(encoding="utf-8")):
        wanted = Requirement(line)
        if wanted.marker is None or wanted.marker.evaluate():
            found[canonicalize_name(wanted.name)] = str(wanted.specifier).removeprefix("==")
    return found


def packages() -> list[Package]:
    """All of them with what is installed: licences and needs."""
    versions = locked()
    scopes = _scopes(versions)
    found, wrong = [], []
    for name, version in sorted(versions.items()):
        try:
            installed = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            wrong.append(f"{name} {version} is not installed")
            continue
        if installed.version != version:
            wrong.append(f"{name} is installed as {installed.version}, and locked as {version}")
        licence, is_expression = _licence(installed)
        needs = tuple(sorted(set(_needs(name)) & versions.keys()))
        found.append(Package(name, version, scopes[name], licence, is_expression, needs))
    if wrong:
        raise SystemExit("sbom: this is not the locked installation; run `make install`\n" + "\n".join(wrong))
    return found


def sbom(found: list[Package]) -> dict[str, object]:
    """The CycloneDX document. The same packages give the same document, serial number included."""
    own = f"pkg:pypi/medjury@{__version__}"
    purls = {each.name: each.purl for each in found}
    core = sorted(purls[name] for name in _needs("medjury") if name in purls)
    weights = {
        "type": "machine-learning-model",
        "bom-ref": f"weights:{SHA256}",
        "name": FILE,
        "version": PACKAGE.partition("==")[2],
        "scope": "optional",
        "hashes": [{"alg": "SHA-256", "content": SHA256}],
        "description": f"weights of the embedded model, taken out of {PACKAGE}",
    }
    serial = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps([own, *sorted(purls.values())]))
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{serial}",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": own,
                "name": "medjury",
                "version": __version__,
                "licenses": [{"expression": "Apache-2.0"}],
                "purl": own,
            }
        },
        "components": [*(each.component() for each in found), weights],
        "dependencies": [
            {"ref": own, "dependsOn": core},
            *({"ref": each.purl, "dependsOn": [purls[name] for name in each.needs]} for each in found),
        ],
    }


def _scopes(versions: dict[str, str]) -> dict[str, str]:
    core = _closure(set(_needs("medjury")))
    extra = _closure({name for each in EXTRAS for name in _needs("medjury", each)})
    return {
        name: "required" if name in core else "optional" if name in extra else "excluded" for name in versions
    }


def _closure(names: set[str]) -> set[str]:
    found: set[str] = set()
    while names - found:
        fresh = names - found
        found |= fresh
        names = {need for name in fresh for need in _needs(name)}
    return found


def _needs(name: str, extra: str = "") -> Iterator[str]:
    """The packages that a package needs on this machine, with one of its extras."""
    try:
        wanted = metadata.requires(name) or []
    except metadata.PackageNotFoundError:
        return
    for line in wanted:
        each = Requirement(line)
        if each.marker is None or each.marker.evaluate({"extra": extra}):
            yield canonicalize_name(each.name)
            for part in each.extras:
                yield from _needs(canonicalize_name(each.name), part)


def _licence(installed: metadata.Distribution) -> tuple[str, bool]:
    """What the package says of itself: an SPDX expression, else its classifiers, else its own words."""
    said = installed.metadata.json
    if expression := said.get("license_expression"):
        return str(expression), True
    classifiers = [
        line.rpartition(" :: ")[2] for line in said.get("classifier", []) if line.startswith("License ::")
    ]
    words = str(said.get("license") or "").strip().splitlines()
    return " / ".join(classifiers) or (words[0][:100] if words else _NOT_STATED), False


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--out", default="dist", type=Path, help="the folder to write into (default: dist)")
    folder = parser.parse_args().out
    found = packages()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "sbom.cdx.json").write_text(json.dumps(sbom(found), indent=2) + "\n", encoding="utf-8")
    with (folder / "licences.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(("package", "version", "scope", "licence"))
        rows.writerows((each.name, each.version, each.scope, each.licence) for each in found)
    silent = [each.name for each in found if each.licence == _NOT_STATED]
    print(f"{len(found)} packages and the embedded weights: {folder}/sbom.cdx.json, {folder}/licences.csv")
    if silent:
        print(f"these state no licence in their metadata, look at their files: {', '.join(silent)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
