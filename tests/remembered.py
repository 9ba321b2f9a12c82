"""Analyses that are computed once and shown in many forms: as text, as JSON, on screens of any width.

The same ratings and settings give the same result (`tests/cli/test_agreement.py`); tests of how it is shown need
not wait for it again and again.
"""

from __future__ import annotations

import contextlib
import importlib
import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest

from medjury.cli import main

ANALYSES = {
    "agreement": "medjury.analysis.agreement",
    "audit": "medjury.analysis.audits",
    "calibrate": "medjury.analysis.calibration",
    "compare_runs": "medjury.validation",
    "estimate": "medjury.analysis.calibration",
    "rank": "medjury.analysis.ranking",
    "triage": "medjury.analysis.calibration",
}


class Remembered:
    """The analyses of run folders that nobody changes."""

    def __init__(self) -> None:
        self._found: dict[str, Any] = {}

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """Meanwhile commands find each analysis that was made before."""
        with pytest.MonkeyPatch.context() as patch:
            for name, room in ANALYSES.items():
                analysis = getattr(importlib.import_module(room), name)
                patch.setattr(f"{room}.{name}", partial(self._remember, name, analysis))
            yield

    def _remember(self, name: str, analysis: Callable[..., Any], *tables: Any, **asked: Any) -> Any:
        key = repr((name, [_content(each) for each in tables], sorted(asked.items())))
        if key not in self._found:
            self._found[key] = analysis(*tables, **asked)
        return self._found[key]

    def command(self, *words: str) -> tuple[int, str]:
        """The exit status of a command and what it prints."""
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()), self.in_place():
            return main(words), out.getvalue()


def _content(table: Any) -> object:
    rows = getattr(table, "rows", None)
    return str(table) if rows is None else (rows.shape, int(rows.hash_rows().sum()), repr(table.dimensions))
