"""What a study allows its calls, wherever they are made: hosts, prices, how fast models are asked, batch jobs."""

from __future__ import annotations

import hashlib
import ipaddress
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from medjury.foundation.errors import MedjuryError
from medjury.models import Limits
from medjury.studies._study.study import Study


def gate_settings(study: Study, place: int = 0, workers: int = 1) -> dict[str, Any]:
    """For one of several workers, which share out the calls at a time that a model allows."""
    return {
        "allow_hosts": study.settings.allow_hosts,
        "prices": study.prices,
        "limits": {
            model.name: Limits(
                None if part.concurrency is None else _part(part.concurrency, place, workers),
                part.requests_per_minute,
                part.tokens_per_minute,
            )
            for model, part in study.models
        },
    }


def _part(whole: int, place: int, workers: int) -> int:
    return max(1, whole // workers + (place < whole % workers))


def check_store_host(address: str, allow_hosts: Sequence[str]) -> None:
    """Refuse a database on another machine unless its host is named."""
    if not address.startswith("postgresql"):
        return
    from sqlalchemy.engine import make_url

    url = make_url(address)
    named = [url.host, *(url.query.get(key) for key in ("host", "hostaddr"))]
    for value in named:
        for host in [value] if isinstance(value, str) else value or ():
            if host and not _is_local(host) and host not in allow_hosts:
                raise MedjuryError(
                    f"the store is on {host}, and nothing may leave this machine for a host that is not named; "
                    f"add it to the study's `allow_hosts: [{host}]`"
                )


def _is_local(host: str) -> bool:
    if host.startswith(("/", "@")) or host == "localhost":  # a Unix socket, or this machine by name
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


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
