"""Fixtures of the models' tests."""

from __future__ import annotations

import pytest
from tests.models.samples import KEY, VARIABLE


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv(VARIABLE, KEY)
    return KEY
