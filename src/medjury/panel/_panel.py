"""What every page of the panel needs; and the site's own sign-in, as its IT department writes it down."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pydantic import Field, field_validator

from medjury.foundation.documents import read_document, validate
from medjury.foundation.errors import MedjuryError
from medjury.foundation.fields import Part
from medjury.models import host_of, is_local
from medjury.panel._database import PanelDatabase

if TYPE_CHECKING:
    from medjury.in_use.passports import ReadyJury
    from medjury.studies import RatedStudy


class OpenIdSettings(Part):
    """Which OpenID Connect provider people may sign in with, and under which name the panel is known there."""

    issuer: str = Field(max_length=1000)
    client_id: str = Field(min_length=1, max_length=500)
    client_secret_env: str | None = (
        None  # the variable that holds the secret; none where the panel has no secret
    )
    allow_hosts: tuple[str, ...] = ()
    label: str = Field("Sign in with your site's account", min_length=1, max_length=80)

    @field_validator("issuer")
    @classmethod
    def _is_an_address(cls, issuer: str) -> str:
        try:
            host = host_of(issuer)
        except MedjuryError as error:
            raise ValueError(str(error)) from None
        if urlsplit(issuer).scheme != "https" and not is_local(host):
            raise ValueError("the provider must be reached by https")
        if urlsplit(issuer).query or urlsplit(issuer).fragment:
            raise ValueError("write the issuer without ? and #, exactly as the provider names itself")
        return issuer

    @property
    def client_secret(self) -> str | None:
        """The secret from the environment; it is kept nowhere else."""
        return os.environ.get(self.client_secret_env) if self.client_secret_env else None


def read_open_id_settings(path: str | Path) -> OpenIdSettings:
    """The file; what is wrong in it is named with its line."""
    document = read_document(path)
    settings = validate(document, OpenIdSettings)
    host = host_of(settings.issuer)
    if not is_local(host) and host not in {each.strip().lower().rstrip(".") for each in settings.allow_hosts}:
        message = f"{host} may not be reached: add it to `allow_hosts`"
        raise MedjuryError(document.complaint(("issuer",), message))
    if settings.client_secret_env and not settings.client_secret:
        name = settings.client_secret_env
        message = f"the environment variable {name} is not set; it must hold the client's secret"
        raise MedjuryError(document.complaint(("client_secret_env",), message))
    return settings


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
    _read: dict[tuple[int, int], RatedStudy] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )

    @property
    def study_now(self) -> RatedStudy | None:
        """The study as its file says now, for what happens after the rating: roles may be named by then. It is read
        again when its file has changed; nothing of an earlier one is kept."""
        from medjury.studies import load_rated_study

        if self.study is None:
            return None
        try:
            found = self.study.file.stat()
            written = (found.st_mtime_ns, found.st_size)
            if (study := self._read.get(written)) is None:
                study = load_rated_study(self.study.file)
                self._read.clear()
                self._read[written] = study
            return study
        except (OSError, MedjuryError) as error:
            raise MedjuryError(
                f"The study file was changed and cannot be read:\n{error}\nCorrect it, then try again."
            ) from None

    @property
    def is_secure(self) -> bool:
        """True where browsers reach the panel by https, through the site's proxy."""
        return urlsplit(self.public_url).scheme == "https"

    @property
    def host(self) -> str:
        """The host that people type."""
        return urlsplit(self.public_url).hostname or "localhost"

    @property
    def passkeys_work(self) -> bool:
        """Browsers know passkeys only for a host with a name, by https or on this machine."""
        try:
            ip_address(self.host)
        except ValueError:
            return self.is_secure or self.host == "localhost"
        return False
