"""FHIR resources to test with, complete where the test says nothing."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

from medjury.intake.cases import CaseReader, read_cases


def encode(content: str | bytes) -> str:
    return base64.b64encode(content.encode() if isinstance(content, str) else content).decode()


def attached(content: str | bytes, kind: str = "text/plain") -> dict[str, str]:
    """An attachment that carries its content."""
    return {"contentType": kind, "data": encode(content)}


def document(
    identity: str = "d1", text: str = "Text.", attachment: object = None, **fields: Any
) -> dict[str, Any]:
    return {
        "resourceType": "DocumentReference",
        "id": identity,
        "status": "current",
        "subject": {"reference": "Patient/p1"},
        "content": [{"attachment": attachment or attached(text)}],
        **fields,
    }


def bundle(*entries: object) -> dict[str, Any]:
    """An entry is a resource, or a pair of its full URL and itself."""
    listed = [
        {"fullUrl": each[0], "resource": each[1]} if isinstance(each, tuple) else {"resource": each}
        for each in entries
    ]
    return {"resourceType": "Bundle", "type": "collection", "entry": listed}


def reader_of(folder: Path, *entries: object, mapping: dict[str, Any] | None = None) -> CaseReader:
    (folder / "b.json").write_text(json.dumps(bundle(*entries)), encoding="utf-8")
    return read_cases(folder / "b.json", mapping=mapping, on_bad="skip")
