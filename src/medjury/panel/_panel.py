"""What every page of the panel needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from medjury.panel._database import PanelDatabase
from medjury.panel._open_id_settings import OpenIdSettings

if TYPE_CHECKING:
    from medjury.in_use.passports import ReadyJury
    from medjury.studies import RatedStudy


@dataclass(frozen=True)
class Panel:
    """The database, the study, the address that people type, and the clock (a test may turn it). With a `jury` by
    passport programs have their texts judged by that one."""

    database: PanelDatabase
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    study: RatedStudy | None = None
    public_url: str = "http://localhost:8765"
    open_id: OpenIdSettings | None = None
    jury: ReadyJury | None = None

    @property
    def is_secure(self) -> bool:
        """True where browsers reach the panel by https, through the site's proxy."""
        return urlsplit(self.public_url).scheme == "https"

    @property
    def host(self) -> str:
        """The host that people type."""
        return urlsplit(self.public_url).hostname or "localhost"
