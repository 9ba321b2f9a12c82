"""A small study against the loopback endpoint."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.loopback import LoopbackServer
from tests.postgres import postgres_server, postgres_url  # noqa: F401 - fixtures


@pytest.fixture
def server() -> Iterator[LoopbackServer]:
    with LoopbackServer() as server:
        yield server


def written(
    folder: Path,
    url: str,
    *,
    cases: int | list[dict[str, Any]] = 6,
    judge: dict[str, Any] | None = None,
    **settings: Any,
) -> Path:
    """Cases and a study file in a folder; keyword arguments replace or add settings, None takes one out."""
    rows = cases if isinstance(cases, list) else [
        {"id": f"case-{n}", "system": "a", "candidate": f"Summary {n}.", "texts": {"context": f"Note {n}."}}
        for n in range(cases)
    ]  # fmt: skip
    (folder / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    study: dict[str, Any] = {
        "study": "small",
        "cases": "cases.jsonl",
        "instrument": "note_quality",
        "dimensions": ["accuracy", "completeness", "clarity"],
        "judges": [{"kind": "openai", "name": "juror", "url": url, "model": "m", **(judge or {})}],
    }
    study |= settings
    file = folder / "study.yaml"
    file.write_text(
        "".join(f"{name}: {json.dumps(value)}\n" for name, value in study.items() if value is not None)
    )
    return file


@pytest.fixture
def write_study(tmp_path: Path, server: LoopbackServer) -> Callable[..., Path]:
    return lambda **settings: written(tmp_path, server.url, **settings)
