"""`medjury plan simulate-jury`: replay a full jury's stored votes under rules that stop early, and choose one."""

from __future__ import annotations

import argparse

from medjury.cli._table_options import add_table_options, names, shared, table_from

_ABOUT = """
RATINGS holds every juror's vote on every case, and the clinicians' (--reference). Half of the cases are searched
for a rule: the fewest calls whose loss of Spearman's correlation with the clinicians is shown to be at most --loss
at no more than --calls of the full jury's calls. All that is printed comes from the other half. Exit status 1: on
that half the rule did not keep to what was wanted, or did not beat the same number of calls made at random.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_table_options(parser, about=_ABOUT)
    add = parser.add_argument
    add("--order", metavar="J,J2…", type=names, help="ask the jurors in this order (default: searched for)")
    add("--cost", metavar="J=X,J2=Y…", type=_costs, help="price of a call; the cheapest juror is asked first")
    add("--loss", type=float, default=0.01, help="agreement that may be lost (default: 0.01)")
    add("--calls", type=float, default=0.55, help="share of the full jury's calls, or cost, at most (0.55)")
    add("--minimum", type=int, default=1, help="votes at least (default: 1)")
    add("--threshold", type=float, help="a decision changes at this score: stop when the side is clear")
    add("--signal", metavar="S[,S2…]", type=names, dest="signals",
        help="only these: disagreement, jury_width, reference_width (default: the first two)")  # fmt: skip
    add("--level", type=float, default=0.9, help="coverage of the conformal widths (default: 0.9)")
    add("--splits", type=int, default=0, metavar="N", help="the same with N further seeds: was it luck?")
    add("--draws", type=int, default=200, help="draws of random escalation (default: 200)")
    add("--out", metavar="FILE", help="write every number as .csv")
    add("--figure", metavar="FILE", help="write the curve, agreement lost against calls made, as .svg")
    add("--rule", metavar="FILE", help="write the rule as .json, for `rule: FILE` in a study file")


def run(options: argparse.Namespace) -> int:
    from medjury.analysis import calibration

    for path, ending in ((options.out, ".csv"), (options.figure, ".svg"), (options.rule, ".json")):
        if path is not None:
            calibration.check_ending(path, [ending])
    own = ("order", "cost", "loss", "calls", "minimum", "threshold", "signals", "level", "splits", "draws")
    given = {name: getattr(options, name) for name in own if getattr(options, name) is not None}
    found = calibration.simulate_jury(table_from(options), **shared(options), **given)
    if options.out is not None:
        calibration.write_frame(found.frame(), options.out)
    if options.rule is not None:
        found.save_rule(options.rule, ratings=options.ratings)
    print(found.to_json() if options.json else found.text(options.rule))
    if options.figure is not None:  # last: where matplotlib is missing, everything else is there
        calibration.write_figure(found.plot(), options.figure)
    return 0 if found.beaten else 1


def _costs(text: str) -> dict[str, float]:
    try:
        return {name: float(price) for name, _, price in (each.rpartition("=") for each in names(text))}
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r}: write JUROR=NUMBER, such as gpt-4o=2.5") from None
