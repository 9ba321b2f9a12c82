"""Guessing does not pay. Passwords: argon2, long enough, and none of those that everyone tries first. Waiting
after failed attempts: longer each time, never for ever, and kept over a restart.

Whoever guesses at an account waits: by the account at their address, by the account wherever guesses come from,
and by their address whatever the account. A browser in which the person has signed in before is known, and
counted on its own. So no stranger's guesses make a person wait at their own device. The account is the name as it
was typed, whether somebody has it or not, so the waiting tells nothing either."""

from __future__ import annotations

import ipaddress
import math
import re
import threading
import unicodedata
from datetime import datetime, timedelta
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from sqlalchemy import delete, insert, select, text, update

from medjury.foundation.errors import MedjuryError
from medjury.panel._access._people import compared
from medjury.panel._access._sessions import hash_of
from medjury.panel._language import _
from medjury.panel._tables import attempts_table, read, stored

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection


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
    for rest in {plain, plain.translate(_LOOKS_LIKE)}:
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


# How many failures are free, and the longest wait. Many people may share one address, so it has more of them.
FREE = {"device": 5, "pair": 5, "account": 25, "address": 40}
SHORTEST_WAIT, LONGEST_WAIT = timedelta(seconds=15), timedelta(minutes=15)
FORGOTTEN = timedelta(hours=24)


def account_key(typed: str) -> str:
    return f"account {hash_of(compared(typed))}"


def address_key(address: str) -> str:
    """One key for an address. Whoever has an IPv6 address has a network of them, so that counts as one."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return f"address {hash_of(address)}"
    if isinstance(found, ipaddress.IPv6Address) and found.ipv4_mapped is None:
        return f"address {hash_of(str(ipaddress.ip_network((found, 64), strict=False)))}"
    return f"address {hash_of(str(getattr(found, 'ipv4_mapped', None) or found))}"


def stranger_keys(typed: str, address: str) -> tuple[str, ...]:
    """What an attempt from an unknown browser counts against."""
    account, place = account_key(typed), address_key(address)
    return _pair(account, place.removeprefix("address ")), account, place


def own_key(person: str, device: str) -> str:
    """What an attempt of this person counts against in a browser that they signed in with before, whatever others
    do elsewhere."""
    return f"device {hash_of(f'{person} {device}')}"


def _pair(account: str, place: str) -> str:
    return f"pair {account.removeprefix('account ')} {place}"


def seconds_to_wait(connection: Connection, keys: tuple[str, ...], now: datetime) -> int:
    """How long the next attempt has to wait; 0: not at all."""
    rows = connection.execute(select(attempts_table).where(attempts_table.c.key.in_(keys)))
    return max((_left(row.key, row.failures, read(row.last_at), now) for row in rows), default=0)


def begin_attempt(connection: Connection, keys: tuple[str, ...], now: datetime) -> int:
    """How long to wait; where that is not at all, the attempt counts as failed until `succeeded` says otherwise. So
    many guesses at once are no more than one after another."""
    _take_turns(connection)
    wait = seconds_to_wait(connection, keys, now)
    if not wait:
        note_failure(connection, keys, now)
    return wait


def succeeded(connection: Connection, own: str, *others: str) -> None:
    """The person got in: their own failures are forgotten, and of what others share with them this attempt alone.
    What was guessed elsewhere stays counted."""
    connection.execute(delete(attempts_table).where(attempts_table.c.key == own))
    connection.execute(
        update(attempts_table)
        .where(attempts_table.c.key.in_(others), attempts_table.c.failures > 0)
        .values(failures=attempts_table.c.failures - 1)
    )


def note_failure(connection: Connection, keys: tuple[str, ...], now: datetime) -> None:
    """One failure more for each of these. A day without one, and they are forgotten."""
    _take_turns(connection)
    connection.execute(delete(attempts_table).where(attempts_table.c.last_at < stored(now - FORGOTTEN)))
    for key in keys:
        changed = connection.execute(
            update(attempts_table)
            .where(attempts_table.c.key == key)
            .values(failures=attempts_table.c.failures + 1, last_at=stored(now))
        )
        if not changed.rowcount:
            connection.execute(insert(attempts_table).values(key=key, failures=1, last_at=stored(now)))


def _take_turns(connection: Connection) -> None:
    if connection.dialect.name == "postgresql":  # in SQLite the writer's turn is ours already
        connection.execute(text("LOCK TABLE attempts IN SHARE ROW EXCLUSIVE MODE"))


def forget_failures(connection: Connection, name: str) -> None:
    """The person was invited again, and joined. What others did from their address stays counted."""
    key, column = account_key(name), attempts_table.c.key
    connection.execute(delete(attempts_table).where((column == key) | column.startswith(_pair(key, ""))))


def _left(key: str, failures: int, last: datetime, now: datetime) -> int:
    over = failures - FREE[key.partition(" ")[0]]
    if over < 0:
        return 0
    wait: timedelta = min(SHORTEST_WAIT * 2 ** min(over, 20), LONGEST_WAIT)
    since = max(now - last, timedelta())  # a clock that jumped back makes nobody wait longer than the wait
    return math.ceil(max((wait - since).total_seconds(), 0))
