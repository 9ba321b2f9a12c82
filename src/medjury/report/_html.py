"""HTML from values: everything is escaped unless it is already HTML, so that no note can become markup."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from functools import cache

from medjury.statistics import Estimate, Printable, shown

# Control characters mean nothing in HTML, and browsers disagree on them.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_MARKUP = re.compile(f"[&<>\"'{_CONTROL.pattern[1:]}")
_TYPED = re.compile("`([^`]+)`")
# A name of this length stays on one line.
_SHORT, _SENTENCE = 24, 60
_WIDE = 10
# So many columns of estimates (fewer, where there are many others): intervals stand below their values, and the
# table fits the page.
_ESTIMATES, _COLUMNS = 4, 10


class Html(str):
    """Text that is markup already. HTML and HTML make HTML; with anything else it is text, to be escaped."""

    __slots__ = ()

    def __add__(self, other: str) -> str:
        made = str.__add__(self, other)
        return Html(made) if isinstance(other, Html) else made


Cell = Printable


def text(value: object) -> Html:
    """Any value as escaped text; HTML stays as it is."""
    if isinstance(value, Html):
        return value
    words = str(value)
    # Most words of a report need no escape: one look is quicker than six replacements.
    return Html(html.escape(without_controls(words), quote=True) if _MARKUP.search(words) else words)


def without_controls(words: str) -> str:
    return _CONTROL.sub("\ufffd", words)


def joined(parts: Iterable[object]) -> Html:
    return Html("".join([part if isinstance(part, Html) else text(part) for part in parts]))


def element(name: str, *content: object, **attributes: object) -> Html:
    """`<name attribute="value">content</name>`; an attribute's trailing underscore falls away (`class_`)."""
    shown = "".join(
        [f' {_attribute(key)}="{text(value)}"' for key, value in attributes.items() if value is not None]
    )
    return Html(f"<{name}{shown}>{joined(content)}</{name}>")


@cache
def _attribute(key: str) -> str:
    return key.rstrip("_").replace("_", "-")


def sentence(words: str) -> Html:
    """A sentence of ours: what is between backticks is a word to type, and is shown as one."""
    return Html(_TYPED.sub(r"<code>\1</code>", text(words)))


def paragraph(*content: object, class_: str | None = None) -> Html:
    return element("p", *content, class_=class_)


def bullets(lines: Iterable[object]) -> Html:
    made = [element("li", line) for line in lines]
    return element("ul", *made) if made else Html("")


def definitions(stated: Iterable[tuple[object, object]], **attributes: object) -> Html:
    """Terms, each with what is stated of it."""
    parts = (part for name, value in stated for part in (element("dt", name), element("dd", value)))
    return element("dl", *parts, **attributes)


def section_html(name: str, title: str, body: object) -> Html:
    """A part of a page under a heading by which it is known; links to `#name` lead there."""
    heading = element("h2", title, id=f"{name}-title")
    return element("section", heading, body, id=name, aria_labelledby=f"{name}-title")


def table_html(
    head: Sequence[str],
    rows: Sequence[Sequence[Cell]],
    *,
    caption: str,
    digits: int | Sequence[int] = 3,
    sort: bool = True,
    id: str | None = None,
) -> Html:
    """A table whose first column names the row; numbers are on the right and sort as numbers."""
    numeric = [_is_numeric([row[place] for row in rows]) for place in range(len(head))]
    titles = joined(
        element("th", title, scope="col", class_="number" if right else None)
        for title, right in zip(head, numeric, strict=True)
    )
    places = [digits] * len(head) if isinstance(digits, int) else digits
    body = [_row(row, numeric, places) for row in rows]
    classes = " ".join(_classes(rows, len(head), sort=sort and len(rows) > 2)) or None
    label = caption.replace("`", "")
    return table_of(element("span", sentence(caption)), [titles], body, scroll=label, class_=classes, id=id)


def table_of(
    caption: object, head: Iterable[object], rows: Iterable[object], *, scroll: str = "", **attributes: object
) -> Html:
    """A table whose cells and rows are HTML already; under the name `scroll` it may be wider than the page."""
    parts = (element("caption", caption), element("thead", element("tr", *head)), element("tbody", *rows))
    made = element("table", *parts, **attributes)
    return scrolling(made, scroll) if scroll else made


def scrolling(table: Html, label: str, **attributes: object) -> Html:
    """A table that may be wider than the page, in a region of its own."""
    return element("div", table, class_="scroll", role="region", aria_label=label, tabindex="0", **attributes)


def table_classes(columns: int, *, sort: bool = False) -> list[str]:
    """A `wide` table breaks words on paper rather than lose a column."""
    return [*(["sortable"] if sort else []), *(["wide"] if columns > _WIDE else [])]


def _classes(rows: Sequence[Sequence[Cell]], columns: int, *, sort: bool) -> list[str]:
    estimates = sum(any(isinstance(row[place], Estimate) for row in rows) for place in range(columns))
    stacked = estimates >= _ESTIMATES or (estimates > 1 and columns + estimates >= _COLUMNS)
    return [*table_classes(columns, sort=sort), *(["stacked"] if stacked else [])]


def _row(row: Sequence[Cell], numeric: Sequence[bool], digits: Sequence[int]) -> Html:
    cells = []
    for place, (value, right) in enumerate(zip(row, numeric, strict=True)):
        number = value.value if isinstance(value, Estimate) else value
        key = f"{number:.6g}" if right and isinstance(number, int | float) else None
        content = value if isinstance(value, Html) else shown(value, digits[place])
        kind = "number" if right else "short" if len(content) <= _SHORT else None
        if not right and not content.startswith("<") and len(content) > _SENTENCE:
            kind = "prose"  # beside many numbers its column would be a word wide
        if isinstance(value, Estimate) and value.defined and " (" in content:
            middle, _, ends = content.partition(" (")
            content = joined([middle, " ", element("span", f"({ends}", class_="interval")])
        elif isinstance(value, Estimate) and not value.defined and len(content) > _SHORT:
            kind = (
                f"{kind} reason" if kind else "reason"
            )  # a sentence, which must not make its column a page wide
        name, opened = ("th", '<th scope="row"') if place == 0 else ("td", "<td")
        opened += f' class="{kind}"' if kind else ""
        opened += f' data-value="{key}"' if key else ""
        cells.append(f"{opened}>{text(content)}</{name}>")
    return Html(f"<tr>{''.join(cells)}</tr>")


def _is_numeric(values: Sequence[Cell]) -> bool:
    known = [value for value in values if value is not None]
    return bool(known) and all(isinstance(value, int | float | Estimate) for value in known)
