"""`medjury validate HUMANS JUDGES`: the verdict from two tables of scores, without a run."""

from __future__ import annotations

import argparse
from pathlib import Path

from medjury.cli._table_options import names, show_notes
from medjury.cli._verdict_output import add_verdict_options, show_verdict

_ABOUT = """
HUMANS and JUDGES are CSV, TSV, Excel, Parquet or JSONL files, long (item, rater, dimension, score) or wide (item
and a column for each rater, or for each dimension), mappings (.yaml) or run folders. How every column was read
is told. Two judges or more form a jury (the mean, where more than half gave a score): the verdict is on the jury.
Nobody recorded how scores in a table came about, so the best word here is AUXILIARY; rules that are given with
--rules count as stated before only where they are a registered protocol (.json) and the judges' scores have times
(created_at) that come after it.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("humans", metavar="HUMANS", help="clinicians' scores")
    add("judges", metavar="JUDGES", help="judges' scores of the same answers")
    add("--item", metavar="COLUMN", help="the column that names the case (item)")
    add("--system", metavar="COLUMN", help="the column that names whose answer it is (system)")
    add(
        "--patient",
        metavar="COLUMN",
        help="the column that names the patient (patient): whole patients count",
    )
    add("--scale", nargs=2, type=float, metavar=("LOW", "HIGH"), help="whole grades from lowest to highest")
    add(
        "--instrument",
        metavar="NAME",
        help="a built-in instrument or your .yaml file: scales, which end is good",
    )
    add("--columns", choices=("raters", "dimensions"), help="what the columns of wide tables are")
    add("--scores", metavar="C[,C2...]", type=names, help="the columns of wide tables that hold scores")
    add(
        "--dimension", metavar="NAME", help="what the tables' only dimension is called, where they do not say"
    )
    add("--raters", metavar="R[,R2...]", type=names, help="judge each of these (default: the jury)")
    add("--jury", choices=("mean", "median", "majority"), help="how the judges' scores become one (mean)")
    add("--rules", metavar="FILE", help="the rules: a registered protocol, a study file, or a .yaml of rules")
    add(
        "--out",
        metavar="FOLDER",
        help="also write a report, the rules' findings and the ratings as they were read",
    )
    add_verdict_options(parser, _ABOUT)


def run(options: argparse.Namespace) -> int:
    from medjury.runs import GateRules
    from medjury.studies import read_rules
    from medjury.tables import two_panels
    from medjury.validation import evidence_of, validation_of

    rules, protocol = read_rules(options.rules) if options.rules else (GateRules(), None)
    taken = ("item", "system", "patient", "scale", "instrument", "columns", "scores", "dimension", "jury")
    table = two_panels(
        options.humans,
        options.judges,
        **{name: getattr(options, name) for name in taken},
        rules=rules,
        protocol=protocol,
    )
    table.chosen(rules.severe_dimensions)  # a name that is no dimension is refused
    evidence = evidence_of(table, raters=options.raters, resamples=options.resamples, seed=options.seed)
    found = validation_of(evidence, raters=() if options.raters is None else evidence.roles.raters)
    notes = (*table.notes, *table.warnings)
    if options.json:
        show_notes(notes)
    else:
        print("\n".join(dict.fromkeys(notes)), end="\n\n")
    status = show_verdict(found, options)
    if options.out:
        _write(Path(options.out), evidence, found, quiet=options.json)
    return status


def _write(folder: Path, evidence: object, found: object, *, quiet: bool) -> None:
    from medjury.files import private_folder, whole_file
    from medjury.ratings import guard_frame
    from medjury.report import write_page
    from medjury.validation import Evidence, Validation, verdicts_json

    assert isinstance(evidence, Evidence) and isinstance(found, Validation)
    private_folder(folder)
    page = write_page(folder, evidence=evidence)
    with whole_file(folder / "verdicts.json") as file:
        file.write(verdicts_json(found) + "\n")
    with whole_file(folder / "ratings.csv") as file:
        file.write(guard_frame(evidence.table.everything.drop("row")).write_csv())
    if not quiet:
        print(f"\nReport: {page}")
