"""`medjury runs erase`: delete everything of one patient, of cases, of a run, or older than a day from a store."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import TYPE_CHECKING

from medjury.cli._main import EXIT_FAILED, say
from medjury.cli._output import add_json, for_reader, print_json
from medjury.foundation.errors import MedjuryError

if TYPE_CHECKING:
    from medjury.store.ratings import Erased, Selection, Store
    from medjury.studies import RecordedErasure, Study


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("store", metavar="STORE", help="a path, or postgresql://USER@HOST/DATABASE")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--patient", metavar="ID", help="all cases of this patient; needs --study or --cases")
    what.add_argument("--case", metavar="ID", action="append", help="this case; may be repeated")
    what.add_argument("--run", metavar="NAME", help="this run, with all that no other run has too")
    what.add_argument("--before", metavar="DATE", help="what was written before this day (UTC), 2026-01-31")
    parser.add_argument(
        "--study",
        metavar="STUDY",
        help="the study file: it names the cases, and the erasure is recorded beside it, so that a registered "
        "study stays registered",
    )
    parser.add_argument("--cases", metavar="FILE", help="the cases, which say whose each of them is")
    parser.add_argument("--mapping", metavar="FILE", help="which column is which; a study file will do")
    parser.add_argument("--keep-unlinked", action="store_true", help="keep replies whose case is not known")
    parser.add_argument(
        "--dry-run", action="store_true", help="count what would be erased, and erase nothing"
    )
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    from medjury.store.ratings import erase, open_store

    study = _study(options)
    selection = _selection(options, study)
    # First the ledger: an erasure that is stopped half way is finished by the same command again.
    noted = None if study is None or options.dry_run else _record(study, selection)
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
                else f"{store.place} holds nothing of it.")  # fmt: skip
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


def _record(study: Study, selection: Selection) -> RecordedErasure | None:
    from medjury.studies import record_erasure

    return record_erasure(study, selection.items)


def _registered(store: Store, done: Erased) -> tuple[str, ...]:
    """The runs of what was erased that were registered."""
    found = {each.name for each in store.runs() if each.manifest.get("protocol_hash")}
    return tuple(name for name in done.runs if name in found)


def _selection(options: argparse.Namespace, study: Study | None) -> Selection:
    from medjury.cli._options.cases import mapping_of
    from medjury.intake.cases import read_cases
    from medjury.store.ratings import Selection

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
