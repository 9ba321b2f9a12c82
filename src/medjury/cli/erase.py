"""`medjury erase`: delete everything of one patient, of cases, of a run, or older than a day from a store."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import TYPE_CHECKING

from medjury.cli._main import say
from medjury.cli._output import add_json, print_json
from medjury.errors import MedjuryError

if TYPE_CHECKING:
    from medjury.ratings import Selection


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("store", metavar="STORE", help="a path, or postgresql://USER@HOST/DATABASE")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--patient", metavar="ID", help="all cases of this patient; needs --cases")
    what.add_argument("--case", metavar="ID", action="append", help="this case; may be repeated")
    what.add_argument("--run", metavar="NAME", help="this run, with all that no other run has too")
    what.add_argument("--before", metavar="DATE", help="what was written before this day (UTC), 2026-01-31")
    parser.add_argument("--cases", metavar="FILE", help="the cases, which say whose each of them is")
    parser.add_argument("--mapping", metavar="FILE", help="which column is which; a study file will do")
    parser.add_argument("--keep-unlinked", action="store_true", help="keep replies whose case is not known")
    parser.add_argument(
        "--dry-run", action="store_true", help="count what would be erased, and erase nothing"
    )
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    from medjury.ratings import erase, erased_text, not_found_text, open_store

    selection = _selection(options)
    with open_store(options.store, create=False) as store:
        done = erase(store, selection, dry_run=options.dry_run)
        if not done and selection.before is None and not done.earlier:
            raise MedjuryError(f"{store.place}: {not_found_text(done)}")
        if options.json:
            print_json({"store": store.place, "dry_run": options.dry_run, **asdict(done)})
        else:
            say(erased_text(done, store.place, dry_run=options.dry_run))
    return 0


def _selection(options: argparse.Namespace) -> Selection:
    from medjury.cases import read_cases
    from medjury.cli._options.cases import mapping_of
    from medjury.ratings import Selection, day

    if options.before is not None:
        return Selection("date", before=day(options.before))
    if options.run is not None:
        return Selection("run", (options.run,))
    if options.case:
        ids = frozenset(options.case)
        return Selection("case", tuple(ids), ids, keep_unlinked=options.keep_unlinked)
    if not options.cases:
        raise MedjuryError("a store knows cases and not patients: name the file of cases with --cases")
    options.column = []
    cases = read_cases(options.cases, mapping=mapping_of(options))
    ids = frozenset(case.id for case in cases if case.patient == options.patient)
    if not ids:
        raise MedjuryError(f"{options.cases}: none of these cases is of that patient; nothing was erased")
    return Selection("patient", (options.patient,), ids, keep_unlinked=options.keep_unlinked)
