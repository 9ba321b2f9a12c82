"""One thing that was checked about a run folder."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Check:
    """What was checked, whether it is sound, and in words. What could not be checked is not `known`, nor sound."""

    what: str
    sound: bool
    detail: str
    known: bool = True
