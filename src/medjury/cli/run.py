"""`medjury run`: one study file in, a run folder out."""

from __future__ import annotations

import argparse

from medjury.cli._options.shared import add_overrides
from medjury.cli._output import add_json
from medjury.cli._run_file import run_file
from medjury.foundation.errors import MedjuryError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("study", help="the study file; `medjury init` writes one")
    add("--dry-run", action="store_true", help="check everything and print calls, tokens, price")
    add("--skip-bad-cases", action="store_true", help="go on without rows that cannot be read")
    add("--retry-unscored", action="store_true",
        help="ask again for every unscored rating, not only transient failures")  # fmt: skip
    add("--no-preflight", action="store_true",
        help="do not ask each model one short question before the first case")  # fmt: skip
    add("--keep-going", action="store_true",
        help="ask on although the first answers show that none can be used, or a model is away")  # fmt: skip
    add("--gate", action="store_true",
        help="end with the verdict's status: 0 VALIDATED, 3 AUXILIARY, 4 NOT VALIDATED, 5 INCOMPLETE")  # fmt: skip
    add("--no-wait", action="store_true",
        help="hand batch jobs over and end; the next run fetches the answers")  # fmt: skip
    add("--engine", choices=["ray"],
        help="judge on a Ray cluster, with a PostgreSQL store (see docs/scale.md)")  # fmt: skip
    add("--workers", type=int, metavar="N",
        help="with --engine ray: how many; by default one for each CPU of it")  # fmt: skip
    add("--address", default="auto",
        help="with --engine ray: of the cluster; `local` starts one on this machine")  # fmt: skip
    add("--quiet", action="store_true", help="no progress line")
    add_json(parser)
    add_overrides(parser)


def run(options: argparse.Namespace) -> int:
    if options.engine is None and (options.workers is not None or options.address != "auto"):
        raise MedjuryError("--workers and --address tell of a cluster: add --engine ray")
    return run_file(
        options.study,
        dry_run=options.dry_run,
        skip_bad_cases=options.skip_bad_cases,
        retry_unscored=options.retry_unscored,
        keep_going=options.keep_going,
        preflight=not options.no_preflight,
        wait=not options.no_wait,
        quiet=options.quiet,
        gate=options.gate,
        as_json=options.json,
        overrides=options.overrides,
        cluster=(options.address, options.workers) if options.engine else None,
    )
