"""The examples in the docstrings of the room are run."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import medjury.calibration

MODULES = [each.name for each in pkgutil.iter_modules(medjury.calibration.__path__, "medjury.calibration.")]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_hold(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0
