"""A passport from its file: refused where it is none, not as it was made, or signed by nobody trusted."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from medjury.foundation.errors import MedjuryError
from medjury.in_use.passports._document import FORMAT, FORMAT_VERSION, Passport, content_hash
from medjury.store.runs import check_text, sign_text

_FOR = "medjury-passport"  # a signature of a run is none of a passport


class RefusedError(MedjuryError):
    """A passport that is not in force: edited, signed by nobody trusted, expired, or another jury's."""

    exit_status = 6


def read_passport(path: str | Path, signers: str | Path | None = None) -> Passport:
    """The passport in a file, as it was made. A signature is always checked; with `signers`, a file of
    the keys that you trust, there must be one of theirs."""
    file = Path(path)
    try:
        content = file.read_bytes()
    except OSError as error:
        raise MedjuryError(f"{file}: the passport cannot be read ({error.strerror})") from None
    passport = _parsed(content, str(file))
    signature_of(passport, str(file), signers)
    return passport


def signed_passport(passport: Passport, key: str | Path) -> Passport:
    """The same, signed with an SSH key."""
    signature = sign_text(passport.hash.encode(), key, purpose=_FOR, what="the passport")
    return passport.replaced(signature=signature)


def signature_of(passport: Passport, name: str, signers: str | Path | None = None) -> str:
    """Who signed it, in words; refused where the signature is not of this passport, or of nobody trusted."""
    if not passport.signature:
        if signers is not None:
            raise RefusedError(
                f"{name}: there is no signature; have the passport signed, or get the signed one"
            )
        return "not signed: whoever wrote the file could have written anything"
    sound, told = check_text(
        passport.hash.encode(), passport.signature, signers, purpose=_FOR, what="passport"
    )
    if not sound:
        raise RefusedError(f"{name}: the signature {told}")
    return told


def _parsed(content: bytes, name: str) -> Passport:
    try:
        stated = json.loads(content, object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        raise MedjuryError(
            f"{name}: this is no passport ({type(error).__name__}: not JSON). "
            "`medjury passport make RUN` writes one"
        ) from None
    except _TwiceError:
        raise RefusedError(
            f"{name}: a name appears twice, so that two readers may read two things; make it anew from its run"
        ) from None
    if not isinstance(stated, dict) or stated.get("format") != FORMAT:
        raise MedjuryError(f"{name}: this is no passport; `medjury passport make RUN` writes one")
    if stated.get("format_version") != FORMAT_VERSION:
        raise MedjuryError(
            f"{name}: was written by another version of medjury; this one reads format "
            f"{FORMAT_VERSION}. Make a new one from the run: `medjury passport make RUN`"
        )
    if stated.get("hash") != content_hash(stated):
        raise RefusedError(
            f"{name}: the passport was edited after it was made: its content has another hash than it states. "
            "Bring back the file as it was made, or make a new one from the run"
        )
    try:
        return Passport.model_validate(stated)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise RefusedError(
            f"{name}: this is no whole passport ({place}: {first['msg']}); make it anew from its run"
        ) from None


class _TwiceError(Exception):
    pass


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        raise _TwiceError
    return content
