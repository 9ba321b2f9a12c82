"""The site's own sign-in, as its IT department writes it down: one small YAML file."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import Field, field_validator

from medjury.foundation.documents import read_document, validate
from medjury.foundation.errors import MedjuryError
from medjury.foundation.fields import Part
from medjury.models import host_of, is_local


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
    """The file; what is wrong in it is told with its line."""
    document = read_document(path)
    settings = validate(document, OpenIdSettings)
    host = host_of(settings.issuer)
    if not is_local(host) and host not in {each.strip().lower().rstrip(".") for each in settings.allow_hosts}:
        told = f"{host} may not be reached: add it to `allow_hosts`"
        raise MedjuryError(document.complaint(("issuer",), told))
    if settings.client_secret_env and not settings.client_secret:
        told = f"the environment variable {settings.client_secret_env} is not set; it must hold the client's secret"
        raise MedjuryError(document.complaint(("client_secret_env",), told))
    return settings
