"""`medjury criteria scores RUN | draft STUDY`: what answers are worth by criteria, and drafts of criteria."""

from __future__ import annotations

import argparse

from medjury.cli._options import add_draws, add_json, show
from medjury.cli._screen import Paragraphs
from medjury.cli._table_options import names, show_notes

_SCORES = """
MARKS is a run folder, a store, a table of marks (item, system, rater, dimension, score; the dimension is a
criterion's id or its words), or the JSON Lines of a HealthBench grader (`rubrics` with `criteria_met`). The
points come from the run, from a column `points`, or from --cases FILE, such as HealthBench's own rows.

score: points met over positive points, the mean over answers clipped to 0..1; raw: not clipped. An answer with
marks missing has no score but an interval from worst to best; it is not in the mean. A criterion that does not
apply counts on neither side. at equal length: read off at one length, by one slope on log length in systems.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    scores = actions.add_parser("scores", help="the score of every system, by tag too, or of every answer")
    scores.formatter_class = Paragraphs
    scores.epilog = _SCORES
    add = scores.add_argument
    add("marks", metavar="MARKS", help="run folder, store or file")
    add("--cases", metavar="CASES", help="the cases with their criteria")
    add("--mapping", metavar="FILE", help="how a file with other columns is read (.yaml)")
    add("--raters", metavar="R[,R2...]", type=names, help="whose marks (default: everybody's)")
    add("--run", metavar="RUN[,RUN2...]", type=names, help="which run of a store")
    add("--answers", action="store_true", help="every answer, not the systems")
    add("--tags", action="store_true", help="by tag too (axis, theme)")
    add("--confidence", type=float, default=0.95, help="of the intervals (0.95)")
    add_draws(scores)
    add_json(scores)
    draft = actions.add_parser("draft", help="let a model propose criteria, for clinicians to accept")
    draft.add_argument("study", help="a study file with `criteria_drafting:` and a file for `criteria`")


def run(options: argparse.Namespace) -> int:
    if options.action == "draft":
        from medjury.studies import draft_criteria

        print((done := draft_criteria(options.study)).text())
        return 3 if done.failed else 0
    from medjury.analysis.ranking import criteria_scores
    from medjury.tables import rating_table

    table = rating_table(options.marks, run=options.run, mapping=options.mapping)
    found = criteria_scores(
        table, cases=options.cases, raters=options.raters, confidence=options.confidence,
        resamples=options.resamples, seed=options.seed,
    )  # fmt: skip
    show_notes((*table.notes, *(found.warnings if options.json else ())))
    found = found if options.tags or options.json else found.over_all()
    shown = found.of_answers() if options.answers else found
    show(options, shown)
    return 0
