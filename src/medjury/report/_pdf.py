"""The page as PDF: by Chromium where there is one, else by weasyprint."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from medjury.foundation.errors import MedjuryError
from medjury.foundation.files import make_private
from medjury.report._browser import NO_BROWSER, find_browser, run_browser
from medjury.store.runs import files, record_report

Paper = Literal["A4", "letter"]


def write_pdf(page: str | Path, *, paper: Paper = "A4") -> Path:
    """Write `report.pdf` beside the page and return its path. `MEDJURY_CHROMIUM` names a browser of your own."""
    source = Path(page).resolve()
    target = source.with_suffix(".pdf")
    browser = find_browser()
    if browser is not None:
        flags = ("--no-pdf-header-footer", f"--print-to-pdf={target}")
        # The page itself leaves the paper to who prints it; its script reads which one is meant here.
        run_browser(browser, source, target, *flags, part=f"#paper={paper}")
    elif find_spec("weasyprint") is not None:
        from importlib import import_module

        weasyprint = import_module("weasyprint")
        style = weasyprint.CSS(string=f"@page {{ size: {paper} }}")
        weasyprint.HTML(filename=str(source)).write_pdf(str(target), stylesheets=[style])
        make_private(target)
    else:
        raise MedjuryError(
            f"a PDF needs {NO_BROWSER} or weasyprint (pip install weasyprint); the HTML report prints well from "
            "any browser"
        )
    if (source.parent / files.MANIFEST).is_file():
        record_report(source.parent)
    return target
