"""The JSON of a schema, made once: a run asks with one schema thousands of times."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

_MOST = 256
# Each text beside the schema it was made of: an address in memory alone may come to mean another schema.
_made: dict[int, tuple[Mapping[str, Any], str]] = {}


def schema_text(schema: Mapping[str, Any]) -> str:
    """The schema as JSON, its properties in their own order, which is the order a model answers in."""
    found = _made.get(id(schema))
    if found is not None and found[0] is schema:
        return found[1]
    text = json.dumps(schema, separators=(",", ":"))
    if len(_made) >= _MOST:
        _made.clear()
    _made[id(schema)] = (schema, text)
    return text


@lru_cache(maxsize=_MOST)
def _as_text(text: str) -> str:
    return json.dumps(text)


def schema_as_text(schema: Mapping[str, Any]) -> str:
    """The schema's JSON as a JSON string, for where it is part of another text."""
    return _as_text(schema_text(schema))
