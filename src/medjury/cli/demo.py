"""`medjury demo`: a good jury on planted errors in seconds, then a real (tiny) model live; no network."""

from __future__ import annotations

import argparse
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from medjury.cli._main import EXIT_INTERRUPTED, say
from medjury.cli._run_file import run_file
from medjury.runs import files

# A busy machine can take many times the minute that the live part is told to take: then it is stopped.
_LIVE_SECONDS = 180.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--folder", default="demo", help="where to put the studies and their runs (default: demo)"
    )
    parser.add_argument("--no-live", action="store_true", help="only the recorded jury, which takes seconds")
    parser.add_argument("--quiet", action="store_true", help="no progress line")


def run(options: argparse.Namespace) -> int:
    from medjury.studies import GOOD_JURY, LIVE, copy_demonstration, planted_errors, why_no_live

    folder = Path(options.folder)
    copy_demonstration(folder)
    say(
        "1. A good jury: three jurors' recorded votes on 120 synthetic discharge summaries with planted errors.\n"
    )
    first = folder / "runs" / "demonstration"
    pages = [("a good jury", first / files.REPORT)]
    try:
        status = run_file(str(folder / GOOD_JURY), quiet=options.quiet)
        say(f"{planted_errors(first, folder / 'cases.jsonl').text()}\n")
        why = "you asked for the recorded jury alone" if options.no_live else why_no_live()
        if why:
            say(f"2. The live part is left out: {why}.")
        else:
            say(
                "2. Live: the small model on this machine judges eight of the same summaries, in about a minute "
                "and three at most."
            )
            say(
                "It is far too small to be trusted, and its page says so. Ctrl-C stops it; nothing is lost.\n"
            )
            pages.append(("the small model", folder / "runs" / "live" / files.REPORT))
            with _stopped_after(_LIVE_SECONDS) as over:
                live = run_file(str(folder / LIVE), quiet=options.quiet)
            if over.is_set():
                say(
                    f"\nThe live part was stopped after {_LIVE_SECONDS / 60:g} minutes: this machine is slow just "
                    "now. `medjury demo` goes on from here."
                )
            else:
                status = max(status, live)
    except KeyboardInterrupt:  # while something is read or a page is made: what there is can be opened
        say("\nStopped. `medjury demo` goes on from here.")
        status = EXIT_INTERRUPTED
    there = [(what, page.resolve()) for what, page in pages if page.exists()]
    if there:
        say("\nOpen the pages:" if len(there) > 1 else "\nOpen the page:")
    for what, page in there:
        say(f"  {what}: {page}")
    return status


@contextmanager
def _stopped_after(seconds: float) -> Iterator[threading.Event]:
    """A Ctrl-C by the clock: calls on their way are stored, and the page is made. Set where it came to that."""
    over = threading.Event()

    def stop() -> None:
        over.set()
        signal.raise_signal(signal.SIGINT)

    timer = threading.Timer(seconds, stop)
    timer.daemon = True
    timer.start()
    try:
        yield over
    except KeyboardInterrupt:  # before the first call, or while the page is made
        if not over.is_set():
            raise
    finally:
        timer.cancel()
