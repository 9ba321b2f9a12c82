"""`medjury plan kappa | icc | f1 | gate | review | more | blinded`: how many cases and raters a study needs, what
its gate can show, which answers clinicians read, how many more ratings will settle it, and a blinded re-read."""

from __future__ import annotations

import argparse

from medjury.cli._options import add_json, show
from medjury.cli._table_options import add_table_options, numbers, shared, table_from


def add_arguments(parser: argparse.ArgumentParser) -> None:
    kinds = parser.add_subparsers(dest="statistic", metavar="STATISTIC", required=True)
    kappa = kinds.add_parser("kappa", help="Cohen's kappa of two raters")
    kappa.add_argument("--shares", metavar="P,P2...", type=numbers, required=True,
                       help="how often each grade of the scale is expected, such as 0.1,0.2,0.7")  # fmt: skip
    kappa.add_argument("--weights", choices=("none", "linear", "quadratic"), default="none")
    icc = kinds.add_parser("icc", help="intraclass correlation; without --raters, for 2 to 8 of them")
    icc.add_argument("--raters", metavar="N", type=int, default=argparse.SUPPRESS, help="ratings per case")
    icc.add_argument("--shares", metavar="P,P2...", type=numbers,
                     help="expected shares of the grades: simulate the coarse scale too")  # fmt: skip
    f1 = kinds.add_parser("f1", help="F1 of a yes-or-no finding")
    words = "how often the finding is there"
    f1.add_argument("--prevalence", metavar="P", type=float, required=True, help=words)
    words = "every rule of the gate: the chance to meet it, and the cases it needs"
    _add_gate(kinds.add_parser("gate", help=words))
    words = "draw the answers that clinicians read, by stated probabilities"
    _add_review(kinds.add_parser("review", help=words))
    words = "which rules of the gate are settled, and how many more ratings it takes"
    more = kinds.add_parser("more", help=words)
    add_table_options(more, about="Look as often as you like: these intervals hold at all looks together.\n")
    words = "ratings that the review was planned for"
    more.add_argument("--planned", metavar="N", type=int, required=True, help=words)
    words = "how many answers to re-read blind, where clinicians may have seen the jury's scores"
    blinded = kinds.add_parser("blinded", help=words)
    add_table_options(blinded, about="Two clinicians who do not see the jury's scores re-read the answers.\n")
    words = "how much too high the agreement with the jury may be before it must be noticed (0.1)"
    blinded.add_argument("--anchoring", metavar="A", type=float, default=0.1, help=words)
    blinded.add_argument("--power", metavar="P", type=float, default=0.8, help="the wanted chance (0.8)")
    for each in (kappa, icc, f1):
        add = each.add_argument
        add("--value", metavar="V", type=float, required=True, help="the value you expect")
        add("--width", metavar="W", type=float, help="wanted full width of the interval")
        add("--null", metavar="V0", type=float, help="or: the value you want to show it exceeds")
        add("--power", metavar="P", type=float, default=0.8)
        add("--confidence", metavar="C", type=float, default=0.95)
        add("--simulate", metavar="N", type=int, dest="simulations",
            help="search by N simulated studies, not by formula")  # fmt: skip
        add("--seed", metavar="N", type=int, default=0)
    add_json(kappa, icc, f1)


def _add_review(parser: argparse.ArgumentParser) -> None:
    add_table_options(
        parser,
        about="Every answer that the jury calls dangerous or left without a score is read; the others are drawn "
        "with probabilities that say how much each is worth reading. Give the column `probability` back with the "
        "clinicians' ratings, and every analysis that can will weight by it.\n",
    )
    add = parser.add_argument
    words = "answers that clinicians can read"
    add("--ratings", dest="count", metavar="N", type=int, required=True, help=words)
    add("--by", choices=("influence", "triage", "order", "random"),
        help="what probabilities go with: what an answer adds to the error (influence), the order of triage, what "
        "a pair adds to the order of the systems (order, for pairs), nothing (random)")  # fmt: skip
    add("--whole", choices=("answer", "case", "patient"), default="answer",
        help="what is drawn, with all its answers (answer)")  # fmt: skip
    words = "share of plain random drawing in every probability (0.25)"
    add("--floor", metavar="P", type=float, default=0.25, help=words)
    words = "draw dangerous and unscored answers too, instead of reading all"
    add("--none-certain", action="store_true", help=words)
    add("--out", metavar="FILE", help="write the queue, with every answer's probability, as .csv")


def _plan_review(options: argparse.Namespace) -> int:
    from medjury.analysis.calibration import check_ending, draw_review, write_frame

    if options.out is not None:
        check_ending(options.out, [".csv"], "the queue")
    table = table_from(options)
    if options.by is None:
        options.by = "order" if table.pairs else "influence"
    worth = None
    if options.by == "order":
        from medjury.analysis.ranking import pairs_worth

        worth = pairs_worth(table, resamples=options.resamples, seed=options.seed)
    own = {name: getattr(options, name) for name in ("raters", "dimensions", "whole", "floor", "seed")}
    certain = not options.none_certain
    found = draw_review(table, ratings=options.count, by=options.by, worth=worth, certain=certain, **own)
    if options.out is not None:
        write_frame(found.frame(), options.out)
    show(options, found)
    return 0


def _plan_more(options: argparse.Namespace) -> int:
    from medjury.validation import settling

    show(options, settling(table_from(options), planned=options.planned, **shared(options)))
    return 0


def _plan_blinded(options: argparse.Namespace) -> int:
    from medjury.analysis.agreement import plan_blinded_reread

    asked = {"anchoring": options.anchoring, "power": options.power, **shared(options)}
    show(options, plan_blinded_reread(table_from(options), **asked))
    return 0


def _add_gate(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "What a study can show: the chance to meet each rule of the gate, and how many cases, and cases rated by "
        "two clinicians, it needs. Rules and cases come from STUDY, or from --rules and --cases; what is expected "
        "from a --pilot, or from the options."
    )
    add = parser.add_argument
    add("study", metavar="STUDY", nargs="?", help="the study file: its rules, cases and clinicians")
    add("--rules", metavar="FILE", help="the rules, where there is no study: a protocol, or a .yaml of rules")
    add("--cases", metavar="N", type=int, help="cases that a clinician rates (100, or the study's)")
    add("--doubly-rated", metavar="N", type=int, help="how many of them two clinicians rate (all)")
    add("--clinicians", metavar="N", type=int, help="clinicians for a case (2, or the study's)")
    add("--systems", metavar="N", type=int, help="systems whose answers are judged (1, or the study's)")
    add("--pilot", metavar="RATINGS", help="ratings of a pilot: what is expected is what it found")
    add("--dimension", metavar="D", help="the pilot's dimension to plan for")
    add("--scale", nargs=2, type=float, metavar=("LOW", "HIGH"), help="the pilot's scale, if it is not a run")
    add("--shares", metavar="P,P2...", type=numbers,
        help="expected shares of the grades, from the worst to the best (0.05,0.05,0.1,0.35,0.45)")  # fmt: skip
    add("--agreement", metavar="K", type=float, help="kappa of the jury with a clinician (0.7)")
    add("--among", metavar="K", type=float, help="kappa of clinicians with one another (0.7)")
    add("--offset", metavar="G", type=float, help="grades by which the jury is kinder on average (0)")
    add(
        "--dangerous",
        metavar="P",
        type=float,
        help="share of cases that clinicians call dangerous (by the shares)",
    )
    add("--errors", metavar="P", type=float, help="share of those that the jury scores far too kindly (0)")
    add("--coverage", metavar="P", type=float, help="share of answers that the jury scores (0.99)")
    add("--power", metavar="P", type=float, default=0.8, help="the wanted chance (0.8)")
    add_json(parser)


def _plan_gate(options: argparse.Namespace) -> int:
    import json
    from dataclasses import replace

    from medjury.analysis.agreement import Expected, expected_from
    from medjury.foundation.errors import MedjuryError
    from medjury.studies import check_study, gate_outlook, load_study, read_rules
    from medjury.tables import rating_table
    from medjury.validation import plan_gate

    names = ("shares", "agreement", "among", "offset", "dangerous", "errors", "coverage")
    said = {name: getattr(options, name) for name in names if getattr(options, name) is not None}
    expected = Expected()
    if options.pilot:
        expected = expected_from(rating_table(options.pilot, scale=options.scale), options.dimension)
    stated = replace(expected, **said) if said or options.pilot else None
    own = {"doubly": options.doubly_rated, "clinicians": options.clinicians, "systems": options.systems}
    own = {name: value for name, value in {"cases": options.cases, **own}.items() if value is not None}
    if options.study:
        if options.rules or own:
            raise MedjuryError(
                "STUDY has its own rules, cases and clinicians: leave out --rules, --cases, --doubly-rated, "
                "--clinicians and --systems, or plan without STUDY"
            )
        study = load_study(options.study)
        found = gate_outlook(study, check_study(study), stated, power=options.power)
    else:
        rules = read_rules(options.rules)[0] if options.rules else None
        found = plan_gate(rules, expected=stated, power=options.power, **own)
    print(json.dumps(found.as_dict(), indent=1, ensure_ascii=False) if options.json else found.text())
    return 0


def run(options: argparse.Namespace) -> int:
    own = {"gate": _plan_gate, "review": _plan_review, "more": _plan_more, "blinded": _plan_blinded}
    if options.statistic in own:
        return own[options.statistic](options)
    from medjury.analysis.agreement import plan_study

    taken = ("shares", "weights", "raters", "prevalence", "value", "width", "null", "power", "confidence",
             "simulations", "seed")  # fmt: skip
    asked = {name: getattr(options, name) for name in taken if hasattr(options, name)}
    show(options, plan_study(options.statistic, **asked))
    return 0
