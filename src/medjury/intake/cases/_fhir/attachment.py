"""The text of a FHIR attachment that is carried inline. A link is reported, never followed."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from xml.parsers import expat

from medjury.intake.cases._fhir.resources import DEEPEST, NO_TEXT
from medjury.intake.cases._fhir.xhtml import FhirError, Narrative, text_of

# The narrative of a C-CDA document: titles and texts of its sections. Entities are never expanded or loaded.

CODED = "coded entry of a C-CDA, left out"
_SPACE = "urn:hl7-org:v3"
_AS_HTML = {"paragraph": "p", "list": "ul", "item": "li", "content": "span", "renderMultiMedia": "img",
            "footnote": "p"}  # fmt: skip


def cda_text(content: bytes, remarks: Counter[str]) -> str:
    reader = _Reader(remarks)
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = reader.refuse_doctype
    parser.StartElementHandler, parser.EndElementHandler = reader.start, reader.end
    parser.CharacterDataHandler = reader.data
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        raise FhirError(f"the attachment is not valid XML (line {error.lineno})") from None
    found = [part for part in _texts(reader.document, 0) if part]
    if not any(each.body for each in reader.sections):
        raise FhirError("the attachment is a C-CDA that holds no narrative text")
    silent = sum(not each.body and not each.inner for each in reader.sections[1:])
    remarks.update({NO_TEXT: silent} if silent else {})
    return "\n\n".join(found)


@dataclass(slots=True)
class _Section:
    title: str = ""
    body: str = ""
    inner: list[_Section] = field(default_factory=list)


def _texts(section: _Section, depth: int) -> Iterator[str]:
    """A section's title and text, then those inside it; one without any text is not there."""
    if depth > DEEPEST:
        raise FhirError("the sections of the attachment are nested too deeply")
    inner = [part for each in section.inner for part in _texts(each, depth + 1)]
    if section.body or inner:
        yield "\n".join(part for part in (section.title, section.body) if part)
        yield from inner


class _Reader:
    """Follows the elements; `sections` are all that were opened, the document itself first."""

    def __init__(self, remarks: Counter[str]) -> None:
        self._remarks = remarks
        self._path: list[str] = []
        self._words: list[str] = []
        self._narrative: Narrative | None = None
        self._tags: list[str] = []
        self._coded = 0
        self.document = _Section()
        self.sections = [self.document]
        self._inside = [self.document]

    def refuse_doctype(self, *_: object) -> None:
        raise FhirError(
            "the attachment declares a document type or entities, which are never read; remove them"
        )

    def start(self, name: str, attributes: dict[str, str]) -> None:
        space, _, tag = name.rpartition(" ")
        if not self._path and (space, tag) != (_SPACE, "ClinicalDocument"):
            raise FhirError("the attachment is XML, but no C-CDA (ClinicalDocument); save it as text or HTML")
        parent = self._path[-1] if self._path else ""
        self._path.append(tag)
        if self._narrative is not None:
            style = attributes.get("styleCode", "").casefold()
            struck = attributes.get("revised") == "delete" or "strikethrough" in style
            self._tags.append("del" if struck else _AS_HTML.get(tag, tag))
            self._narrative.handle_starttag(self._tags[-1], [])
        elif self._coded or (tag == "entry" and parent == "section"):
            self._remarks[CODED] += not self._coded
            self._coded += 1
        elif tag == "section":
            self.sections.append(_Section())
            self._inside[-1].inner.append(self.sections[-1])
            self._inside.append(self.sections[-1])
        elif tag == "text" and parent in ("section", "nonXMLBody"):
            kind = attributes.get("mediaType", "text/plain")
            if parent == "nonXMLBody" and (kind != "text/plain" or attributes.get("representation") == "B64"):
                raise FhirError("the attachment is a C-CDA that holds a scan or another file instead of text")
            self._narrative = Narrative()
            if parent == "nonXMLBody":  # its lines are lines
                self._narrative.handle_starttag("pre", [])
        elif tag == "title":
            self._words = []

    def end(self, _: str) -> None:
        tag = self._path.pop()
        if self._narrative is not None and self._tags:
            self._narrative.handle_endtag(self._tags.pop())
        elif self._narrative is not None:
            self._inside[-1].body, self._narrative = self._narrative.text(self._remarks), None
        elif self._coded:
            self._coded -= 1
        elif tag == "section":
            self._inside.pop()
        elif tag == "title" and self._path[-1] in ("section", "ClinicalDocument"):
            self._inside[-1].title = " ".join("".join(self._words).split())

    def data(self, words: str) -> None:
        if self._narrative is not None:
            self._narrative.handle_data(words)
        else:
            self._words.append(words)


# The text of an RTF attachment, by the library `striprtf`, which comes with an extra.

# The library keeps such text as if it held: a file that has any is refused, not misread.
_WITHDRAWN = re.compile(rb"(?<!\\)\\(?:strike|striked|deleted|v|webhidden)(?:[1-9]\d*)?(?![A-Za-z0-9-])")
# And it leaves such parts out without a word: they are counted.
_PARTS = {
    b"footnote": "footnote of an RTF, left out",
    b"header": "header or footer of an RTF, left out",
    b"footer": "header or footer of an RTF, left out",
    b"annotation": "comment in an RTF, left out",
    b"shptxt": "text box of an RTF, left out",
    b"dptxbxtext": "text box of an RTF, left out",
    b"object": "embedded object of an RTF, left out",
    b"pict": "picture, left out",
}
_PART = re.compile(rb"(?<!\\)\\(" + b"|".join(_PARTS) + rb")[lrf]?(?:\d+)?(?![A-Za-z])")
_RAISED = re.compile(rb"(?<!\\)\\super(?![A-Za-z0-9-]) ?")
_BRACE = re.compile(rb"\\[\\{}]|\\bin(\d+) ?|[{}]")


def rtf_text(content: bytes, remarks: Counter[str]) -> str:
    content = content.strip(b"\0\r\n\t ")
    if not content.startswith(b"{\\rtf"):
        raise FhirError("the attachment is not RTF, as it claims to be")
    if not _is_whole(content):
        raise FhirError("the attachment is RTF that ends too soon or goes on after its end; export it again")
    if not content.isascii() or re.search(rb"(?<!\\)\\(?:mac|pca?)(?![A-Za-z])", content):
        raise FhirError(
            "the attachment is RTF whose characters beyond ASCII cannot be read with certainty; export it "
            "again as text"
        )
    if _WITHDRAWN.search(content):
        raise FhirError(
            "the attachment is RTF that holds struck-out, deleted or hidden text, which cannot be "
            "separated from the "
            "rest; accept the changes in it and export it again"
        )
    try:
        from striprtf.striprtf import rtf_to_text
    except ImportError:
        raise FhirError('the attachment is RTF, which needs an extra: pip install "medjury[rtf]"') from None
    remarks.update(_PARTS[each] for each in _PART.findall(content))
    content = _RAISED.sub(b"^", content)  # 10 to the power of 9 is not 109
    try:
        return str(rtf_to_text(content.decode("cp1252"), errors="strict"))
    except (ValueError, LookupError):
        raise FhirError("the attachment is damaged RTF, or its character set is not known") from None


def _is_whole(content: bytes) -> bool:
    """Whether the first brace is closed by the last sign; bytes of pictures may be braces too."""
    depth = at = 0
    while (found := _BRACE.search(content, at)) is not None:
        at = found.end() + int(found[1] or 0)
        depth += {b"{": 1, b"}": -1}.get(found[0], 0)
        if depth == 0:
            return at == len(content)
    return False


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
