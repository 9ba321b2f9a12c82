"""Clinicians' ratings of the study's cases, read beside the judges' and never changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from medjury.ratings import Rating
from medjury.studies._study import Study


@dataclass(frozen=True)
class Humans:
    """The ratings and, for the manifest, where they came from and how many there are."""

    ratings: tuple[Rating, ...]
    summary: dict[str, Any]


def read_humans(study: Study) -> Humans | None:
    """The clinicians' ratings the study names, or None where it names none."""
    return None
