"""One self-contained page about a run: no network, no script needed, prints well."""

from __future__ import annotations

import json
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from medjury.errors import MedjuryError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from medjury.runs import Check

_NEEDED = ("numpy", "scipy")


def write_page(folder: str | Path, *, checks: Sequence[Check] = (), **settings: Any) -> Path:
    """Write `report.html` into a run folder, with its figures and tables beside it, and return its path.

    `checks` are findings about the folder beyond the hashes of its files, such as those of its audit log;
    `settings` replace what the study file says under `report:`. Without the statistics packages there is a page
    that says so, and no verdict.
    """
    folder = Path(folder)
    for name, least in (("resamples", 200), ("cases_shown", 0)):
        if settings.get(name) is not None and settings[name] < least:
            raise MedjuryError(f"{name} must be {least} or more, not {settings[name]}")
    if missing := [name for name in _NEEDED if find_spec(name) is None]:
        return _replace(folder, _without_statistics(folder, missing))
    from medjury.report._compose import compose
    from medjury.report._exhibits import Exhibits
    from medjury.validation import read_run

    evidence = read_run(folder, checks, **settings)
    exhibits = Exhibits(drawing=find_spec("matplotlib") is not None)
    page = compose(evidence, exhibits)
    exhibits.write(folder)
    return _replace(folder, page)


def _replace(folder: Path, page: str) -> Path:
    unfinished = folder / "report.html.part"
    unfinished.write_text(page, encoding="utf-8", errors="replace")
    unfinished.replace(folder / "report.html")
    return folder / "report.html"


def _without_statistics(folder: Path, missing: list[str]) -> str:
    try:
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise MedjuryError(f"{folder}: not a finished run folder ({error}); run the study first") from None
    name, covered = escape(str(manifest.get("study"))), manifest.get("coverage", {})
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Medjury: {name}</title></head><body><main><h1>{name}</h1>"
        f"<p><strong>INCOMPLETE: no verdict.</strong> The report needs {' and '.join(missing)}. Install "
        "them with "
        "<code>pip install 'medjury[report]'</code>, then run <code>medjury report</code> on this folder.</p>"
        f"<p>{covered.get('scored', 0):,} of {covered.get('ratings', 0):,} ratings are scored.</p>"
        "</main></body></html>\n"
    )
