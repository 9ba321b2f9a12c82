"""`medjury runs ratings`: import clinicians' ratings, export ratings, list the runs in a store."""

from __future__ import annotations

import argparse

from medjury.cli._output import add_json, for_reader, print_json
from medjury.foundation.errors import MedjuryError

_IMPORT_HELP = "a CSV, Excel, Parquet or JSON file, or a mapping (.yaml) that names its files"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(dest="action", metavar="ACTION", required=True)

    add = commands.add_parser("import", help="read ratings from files, check them, add them to a store")
    add.add_argument("file", metavar="FILE", help=_IMPORT_HELP)
    add.add_argument("--mapping", metavar="M.yaml", help="which column of FILE is what")
    target = add.add_mutually_exclusive_group(required=True)
    target.add_argument("--store", help="the store to add to: a path, or postgresql://USER@HOST/DATABASE")
    target.add_argument("--out", metavar="FILE", help="write them to a .csv, .parquet or .jsonl file instead")
    add.add_argument("--run", help="the run that they belong to (default: the import itself)")
    add.add_argument("--instrument", metavar="NAME", help="check scores against this instrument")
    add.add_argument("--cases", metavar="FILE", help="check that every rated item is one of these cases")
    add.add_argument(
        "--on-bad",
        choices=("refuse", "unscored"),
        default="refuse",
        help="a score that is no number or off the scale: refuse the import (default), or keep it as unscored",
    )
    add.add_argument(
        "--on-unknown",
        choices=("refuse", "drop"),
        default="refuse",
        help="a rating of an item that is not among the cases: refuse (default), or leave it out",
    )
    add.add_argument("--problems", metavar="FILE.csv", help="write every problem to this file")
    names = add.add_argument_group("names of clinicians")
    names.add_argument("--keep-names", action="store_true", help="do not replace names by pseudonyms")
    names.add_argument(
        "--names-key", metavar="FILE", help="the secret of the pseudonyms (default: beside the store)"
    )
    names.add_argument(
        "--names-out", metavar="FILE.csv", help="write who got which pseudonym; keep this file safe"
    )

    export = commands.add_parser("export", help="write the ratings of a store to a file")
    export.add_argument("store", metavar="STORE")
    export.add_argument("--out", metavar="FILE", required=True, help="a .csv, .parquet or .jsonl file")
    export.add_argument("--run", help="only the ratings of this run")

    runs = commands.add_parser("runs", help="list the runs in a store")
    runs.add_argument("store", metavar="STORE")
    add_json(add, export, runs)


def run(options: argparse.Namespace) -> int:
    from medjury.store.ratings import export_ratings, open_store, runs_content, runs_text

    if options.action == "import":
        return _import(options)
    if options.action == "export":
        count = export_ratings(options.store, options.out, options.run)
        print(f"{count:,} ratings written to {options.out}", file=for_reader(options))
        if options.json:
            print_json({"ratings": count, "file": options.out})
        return 0
    with open_store(options.store, create=False) as store:
        if text := runs_text(store):
            print(text, file=for_reader(options))
        if options.json:
            print_json(runs_content(store))
    return 0


def _import(options: argparse.Namespace) -> int:
    from medjury.intake import FileError
    from medjury.intake.cases import read_cases
    from medjury.store.ratings import import_into_file, import_into_store, write_problems

    if options.names_out and options.keep_names:
        raise MedjuryError("--names-out has nothing to write with --keep-names: leave one of them out")
    if options.run and options.out:
        raise MedjuryError("--run is for a store: a file written with --out belongs to no run")
    shared = ("mapping", "instrument", "on_bad", "on_unknown", "keep_names", "names_key")
    settings = {name: getattr(options, name) for name in shared}
    settings["cases"] = read_cases(options.cases) if options.cases else None
    try:
        if options.out:
            made = import_into_file(options.file, options.out, **settings)
        else:
            made = import_into_store(options.file, options.store, run=options.run, **settings)
    except FileError as error:
        if options.problems and error.problems:
            write_problems(error.problems, options.problems)
        raise
    if options.names_out and made.names is not None:
        made.names.write_names(options.names_out)
    report = made.imported.report
    print(f"{report.text()}\nWritten to {made.place}", file=for_reader(options))
    if options.json:
        print_json({**report.content(), "written_to": str(made.place)})
    return 0
