"""The text of a FHIR attachment that is carried inline. A link is reported, never followed."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from medjury.intake.cases._fhir.cda import cda_text
from medjury.intake.cases._fhir.rtf import rtf_text
from medjury.intake.cases._fhir.xhtml import FhirError, text_of


class DamagedError(FhirError):
    """What an attachment says of itself does not hold: another one must not take its place unseen."""


_PLAIN = frozenset({"text/plain", "text/markdown"})
_MARKUP = frozenset({"text/html", "application/xhtml+xml"})
_RICH = frozenset({"application/rtf", "text/rtf"})
_XML = frozenset({"text/xml", "application/xml", "application/hl7-cda+xml", "application/cda+xml"})


def attachment_text(attachment: Mapping[str, Any], linked: Mapping[str, Any], remarks: Counter[str]) -> str:
    """The attachment's text; `linked` is the `Binary` that its link means, where that is in the same bundle."""
    kind, charset = _content_type(attachment.get("contentType"))
    data = attachment.get("data")
    if data is None and attachment.get("url"):
        data = linked.get("data") or linked.get("content")  # STU3 calls it content
        if data is None:
            raise FhirError(
                "the attachment is only a link, which is never fetched; put the text inline, or read the whole "
                "folder of an export, with its Binary files"
            )
        stated, its_charset = _content_type(linked.get("contentType"))
        kind, charset = kind or stated, charset or its_charset
    if not isinstance(data, str) or not data:
        raise FhirError("the attachment is empty")
    if kind not in _PLAIN | _MARKUP | _RICH | _XML:
        known = kind if re.fullmatch(r"[a-z]+/[a-z0-9.+-]{1,80}", kind) else "of no stated type"
        raise FhirError(f"the attachment is {known}; only plain text and HTML, RTF and C-CDA can be read")
    content = _decode(data)
    _check_size(attachment, content, data)
    _check_hash(attachment, content)
    if kind in _RICH:
        return rtf_text(content, remarks)
    if kind in _XML:
        return cda_text(content, remarks)
    try:
        text = content.decode(charset or "utf-8")
    except LookupError:
        raise FhirError("the attachment names an unknown character set") from None
    except UnicodeDecodeError:
        raise FhirError(f"the attachment is not valid {charset or 'utf-8'}") from None
    return text_of(text, remarks) if kind in _MARKUP else text


def _decode(data: str) -> bytes:
    try:
        return base64.b64decode("".join(data.split()), validate=True)
    except (binascii.Error, ValueError):
        raise FhirError("the attachment's data are not valid base64") from None


def _content_type(value: object) -> tuple[str, str]:
    """The media type and the character set, as ("text/plain", "utf-8"); empty where not stated."""
    kind, _, parameters = str(value or "").partition(";")
    charset = re.search(r"charset\s*=\s*\"?([\w.:-]+)", parameters, re.IGNORECASE)
    return kind.strip().casefold(), charset.group(1) if charset else ""


def _check_size(attachment: Mapping[str, Any], content: bytes, data: str) -> None:
    """An attachment may state its bytes, in R5 as text; some writers count those of the base64."""
    given = attachment.get("size")
    if isinstance(given, bool) or not isinstance(given, int | str) or not str(given).strip().isdecimal():
        return
    if int(given) not in (len(content), len(data)):
        raise DamagedError(
            f"the attachment has {len(content)} bytes, not the {int(given)} that it states; it was cut or changed: "
            "export it again"
        )


def _check_hash(attachment: Mapping[str, Any], content: bytes) -> None:
    """An attachment may carry the hash of its bytes; one that differs was damaged. FHIR asks for SHA-1 in base64;
    writers also give hex, hex in base64, and SHA-256."""
    given = attachment.get("hash")
    if not isinstance(given, str) or not given.strip():
        return
    digests = [hashlib.sha1(content, usedforsecurity=False), hashlib.sha256(content)]
    forms = {form for each in digests for form in (each.digest(), each.hexdigest().encode())}
    stated = given.strip()
    if stated.casefold().encode() not in forms and stated not in {
        base64.b64encode(each).decode() for each in forms
    }:
        raise DamagedError(
            "the attachment does not match its hash; it was damaged or changed: export it again"
        )
