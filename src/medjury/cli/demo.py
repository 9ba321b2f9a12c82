"""`medjury demo`: a good jury on planted errors in seconds, then a real (tiny) model live; no network."""

from __future__ import annotations

import argparse
import contextlib
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

from medjury.cli._main import EXIT_INTERRUPTED, say
from medjury.cli._options import add_flags
from medjury.cli.run import name_pages, run_file
from medjury.store.runs import files

LIVE_SECONDS = 180.0  # a busy machine can take many times the minute that is stated: then it is stopped


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--folder", default="demo", help="where to put the studies and their runs (default: demo)")
    add("--no-live", action="store_true", help="only the recorded jury, which takes seconds")
    add_flags(parser, "--quiet")


def run(options: argparse.Namespace) -> int:
    from medjury.studies import Demonstration

    folder = Path(options.folder)
    demonstration = Demonstration(folder)
    demonstration.copy()
    say(
        "1. A good jury: three jurors' recorded votes on 120 synthetic discharge summaries with planted errors.\n"
    )
    first = folder / "runs" / "demonstration"
    pages = [("a good jury", first / files.REPORT)]
    try:
        status = run_file(str(demonstration.good_jury), quiet=options.quiet)
        say(f"{demonstration.planted_errors()}\n")
        why = "you asked for the recorded jury alone" if options.no_live else demonstration.why_not_live()
        if why:
            say(f"2. The live part is left out: {why}.")
        else:
            say(
                "2. Live: the small model on this machine judges eight of the same summaries, in about a minute "
                "and three at most.\nIt is far too small to be trusted, and its page says so. Ctrl-C stops it; "
                "nothing is lost.\n"
            )
            pages.append(("the small model", folder / "runs" / "live" / files.REPORT))
            with stopped_after(LIVE_SECONDS) as slow:
                live = run_file(str(demonstration.live), quiet=options.quiet)
            if slow.is_set():
                say(
                    "\nThe live part was stopped: this machine is slow just now. `medjury demo` goes on from here."
                )
            status = status if slow.is_set() else max(status, live)
    except KeyboardInterrupt:  # while something is read or a page is made: what there is can be opened
        say("\nStopped. `medjury demo` goes on from here.")
        status = EXIT_INTERRUPTED
    name_pages(pages)
    return status


@contextlib.contextmanager
def stopped_after(seconds: float) -> Iterator[threading.Event]:
    """A Ctrl-C by the clock: a run within this block stores the calls on their way and ends. The event is set where
    it came to that."""
    over, runs = threading.Event(), threading.get_ident()

    def stop() -> None:
        over.set()
        if hasattr(signal, "pthread_kill"):  # to the thread that runs, which may sleep or wait
            signal.pthread_kill(runs, signal.SIGINT)
        else:
            signal.raise_signal(signal.SIGINT)

    timer = threading.Timer(seconds, stop)
    timer.daemon = True
    timer.start()
    try:
        yield over
    except KeyboardInterrupt:  # before the first call, or after the last
        if not over.is_set():
            raise
    finally:
        timer.cancel()
