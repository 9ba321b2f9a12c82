"""`medjury report`: one self-contained page about a run, its figures and tables; where asked for, the memo for the
board, and PDFs."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from medjury.cli._main import EXIT_FAILED, say
from medjury.cli._options import add_draws, add_flags, add_json, for_reader, print_json

_BESIDE = ("board", "governance")
_CALLED = {"report.html": "Report", "board.html": "Memo for the board", "governance.html": "Governance"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("folder", metavar="RUN", help="the run folder")
    add("--board", action="store_true", help="also write board.html, a memo of one page for the board")
    add("--governance", action="store_true", help="also write governance.html: what regulators ask")
    add("--passport", metavar="FILE", help="the run's passport, for what it states of --governance")
    add("--pdf", action="store_true", help="also write each page as a PDF (Chromium or weasyprint)")
    add("--whole", action="store_true", help="print the folded parts into the PDF too")
    add("--paper", choices=("A4", "letter"), default="A4", help="paper of the PDF (A4)")
    add("--png", action="store_true", default=None, help="save the figures as PNG too (Chromium)")
    add("--hide-texts", action="store_true", default=None, help="leave out names of cases and explanations")
    add("--cases", type=int, metavar="N", dest="cases_shown", help="how many cases worth reading to show")
    add("--cost-per-hour", type=float, metavar="MONEY", dest="clinician_cost_per_hour",
        help="what a clinician's hour costs, for the cost table")  # fmt: skip
    add("--minutes-per-case", type=float, metavar="MINUTES", dest="clinician_minutes_per_case",
        help="a clinician's time per case, where not measured")  # fmt: skip
    add_draws(parser, usual=("default: the run's", "default: the run's"))
    add_flags(parser, "--quiet")
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    from medjury.cli._display import display
    from medjury.report import write_page, write_pdf
    from medjury.store.runs import ReportSettings, RunFolder

    checks = RunFolder(options.folder).verify(report=False, unlisted=False)
    settings = {name: getattr(options, name, None) for name in ReportSettings.model_fields}
    with display(quiet=options.quiet) as shown:
        page = write_page(options.folder, checks=checks, step=shown.step if shown else None, board=options.board,
                          governance=options.governance, passport=options.passport, **settings)  # fmt: skip
    stream = for_reader(options)
    pages = [page, *(page.with_name(f"{name}.html") for name in _BESIDE if getattr(options, name))]
    pdfs = [write_pdf(each, paper=options.paper, whole=options.whole) for each in pages if options.pdf]
    for each in (*pages, *pdfs):
        say(f"{_CALLED.get(each.name, 'PDF')}: {each}", stream)
    altered = [check for check in checks if not check.sound]
    for check in altered:
        say(f"ALTERED {check.what}: {check.detail}", stream)
    if options.json:
        made = {"board": None, "pdf": next(map(str, pdfs), None), **{each.stem: str(each) for each in pages}}
        print_json({**made, "altered": [asdict(check) for check in altered]})
    return EXIT_FAILED if altered else 0
