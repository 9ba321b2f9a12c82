"""Where the cases of a study come from."""

from __future__ import annotations

from typing import Any

from medjury.foundation.fields import Part


class CasesPart(Part):
    """Where the cases are; `mapping` renames a hospital's own columns."""

    path: str
    mapping: dict[str, Any] | None = None
