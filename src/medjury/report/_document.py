"""A whole page: its head, its style and its script inside it, and a policy that lets it load nothing."""

from __future__ import annotations

from importlib.resources import files

from medjury.report._html import Html, text

# Whatever a text may hold, the page loads nothing and talks to nobody.
_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; "
    "form-action 'none'"
)


def document(title: str, main: Html, *, style: str = "", script: str | None = None) -> str:
    """The page that shows `main`. `style` is added to that of every page; `script` stands in place of the one that
    sorts tables."""
    head = (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{text(_POLICY)}">'
        f"<title>{text(title)}</title><style>{_own('page.css')}{style}</style></head>"
    )
    return (
        f"{head}<body>{main}<script>{_own('sort.js') if script is None else script}</script></body></html>\n"
    )


def _own(name: str) -> str:
    return files("medjury.report").joinpath(name).read_text(encoding="utf-8")
