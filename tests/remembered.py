"""Agreement that is computed once and shown in many forms: as text, as JSON, on screens of any width.

The same ratings and settings give the same rows (`tests/cli/test_agreement.py`); tests of how they are shown need
not wait for them again and again.
"""

from __future__ import annotations

from typing import Any

from medjury.analysis.agreement import AgreementTable, agreement


class RememberedAgreement:
    """In place of `agreement`, for the tables of one run folder that nobody changes."""

    def __init__(self) -> None:
        self._found: dict[str, AgreementTable] = {}

    def __call__(self, table: object, **asked: Any) -> AgreementTable:
        key = repr(sorted(asked.items()))
        if key not in self._found:
            self._found[key] = agreement(table, **asked)
        return self._found[key]
