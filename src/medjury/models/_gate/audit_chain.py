"""The chain of an audit log: its lines are read and checked here, and written by `AuditLog`."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from medjury.foundation.errors import MedjuryError

FIRST = "0" * 64
HASH = b',"hash":"'
_CALL, _SENT = b'"event":"call"', b'"event":"sent"'
_ANNOUNCED = re.compile(rb'\{"n":([1-9][0-9]{0,17}),"at":"[^"\\]*","event":"sent","for":"call",')


class AuditError(MedjuryError):
    """The log cannot be written, or its chain is broken."""

    exit_status = 1


def verify_audit_log(path: str | Path) -> int:
    """The number of entries of a log whose chain is whole; `AuditError` names the first broken line."""
    previous, number, torn = FIRST, 0, None
    try:
        with Path(path).open("rb") as file:
            for place, line in enumerate(file, 1):
                entry = entry_of(line.rstrip(b"\n"))
                where = f"{path}, line {place}"
                if torn is not None and (
                    entry is None or entry.get("event") != "sealed" or entry.get("torn") != torn[1]
                ):
                    raise AuditError(f"{path}, line {torn[0]}: is damaged, and no later entry seals it")
                if entry is None:
                    torn = (place, hashlib.sha256(line.rstrip(b"\n")).hexdigest())
                    continue
                torn = None
                number += 1
                if entry["n"] != number:
                    raise AuditError(f"{where}: is entry {entry['n']}, {number} was due; lines are missing")
                if entry["previous"] != previous:
                    raise AuditError(f"{where}: does not follow the line before it; the log was changed")
                previous = entry["hash"]
    except OSError as error:
        raise AuditError(f"{path}: the audit log cannot be read ({error.strerror})") from None
    if torn is not None:
        raise AuditError(f"{path}, line {torn[0]}: the last line is damaged; the next run seals it")
    return number


@dataclass(frozen=True, slots=True)
class AuditTotals:
    """What a log's calls come to: all that were sent, failed ones too, the sum of the known costs, the most that
    lost answers may cost on top, how many prompts their endpoints seem to have cut, and how many of the calls were
    announced and have no end: a process was killed, or is still at it."""

    calls: int
    money: float
    perhaps: float = 0.0
    perhaps_cut: int = 0
    unended: int = 0


def audit_totals(path: str | Path) -> AuditTotals:
    """What all runs that share a log have used. A torn line still tells of a call that was made, at a cost not
    known. The chain is not verified; a log that is not there has no calls."""
    calls, costs, perhaps, cut = 0, 0.0, 0.0, 0
    announced: dict[object, float] = {}
    try:
        with Path(path).open("rb") as file:
            for line in file:
                if number := _plain_announcement(line):
                    announced[number] = 0.0
                    continue
                if _CALL not in line and _SENT not in line:
                    continue
                try:
                    entry = json.loads(line)
                except (
                    ValueError,
                    RecursionError,
                ):  # torn: an announcement never left, an end has one before it
                    calls += _CALL in line and b'"of":' not in line
                    continue
                if not isinstance(entry, dict):
                    continue
                if entry.get("event") == "sent" and entry.get("for") == "call":
                    announced[entry.get("n")] = _known_cost(entry.get("perhaps"))
                elif entry.get("event") == "call":
                    announced.pop(entry.get("of"), None)
                    if _in_vain(entry):
                        continue
                    calls += entry.get("left") is not False
                    costs += _known_cost(entry.get("cost"))
                    perhaps += _known_cost(entry.get("perhaps"))
                    cut += entry.get("perhaps_cut") is True and entry.get("status") != "cut"
    except FileNotFoundError:
        return AuditTotals(0, 0.0)
    except OSError as error:
        raise AuditError(f"{path}: the audit log cannot be read ({error.strerror})") from None
    return AuditTotals(calls + len(announced), costs, perhaps + sum(announced.values()), cut, len(announced))


def audit_replies(path: str | Path) -> dict[str, set[str]]:
    """The hashes of the replies that a log tells of, by the keys of their calls."""
    found: dict[str, set[str]] = {}
    try:
        with Path(path).open("rb") as file:
            for line in file:
                entry = entry_of(line.rstrip(b"\n")) if _CALL in line and b'"reply":' in line else None
                if entry is not None and isinstance(entry.get("reply"), str):
                    found.setdefault(str(entry.get("key")), set()).add(entry["reply"])
    except OSError as error:
        raise AuditError(f"{path}: the audit log cannot be read ({error.strerror})") from None
    return found


def _plain_announcement(line: bytes) -> int:
    """The number of a whole line that announces a call with no money set aside, as half of all lines may; else 0.
    Within a text every quote is escaped, so that none can pass for a part of the line."""
    found = _ANNOUNCED.match(line)
    if found is None or line[-76:-67] != HASH or line[-3:] != b'"}\n' or b'"perhaps"' in line:
        return 0
    return int(found[1])


def _in_vain(entry: Mapping[str, Any]) -> bool:
    """A preflight question that nobody answered: it holds no case, and a server that is away costs nothing."""
    return entry.get("preflight") is True and "reply" not in entry


def _known_cost(cost: Any) -> float:
    known = isinstance(cost, int | float) and not isinstance(cost, bool) and 0 <= cost < math.inf
    return float(cost) if known else 0.0


def entry_of(line: bytes) -> dict[str, Any] | None:
    """The entry, or None where the line is not one or its hash is not its own."""
    try:
        entry = json.loads(line.decode())
    except (ValueError, RecursionError):
        return None
    if not isinstance(entry, dict) or not {"n", "previous", "hash"} <= entry.keys():
        return None
    own = _own_hash(line)
    return entry if own and own == entry["hash"] else None


def entry_hash(line: bytes) -> str:
    """The hash that a line says it has; "" where it is no entry, as a line that was left unfinished. A line that
    ends in its own hash is as it was written, and need not be read; of any other it is not checked."""
    line = line.removesuffix(b"\n")
    if own := _own_hash(line):
        return own
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return ""
    hash = entry.get("hash") if isinstance(entry, dict) else None
    return hash if isinstance(hash, str) else ""


def _own_hash(line: bytes) -> str:
    """The hash that a line ends in, where it is that of all that stands before it; else ""."""
    body, _, end = line.rpartition(HASH)
    own = hashlib.sha256(body).hexdigest()
    return own if end == b'%b"}' % own.encode() else ""


def position(line: bytes) -> tuple[int, str]:
    """The number of a whole line, and its hash: what the next one follows."""
    entry = json.loads(line)
    return int(entry["n"]), str(entry["hash"])
