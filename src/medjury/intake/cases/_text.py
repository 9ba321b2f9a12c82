"""Text that every store, log and endpoint can hold."""

from __future__ import annotations


def clean_text(text: str) -> str:
    """The text with surrogate pairs joined, and lone surrogates and NUL replaced by U+FFFD.

    Neither can be stored: UTF-8 has no lone surrogates, and PostgreSQL no NUL.
    """
    if "\x00" in text:
        text = text.replace("\x00", "\ufffd")
    if text.isascii():
        return text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
