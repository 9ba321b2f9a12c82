"""`medjury cases check | redact`: what a file of cases holds, every row that cannot be used, and cases with
identifiers replaced by placeholders.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO, get_args

from medjury.cli._options import add_case_options, add_flags, add_json, for_reader, mapping_of, print_json
from medjury.foundation.documents import read_document
from medjury.foundation.errors import MedjuryError
from medjury.intake.cases import (
    NO_PROMISE,
    CaseReader,
    RedactedCases,
    Redactor,
    Unit,
    make_redactor,
    not_known_text,
    read_cases,
    write_cases,
)
from medjury.statistics import counted

SHOWN_FINDINGS = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    check = actions.add_parser("check", help="read every case, count what is there, report bad rows")
    add_case_options(check)
    add_json(check)
    add = check.add_argument
    add(
        "--unit",
        choices=get_args(Unit),
        help="what is judged of each conversation, as `unit` in a study says it",
    )
    add("--all", action="store_true", help="list up to a thousand problems, not the first few")
    add("--marks", metavar="RUN", help="marks of the cases' criteria (a run folder, a store or a file)")


def run(options: argparse.Namespace) -> int:
    """Print what was read. Exit status 2 where a row cannot be used or none can."""
    reader = read_cases(options.cases, mapping=mapping_of(options), on_bad="skip", unit=options.unit)
    found = reader.summary
    stream = for_reader(options)
    print(f"{reader.name}: {counted(found.count, 'case')}", file=stream)
    for title, counts in (("systems", found.systems), ("inputs", found.inputs)):
        if counts and set(counts) != {""}:
            print(f"{title}:", file=stream)
            for name, count in counts.items():
                print(f"  {name or '(none named)'}: {count:,}", file=stream)
    for title, reasons in (
        ("left out, or kept with a mark", found.left_out.parts),
        ("problems of rows that cannot be used", found.left_out.rows),
    ):
        if reasons:
            print(f"{title}:", file=stream)
            for reason, count in reasons.items():
                print(f"  {reason}: {count:,}", file=stream)
    if found.skipped:
        print(f"{counted(found.skipped, 'row')} cannot be used:", file=sys.stderr)
        print(found.problems_text(len(found.bad)) if options.all else found.problems_text(), file=sys.stderr)
    elif not found.count:
        print(f"{reader.name}: holds no cases", file=sys.stderr)
    criteria = _check_criteria(options, reader, stream) if found.inputs.get("criteria") else {}
    if options.json:
        print_json({"file": str(reader.name), **found.content(), **criteria})
    return 2 if found.skipped or not found.count else 0


def _check_criteria(options: argparse.Namespace, reader: CaseReader, stream: TextIO) -> dict[str, Any]:
    """What looks wrong in the criteria of the cases, where they have any."""
    from medjury.analysis.ranking import check_criteria
    from medjury.tables import rating_table

    marks = (
        None if options.marks is None else rating_table(options.marks, instrument="criteria", cases=reader)
    )
    found = check_criteria(reader, marks)
    print(f"criteria: {found.criteria:,} of {counted(found.cases, 'case')}", file=stream)
    if found.rows:
        print(f"{counted(len(found.rows), 'place')} to look at:", file=stream)
        shown = found if options.all else found.first(SHOWN_FINDINGS)
        print(shown.text(), file=stream)
        if len(found.rows) > len(shown.rows):
            print(f"... and {len(found.rows) - len(shown.rows):,} more: --all", file=stream)
    return {"criteria": found.criteria, "criteria_findings": found.to_dicts()}


def add_redact_arguments(parser: argparse.ArgumentParser) -> None:
    add_case_options(parser)
    add = parser.add_argument
    add("--out", metavar="FILE", help="write the redacted cases here, as JSON Lines")
    add("--preview", type=int, metavar="N",
        help="show what would be replaced in the first N cases; prints clinical text to this screen")  # fmt: skip
    add("--settings", metavar="FILE", help="YAML file with redaction settings; a study file will do")
    add("--names", metavar="FILE", help="file with one name on a line")
    for name, metavar, words in (
        ("--pattern", "KIND=REGEX", "the site's own identifiers, such as 'MRN=\\bH\\d{7}\\b'"),
        ("--keep", "KIND", "a kind to leave, such as DATE"),
        ("--metadata", "NAME", "a metadata field to redact"),
        ("--region", "CODE", "country of phone numbers: GB"),
    ):
        add(name, action="append", default=[], metavar=metavar, help=f"{words}; may be repeated")
    add("--no-presidio", action="store_true", help="use only built-in patterns and your own lists")
    add_flags(parser, "--skip-bad-cases")


def run_redact(options: argparse.Namespace) -> int:
    """Preview and write as asked; always print counts and what redaction does not promise."""
    if options.out is None and options.preview is None:
        raise MedjuryError("say what to do: --preview N to look, --out FILE to write")
    if options.preview is not None and options.preview < 1:
        raise MedjuryError("--preview needs the number of cases to show, 1 or more")
    if options.out is not None and Path(options.out).suffix.lower() != ".jsonl":
        raise MedjuryError(f"--out {options.out}: cases are written as JSON Lines; end the name in .jsonl")
    if options.out is not None and Path(options.out).resolve() == Path(options.cases).resolve():
        raise MedjuryError(f"--out {options.out}: is the file that is read; choose another name")
    redactor = _redactor(options)
    reader = read_cases(
        options.cases, mapping=mapping_of(options), on_bad="skip" if options.skip_bad_cases else "refuse"
    )
    for line in redactor.preview(reader, options.preview) if options.preview else ():
        print(line)
    if options.out is not None:
        redacted = RedactedCases(reader, redactor)
        count = write_cases(redacted, options.out)
        print(f"{options.out}: {count:,} cases written, {redacted.changed:,} of them changed")
        print(redacted.counts_text)
        if redacted.not_known:
            print(not_known_text(redacted.not_known), file=sys.stderr)
        if options.skip_bad_cases and reader.skipped:
            print(f"{reader.skipped:,} rows could not be used and were left out", file=sys.stderr)
    print(NO_PROMISE)
    return 0


def _redactor(options: argparse.Namespace) -> Redactor:
    settings, folder = _redact_part(options.settings) if options.settings else (True, Path())
    patterns = [entry.partition("=")[::2] for entry in options.pattern]
    for entry in options.pattern:
        if "=" not in entry:
            raise MedjuryError(f"--pattern {entry}: write KIND=REGEX")
    if settings is not False:
        settings = _with_options({} if settings is True else settings, options, patterns)
    redactor = make_redactor(settings, folder)
    if redactor is None:
        raise MedjuryError("the settings say `redact: false`; there is nothing to do")
    return redactor


def _redact_part(file: str | Path) -> tuple[dict[str, Any] | bool, Path]:
    """The redaction settings of a YAML file (a study file will do), and the folder that its paths start from."""
    document = read_document(file)
    value = (
        document.value.get("redact", document.value) if isinstance(document.value, dict) else document.value
    )
    if not isinstance(value, bool | dict):
        raise MedjuryError(document.complaint((), "the file must hold redaction settings"))
    return value if isinstance(value, bool) else dict(value), Path(document.file).parent


def _with_options(
    settings: Mapping[str, Any], options: argparse.Namespace, patterns: Sequence[tuple[str, ...]]
) -> dict[str, Any]:
    """The settings with more of the same: a file of names, patterns (kind, expression), kinds to keep and so on."""
    made = dict(settings)
    if options.names:
        made["names"] = str(Path(options.names).resolve())
    for kind, expression in patterns:
        given = made.get("patterns", {})
        before = given.get(kind, [])
        made["patterns"] = {**given, kind: [*(before if isinstance(before, list) else [before]), expression]}
    for key in ("keep", "metadata"):
        if added := getattr(options, key):
            made[key] = [*made.get(key, []), *added]
    if options.region:
        made["regions"] = list(options.region)
    return {**made, "presidio": False} if options.no_presidio else made
