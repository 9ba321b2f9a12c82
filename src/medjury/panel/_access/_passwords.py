"""Passwords: argon2, long enough, and none of those that everyone tries first."""

from __future__ import annotations

import re
import threading
import unicodedata
from functools import cache
from itertools import pairwise
from pathlib import Path

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from medjury.foundation.errors import MedjuryError
from medjury.panel._access._people import compared
from medjury.panel._language import _

SHORTEST, LONGEST = 12, 256
_LOOKS_LIKE = str.maketrans(
    {"0": "o", "1": "l", "3": "e", "4": "a", "5": "s", "7": "t", "@": "a", "$": "s", "!": "i"}
)
# Each hash takes 64 MiB for a moment: a flood of sign-ins waits here and does not eat the machine.
_at_once = threading.BoundedSemaphore(2)


def check_new_password(password: str, again: str, *names: str) -> None:
    """Refuse a password that would be guessed; the message says what to do."""
    if password != again:
        raise MedjuryError(_("The two passwords differ. Type the same one twice."))
    if len(password) < SHORTEST:
        raise MedjuryError(
            _("Use at least %(least)s characters: three or four words are easy to remember.", least=SHORTEST)
        )
    if len(password) > LONGEST:
        raise MedjuryError(_("Use at most %(most)s characters.", most=LONGEST))
    if _is_guessed(password, names):
        raise MedjuryError(
            _("That password would soon be guessed. Use three or four words that do not belong together.")
        )


def hash_password(password: str) -> str:
    with _at_once:
        return _hasher().hash(_normal(password))


def is_password(stored_hash: str | None, password: str) -> bool:
    """True where it is the right one. Where there is no account, or it has no password, the same work is done."""
    with _at_once:
        nobodys = _nobodys_hash()  # made at the first sign-in after a start, whosever that is
        try:
            return _hasher().verify(stored_hash or nobodys, _normal(password)) and stored_hash is not None
        except (VerificationError, InvalidHashError):
            return False


def is_outdated(stored_hash: str) -> bool:
    """True where the hash was made with less work than we ask for today."""
    return _hasher().check_needs_rehash(stored_hash)


def _is_guessed(password: str, names: tuple[str, ...]) -> bool:
    plain = compared(password)
    if len(set(plain)) < 5 or _is_walk(plain):
        return True
    own = [word for name in names for word in re.split(r"[^\w]+", compared(name)) if len(word) > 2]
    for text in {plain, plain.translate(_LOOKS_LIKE)}:
        rest = text
        for word in sorted((*_guessed(), *own), key=len, reverse=True):
            rest = rest.replace(word, "")
        # What is left when every word that is tried first is taken out, along with digits and signs.
        if len(set(re.sub(r"[\W\d_]+", "", rest))) < 4 and len(re.sub(r"[\W_]+", "", rest)) < 8:
            return True
    return False


def _is_walk(text: str) -> bool:
    """True where most signs follow one another, as in 123456789012 or abcdefghijkl, or one piece is repeated."""
    steps = [ord(after) - ord(before) for before, after in pairwise(text)]
    if sum(step in (-1, 0, 1) for step in steps) > 0.7 * len(steps):
        return True
    return any(
        text == (text[:length] * len(text))[: len(text)]
        for length in range(1, len(text) // 2 + 1)
        if length < 6
    )


def _normal(password: str) -> str:
    return unicodedata.normalize("NFKC", password)[:LONGEST].encode("utf-8", "replace").decode()


@cache
def _guessed() -> tuple[str, ...]:
    """The stems of passwords that are tried first; digits and signs around and between them make no difference."""
    return tuple(Path(__file__).with_name("guessed.txt").read_text(encoding="utf-8").split())


@cache
def _hasher() -> PasswordHasher:
    return PasswordHasher()


@cache
def _nobodys_hash() -> str:
    return _hasher().hash("nobody has this password")
