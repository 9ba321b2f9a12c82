"""A study's `redact:` settings turned into a `Redactor`, with every mistake told at once."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from medjury.foundation.documents import nearest, read_document
from medjury.foundation.errors import MedjuryError
from medjury.intake.cases._redaction.redact import Redactor
from medjury.intake.cases._report import CaseError

_KEYS = ("names", "patterns", "keep", "metadata", "regions", "presidio")


def make_redactor(settings: Mapping[str, Any] | bool, folder: str | Path = ".") -> Redactor | None:
    """The redactor that the settings describe; None where they say `false`.

    names: a file with one name on a line, or a list of names; patterns: regular expressions by kind
    ({WARD: 'Ward \\d+'}); keep, metadata, regions: lists; presidio: true or false. Paths are relative to
    `folder`, the study file's.
    """
    if isinstance(settings, bool):
        return Redactor() if settings else None
    faults = [f"{key!r} is not a setting; {nearest(str(key), _KEYS)}" for key in settings if key not in _KEYS]
    patterns = _patterns(settings.get("patterns", {}), faults)
    lists = {key: _list(settings.get(key, []), key, faults) for key in ("keep", "metadata")}
    regions = _list(settings.get("regions", ["GB", "US"]), "regions", faults)
    names = _names(settings.get("names", []), Path(folder), faults)
    presidio = settings.get("presidio", True)
    if not isinstance(presidio, bool):
        faults.append("presidio must be true or false")
    faults += [
        f"regions: {region!r} is not a country code like GB" for region in regions if not _is_code(region)
    ]
    if faults:
        raise CaseError("the redaction settings cannot be used: " + "; ".join(faults))
    return Redactor(names=names, patterns=patterns, regions=regions, presidio=bool(presidio), **lists)


def redact_part(file: str | Path) -> tuple[dict[str, Any] | bool, Path]:
    """The redaction settings of a YAML file (a study file will do), and the folder that its paths start from."""
    document = read_document(file)
    value = (
        document.value.get("redact", document.value) if isinstance(document.value, dict) else document.value
    )
    if not isinstance(value, bool | dict):
        raise MedjuryError(document.complaint((), "the file must hold redaction settings"))
    return value if isinstance(value, bool) else dict(value), Path(document.file).parent


def added_settings(
    settings: Mapping[str, Any],
    *,
    names: str | None = None,
    patterns: Sequence[tuple[str, str]] = (),
    keep: Sequence[str] = (),
    metadata: Sequence[str] = (),
    regions: Sequence[str] = (),
    presidio: bool = True,
) -> dict[str, Any]:
    """The settings with more of the same: a file of names, patterns (kind, expression), kinds to keep and so on."""
    made = dict(settings)
    if names:
        made["names"] = str(Path(names).resolve())
    for kind, expression in patterns:
        given = made.get("patterns", {})
        before = given.get(kind, [])
        made["patterns"] = {**given, kind: [*(before if isinstance(before, list) else [before]), expression]}
    for key, added in (("keep", keep), ("metadata", metadata)):
        if added:
            made[key] = [*made.get(key, []), *added]
    if regions:
        made["regions"] = list(regions)
    return made if presidio else {**made, "presidio": False}


def _patterns(value: object, faults: list[str]) -> dict[str, list[str]]:
    if not isinstance(value, Mapping):
        faults.append("patterns must map kinds to regular expressions")
        return {}
    found: dict[str, list[str]] = {}
    for kind, given in value.items():
        if not isinstance(kind, str) or not re.fullmatch(r"[A-Z][A-Z0-9_]*", kind):
            faults.append(f"patterns: the kind {kind!r} must be capital letters, digits and _")
            continue
        expressions = given if isinstance(given, list) else [given]
        for expression in expressions:
            problem = _problem(expression)
            if problem:
                faults.append(f"patterns.{kind}: {problem}")
        found[kind] = [each for each in expressions if isinstance(each, str)]
    return found


def _problem(expression: object) -> str:
    if not isinstance(expression, str):
        return "must be a regular expression in quotes"
    try:
        compiled = re.compile(expression)
    except re.error as error:
        return f"is not a regular expression: {error.msg} at position {error.pos}"
    return "matches the empty text; make it match at least one character" if compiled.match("") else ""


def _names(value: object, folder: Path, faults: list[str]) -> list[str]:
    if isinstance(value, list):
        return _list(value, "names", faults)
    if not isinstance(value, str):
        faults.append("names must be a file, or a list of names")
        return []
    file = folder / value
    try:
        lines = file.read_text(encoding="utf-8-sig").splitlines()
    except FileNotFoundError:
        faults.append(f"names: there is no file {file}")
    except (OSError, UnicodeDecodeError):
        faults.append(f"names: {file} cannot be read as UTF-8 text")
    else:
        return [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]
    return []


def _list(value: object, key: str, faults: list[str]) -> list[str]:
    if isinstance(value, list | tuple) and all(isinstance(each, str) and each.strip() for each in value):
        return [str(each) for each in value]
    faults.append(f"{key} must be a list of texts")
    return []


def _is_code(region: str) -> bool:
    return bool(re.fullmatch(r"[A-Z]{2}", region))
