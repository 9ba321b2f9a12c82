"""`make bench` can run each of its benchmarks: none ends it before those that follow."""

from __future__ import annotations

import importlib
import types
from pathlib import Path

import pytest
from benchmarks import __main__ as bench

ROOT = Path(__file__).parent.parent
NAMES = sorted(file.stem for file in (ROOT / "benchmarks").glob("*.py") if not file.stem.startswith("_"))


@pytest.mark.parametrize("name", NAMES)
def test_a_benchmark_gives_rows_or_has_a_page_of_its_own(name: str) -> None:
    module = importlib.import_module(f"benchmarks.{name}")
    assert callable(getattr(module, "run", None)) or callable(getattr(module, "main", None))


def test_one_with_a_page_of_its_own_runs_only_where_it_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ran: list[str] = []

    def stand_in(name: str) -> types.SimpleNamespace:
        name = name.removeprefix("benchmarks.")
        if name == "helm_quickstart":
            return types.SimpleNamespace(main=lambda _: ran.append(name) or 0)
        return types.SimpleNamespace(run=lambda *_: ran.append(name) or iter(()))

    monkeypatch.setattr(bench.importlib, "import_module", stand_in)
    assert bench.main([]) == 0
    assert ran == [name for name in NAMES if name != "helm_quickstart"], "all others, to the last"
    ran.clear()
    assert bench.main(["helm_quickstart"]) == 0 and ran == ["helm_quickstart"]
    assert "every target holds" in capsys.readouterr().out
