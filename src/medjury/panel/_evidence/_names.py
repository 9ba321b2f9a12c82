"""Names of answers in addresses and on pages: every answer has one address that stays."""

from __future__ import annotations

from urllib.parse import quote, unquote

from medjury.panel._evidence._texts import Key

_EMPTY = "~"


def in_address(name: str) -> str:
    """A name as one part of an address, whatever it holds: `ward/1` is `ward~2F1`, and no name is `.` or empty."""
    if not name:
        return _EMPTY
    quoted = quote(name, safe="", errors="surrogatepass").replace("~", "%7E")
    return (quoted.replace(".", "%2E") if set(name) == {"."} else quoted).replace("%", "~")


def from_address(part: str) -> str:
    """The name again; an error is a name that nobody has."""
    return "" if part == _EMPTY else unquote(part.replace("~", "%"), errors="surrogatepass")


def shown_name(key: Key) -> str:
    """`case-01 · system`, or the case alone where no system is named."""
    item, system = key
    return f"{item} · {system}" if system else item
