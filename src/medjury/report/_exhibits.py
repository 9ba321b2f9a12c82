"""Figures and tables: each stands in the page and is saved beside it, as SVG and PNG or as CSV, for a paper."""

from __future__ import annotations

import csv
import io
import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from medjury.report._html import Cell, Html, element, paragraph, table_html
from medjury.statistics import Estimate

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INK, SOFT, GRID = "#1b2733", "#55636f", "#d5dde5"
# Okabe and Ito's colours, which people with any kind of colour vision tell apart; markers differ too.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#5d5d5d", "#a6761d")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
JURY_COLOUR, CLINICIAN_COLOUR = "#0072b2", "#d55e00"
_STYLE: dict[Any, Any] = {
    "font.family": ["DejaVu Sans"],
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelcolor": INK,
    "axes.edgecolor": SOFT,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "figure.facecolor": "white",
    "svg.fonttype": "none",
    "svg.hashsalt": "medjury",
    "path.simplify": True,
    # A name with two dollar signs is no formula.
    "text.parse_math": False,
}
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


@dataclass
class Exhibits:
    """Collects what the page shows; `write` saves it. Without matplotlib the page has tables only."""

    drawing: bool = True
    figures: dict[str, tuple[str, bytes]] = field(default_factory=dict)
    tables: dict[str, str] = field(default_factory=dict)

    def table(
        self,
        name: str,
        head: Sequence[str],
        rows: Sequence[Sequence[Cell]],
        *,
        caption: str,
        digits: int | Sequence[int] = 3,
        shown: int | None = None,
        folded: bool = False,
    ) -> Html:
        """A table in the page and as CSV. `shown` limits the rows in the page; the CSV has them all. A `folded`
        one is opened by the reader, and by the printer."""
        self.tables[name] = _csv(head, rows)
        if not rows:
            return Html("")
        kept = rows if shown is None else rows[:shown]
        made = table_html(head, kept, caption=caption, digits=digits)
        if len(kept) < len(rows):
            note = f"The first {len(kept):,} of {len(rows):,} rows; all of them are in tables/{name}.csv."
            made = Html(made + paragraph(note, class_="soft"))
        if folded:
            title = f"{caption.split('.')[0].split(';')[0]}: {len(kept):,} rows"
            made = element("details", element("summary", title), made)
        return made

    def figure(
        self, name: str, size: tuple[float, float], draw: Callable[[Figure], None], *, caption: str, alt: str
    ) -> Html:
        """A figure in the page and as SVG and PNG. `alt` says in words what it shows."""
        if not self.drawing:
            return paragraph("The figure needs matplotlib: pip install 'medjury[report]'.", class_="soft")
        svg, png = _drawn(size, draw)
        self.figures[name] = (svg, png)
        return element(
            "figure",
            element(
                "div",
                Html(_inline(svg, name, alt)),
                class_="picture",
                role="group",
                tabindex="0",
                aria_label=name,
            ),
            element("figcaption", caption),
            id=f"figure-{name}",
        )

    def write(self, folder: Path) -> None:
        """Save everything; files of an earlier report that this one does not have are taken away."""
        wanted = {
            "figures": {f"{name}.svg": svg.encode() for name, (svg, _) in self.figures.items()}
            | {f"{name}.png": png for name, (_, png) in self.figures.items()},
            "tables": {f"{name}.csv": text.encode() for name, text in self.tables.items()},
        }
        for kind, files in wanted.items():
            if not files and not (folder / kind).exists():
                continue
            (folder / kind).mkdir(exist_ok=True)
            for old in (folder / kind).iterdir():
                if old.suffix in (".svg", ".png", ".csv") and old.name not in files:
                    old.unlink()
            for file, content in files.items():
                (folder / kind / file).write_bytes(content)


def _drawn(size: tuple[float, float], draw: Callable[[Figure], None]) -> tuple[str, bytes]:
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with matplotlib.rc_context(_STYLE), warnings.catch_warnings():
        # A name in a script that the drawing font lacks: browsers have it, and the page holds text.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure = Figure(figsize=size, layout="constrained")
        FigureCanvasAgg(figure)
        draw(figure)
        vector, raster = io.StringIO(), io.BytesIO()
        figure.savefig(vector, format="svg", metadata={"Date": None, "Creator": None})
        # The layout is found; the second drawing need not look for it again.
        figure.set_layout_engine("none")
        figure.savefig(raster, format="png", dpi=150, metadata={"Software": None})
    return vector.getvalue(), raster.getvalue()


def _inline(svg: str, name: str, alt: str) -> str:
    """The SVG as part of a page: ids of its own, no XML head, no style that reaches the page, a spoken name."""
    body = svg[svg.index("<svg") :]
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    body = re.sub(r"<style[^>]*>.*?</style>", "", body, flags=re.DOTALL)
    body = re.sub(r"<!--.*?-->", "", body, flags=re.DOTALL)
    used = set(re.findall(r'(?:url\(#|href="#)([^)"]+)', body))
    body = re.sub(r' id="([^"]+)"', lambda found: _own_id(found[1], used, name), body)
    body = re.sub(r'(url\(#|href="#)', rf"\1{name}-", body)
    body = re.sub(r"font: ([^;\"]*?)'DejaVu Sans'", r"font: \1'DejaVu Sans', Verdana, sans-serif", body)
    body = re.sub(r"\n\s*", "\n", body)
    width = re.search(r'width="([\d.]+)pt"', body)
    limit = f' style="max-width:{float(width[1]) * 4 / 3:.0f}px"' if width else ""
    label = element("x", aria_label=alt)[3:-5]
    opening = re.sub(r'\s(?:width|height)="[\d.]+pt"', "", body[: body.index(">")])
    return f'{opening} role="img" {label}{limit}{body[body.index(">") :]}'


def _own_id(found: str, used: set[str], name: str) -> str:
    return f' id="{name}-{found}"' if found in used else ""


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
        value = re.sub(r"<[^>]+>", "", value)
    if isinstance(value, str) and value.startswith(_FORMULA):
        return f"'{value}"
    return value
