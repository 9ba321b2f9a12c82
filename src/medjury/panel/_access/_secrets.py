"""Secrets that people carry: random, and kept here only as a hash."""

from __future__ import annotations

import hashlib
import hmac
import secrets


def new_secret() -> str:
    """256 random bits, fit for an address."""
    return secrets.token_urlsafe(32)


def new_id() -> str:
    """A name that tells nothing: neither order nor content."""
    return secrets.token_urlsafe(12)


def hash_of(secret: str) -> str:
    """What the database keeps. The secret is random and long, so a quick hash is enough."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


def form_token(secret: str) -> str:
    """The token of the forms that belong to this session; it does not give the session away."""
    return hmac.new(secret.encode(), b"medjury form", hashlib.sha256).hexdigest()
