"""`medjury redact CASES`: preview, or write, cases with identifiers replaced by placeholders."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import Any

from medjury.cases import (
    NO_PROMISE,
    CaseReader,
    RedactedCases,
    Redactor,
    make_redactor,
    read_cases,
    write_cases,
)
from medjury.cli._case_options import add_case_options, mapping_of
from medjury.documents import read_document
from medjury.errors import MedjuryError

CONTEXT = 24


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_case_options(parser)
    parser.add_argument("--out", metavar="FILE", help="write the redacted cases here, as JSON Lines")
    parser.add_argument(
        "--preview",
        type=int,
        metavar="N",
        help="show what would be replaced in the first N cases; prints clinical text to this screen",
    )
    parser.add_argument(
        "--settings", metavar="FILE", help="YAML file with redaction settings; a study file will do"
    )
    parser.add_argument("--names", metavar="FILE", help="file with one name on a line")
    parser.add_argument(
        "--pattern",
        action="append",
        default=[],
        metavar="KIND=REGEX",
        help="the site's own identifiers, such as 'MRN=\\bH\\d{7}\\b'; may be repeated",
    )
    parser.add_argument(
        "--keep", action="append", default=[], metavar="KIND", help="a kind to leave, such as DATE"
    )
    parser.add_argument(
        "--metadata", action="append", default=[], metavar="NAME", help="a metadata field to redact"
    )
    parser.add_argument(
        "--region", action="append", default=[], metavar="CODE", help="country of phone numbers: GB"
    )
    parser.add_argument(
        "--no-presidio", action="store_true", help="use only built-in patterns and your own lists"
    )
    parser.add_argument("--skip-bad-cases", action="store_true", help="leave out rows that cannot be used")


def run(options: argparse.Namespace) -> int:
    """Preview and write as asked; always print counts and what redaction does not promise."""
    if options.out is None and options.preview is None:
        raise MedjuryError("say what to do: --preview N to look, --out FILE to write")
    if options.preview is not None and options.preview < 1:
        raise MedjuryError("--preview needs the number of cases to show, 1 or more")
    if options.out is not None and Path(options.out).suffix.lower() != ".jsonl":
        raise MedjuryError(f"--out {options.out}: cases are written as JSON Lines; end the name in .jsonl")
    if options.out is not None and Path(options.out).resolve() == Path(options.cases).resolve():
        raise MedjuryError(f"--out {options.out}: is the file that is read; choose another name")
    settings, folder = _settings(options)
    redactor = make_redactor(settings, folder)
    if redactor is None:
        raise MedjuryError("the settings say `redact: false`; there is nothing to do")
    reader = read_cases(
        options.cases, mapping=mapping_of(options), on_bad="skip" if options.skip_bad_cases else "refuse"
    )
    if options.preview is not None:
        _preview(reader, redactor, options.preview)
    if options.out is not None:
        redacted = RedactedCases(reader, redactor)
        count = write_cases(redacted, options.out)
        print(f"{options.out}: {count:,} cases written, {redacted.changed:,} of them changed")
        _print_counts(redacted.counts)
        if options.skip_bad_cases and reader.skipped:
            print(f"{reader.skipped:,} rows could not be used and were left out", file=sys.stderr)
    print(NO_PROMISE)
    return 0


def _settings(options: argparse.Namespace) -> tuple[dict[str, Any] | bool, Path]:
    settings: dict[str, Any] = {}
    folder = Path()
    if options.settings:
        document = read_document(options.settings)
        value = document.value
        value = value.get("redact", value) if isinstance(value, dict) else value
        if value is False:
            return False, folder
        if value is not True and not isinstance(value, dict):
            raise MedjuryError(document.complaint((), "the file must hold redaction settings"))
        settings = {} if value is True else dict(value)
        folder = Path(document.file).parent
    if options.names:
        settings["names"] = str(Path(options.names).resolve())
    for entry in options.pattern:
        kind, equals, expression = entry.partition("=")
        if not equals:
            raise MedjuryError(f"--pattern {entry}: write KIND=REGEX")
        given = settings.get("patterns", {})
        before = given.get(kind, [])
        settings["patterns"] = {
            **given,
            kind: [*(before if isinstance(before, list) else [before]), expression],
        }
    for key, added in (("keep", options.keep), ("metadata", options.metadata)):
        if added:
            settings[key] = [*settings.get(key, []), *added]
    if options.region:
        settings["regions"] = options.region
    if options.no_presidio:
        settings["presidio"] = False
    return settings, folder


def _preview(reader: CaseReader, redactor: Redactor, count: int) -> None:
    counts: Counter[str] = Counter()
    for case in islice(reader, count):
        redaction = redactor.redact(case, CONTEXT)
        counts.update(redaction.counts)
        print(f"case {case.id}{f' ({case.system})' if case.system else ''}:")
        for each in redaction.findings:
            left, before, right = (" ".join(text.split()) for text in (each.left, each.before, each.right))
            print(f"  {each.field}: ...{left} {{{before} -> {each.placeholder}}} {right}...")
        if not redaction.findings:
            print("  nothing found")
    _print_counts(counts)


def _print_counts(counts: Counter[str]) -> None:
    found = ", ".join(f"{kind} {count:,}" for kind, count in sorted(counts.items()))
    print(f"replaced: {found or 'nothing'}")
