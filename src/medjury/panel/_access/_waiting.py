"""Waiting after failed attempts: longer each time, never for ever, and kept over a restart.

Whoever guesses at an account waits: by the account at their address, by the account wherever guesses come from, and
by their address whatever the account. A browser in which the person has signed in before is known, and counted on
its own. So no stranger's guesses make a person wait at their own device.

The account is the name as it was typed, whether somebody has it or not, so the waiting tells nothing either.
"""

from __future__ import annotations

import ipaddress
import math
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from sqlalchemy import delete, insert, select, text, update

from medjury.panel._access._people import compared
from medjury.panel._access._sessions import hash_of
from medjury.panel._tables import attempts_table, read, stored

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

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
