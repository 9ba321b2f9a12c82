"""Finds the command, imports only its file, and turns errors for the reader into one clear message."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from typing import TextIO

from medjury.cli._options.shared import complete_options, for_programs
from medjury.cli._terminal import Parser, reading_screen
from medjury.foundation.errors import MedjuryError
from medjury.foundation.files import is_full

# name -> one line for `medjury --help`; the file cli/NAME.py (- as _) holds `add_arguments` and `run`.
COMMANDS = {
    "demo": "a good jury on planted errors in seconds, then a small model live; no network",
    "init": "write a commented study file to start from",
    "register": "freeze a study's rules, instrument, prompts and data before a score is seen",
    "run": "run a study file: judge every case, keep every vote, resume where it stopped",
    "tune": "improve a judge's prompt or examples on clinicians' labels, and prove the gain on other cases",
    "prompts": "what a tuning tried (log), and what changed from one prompt to another (diff)",
    "reread": "read the stored replies of a run again, by the present reader and instrument, without a call",
    "record": "write the answers of a run to a file, by which its study runs again without endpoints and keys",
    "draft": "write the answers that a study judges, from the question, the latest notes and values",
    "look": "what is this file? its kind, the mapping that reads it, and what it can answer",
    "cases": "check a file of cases and show what was read",
    "redact": "preview or write cases with identifiers replaced",
    "instruments": "list, show and check rating instruments",
    "models": "list endpoint kinds and prices, fetch the embedded model",
    "ratings": "import clinicians' ratings, export ratings, list the runs in a store",
    "agreement": "agreement between raters, every coefficient with its interval",
    "plan": "how many cases and raters a study needs, and what its gate can show",
    "calibrate": "fit, apply and report a calibration of judges to clinicians, cross-fitted by case",
    "estimate": "mean quality from few clinicians' labels and many jury scores, with a valid interval",
    "simulate-jury": "find on stored votes when a jury may stop early: calls saved, agreement lost",
    "triage": "rank the cases a clinician should see first",
    "audit": "self-preference, stability, length and order effects, group differences, drift",
    "rank": "rank systems: win rate, macro average, tie groups, smallest detectable difference",
    "bench": "benchmarks: list them, check and fetch their data, make your own, run models, write a leaderboard",
    "metrics": "text metrics between reference and hypothesis, all in one pass",
    "impact": "which clinically loaded things changed between what was said and what was recognised",
    "align": "align what was said with what was recognised, turn by turn",
    "transcripts": "from two transcripts to a finished study of clinical impact",
    "train": "train a local judge on clinicians' ratings, and serve it as an ordinary judge",
    "report": "write a run's report: may this jury be trusted, for what, and how do we know",
    "view": "read the evidence case by case in a browser: source, answer, every vote; or write it as one file",
    "gate": "the verdict of a run's report, with an exit status and JUnit for pipelines",
    "passport": "make or check the passport of a validated jury: what it is, on whom it was validated, until when",
    "judge": "judge cases by a passport: exactly that jury, and whether each case lies inside what was validated",
    "watch": "watch a jury in use: judge what is new, draw what clinicians read, alarm where a limit is crossed",
    "validate": "the verdict from two tables, clinicians' and judges' scores, without a run",
    "compare": "what changed between two runs, with paired intervals",
    "panel": "clinicians rate in the browser: serve the pages, invite people, read the audit trail",
    "completion": "print what lets your shell complete commands and options",
    "store": "copy a store into another: from SQLite to PostgreSQL, or back",
    "erase": "delete everything of one patient, of cases, or older than a day from a store",
    "verify": "check a run folder against its manifest and its audit log",
}

# Commands that compute and end.
_ANALYSES = frozenset(
    ("agreement", "audit", "calibrate", "compare", "estimate", "gate", "rank", "report", "triage", "validate")
)

# Packages that only some commands need, and the extra that brings each.
EXTRA_OF = {
    "matplotlib": "report",
    "xllamacpp": "local",
    "psycopg": "postgres",
    "torch": "neural",
    "transformers": "neural",
    **dict.fromkeys(("argon2", "fastapi", "jinja2", "jwt", "starlette", "uvicorn", "webauthn"), "panel"),
    "gepa": "tuning",
    "optuna": "tuning",
}

EXIT_FAILED, EXIT_USAGE, EXIT_INCOMPLETE, EXIT_INTERRUPTED = 1, 2, 3, 130


def say(text: str, stream: TextIO | None = None) -> None:
    """Print for a reader who may have left (`medjury run STUDY | head`): the work goes on without one."""
    stream = stream or sys.stdout
    try:
        print(text, file=stream, flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the return value is the exit status."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if arguments is None:
        # The process is ours: no plugin of another package sees what pydantic checks for us.
        os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
        # The threads of numpy's library sleep while there is nothing for them to do; else they spin for a while.
        os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")
    if words and words[0] in ("-V", "--version"):
        from medjury.version import __version__

        print(f"medjury {__version__}")
        return 0
    parser = Parser(
        prog="medjury",
        description="Grade clinical AI output with juries of language models, and prove how far to trust them.",
        epilog="Exit status: 0 complete, 1 failed, 2 wrong input, 3 incomplete, 130 interrupted; `gate` and "
        "`validate` end with their verdict (see `medjury gate --help`).",
    )
    parser.add_argument("-V", "--version", action="store_true", help="print the version and exit")
    try:
        with reading_screen(wide=False, raw=False):
            options, command = _parsed(parser, words)
        with reading_screen(wide=getattr(options, "wide", False), raw=for_programs(options)):
            return _run(options, command)
    except MedjuryError as error:  # what the environment says
        say(f"medjury: {error}", sys.stderr)
        return error.exit_status


def _parsed(
    parser: argparse.ArgumentParser, words: Sequence[str]
) -> tuple[argparse.Namespace, argparse.ArgumentParser]:
    """What was asked for, and the parser of its command; what cannot be understood ends here."""
    if words and words[0] not in COMMANDS and not words[0].startswith("-"):
        from medjury.cli._unknown_words import meant

        parser.error(
            f"there is no command {words[0]!r}{meant(words[0], COMMANDS)}; `medjury --help` lists them"
        )
    command = add_commands(parser, words[0] if words and words[0] in COMMANDS else None)
    options, unknown = parser.parse_known_args(words)
    if unknown:
        from medjury.cli._unknown_words import refuse_unknown

        refuse_unknown(command, unknown)
    return options, command


def add_commands(parser: argparse.ArgumentParser, chosen: str | None) -> argparse.ArgumentParser:
    """Every command with its one line; with `chosen`, that one alone with all its options, which is returned."""
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name in COMMANDS if chosen is None else (chosen,):
        command = subparsers.add_parser(name, help=COMMANDS[name], description=COMMANDS[name])
        if name == chosen:
            importlib.import_module(_module(name)).add_arguments(command)
            complete_options(command)
    return command


def _run(options: argparse.Namespace, command: argparse.ArgumentParser) -> int:
    analyses = options.command in _ANALYSES
    if analyses and "numpy" not in sys.modules:
        # Matrices of one study are small: threads of linear algebra would mostly wait for one another.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        status = importlib.import_module(_module(options.command)).run(options)
    except MedjuryError as error:
        from medjury.cli._advice import advice
        from medjury.cli._unknown_words import without_foreign_options

        told = without_foreign_options(f"medjury: {error}", command)
        say("\n".join(filter(None, (told, advice(options, error)))), sys.stderr)
        return error.exit_status
    except ModuleNotFoundError as error:
        extra = EXTRA_OF.get((error.name or "").partition(".")[0])
        if extra is None:
            raise
        print(
            f'medjury: this needs {error.name}; install it with: pip install "medjury[{extra}]"',
            file=sys.stderr,
        )
        return EXIT_USAGE
    except BrokenPipeError:  # `medjury ... | head`
        sys.stderr.close()
        return 0
    except OSError as error:
        if not is_full(error):
            raise
        say(
            f"medjury: there is no room left on the disk ({error}); free some space and try again", sys.stderr
        )
        return EXIT_FAILED
    except KeyboardInterrupt:
        print("medjury: interrupted", file=sys.stderr)
        return EXIT_INTERRUPTED
    return int(status)


def _module(command: str) -> str:
    return f"medjury.cli.{command.replace('-', '_')}"
