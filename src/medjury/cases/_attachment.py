"""The text of a FHIR attachment that is carried inline. A link is reported, never followed."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Mapping
from email.message import Message
from typing import Any

from medjury.cases._xhtml import text_of

_PLAIN = frozenset({"text/plain", "text/markdown"})
_MARKUP = frozenset({"text/html", "application/xhtml+xml"})


class FhirError(ValueError):
    """Why a document cannot be a case. The message holds nothing of its text."""


def attachment_text(attachment: Mapping[str, Any], index: Mapping[str, Mapping[str, Any]]) -> str:
    """The attachment's text; `index` finds a `Binary` of the same bundle."""
    kind, charset = _content_type(attachment.get("contentType"))
    data = attachment.get("data")
    if data is None and attachment.get("url"):
        binary = index.get(str(attachment["url"]), {})
        data = binary.get("data")
        if data is None:
            raise FhirError("the attachment is only a link, which is never fetched; put the text inline")
        if not kind:
            kind, charset = _content_type(binary.get("contentType"))
    if not isinstance(data, str) or not data:
        raise FhirError("the attachment is empty")
    if kind not in _PLAIN | _MARKUP:
        known = (
            kind if kind.replace("/", "").replace("+", "").replace("-", "").replace(".", "").isalnum() else ""
        )
        raise FhirError(
            f"the attachment is {known or 'of no stated type'}; only plain text and HTML can be read"
        )
    content = _decode(data)
    _check_hash(attachment, content)
    try:
        text = content.decode(charset)
    except LookupError:
        raise FhirError("the attachment names an unknown character set") from None
    except UnicodeDecodeError:
        raise FhirError(f"the attachment is not valid {charset}") from None
    return text_of(text) if kind in _MARKUP else text


def _decode(data: str) -> bytes:
    try:
        return base64.b64decode("".join(data.split()), validate=True)
    except (binascii.Error, ValueError):
        raise FhirError("the attachment's data are not valid base64") from None


def _content_type(value: object) -> tuple[str, str]:
    if not isinstance(value, str) or not value.strip():
        return "", "utf-8"
    header = Message()
    header["content-type"] = value.replace("\n", " ").replace("\r", " ")
    return header.get_content_type(), str(header.get_content_charset("utf-8"))


def _check_hash(attachment: Mapping[str, Any], content: bytes) -> None:
    """FHIR R4 lets an attachment carry the SHA-1 of its bytes; one that differs was damaged on the way."""
    given = attachment.get("hash")
    if isinstance(given, str) and given:
        actual = base64.b64encode(hashlib.sha1(content, usedforsecurity=False).digest()).decode()
        if given.strip() != actual:
            raise FhirError("the attachment does not match its hash; it was damaged")
