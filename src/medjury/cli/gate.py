"""`medjury gate RUN`: the verdict of a run's report, for people and for pipelines."""

from __future__ import annotations

import argparse

from medjury.cli._options import add_signers
from medjury.cli._table_options import names
from medjury.cli._verdict_output import add_verdict_options, show_verdict

_ABOUT = """
The rules, the numbers and the words are those of the first screen of the run's report.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("folder", metavar="RUN", help="the run folder")
    add("--raters", "--rater", metavar="R[,R2...]", type=names,
        help="judge each of these (default: every jury of the study, or its judges where it has none)")  # fmt: skip
    add("--passport", metavar="FILE",
        help="refuse (exit status 6) a run that another jury than that of this passport judged")  # fmt: skip
    add_signers(parser, "with --passport: refuse one that none of these keys signed")
    add_verdict_options(parser, _ABOUT)


def run(options: argparse.Namespace) -> int:
    from medjury.foundation.errors import MedjuryError
    from medjury.in_use.passports import refuse_other_jury
    from medjury.store.runs import RunFolder
    from medjury.tables import of_cases, open_run
    from medjury.validation import evidence_of, validation_of

    if options.signers is not None and options.passport is None:
        raise MedjuryError("--signers says who may have signed the passport; name it (--passport FILE)")
    if options.passport is not None:
        refuse_other_jury(options.passport, options.folder, options.signers)
    checks = RunFolder(options.folder).verify(unlisted=False)
    table = open_run(options.folder, resamples=options.resamples, seed=options.seed)
    evidence = evidence_of(table, checks=checks, raters=options.raters)
    raters = () if options.raters is None else evidence.roles.raters
    if table.left_aside and not options.json:
        held = of_cases(table.rows)["item"].n_unique()
        print(f"{held:,} cases count; {table.left_aside:,} served development and are set aside\n")
    return show_verdict(validation_of(evidence, raters=raters), options)
