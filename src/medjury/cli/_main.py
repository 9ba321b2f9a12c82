"""Finds the command, imports only its file, and turns errors for the reader into one clear message."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any, TextIO

from medjury.cli._options import complete_options, for_programs
from medjury.cli._screen import Parser, reading_screen
from medjury.foundation.errors import MedjuryError
from medjury.foundation.files import is_full

# What `medjury --help` shows: under a heading each command with its line. The file cli/NAME.py (- as _) holds
# `add_arguments` and `run`.
HEADINGS = {
    "Start": {
        "demo": "try it: a planted study in seconds, then a small model live",
        "init": "write a commented study file to start from",
        "recipes": "check the files that you put in a recipe's place",
        "look": "what is this file, and what can it answer?",
        "plan": "how many cases and raters a study needs",
        "cases": "check a file of cases and show what was read",
        "draft": "let a model write the answers that a study judges",
        "instruments": "list, show and check rating instruments",
    },
    "Judge": {
        "models": "list endpoints and prices, fetch the embedded model",
        "register": "freeze rules, prompts and data before a score is seen",
        "run": "judge every case, keep every vote, go on where it stopped",
        "report": "write the report: may this jury be trusted, and for what?",
        "view": "read case by case in a browser: source, answer, every vote",
        "compare": "what changed between two runs, with paired intervals",
        "runs": "verify, erase, record and reread runs; ratings and stores",
    },
    "Trust": {
        "gate": "the verdict of a run, for people and for pipelines",
        "validate": "the verdict from two tables of scores, without a run",
        "agreement": "agreement between raters, every number with its interval",
        "calibrate": "calibrate judges to clinicians, cross-fitted by case",
        "audit": "own vendor, stability, length, order, groups, drift",
        "estimate": "mean quality from few labels and many jury scores",
        "triage": "rank the cases that a clinician should see first",
        "rank": "rank systems, with ties and detectable differences",
    },
    "Clinicians": {
        "panel": "clinicians rate in the browser: serve, invite, assign, export",
        "criteria": "criteria of each case: scores by them, drafts of a model",
        "passport": "make or check the passport of a validated jury",
        "judge": "judge cases by a passport, and mark what lies outside it",
        "mcp": "a passport's jury for programs that speak MCP, by stdin",
        "watch": "watch a jury in use, alarm where a limit is crossed",
    },
    "Expert": {
        "tune": "improve a prompt on clinicians' labels, and prove the gain",
        "train": "train a local judge on clinicians' ratings, and serve it",
        "bench": "benchmarks: data, models, your own, and leaderboards",
        "metrics": "text metrics between a reference and a hypothesis",
        "impact": "which clinical words changed between said and recognised",
        "align": "align what was said with what was recognised",
        "transcripts": "from two transcripts to a study of clinical impact",
        "completion": "let your shell complete commands and options",
    },
}
# Under a neighbour: commands that few people type.
UNDER = {
    "cases": {
        "redact": "preview or write cases with identifiers replaced",
    },
    "plan": {"simulate-jury": "find on stored votes when a jury may stop early: calls saved, agreement lost"},
    "runs": {
        "verify": "check a run folder against its manifest and its audit log",
        "erase": "delete everything of one patient, of cases, or older than a day from a store",
        "record": "write the answers of a run to a file, by which its study runs again without endpoints and keys",
        "reread": "read the stored replies of a run again, by the present reader and instrument, without a call",
        "ratings": "import clinicians' ratings, export ratings, list the runs in a store",
        "store": "copy a store into another: from SQLite to PostgreSQL, or back",
    },
    "tune": {"prompts": "what a tuning tried (log), and what changed from one prompt to another (diff)"},
}
COMMANDS = {name: line for lines in HEADINGS.values() for name, line in lines.items()} | {
    f"{first} {name}": line for first, lines in UNDER.items() for name, line in lines.items()
}

# Commands that are in the file of a neighbour, where their functions bear their names: `run_erase`.
_NEIGHBOURS = {
    "estimate": "calibrate", "triage": "calibrate", "impact": "metrics", "erase": "store", "ratings": "store",
    "draft": "run", "redact": "cases", "align": "transcripts",
}  # fmt: skip
# Commands that compute and end.
_ANALYSES = frozenset((
    "agreement", "audit", "calibrate", "compare", "criteria", "estimate", "gate", "rank", "report", "triage",
    "validate",
))  # fmt: skip

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
    first = words[0] if words else ""
    if first and first not in COMMANDS and not first.startswith("-"):
        from medjury.cli._unknown_words import meant

        moved = [name for name in COMMANDS if name.endswith(f" {first}")]
        told = f" (did you mean {moved[0]}?)" if moved else meant(first, COMMANDS)
        parser.error(f"there is no command {first!r}{told}; `medjury --help` lists them")
    two = " ".join(words[:2])
    chosen = two if two in COMMANDS else first if first in COMMANDS else None
    command = add_commands(parser, chosen)
    options, unknown = parser.parse_known_args(words)
    if chosen is None:
        parser.error("say what to do: `medjury --help` lists the commands")
    if unknown:
        from medjury.cli._unknown_words import refuse_unknown

        refuse_unknown(command, unknown)
    return options, command


def add_commands(parser: argparse.ArgumentParser, chosen: str | None) -> argparse.ArgumentParser:
    """Every command with its one line; with `chosen`, that one alone with all its options, which is returned."""
    if chosen is None:
        parser.usage = "medjury [-h] [-V] COMMAND ..."
        for heading, lines in HEADINGS.items():
            group = parser.add_argument_group(heading)
            for name, line in lines.items():
                group.add_argument(name, nargs="?", help=line).metavar = name
        return parser
    first, _, second = chosen.partition(" ")
    command = _added(parser.add_subparsers(dest="command", metavar="COMMAND", required=True), first, first)
    if second:
        command = _added(
            command.add_subparsers(dest="command", metavar="COMMAND", required=True), second, chosen
        )
    elif first == "runs":  # a heading of other commands alone
        inside = command.add_subparsers(dest="command", metavar="COMMAND", required=True)
        for name in UNDER[first]:
            _added(inside, name, f"{first} {name}")
        return command
    command_function("add{}_arguments", second or first)(command)
    complete_options(command)
    if not second and first in UNDER:
        others = [f"`medjury {first} {name}` ({line})" for name, line in UNDER[first].items()]
        command.epilog = "\n\n".join(filter(None, (command.epilog, f"See also {', '.join(others)}.")))
    return command


def _added(
    commands: argparse._SubParsersAction[argparse.ArgumentParser], name: str, whole: str
) -> argparse.ArgumentParser:
    return commands.add_parser(name, help=COMMANDS[whole], description=COMMANDS[whole])


def _run(options: argparse.Namespace, command: argparse.ArgumentParser) -> int:
    analyses = options.command in _ANALYSES
    if analyses and "numpy" not in sys.modules:
        # Matrices of one study are small: threads of linear algebra would mostly wait for one another.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        status = command_function("run{}", options.command)(options)
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


def command_function(name: str, command: str) -> Callable[[Any], Any]:
    """What adds the options of a command, or runs it."""
    own = command.replace("-", "_")
    file = _NEIGHBOURS.get(command, own)
    found: Callable[[Any], Any] = getattr(
        importlib.import_module(f"medjury.cli.{file}"),
        name.format(f"_{own}" if command in _NEIGHBOURS else ""),
    )
    return found
