"""The hash by which settings are known: two that state the same are the same."""

from __future__ import annotations

import hashlib
import json


def json_hash(stated: object, *, sort_keys: bool = True) -> str:
    """SHA-256 of JSON values; names in another order are the same settings, unless `sort_keys` is off."""
    return hashlib.sha256(json.dumps(stated, sort_keys=sort_keys).encode()).hexdigest()
