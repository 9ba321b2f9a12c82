"""`medjury report`: one self-contained page about a run, its figures and tables, and a PDF where asked for."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from medjury.cli._main import EXIT_FAILED, say
from medjury.cli._options import add_json, for_reader, print_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("folder", metavar="RUN", help="the run folder")
    add("--pdf", action="store_true", help="also write report.pdf (Chromium or weasyprint)")
    add("--paper", choices=("A4", "letter"), default="A4", help="paper of the PDF (A4)")
    add("--png", action="store_true", default=None, help="save the figures as PNG too (Chromium)")
    add("--hide-texts", action="store_true", default=None, help="leave out names of cases and explanations")
    add("--cases", type=int, metavar="N", dest="cases_shown", help="how many cases worth reading to show")
    add("--cost-per-hour", type=float, metavar="MONEY", dest="clinician_cost_per_hour",
        help="what a clinician's hour costs, for the cost table")  # fmt: skip
    add("--minutes-per-case", type=float, metavar="MINUTES", dest="clinician_minutes_per_case",
        help="a clinician's time per case, where not measured")  # fmt: skip
    add("--resamples", type=int, metavar="N", help="bootstrap resamples (default: the run's)")
    add("--seed", type=int, metavar="N", help="seed of folds and resamples (default: the run's)")
    add("--quiet", action="store_true", help="no progress bar")
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    from medjury.cli._display import display
    from medjury.report import write_page, write_pdf
    from medjury.store.runs import ReportSettings, RunFolder

    checks = RunFolder(options.folder).verify(report=False, unlisted=False)
    settings = {name: getattr(options, name, None) for name in ReportSettings.model_fields}
    with display(quiet=options.quiet) as shown:
        step = None if shown is None else shown.step
        page = write_page(options.folder, checks=checks, step=step, **settings)
    stream = for_reader(options)
    say(f"Report: {page}", stream)
    pdf = str(write_pdf(page, paper=options.paper)) if options.pdf else None
    if pdf:
        say(f"PDF: {pdf}", stream)
    altered = [check for check in checks if not check.sound]
    for check in altered:
        say(f"ALTERED {check.what}: {check.detail}", stream)
    if options.json:
        print_json({"report": str(page), "pdf": pdf, "altered": [asdict(check) for check in altered]})
    return EXIT_FAILED if altered else 0
