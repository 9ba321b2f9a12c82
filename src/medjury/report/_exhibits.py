"""Figures and tables: each is in the page and is saved beside it, as SVG or as CSV, for a paper."""

from __future__ import annotations

import csv
import html
import io
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from medjury.foundation.files import private_folder, write_whole
from medjury.report._axes import Axes
from medjury.report._figure import Figure
from medjury.report._html import Cell, Html, element, paragraph, sentence, table_html
from medjury.statistics import Estimate, counted

# Okabe and Ito's colours, which people with any kind of colour vision tell apart; markers differ too.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#5d5d5d", "#a6761d")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
JURY_COLOUR, CLINICIAN_COLOUR = "#0072b2", "#d55e00"
BLUES = ("#f7fbff", "#c6dbef", "#6baed6", "#2171b5", "#08306b")
BLUE_TO_RED = ("#2166ac", "#92c5de", "#f7f7f7", "#f4a582", "#b2182b")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


@dataclass
class Exhibits:
    """Collects what the page shows; `write` saves it."""

    figures: dict[str, str] = field(default_factory=dict)
    tables: dict[str, str] = field(default_factory=dict)
    # Words speak of the jury; where there is none, of the judge that is meant.
    speak: Callable[[str], str] = str
    suffix: str = ""

    def of(self, whose: str) -> Exhibits:
        """The same collection, in which every name ends in `whose`."""
        return Exhibits(self.figures, self.tables, self.speak, f"-{whose}")

    def table(
        self,
        name: str,
        rows: Sequence[Mapping[str, Cell]],
        *,
        caption: str,
        digits: int | Mapping[str, int] = 3,
        shown: int | None = None,
        folded: bool = False,
        head: Sequence[str] = (),
    ) -> Html:
        """A table in the page and as CSV, from rows by the titles of their columns (`head` names these where there
        may be no row). `shown` limits the rows in the page; the CSV has them all. A `folded` one is opened by the
        reader, and by the printer. `digits` may differ by column."""
        name += self.suffix
        titles = list(rows[0]) if rows else list(head)
        spoken = [self.speak(title) for title in titles]
        lines = [[row[title] for title in titles] for row in rows]
        if titles:
            self.tables[name] = _csv(spoken, lines)
        if not rows:
            return Html("")
        kept, caption = lines if shown is None else lines[:shown], self.speak(caption)
        places = digits if isinstance(digits, int) else [digits.get(title, 3) for title in titles]
        made = table_html(spoken, kept, caption=caption, digits=places, id=f"table-{name}")
        if len(kept) < len(lines):
            note = f"The first {len(kept):,} of {len(lines):,} rows; all of them are in tables/{name}.csv."
            made = Html(made + paragraph(note, class_="soft"))
        if folded:
            title = f"{caption.split('.')[0].split(';')[0]}: {counted(len(kept), 'row')}"
            made = element("details", element("summary", title), made)
        return made

    def figure(
        self, name: str, size: tuple[float, float], draw: Callable[[Figure], None], *, caption: str, alt: str
    ) -> Html:
        """A figure in the page and as SVG. `alt` says in words what it shows."""
        name += self.suffix
        made = Figure(size)
        draw(made)
        for panel in made.panels:
            panel.title, panel.x_name, panel.y_name = map(
                self.speak, (panel.title, panel.x_name, panel.y_name)
            )
            panel.x_ticks = panel.x_ticks and [(place, self.speak(tick)) for place, tick in panel.x_ticks]
            panel.entries = [replace(each, label=self.speak(each.label)) for each in panel.entries]
        self.figures[name] = made.svg(self.speak(alt))
        picture = element(
            "div", Html(self.figures[name]), class_="picture", role="group", tabindex="0", aria_label=name
        )
        return element(
            "figure", picture, element("figcaption", sentence(self.speak(caption))), id=f"figure-{name}"
        )

    def panels(
        self,
        name: str,
        things: Sequence[Any],
        draw: Callable[[Axes, Any], None],
        *,
        caption: str,
        alt: str,
        columns: int = 3,
        each: float = 2.8,
        wide: float = 9,
        extra: float = 0.3,
    ) -> Html:
        """A figure of small multiples: one panel for each thing, row by row, each so many inches high."""
        size = (wide, extra + each * -(-len(things) // min(columns, max(len(things), 1))))
        return self.figure(
            name, size, lambda figure: figure.panels_of(things, columns, draw), caption=caption, alt=alt
        )

    def write(self, folder: Path) -> None:
        """Save everything; files of an earlier report are taken away, what this one does not have and PNG too."""
        wanted = {
            "figures": {f"{name}.svg": svg.encode() for name, svg in self.figures.items()},
            "tables": {f"{name}.csv": text.encode() for name, text in self.tables.items()},
        }
        for kind, files in wanted.items():
            if not files and not (folder / kind).exists():
                continue
            private_folder(folder / kind)
            for old in (folder / kind).iterdir():
                if old.suffix in (".svg", ".png", ".csv") and old.name not in files:
                    old.unlink()
            for file, content in files.items():
                write_whole(folder / kind / file, content)


def _csv(head: Sequence[str], rows: Sequence[Sequence[Cell]]) -> str:
    """Estimates become value, low, high, n and method; text that a spreadsheet would run gets a ' in front."""
    wide = [any(isinstance(row[place], Estimate) for row in rows) for place in range(len(head))]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    parts = ("", " low", " high", " n", " method")
    writer.writerow(
        [
            title + part
            for title, is_wide in zip(head, wide, strict=True)
            for part in (parts if is_wide else ("",))
        ]
    )
    for row in rows:
        line: list[object] = []
        for value, is_wide in zip(row, wide, strict=True):
            if isinstance(value, Estimate):
                line += [value.value, value.low, value.high, value.n, value.reason or value.method]
            else:
                line += [value, *[None] * (4 if is_wide else 0)]
        writer.writerow([_guarded(value) for value in line])
    return out.getvalue()


def _guarded(value: object) -> object:
    if isinstance(value, Html):
        typed = re.sub(r"</?code>", "`", value)  # words to type are marked in the file as on the command line
        value = html.unescape(re.sub(r"<[^>]+>", "", typed))
    if isinstance(value, str) and value.startswith(_FORMULA):
        return f"'{value}"
    return value
