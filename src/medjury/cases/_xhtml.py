"""The text of an HTML or XHTML narrative: paragraphs, list items and table rows on lines of their own."""

from __future__ import annotations

import re
from html.parser import HTMLParser

_BLOCKS = frozenset(
    {
        "address",
        "article",
        "blockquote",
        "body",
        "caption",
        "dd",
        "div",
        "dl",
        "dt",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
    }
    | {"h6", "hr", "li", "ol", "p", "pre", "section", "table", "tbody", "tfoot", "thead", "title", "tr", "ul"}
)
_HIDDEN = frozenset({"script", "style", "head", "template"})


class FhirError(ValueError):
    """Why a document cannot be a case. The message holds nothing of its text."""


def text_of(markup: str) -> str:
    """Nothing in the markup is run, loaded or followed; `FhirError` where it is no markup."""
    reader = _Reader()
    try:
        reader.feed(markup)
        reader.close()
    except AssertionError:  # how the parser refuses a declaration that it does not know
        raise FhirError("the narrative is not valid HTML") from None
    lines = (re.sub(r"[ \t\r\f\v\u00a0]+", " ", line).strip() for line in "".join(reader.parts).split("\n"))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _HIDDEN:
            self._hidden += 1
        elif tag == "br" or tag in _BLOCKS:
            self.parts.append("\n- " if tag == "li" else "\n")

    def handle_endtag(self, tag: str) -> None:
        if tag in _HIDDEN:
            self._hidden = max(0, self._hidden - 1)
        elif tag in _BLOCKS and tag not in ("li", "tr"):  # the next item or row begins its own line
            self.parts.append("\n")
        elif tag in ("td", "th"):
            self.parts.append(" | ")

    def unknown_decl(self, data: str) -> None:
        if data.startswith("CDATA["):
            self.handle_data(data.removeprefix("CDATA["))

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.parts.append(re.sub(r"\s+", " ", data))
