"""`medjury report`: one self-contained page about a run, its figures and tables, and a PDF where asked for."""

from __future__ import annotations

import argparse

from medjury.cli._main import EXIT_FAILED


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", metavar="RUN", help="the run folder")
    parser.add_argument("--pdf", action="store_true", help="also write report.pdf (Chromium or weasyprint)")
    parser.add_argument(
        "--hide-texts",
        action="store_true",
        default=None,
        help="leave out names of cases and every explanation",
    )
    parser.add_argument("--cases", type=int, metavar="N", help="how many cases worth reading to show")
    parser.add_argument(
        "--cost-per-hour",
        type=float,
        metavar="MONEY",
        help="what a clinician's hour costs, for the cost table",
    )
    parser.add_argument(
        "--minutes-per-case",
        type=float,
        metavar="MINUTES",
        help="a clinician's time per case, where not measured",
    )
    parser.add_argument("--resamples", type=int, metavar="N", help="bootstrap resamples at most")
    parser.add_argument("--seed", type=int, help="seed of the intervals")


def run(options: argparse.Namespace) -> int:
    from medjury.report import write_page, write_pdf
    from medjury.runs import verify_run

    checks = verify_run(options.folder)
    page = write_page(
        options.folder,
        checks=checks,
        hide_texts=options.hide_texts,
        cases_shown=options.cases,
        clinician_cost_per_hour=options.cost_per_hour,
        clinician_minutes_per_case=options.minutes_per_case,
        resamples=options.resamples,
        seed=options.seed,
    )
    print(f"Report: {page}")
    if options.pdf:
        print(f"PDF: {write_pdf(page)}")
    altered = [check for check in checks if not check.sound]
    for check in altered:
        print(f"ALTERED {check.what}: {check.detail}")
    return EXIT_FAILED if altered else 0
