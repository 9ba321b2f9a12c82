"""The audit trail for the command line."""

from __future__ import annotations

from medjury.foundation.screen import screen_columns
from medjury.panel._panel import Panel


def trail_text(panel: Panel, *, check_only: bool = False) -> str:
    """All rows after the chain was checked, or only what the check found. A broken chain is an error. A program
    gets cells with tabs between them, a person at a terminal a line to read."""
    from medjury.panel._access import about_in_words, check_trail, people, trail_entries

    with panel.database.reading() as connection:
        last = check_trail(connection)
        if last is None:
            return "The audit trail is empty."
        rows = "1 row" if last.number == 1 else f"{last.number:,} rows"
        held = f"The audit trail holds: {rows}, the last with the hash {last.hash}"
        if check_only:
            return held
        names = {each.person.id: each.person.name for each in people(connection)}
        cells = [
            (
                str(each.number),
                each.at,
                names.get(each.person, each.person),
                each.what,
                about_in_words(each, names),
            )
            for each in trail_entries(connection)
        ]
    lines = ["\t".join(each) for each in cells] if screen_columns() is None else [*map(_to_read, cells)]
    return "\n".join([*lines, held])


def _to_read(cells: tuple[str, str, str, str, str]) -> str:
    """The moment to the second, in UTC as it was kept."""
    number, at, who, what, about = cells
    return f"{number:>4}  {at[:19].replace('T', ' ')}  {' '.join(filter(None, (f'{who}:', what, about)))}"
