"""Names of clinicians become stable pseudonyms that nobody can turn back without the study's secret.

A keyed hash (HMAC-SHA-256), not numbers by order of names: a number would mean another person as soon as one
rater joins or a second file is imported. Not a plain hash either: whoever has the staff list could try it out.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
from pathlib import Path

from medjury.intake import FileError
from medjury.store.ratings._import.report import write_rows

_SECRET_BYTES = 32
_PSEUDONYM = re.compile(r"clinician-[0-9a-f]{8}")


class Pseudonyms:
    """Gives each name its pseudonym under one secret. `given` holds who got which, in memory only."""

    def __init__(self, secret: bytes, unkept: Path | None = None) -> None:
        self._secret = secret
        self._unkept = unkept  # where a new secret is to be kept, once an import has succeeded
        self.given: dict[str, str] = {}

    @classmethod
    def open(cls, key_file: str | os.PathLike[str]) -> Pseudonyms:
        """The pseudonyms of a study, whose secret is in `key_file`. Where it does not exist it is made, and written
        by `keep` alone, so that an import that fails leaves none behind."""
        path = Path(key_file)
        return cls(_read(path)) if path.exists() else cls(secrets.token_bytes(_SECRET_BYTES), path)

    def keep(self) -> None:
        """Write a new secret down; whoever wrote one meanwhile was first, and this import is to be made again."""
        if self._unkept is None:
            return
        _write(self._unkept, self._secret)
        if _read(self._unkept) != self._secret:
            raise FileError(f"{self._unkept} was written by another import meanwhile; import this file again")
        self._unkept = None

    def pseudonym(self, name: str) -> str:
        """`clinician-` and eight hexadecimal digits; a name that is such a pseudonym already stays."""
        if _PSEUDONYM.fullmatch(name):
            return name
        known = self.given.get(name)
        if known is None:
            digest = hmac.new(self._secret, name.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()
            known = f"clinician-{digest[:8]}"
            if known in self.given.values():
                raise FileError("two raters would get one pseudonym; rename one of them in the file")
            self.given[name] = known
        return known

    def write_names(self, path: str | os.PathLike[str]) -> None:
        """Who got which pseudonym, as a CSV file to be kept safe."""
        write_rows(Path(path), ("name", "pseudonym"), sorted(self.given.items()))


def _write(path: Path, secret: bytes) -> None:
    """Keep a secret for its owner's eyes alone; one that is there already stays."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return
    except OSError as error:
        raise FileError(
            f"{path}: the secret of pseudonyms cannot be kept here ({error.strerror}); make the folder writable"
        ) from None
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(secret.hex() + "\n")


def _read(path: Path) -> bytes:
    try:
        secret = bytes.fromhex(path.read_text(encoding="ascii").strip())
    except (OSError, ValueError):
        secret = b""
    if len(secret) != _SECRET_BYTES:
        raise FileError(
            f"{path} does not hold the secret of pseudonyms. Restore it from a copy, or delete it and import all "
            "ratings again: every clinician then gets a new pseudonym."
        )
    return secret
