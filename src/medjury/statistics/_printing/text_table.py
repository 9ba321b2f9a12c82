"""Rows as aligned lines: as wide as they are, or fitted to the reader's screen where the command line set one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from medjury.foundation.screen import screen_columns
from medjury.statistics._printing.fitted_table import fitted_table
from medjury.statistics._printing.printing import Printable, shown


def text_table(rows: Sequence[Mapping[str, Printable]]) -> list[str]:
    """Rows as aligned lines, numbers to the right; columns that hold nothing at all are left out."""
    names = [name for name in (rows[0] if rows else ()) if any(row[name] not in (None, "") for row in rows)]
    if (room := screen_columns()) is not None and names:
        return fitted_table([{name: row[name] for name in names} for row in rows], room)
    cells = [["" if row[name] is None else shown(row[name]) for name in names] for row in rows]
    right = [all(isinstance(row[name], int | float | None) for row in rows) for name in names]
    widths = [max(len(name), *(len(row[place]) for row in cells)) for place, name in enumerate(names)]
    lines = []
    for line in (names, *cells) if names else ():
        parts = [
            text.rjust(width) if numeric else text.ljust(width)
            for text, width, numeric in zip(line, widths, right, strict=True)
        ]
        lines.append("  ".join(parts).rstrip())
    return lines
