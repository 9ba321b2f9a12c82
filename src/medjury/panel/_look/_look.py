"""The templates and files of all parts under one roof.

`rating/case.html` is `case.html` in the `templates/` of the part `_rating`; its style and scripts lie in `static/`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType, ModuleType

from jinja2 import Environment, FileSystemLoader, PrefixLoader, StrictUndefined

KINDS = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
}


@dataclass(frozen=True)
class NavigationLink:
    """One entry at the head of the page, for the roles that may follow it; the lowest order is a role's home."""

    path: str
    label: str
    roles: frozenset[str]
    order: int = 50


@dataclass(frozen=True)
class Look:
    """What a page is made of. Files are read once: nothing that a visitor names is looked up on the disk."""

    templates: Environment
    files: Mapping[str, bytes]
    links: Sequence[NavigationLink]

    def links_of(self, role: str) -> list[NavigationLink]:
        return [link for link in self.links if role in link.roles]


def look_of(parts: Sequence[ModuleType], links: Sequence[NavigationLink]) -> Look:
    """Gather the templates and the files of these parts."""
    folders = [Path(part.__file__ or "").parent for part in parts]
    return Look(*_gathered(tuple(folders)), tuple(links))


@cache
def _gathered(folders: tuple[Path, ...]) -> tuple[Environment, Mapping[str, bytes]]:
    """Read and compiled once in a process, however many panels it serves."""
    named = {folder.name.strip("_"): folder for folder in folders}
    files = {
        f"{name}/{file.relative_to(folder / 'static').as_posix()}": file.read_bytes()
        for name, folder in named.items()
        for file in sorted((folder / "static").rglob("*"))
        if file.suffix in KINDS
    }
    templates = Environment(
        loader=PrefixLoader({name: FileSystemLoader(folder / "templates") for name, folder in named.items()}),
        autoescape=True,
        undefined=StrictUndefined,
        auto_reload=False,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    marks = {name: hashlib.sha256(content).hexdigest()[:12] for name, content in files.items()}
    templates.globals["file"] = lambda name: f"/static/{name}?v={marks[name]}"
    return templates, MappingProxyType(files)
