"""A comparison of two runs as one self-contained page."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from medjury.foundation.files import write_whole
from medjury.report._html import Html, element, joined, table_html
from medjury.validation import RunComparison


def write_comparison(comparison: RunComparison, path: str | Path) -> Path:
    """Write a comparison as a self-contained page."""
    style = files("medjury.report").joinpath("page.css").read_text(encoding="utf-8")
    target = Path(path)
    page = (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Medjury: two runs compared</title><style>{style}</style></head><body><main>"
        f"<h1>Two runs compared</h1>{_body(comparison)}</main></body></html>\n"
    )
    write_whole(target, page)
    return target


def _body(comparison: RunComparison) -> Html:
    parts = [element("p", f"A: {comparison.first}"), element("p", f"B: {comparison.second}")]
    parts += [element("p", warning, class_="note") for warning in comparison.warnings]
    for title, rows in (
        ("What differs", comparison.settings),
        ("Verdicts", comparison.verdicts),
        ("Coverage", comparison.coverage),
    ):
        if rows:
            parts.append(table_html(("", "A", "B"), rows, caption=title, sort=False))
    changes = comparison.shown_rows()
    if changes:
        head = list(changes[0])
        parts.append(table_html(head, [tuple(row.values()) for row in changes], caption=comparison.caption))
    return joined(parts)
