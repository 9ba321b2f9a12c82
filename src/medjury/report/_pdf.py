"""The page as PDF: by Chromium where there is one, else by weasyprint."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from medjury.errors import MedjuryError
from medjury.files import make_private
from medjury.report._browser import NO_BROWSER, find_browser, run_browser
from medjury.runs import files, record_report


def write_pdf(page: str | Path) -> Path:
    """Write `report.pdf` beside the page and return its path. `MEDJURY_CHROMIUM` names a browser of your own."""
    source = Path(page).resolve()
    target = source.with_suffix(".pdf")
    browser = find_browser()
    if browser is not None:
        run_browser(browser, source, target, "--no-pdf-header-footer", f"--print-to-pdf={target}")
    elif find_spec("weasyprint") is not None:
        from importlib import import_module

        import_module("weasyprint").HTML(filename=str(source)).write_pdf(str(target))
        make_private(target)
    else:
        raise MedjuryError(
            f"a PDF needs {NO_BROWSER} or weasyprint (pip install weasyprint); the HTML report prints well from "
            "any browser"
        )
    if (source.parent / files.MANIFEST).is_file():
        record_report(source.parent)
    return target
