"""`medjury ratings`: import clinicians' ratings, export ratings, list the runs in a store."""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterable
from pathlib import Path

from medjury.errors import MedjuryError

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


def run(options: argparse.Namespace) -> int:
    return {"import": _import, "export": _export, "runs": _runs}[options.action](options)


def _import(options: argparse.Namespace) -> int:
    from medjury.cases import read_cases
    from medjury.ratings import (
        Pseudonyms,
        RatingsError,
        import_ratings,
        key_file_beside,
        open_pseudonyms,
        open_store,
        read_ratings,
        write_ratings,
    )

    if options.names_out and options.keep_names:
        raise MedjuryError("--names-out has nothing to write with --keep-names: leave one of them out")
    if options.run and options.out:
        raise MedjuryError("--run is for a store: a file written with --out belongs to no run")
    cases = read_cases(options.cases) if options.cases else None
    given: Pseudonyms | None = None
    try:
        if options.out:
            if not options.keep_names:
                given = Pseudonyms.open(options.names_key or key_file_beside(options.out))
            imported = read_ratings(
                options.file, mapping=options.mapping, instrument=options.instrument, cases=cases,
                pseudonyms=given, on_bad=options.on_bad, on_unknown=options.on_unknown,
            )  # fmt: skip
            write_ratings(imported.ratings, options.out)
            where = options.out
        else:
            with open_store(options.store) as store:
                if not options.keep_names:
                    given = open_pseudonyms(store, options.names_key)
                imported = import_ratings(
                    store, options.file, run=options.run, mapping=options.mapping, instrument=options.instrument,
                    cases=cases, keep_names=options.keep_names, pseudonyms=given, on_bad=options.on_bad,
                    on_unknown=options.on_unknown,
                )  # fmt: skip
                where = store.place
    except RatingsError as error:
        if options.problems and error.problems:
            _write_csv(options.problems, ("file", "row", "column", "value", "problem"), (
                (each.file, each.row, each.column, each.value, each.message) for each in error.problems
            ))  # fmt: skip
        raise
    if options.names_out and given is not None:
        _write_csv(options.names_out, ("name", "pseudonym"), sorted(given.given.items()))
    print(imported.report.text())
    print(f"Written to {where}")
    return 0


def _export(options: argparse.Namespace) -> int:
    from medjury.ratings import open_store, write_ratings

    with open_store(options.store, create=False) as store:
        known = [each.name for each in store.runs()]
        if options.run is not None and options.run not in known:
            raise MedjuryError(
                f"{store.place} has no run {options.run!r}; its runs are {', '.join(known) or 'none'}"
            )
        count = write_ratings(store.frames(options.run), options.out)
    print(f"{count:,} ratings written to {options.out}")
    return 0


def _runs(options: argparse.Namespace) -> int:
    from medjury.ratings import open_store

    with open_store(options.store, create=False) as store:
        for each in store.runs():
            counts = {"scored": 0, "not_applicable": 0, "unscored": 0}
            for row in store.counts(each.name):
                counts[row.status] += row.count
            spent = store.spent(each.name)
            state = each.manifest.get("status", each.manifest.get("kind", ""))
            print(each.name)
            print(f"  since {each.created_at}; {state}" if state else f"  since {each.created_at}")
            print(
                f"  {sum(counts.values()):,} ratings: {counts['scored']:,} scored, "
                f"{counts['not_applicable']:,} not applicable, {counts['unscored']:,} unscored"
            )
            print(f"  {spent.calls:,} calls paid, {spent.money:.4g} spent")
    return 0


def _write_csv(path: str, header: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
    try:
        with Path(path).open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(header)
            writer.writerows(rows)
    except OSError as error:
        raise MedjuryError(f"{path} cannot be written: {error.strerror}") from None
