"""The narrative of a C-CDA document: titles and texts of its sections. Entities are never expanded or loaded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

from medjury.intake.cases._fhir.resources import DEEPEST, NO_TEXT
from medjury.intake.cases._fhir.xhtml import FhirError, Narrative

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
