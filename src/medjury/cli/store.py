"""`medjury runs store | ratings | erase`: what is in a store: copied into another, imported, exported, listed,
erased.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from medjury.cli._main import EXIT_FAILED, say
from medjury.cli._options import add_json, for_reader, print_json, tell
from medjury.foundation.errors import MedjuryError

if TYPE_CHECKING:
    from medjury.store.ratings import Erased, Selection, Store, StoredRun
    from medjury.studies import Study


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    copy = actions.add_parser("copy", help="copy every rating, reply and log entry; goes on where it stopped")
    copy.add_argument("source", metavar="FROM", help="a path, or postgresql://USER@HOST/DATABASE")
    copy.add_argument("target", metavar="TO", help="a new store, or one that an earlier copy began")
    add_json(copy)


def run(options: argparse.Namespace) -> int:
    from medjury.store.ratings import copy_store, open_store

    with open_store(options.source, create=False) as source, open_store(options.target) as target:
        copied = copy_store(source, target)
        if options.json:
            names = ("rows", "written", "hash")
            tables = [
                {"table": table, **dict(zip(names, found, strict=True))} for table, found in copied.items()
            ]
            print_json({"source": source.place, "target": target.place, "tables": tables})
            return 0
        for table, (rows, written, hash) in copied.items():
            there = f"{rows:>11,} {'row, ' if rows == 1 else 'rows,'}"
            say(f"{table:<11} {there} {written:,} written now, sha256 {hash[:16]}")
        say(f"{target.place} holds what {source.place} holds.")
    return 0


def add_ratings_arguments(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(dest="action", metavar="ACTION", required=True)

    bring = commands.add_parser("import", help="read ratings from files, check them, add them to a store")
    add = bring.add_argument
    add("file", metavar="FILE", help="a CSV, Excel, Parquet or JSON file, or a mapping (.yaml)")
    add("--mapping", metavar="M.yaml", help="which column of FILE is what")
    target = bring.add_mutually_exclusive_group(required=True)
    target.add_argument("--store", help="the store to add to: a path, or postgresql://USER@HOST/DATABASE")
    target.add_argument("--out", metavar="FILE", help="write them to a .csv, .parquet or .jsonl file instead")
    add("--run", help="the run that they belong to (default: the import itself)")
    add("--instrument", metavar="NAME", help="check scores against this instrument")
    add("--cases", metavar="FILE", help="check that every rated item is one of these cases")
    add("--on-bad", choices=("refuse", "unscored"), default="refuse",
        help="a score that is not a number or off the scale: refuse the import, or keep it as unscored (refuse)",
    )  # fmt: skip
    add("--on-unknown", choices=("refuse", "drop"), default="refuse",
        help="a rating of an item that is not among the cases: refuse, or leave it out (refuse)")  # fmt: skip
    add("--problems", metavar="FILE.csv", help="write every problem to this file")
    add = bring.add_argument_group("names of clinicians").add_argument
    add("--keep-names", action="store_true", help="do not replace names by pseudonyms")
    add("--names-key", metavar="FILE", help="the secret of the pseudonyms (default: beside the store)")
    add("--names-out", metavar="FILE.csv", help="write who got which pseudonym; keep this file safe")

    export = commands.add_parser("export", help="write the ratings of a store to a file")
    export.add_argument("store", metavar="STORE")
    export.add_argument("--out", metavar="FILE", required=True, help="a .csv, .parquet or .jsonl file")
    export.add_argument("--run", help="only the ratings of this run")

    runs = commands.add_parser("runs", help="list the runs in a store")
    runs.add_argument("store", metavar="STORE")
    add_json(bring, export, runs)


def run_ratings(options: argparse.Namespace) -> int:
    from medjury.store.ratings import open_store

    if options.action == "import":
        return _import(options)
    if options.action == "export":
        count = _export(options.store, options.out, options.run)
        found = {"ratings": count, "file": options.out}
        tell(options, f"{count:,} ratings written to {options.out}", found)
        return 0
    with open_store(options.store, create=False) as store:
        runs = [_run_content(store, each) for each in store.runs()]
    if runs:
        print("\n".join(map(_run_text, runs)), file=for_reader(options))
    if options.json:
        print_json(runs)
    return 0


def _export(url: str, out: str, run: str | None) -> int:
    """Write the ratings of a store, or of one of its runs, to a file; how many there were."""
    from medjury.store.ratings import open_store, write_ratings

    with open_store(url, create=False) as store:
        known = [each.name for each in store.runs()]
        if run is not None and run not in known:
            raise MedjuryError(f"{store.place} has no run {run!r}; its runs are {', '.join(known) or 'none'}")
        return write_ratings(store.frames(run), out)


def _run_content(store: Store, run: StoredRun) -> dict[str, Any]:
    """A run of a store with what became of its ratings and what it cost."""
    counts = {"scored": 0, "not_applicable": 0, "unscored": 0}
    for (_, _, status, _), count in store.counts(run.name).items():
        counts[status] += count
    spent = store.spent(run.name)
    state = run.manifest.get("status", run.manifest.get("kind", ""))
    since = {"run": run.name, "created_at": run.created_at, "status": state}
    return {**since, **counts, "calls": spent.calls, "money": spent.money}


def _run_text(run: Mapping[str, Any]) -> str:
    ratings = run["scored"] + run["not_applicable"] + run["unscored"]
    return "\n".join([
        run["run"],
        f"  since {run['created_at']}" + (f"; {run['status']}" if run["status"] else ""),
        f"  {ratings:,} ratings: {run['scored']:,} scored, "
        f"{run['not_applicable']:,} not applicable, {run['unscored']:,} unscored",
        f"  {run['calls']:,} calls paid, {run['money']:.4g} spent",
    ])  # fmt: skip


def _import(options: argparse.Namespace) -> int:
    from medjury.intake import FileError
    from medjury.intake.cases import read_cases
    from medjury.store.ratings import import_ratings, open_store, write_problems

    if options.names_out and options.keep_names:
        raise MedjuryError("--names-out has nothing to write with --keep-names: leave one of them out")
    if options.run and options.out:
        raise MedjuryError("--run is for a store: a file written with --out belongs to no run")
    shared = ("mapping", "instrument", "on_bad", "on_unknown", "keep_names", "names_key")
    settings = {name: getattr(options, name) for name in shared}
    settings["cases"] = read_cases(options.cases) if options.cases else None
    try:
        with nullcontext(options.out) if options.out else open_store(options.store) as target:
            made = import_ratings(target, options.file, run=options.run, **settings)
            place = options.out or target.place
    except FileError as error:
        if options.problems and error.problems:
            write_problems(error.problems, options.problems)
        raise
    if options.names_out and made.pseudonyms is not None:
        made.pseudonyms.write_names(options.names_out)
    found = {**made.report.content(), "written_to": place}
    tell(options, f"{made.report.text()}\nWritten to {place}", found)
    return 0


def add_erase_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("store", metavar="STORE", help="a path, or postgresql://USER@HOST/DATABASE")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--patient", metavar="ID", help="all cases of this patient; needs --study or --cases")
    what.add_argument("--case", metavar="ID", action="append", help="this case; may be repeated")
    what.add_argument("--run", metavar="NAME", help="this run, with all that no other run has too")
    what.add_argument("--before", metavar="DATE", help="what was written before this day (UTC), 2026-01-31")
    add = parser.add_argument
    add("--study", metavar="STUDY",
        help="the study file: it names the cases, and the erasure is recorded beside it, so that a registered "
        "study stays registered")  # fmt: skip
    add("--cases", metavar="FILE", help="the cases, which say whose each of them is")
    add("--mapping", metavar="FILE", help="which column is which; a study file will do")
    add("--keep-unlinked", action="store_true", help="keep replies whose case is not known")
    add("--dry-run", action="store_true", help="count what would be erased, and erase nothing")
    add_json(parser)


def run_erase(options: argparse.Namespace) -> int:
    from medjury.store.ratings import erase, open_store
    from medjury.studies import record_erasure

    study = _study(options)
    selection = _selection(options, study)
    # First the ledger: an erasure that is stopped half way is finished by the same command again.
    noted = None if study is None or options.dry_run else record_erasure(study, selection.items)
    if noted is not None:
        say(noted.text(), for_reader(options))
    with open_store(options.store, create=False) as store:
        done = erase(store, selection, dry_run=options.dry_run)
        known = done or done.earlier
        if not known and selection.before is None and not (noted and noted.cases):
            raise MedjuryError(f"{store.place}: {done.not_found_text()}")
        if options.json:
            more = {} if noted is None else {"recorded": asdict(noted)}
            print_json({"store": store.place, "dry_run": options.dry_run, **asdict(done), **more})
        else:
            say(done.text(store.place, dry_run=options.dry_run) if known or noted is None
                else f"{store.place} holds nothing about it.")  # fmt: skip
        if study is None and selection.items and (names := _registered(store, done)):
            say(
                f"{', '.join(names)}: registered. So that the registration outlives the erasure, run this again "
                "with the study file (--study STUDY) before you take the cases out of its files.",
                for_reader(options),
            )
    return EXIT_FAILED if noted is not None and noted.why_not else 0


def _study(options: argparse.Namespace) -> Study | None:
    from medjury.studies import load_study

    if options.study is None:
        return None
    if options.cases or not (options.patient or options.case):
        raise MedjuryError(
            "--study goes with --patient or --case, and without --cases: the study names its cases"
        )
    return load_study(options.study)


def _registered(store: Store, done: Erased) -> tuple[str, ...]:
    """The runs of what was erased that were registered."""
    found = {each.name for each in store.runs() if each.manifest.get("protocol_hash")}
    return tuple(name for name in done.runs if name in found)


def _selection(options: argparse.Namespace, study: Study | None) -> Selection:
    from medjury.cli._options import mapping_of
    from medjury.intake.cases import read_cases
    from medjury.store.ratings import Selection

    if options.keep_unlinked and (options.before is not None or options.run is not None):
        raise MedjuryError(
            "--keep-unlinked goes with --patient or --case: of a run, and of what is old, all replies are known"
        )
    if options.before is not None:
        return Selection.older(options.before)
    if options.run is not None:
        return Selection("run", (options.run,))
    if options.case:
        ids = frozenset(options.case)
        return Selection("case", tuple(ids), ids, keep_unlinked=options.keep_unlinked)
    if not options.cases and study is None:
        raise MedjuryError(
            "a store knows cases and not patients: name the study file with --study, or the file of cases with "
            "--cases"
        )
    options.column = []
    cases = read_cases(options.cases, mapping=mapping_of(options)) if study is None else study.cases
    ids = frozenset(case.id for case in cases if case.patient == options.patient)
    if not ids:
        raise MedjuryError(
            f"{options.cases or options.study}: none of these cases is of that patient; nothing was erased"
        )
    return Selection("patient", (options.patient,), ids, keep_unlinked=options.keep_unlinked)
