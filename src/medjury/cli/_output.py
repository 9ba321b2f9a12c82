"""What a command found, as one JSON document for a program; all else that it says goes to standard error then."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TextIO


def add_json(*parsers: argparse.ArgumentParser) -> None:
    for parser in parsers:
        parser.add_argument("--json", action="store_true", help="print JSON instead of text")


def print_json(content: object) -> None:
    """Every digit; what does not exist is null, never NaN."""
    print(json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False))


def for_reader(options: argparse.Namespace) -> TextIO:
    """Where text goes that a reader wants and a program does not."""
    return sys.stderr if options.json else sys.stdout
