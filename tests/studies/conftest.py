"""A small study against the loopback endpoint."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.loopback import LoopbackServer
from tests.postgres import postgres_server, postgres_url  # noqa: F401 - fixtures


@pytest.fixture(autouse=True)
def without_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs here end with a page of words and tables, as in a core install. Drawing takes nine tenths of a small
    run's time, and its tests are those of the report."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)


@pytest.fixture
def server() -> Iterator[LoopbackServer]:
    with LoopbackServer() as server:
        yield server


@pytest.fixture
def write_study(tmp_path: Path, server: LoopbackServer) -> Callable[..., Path]:
    """Writes cases and a study file; keyword arguments replace or add settings, None takes one out."""

    def write(
        *, cases: int | list[dict[str, Any]] = 6, judge: dict[str, Any] | None = None, **settings: Any
    ) -> Path:
        rows = cases if isinstance(cases, list) else [
            {"id": f"case-{n}", "system": "a", "candidate": f"Summary {n}.", "texts": {"context": f"Note {n}."}}
            for n in range(cases)
        ]  # fmt: skip
        (tmp_path / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        study: dict[str, Any] = {
            "study": "small",
            "cases": "cases.jsonl",
            "instrument": "note_quality",
            "dimensions": ["accuracy", "completeness", "clarity"],
            "judges": [{"kind": "openai", "name": "juror", "url": server.url, "model": "m", **(judge or {})}],
        }
        study |= settings
        file = tmp_path / "study.yaml"
        file.write_text(
            "".join(f"{name}: {json.dumps(value)}\n" for name, value in study.items() if value is not None)
        )
        return file

    return write
