"""The text of an HTML or XHTML narrative: paragraphs, list items and table rows on lines of their own.

What its writer struck out or hid is left out and counted: to read it as live text would turn a correction round.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from html.parser import HTMLParser

_BLOCKS = frozenset(
    {"address", "article", "blockquote", "body", "caption", "dd", "div", "dl", "dt", "h1", "h2", "h3", "h4"}
    | {"h5", "h6", "hr", "li", "ol", "p", "pre", "section", "table", "tbody", "tfoot", "thead", "title", "tr"}
    | {"ul", "details", "summary", "svg", "noscript"}
)
_VOID = frozenset(
    {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
)
_UNSEEN = frozenset({"script", "style", "head", "template"})
_STRUCK = frozenset({"del", "s", "strike"})
# A paragraph, an item, a cell and a row end where the next begins, also where their end is not written.
_ENDED_BY = {"p": _BLOCKS, "li": {"li"}, "td": {"td", "th", "tr"}, "th": {"td", "th", "tr"}, "tr": {"tr"},
             "dt": {"dt", "dd"}, "dd": {"dt", "dd"}, "head": {"body"}}  # fmt: skip
_NO_END = (
    "a struck-out passage of the HTML has no end; close it (</del>, </s>), "
    "so that it is clear which text counts"
)

_NOT_SEEN = frozenset({"display:none", "visibility:hidden", "visibility:collapse"})
_HIDING = re.compile(r"line-through|display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)", re.IGNORECASE)
_HIDING_STYLE = (
    "the HTML hides or strikes out text by a style sheet, and it is not known here which; write the style on the "
    "passage itself, or export the note as text"
)
_FIELDS = "the HTML holds form fields (boxes, lists), whose state is not text; export the note as text"
_NO_HIDDEN_END = "a hidden passage of the HTML has no end; close it, so that it is clear which text is seen"

STRUCK = "struck-out passage, left out"
HIDDEN = "hidden passage, left out"
PICTURE = "picture, left out"


class FhirError(ValueError):
    """Why a document cannot be a case. The message holds nothing of its text."""


def text_of(markup: str, remarks: Counter[str] | None = None) -> str:
    """Nothing in the markup is run, loaded or followed; `FhirError` where it is no markup. `remarks` counts what
    was left out."""
    reader = Narrative()
    try:
        reader.feed(markup)
        reader.close()
    except AssertionError:  # how the parser refuses a declaration that it does not know
        raise FhirError("the narrative is not valid HTML") from None
    return reader.text(remarks)


@dataclass(slots=True)
class _Open:
    """An element that has begun: whether its text counts, why not, and whether its line breaks do."""

    tag: str
    left_out: str = ""
    preformatted: bool = False
    words: bool = False


class Narrative(HTMLParser):
    """Gathers text from the events of a parser, with what is left out of it."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._parts: list[tuple[str, bool]] = []  # text, and whether its blanks are kept
        self._open: list[_Open] = []
        self._remarks: Counter[str] = Counter()

    def text(self, remarks: Counter[str] | None = None) -> str:
        """The text so far, line by line."""
        while self._open:
            self._leave(stated=False)
        if remarks is not None:
            remarks.update(self._remarks)
        return "\n".join(_tidied(self._parts)).strip()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        while self._open and tag in _ENDED_BY.get(self._open[-1].tag, ()):
            self._leave()
        if tag == "img":
            self._remarks[PICTURE] += 1
        left_out = bool(self._open and self._open[-1].left_out)
        if tag in ("input", "select", "textarea") and not left_out and ("type", "hidden") not in attrs:
            raise FhirError(_FIELDS)
        if tag not in _VOID:
            self._enter(tag, {name: value or "" for name, value in attrs})
        if tag == "br" or tag in _BLOCKS:
            self._write("\n- " if tag == "li" else "\n")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in _UNSEEN:
            self.handle_starttag(tag, attrs)  # HTML knows no element that closes itself

    def handle_endtag(self, tag: str) -> None:
        if any(each.tag == tag for each in self._open):
            while self._open[-1].tag != tag:
                self._leave(stated=False)
            self._leave()
        if tag in _BLOCKS and tag not in ("li", "tr"):  # the next item or row begins its own line
            self._write("\n")
        elif tag in ("td", "th"):
            self._write(" | ")

    def unknown_decl(self, data: str) -> None:
        if data.startswith("CDATA["):
            self.handle_data(data.removeprefix("CDATA["))

    def handle_data(self, data: str) -> None:
        inner = self._open[-1] if self._open else _Open("")
        if inner.tag == "style" and _HIDING.search(data):
            raise FhirError(_HIDING_STYLE)
        if inner.left_out:
            inner.words = inner.words or bool(data.strip())
        elif inner.preformatted:
            data = data.replace("\r\n", "\n").replace("\r", "\n").replace("\u00a0", " ")
            if inner.tag == "pre" and self._parts[-1] == ("\n", False):  # the break behind <pre> is none
                data = data.removeprefix("\n")
            self._parts.append((data, True))
        elif inner.tag == "sup" and data.strip("+-\u2212 ").isdigit():  # 10 to the 9th is not 109
            self._parts.append((f"^{data.strip()}", False))
        else:
            self._parts.append((re.sub(r"\s+", " ", data), False))

    def _write(self, mark: str) -> None:
        if not (self._open and self._open[-1].left_out):
            self._parts.append((mark, False))

    def _enter(self, tag: str, attributes: dict[str, str]) -> None:
        outer = self._open[-1] if self._open else _Open("")
        style = re.sub(r"\s", "", attributes.get("style", "").casefold())
        why = outer.left_out
        if not why and tag in _UNSEEN:
            why = "not text"
        elif not why and (tag in _STRUCK or "line-through" in style):
            why = STRUCK
        elif not why and ("hidden" in attributes or _NOT_SEEN & set(style.split(";"))):
            why = HIDDEN
        keeps = tag == "pre" or "white-space:pre" in style or "white-space:break-spaces" in style
        normal = "white-space:normal" in style or "white-space:nowrap" in style
        self._open.append(_Open(tag, why, keeps or (outer.preformatted and not normal)))

    def _leave(self, stated: bool = True) -> None:
        """The innermost element ends; the outermost of those left out is counted, where it had words. Where its end
        is not stated nobody knows what belongs to it."""
        ended = self._open.pop()
        outer = self._open[-1] if self._open else _Open("")
        if ended.left_out and not outer.left_out and not stated and ended.tag not in _ENDED_BY:
            raise FhirError(_NO_END if ended.left_out == STRUCK else _NO_HIDDEN_END)
        if outer.left_out:
            outer.words = outer.words or ended.words
        elif ended.words and ended.left_out in (STRUCK, HIDDEN):
            self._remarks[ended.left_out] += 1


def _tidied(parts: list[tuple[str, bool]]) -> list[str]:
    """The lines: blanks are one blank and empty lines one empty line, but for preformatted ones."""
    lines: list[list[tuple[str, bool]]] = [[]]
    for text, kept in parts:
        first, *others = text.split("\n")
        lines[-1].append((first, kept))
        lines += [[(each, kept)] for each in others]
    found: list[tuple[str, bool]] = []
    for line in lines:
        kept = any(each for _, each in line)
        text = "".join(each for each, _ in line)
        text = text.rstrip() if kept else re.sub(r"[ \t\r\f\v\u00a0]+", " ", text).strip()
        if text or kept or not found or found[-1] != ("", False):
            found.append((text, kept))
    return [text for text, _ in found]
