"""What `gate` and `validate` do alike: print a verdict, write it for a pipeline, and end with its exit status."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from medjury.cli._options import add_draws, add_json
from medjury.cli._screen import Paragraphs

if TYPE_CHECKING:
    from medjury.validation import Validation

STATUSES = {"VALIDATED": 0, "AUXILIARY": 3, "NOT VALIDATED": 4, "INCOMPLETE": 5}
EXIT_HELP = """
Exit status: 0 VALIDATED, 3 AUXILIARY, 4 NOT VALIDATED, 5 INCOMPLETE or nothing to judge (2 is wrong input); over
several dimensions the worst of them. Where a study has several juries, all are shown and the status is that of the
first-named; with --raters it is the worst of those who are named. --json prints a list of {"rater", "dimension",
"verdict", "rules": [{"id", "state", "jury", "colleague", "value", "low", "high", "limit", "found", "why"}]}.
It has the `scope` too. --junit writes a test suite for each rater and dimension and a test case for each rule; a
rule whose state is "not known" is a failure there too, as nothing was shown.
"""


def add_verdict_options(parser: argparse.ArgumentParser, about: str = "") -> None:
    """--json, --junit and how intervals are drawn."""
    parser.formatter_class = Paragraphs
    parser.epilog = about + EXIT_HELP
    add = parser.add_argument
    add_json(parser)
    add(
        "--all",
        action="store_true",
        help="every reason in words, however many dimensions and raters there are",
    )
    add("--junit", metavar="FILE", help="also write the rules as JUnit XML")
    add_draws(parser)


def show_verdict(found: Validation, options: argparse.Namespace) -> int:
    """Print it, write it where asked for, and return the exit status."""
    from medjury.foundation.files import whole_file

    # Several juries are shown side by side; the first-named is the one that a pipeline waits for.
    word = found.worst(first=getattr(options, "raters", None) is None)
    if options.junit:
        with whole_file(Path(options.junit)) as file:
            file.write(found.junit())
    if options.json:
        print(found.verdicts_json())
    else:
        text = found.text if options.all else found.short_text
        print(f"{word}\n\n{text()}" if found.verdicts else f"{word}: there are no ratings to judge by")
    return STATUSES[word]
