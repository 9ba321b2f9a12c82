"""The JSON of a schema, made once: a run asks with one schema thousands of times."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

_MOST = 256
# Each text beside the schema it was made of: an address in memory alone may come to mean another schema.
_made: dict[int, tuple[Mapping[str, Any], str, int]] = {}


def schema_text(schema: Mapping[str, Any]) -> str:
    """The schema as JSON, its properties in their own order, which is the order a model answers in."""
    return _known(schema)[1]


def schema_length(schema: Mapping[str, Any]) -> int:
    """How long it is as Python writes it: longer than its JSON."""
    return _known(schema)[2]


def _known(schema: Mapping[str, Any]) -> tuple[Mapping[str, Any], str, int]:
    found = _made.get(id(schema))
    if found is None or found[0] is not schema:
        if len(_made) >= _MOST:
            _made.clear()
        found = _made[id(schema)] = schema, json.dumps(schema, separators=(",", ":")), len(repr(schema))
    return found


@lru_cache(maxsize=_MOST)
def _as_text(text: str) -> str:
    return json.dumps(text)


def schema_as_text(schema: Mapping[str, Any]) -> str:
    """The schema's JSON as a JSON string, for where it is part of another text."""
    return _as_text(schema_text(schema))
