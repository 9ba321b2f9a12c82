"""The examples in the documentation of the code are true."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import medjury.ranking


@pytest.mark.parametrize("module", [each.name for each in pkgutil.iter_modules(medjury.ranking.__path__)])
def test_examples(module: str) -> None:
    assert doctest.testmod(importlib.import_module(f"medjury.ranking.{module}")).failed == 0
