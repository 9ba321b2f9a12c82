"""Batch jobs of a run: how often they are looked at, which log announced them, what is told of those that wait."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

from medjury.foundation.errors import MedjuryError

_POLL_SECONDS = 30.0
_VARIABLE = "MEDJURY_BATCH_POLL_SECONDS"


def log_name(log: Path) -> str:
    """By this a later run knows that its own log announced a job."""
    return hashlib.sha256(str(log.resolve()).encode()).hexdigest()[:16]


def poll_seconds() -> float:
    """Seconds between two looks at a job; a site may state others."""
    stated = os.environ.get(_VARIABLE, "")
    try:
        seconds = float(stated) if stated else _POLL_SECONDS
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < 86_400:
        raise MedjuryError(f"the environment variable {_VARIABLE} must hold a number of seconds above 0")
    return seconds


def pending_text(jobs: Mapping[str, int], study: Path) -> str:
    """What waits at the provider, and how to come back for it."""
    calls = sum(jobs.values())
    named = ", ".join(sorted(jobs)[:3]) + (", ..." if len(jobs) > 3 else "")
    waiting = f"{calls:,} calls wait in {len(jobs):,} batch {'job' if len(jobs) == 1 else 'jobs'} ({named})"
    return f"{waiting}, which may take a day. Nothing is paid for twice: `medjury run {study}` fetches the answers"
