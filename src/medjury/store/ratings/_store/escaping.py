"""Any Python text in, the same text out, whatever the database refuses.

PostgreSQL refuses NUL, and neither database takes an unpaired surrogate; model answers hold both. Each such
character is kept as U+0010 (data link escape) and four hexadecimal digits, and so is U+0010 itself, which
makes the way back exact.
"""

from __future__ import annotations

import re

_ESCAPE = "\x10"
_REFUSED = re.compile("[\x00\x10\ud800-\udfff]")
_ESCAPED = re.compile("\x10([0-9a-f]{4})")


def escape(text: str) -> str:
    """The text as both databases can hold it; nearly always the very same object."""
    if "\x00" in text or _ESCAPE in text:
        return _escape_all(text)
    if text.isascii():  # known without looking at the characters
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return _escape_all(text)
    return text


def unescape(text: str) -> str:
    """The text as it was before `escape`."""
    if _ESCAPE not in text:
        return text
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text)


def is_escaped(text: str) -> bool:
    """Whether anything in it was escaped."""
    return _ESCAPE in text


def _escape_all(text: str) -> str:
    return _REFUSED.sub(lambda match: f"{_ESCAPE}{ord(match[0]):04x}", text)
