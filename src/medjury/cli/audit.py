"""`medjury audit RATINGS`: what moves the judges' scores besides the quality of the answers?"""

from __future__ import annotations

import argparse

from medjury.cli._options import assigned, column_of_two, cut_columns, one_each, show
from medjury.cli._table_options import add_table_options, names, shared, show_notes, table_from

_ABOUT = """
Without --audit, every audit is made for which there is what it needs, and the output says which are not and why:

  self_preference       vendors of judges and systems
  stability             repeats of the same judge
  text_effects          (or text) --cases, or a column `length`
  error_model           (or errors) clinicians, and a specialty, several systems or lengths (--cases): one model of
                        judge - clinician
  position              pairs of answers; or --pairs, a table item, first, second, preferred (and rater)
  group_differences     (or groups) --group
  internal_consistency  (or consistency) two dimensions or more
  drift                 --earlier, or --versions

--json prints a list of objects: audit, statistic, rater, dimension, group, value, low, high, n, n_unscored,
p_value, p_adjusted, verdict, stands_out, method, reason. value is null where there is none, and reason says why.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_table_options(parser, about=_ABOUT)
    add = parser.add_argument
    add("--corpus", action="store_true", help="instead: the answers by group: counts, lengths, χ² and t")
    add("--audit", metavar="A[,A2...]", type=names, help="only these audits")
    add("--judge-vendor", action="append", metavar="JUDGE=VENDOR[,J2=V2...]",
        help="the maker of each judge; this and the options like it may be repeated")  # fmt: skip
    add("--system-vendor", action="append", metavar="SYSTEM=VENDOR[,S2=V2...]",
        help='the maker of each answering system; "none" where it has none')  # fmt: skip
    add("--own-model", action="append", metavar="JUDGE=SYSTEM", help="a system that is the judge's own model")
    add("--within-systems", action="store_true", help="text: compare answers of the same system only")
    add("--group", action="append", metavar="COLUMN[=CUT,CUT]",
        help="groups: a column of the ratings or the cases, a number cut into bands (age=18,65)")  # fmt: skip
    add("--smallest-group", type=int, default=10, metavar="N", help="groups: test none of fewer cases (10)")
    add("--earlier", metavar="RATINGS", help="drift: the earlier ratings of the same cases")
    add("--versions", metavar="COLUMN=EARLIER,LATER",
        help="drift: a column that tells the two versions apart")  # fmt: skip
    add("--same-rater", action="append", metavar="LATER=EARLIER",
        help="drift: a judge whose new version has a new name")  # fmt: skip
    add("--bound", type=float, default=0.25, help="drift: a smaller shift of the mean does not matter (0.25)")
    add("--width", type=float, default=0.5, help="stability: how wide an answer's interval may be (0.5)")
    add("--threshold", type=float, help="stability: a flip is crossing this score, not any change")
    add("--pairs", metavar="TABLE", help="position: pairwise judgements")
    add("--adjust", choices=("holm", "benjamini_hochberg", "none"), default="holm",
        help="how p-values are corrected for many comparisons (holm)")  # fmt: skip
    add(
        "--reasons",
        action="store_true",
        help="instead: does a judge name the problem that a clinician names?",
    )
    add("--reason-pairs", metavar="FILE.jsonl",
        help="reasons: write the pairs that a judge must compare, as cases with patients' texts")  # fmt: skip
    add("--matched", metavar="RATINGS",
        help="reasons: a judge's 0 or 1 on these pairs, and clinicians' on a random sample of them")  # fmt: skip
    add("--injection", action="store_true",
        help="with a study as RATINGS: plant instructions in its answers; do they move the judges?")  # fmt: skip
    add("--injection-cases", type=int, metavar="N", help="injection: number of answers (30)")
    add("--all", action="store_true", help="print every finding, also of an audit with very many")


def run(options: argparse.Namespace) -> int:
    from medjury.analysis import audits
    from medjury.intake.cases import read_cases, write_cases
    from medjury.statistics import counted
    from medjury.tables import read_rating_table

    if options.injection:
        from medjury.studies import audit_injection, load_study

        made = audit_injection(load_study(options.ratings), cases=options.injection_cases)
        print(made.to_json() if options.json else made.text(everything=True))
        return 0
    if options.corpus:
        read = None if options.cases is None else read_cases(options.cases)
        features = None if read is None else audits.case_features(read, notes=True)[0]
        show(options, audits.corpus(table_from(options), features))
        return 0
    if options.reasons or options.reason_pairs or options.matched:
        reasons = audits.reason_overlap(table_from(options), matched=options.matched, **shared(options))
        if options.reason_pairs:
            count = counted(write_cases(reasons.cases(), options.reason_pairs), "pair")
            show_notes([f"{options.reason_pairs}: {count} of reasons, which may quote patients' records"])
        print(reasons.to_json() if options.json else reasons.text(everything=options.all))
        if options.json:
            show_notes(reasons.warnings)
        return 0
    if options.versions is not None:
        frame, _ = read_rating_table(options.ratings)
        options.earlier, options.ratings = audits.split_by(frame, *column_of_two(options.versions))
    cuts = cut_columns(options.group)
    found = audits.audit(
        table_from(options),
        audits=options.audit,
        adjustment=options.adjust,
        judge_vendors=one_each(options.judge_vendor, "--judge-vendor"),
        system_vendors=one_each(options.system_vendor, "--system-vendor"),
        own_models=assigned(options.own_model, "--own-model"),
        cases=None if options.cases is None else read_cases(options.cases),
        within_systems=options.within_systems,
        groups=list(cuts),
        bands={name: points for name, points in cuts.items() if points},
        smallest=options.smallest_group,
        earlier=options.earlier,
        same_raters=one_each(options.same_rater, "--same-rater"),
        bound=options.bound,
        width=options.width,
        threshold=options.threshold,
        pairs=options.pairs,
        **shared(options),
    )
    print(found.to_json() if options.json else found.text(everything=options.all))
    if options.json:
        show_notes(found.warnings)
    return 0
