"""`medjury simulate-jury`: replay a full jury's stored votes under rules that stop early, and choose one."""

from __future__ import annotations

import argparse
import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from medjury.cli._rated import (
    add_rating_options,
    interval,
    need_statistics,
    numbers,
    read_rated,
    show_json,
    show_notes,
    show_table,
    words,
)
from medjury.errors import MedjuryError

if TYPE_CHECKING:
    from medjury.calibration import JurySimulation, RandomEscalation

_EPILOG = """
RATINGS holds every juror's vote on every case, and the clinicians' (--reference). Half of the cases are searched
for a rule: the fewest calls whose loss of Spearman's correlation with the clinicians is shown to be at most --loss
at no more than --calls of the full jury's calls. All that is printed comes from the other half. Exit status 1: on
that half the rule did not keep to what was wanted, or did not beat the same number of calls made at random.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EPILOG
    add_rating_options(parser, reference=True)
    add = parser.add_argument
    add("--order", metavar="J,J2…", help="ask the jurors in this order (default: searched for)")
    add("--cost", metavar="J=X,J2=Y…", help="what a call of each juror costs: the cheapest is asked first")
    add("--loss", type=float, default=0.01, help="agreement that may be lost (default: 0.01)")
    add("--calls", type=float, default=0.55,
        help="share of the full jury's calls (with --cost, of its cost) at most (default: 0.55)")  # fmt: skip
    add("--minimum", type=int, default=1, help="votes at least (default: 1)")
    add("--threshold", type=float, help="a decision turns at this score: stop when it is clear on which side")
    add("--signal", metavar="S[,S2…]",
        help="try only these: disagreement, jury_width, reference_width (default: the first two)")  # fmt: skip
    add("--level", type=float, default=0.9, help="coverage of the conformal widths (default: 0.9)")
    add("--splits", type=int, default=0, metavar="N",
        help="search and test again with N further seeds: was it luck? (default: 0)")  # fmt: skip
    add("--draws", type=int, default=200, help="draws of random escalation (default: 200)")
    add("--resamples", type=int, default=2000, help="bootstrap resamples of cases (default: 2000)")
    add("--out", metavar="FILE", help="write every number as .csv")
    add("--figure", metavar="FILE", help="write the curve, agreement lost against calls made, as .svg")
    add("--rule", metavar="FILE", help="write the rule as .json, for `rule: FILE` in a study file")


def run(options: argparse.Namespace) -> int:
    for path, ending in ((options.out, ".csv"), (options.figure, ".svg"), (options.rule, ".json")):
        if path is not None and not path.lower().endswith(ending):
            raise MedjuryError(f"{path}: this is written as {ending}; give that ending")
    need_statistics()
    from medjury.calibration import jury_figure, simulate_jury

    frame, instrument, notes = read_rated(options)
    found = simulate_jury(
        frame,
        reference=words(options.reference) or [],
        judges=words(options.judge),
        dimensions=words(options.dimension),
        scale=options.scale,
        instrument=instrument,
        order=words(options.order),
        cost=_costs(options.cost),
        loss=options.loss,
        calls=options.calls,
        minimum=options.minimum,
        threshold=options.threshold,
        signals=_signals(options.signal),
        level=options.level,
        splits=options.splits,
        draws=options.draws,
        resamples=options.resamples,
        seed=options.seed,
    )
    show_notes([*notes, *found.notes])
    if options.out is not None:
        _write_table(options.out, found)
    if options.figure is not None:
        _write(options.figure, jury_figure(found))
    if options.rule is not None:
        _write_rule(options.rule, found, options)
    if options.json:
        show_json(_content(found))
    else:
        _show(found, options)
    return 0 if found.kept and found.random.beaten is not False else 1


def _show(found: JurySimulation, options: argparse.Namespace) -> None:
    (cases, answers), (tested, of_tested) = found.n_training, found.n_tested
    print(
        f"{found.n_rules:,} rules tried on {cases:,} cases ({answers:,} answers), tested on {tested:,} others "
        f"({of_tested:,}).\nSpearman with the reference: the mean of {len(found.dimensions)} dimensions, pooled "
        "over systems and inside them.\n"
    )
    priced = found.adaptive.cost is not None
    show_table(
        [
            {
                "policy": each.name,
                "jurors": ", ".join(each.jurors),
                "calls": f"{each.calls:.1%}",
                **({"cost": f"{each.cost:.1%}"} if priced else {}),
                "Spearman": interval(each.spearman),
                "lost": interval(each.loss),
                "inside systems": interval(each.within) if each.within.value is not None else "–",
                "lost inside": interval(each.within_loss) if each.within_loss.value is not None else "–",
                "offset": "–" if each.offset is None else f"{each.offset:+.2f}",
            }
            for each in found.policies
        ]
    )
    made = found.random
    print(
        f"\nThe same calls at random lose {made.loss:+.3f} (95 % of {made.draws} draws: {made.low:+.3f} to "
        f"{made.high:+.3f})."
    )
    print(f"Answers that stopped after 1, 2, … calls: {', '.join(f'{n:,}' for n in found.stopped_after)}.")
    if found.alike is not None:
        print(f"The same side of {found.rule.threshold:g} as the full jury: {found.alike:.1%} of the scores.")
    print("\nBy dimension")
    show_table(
        [
            {
                "dimension": each.dimension,
                "full jury": interval(each.full),
                "adaptive jury": interval(each.rule),
                "lost": interval(each.loss),
            }
            for each in found.dimensions
        ]
    )
    if found.splits:
        _show_splits(found)
    print(f"\n{found.verdict}\n\nFor the study file:\n\n{_fragment(found, options.rule)}")


def _show_splits(found: JurySimulation) -> None:
    print(f"\nThe same with {len(found.splits)} further splits of the cases")
    show_table(
        [
            {
                "seed": each.seed,
                "jurors": ", ".join(each.jurors),
                "signal": each.signal,
                "tolerance": each.tolerance,
                "calls": f"{each.calls:.1%}",
                **({} if each.cost is None else {"cost": f"{each.cost:.1%}"}),
                "lost": each.loss,
                "lost inside": each.within_loss,
                "lost at random": each.random_loss,
                "lost by the best pair": each.pair_loss,
            }
            for each in found.splits
        ]
    )
    cheap = [
        each
        for each in found.splits
        if (each.calls if each.cost is None else each.cost) <= found.wanted_calls
    ]
    pooled = [each for each in cheap if each.loss <= found.wanted_loss]
    inside = [each for each in pooled if not each.within_loss > found.wanted_loss]
    print(
        f"Of {len(found.splits)} splits {len(pooled)} kept to what was wanted on the cases they were not found on, "
        f"{len(inside)} of them inside systems too."
    )


def _fragment(found: JurySimulation, file: str | None) -> str:
    """The strategy as it stands in a study file; each juror still needs its own endpoint."""
    lines = [
        "strategy:",
        "  name: adaptive",
        "  jurors:  # in this order; complete each with kind, url and model",
    ]
    lines += [f"    - {{name: {juror}}}" for juror in found.jurors]
    rule = found.rule
    if file is not None:
        return "\n".join([*lines, f"  rule: {Path(file).name}"])
    if rule.widths is not None:
        return "\n".join([*lines, "  rule: rule.json  # --rule rule.json writes it: a table of widths"])
    stated = [f"tolerance: {rule.tolerance:g}", f"minimum: {rule.minimum}", f"maximum: {rule.maximum}"]
    stated += [f"threshold: {rule.threshold:g}"] if rule.threshold is not None else []
    return "\n".join([*lines, f"  rule: {{{', '.join(stated)}}}"])


def _content(found: JurySimulation) -> dict[str, Any]:
    rule = found.rule
    return {
        "verdict": found.verdict,
        "kept": found.kept,
        "proved": found.proved,
        "shown_on_training_half": found.shown,
        "rule": {
            "jurors": list(found.jurors),
            "signal": found.signal,
            "tolerance": rule.tolerance,
            "minimum": rule.minimum,
            "maximum": rule.maximum,
            "threshold": rule.threshold,
        },
        "random": _drawn(found.random),
        "random_after_two_votes": None if found.later is None else _drawn(found.later),
        "over_best_pair": {
            **({} if found.over_pair is None else numbers(found.over_pair, "pooled")),
            **({} if found.over_pair_within is None else numbers(found.over_pair_within, "within")),
        },
        "rows": _rows(found),
        "stopped_after": list(found.stopped_after),
        "decided_alike": found.alike,
        "training": {"cases": found.n_training[0], "answers": found.n_training[1], "rules": found.n_rules},
        "tested": {"cases": found.n_tested[0], "answers": found.n_tested[1]},
        "splits": [
            {
                "seed": each.seed,
                "jurors": list(each.jurors),
                "signal": each.signal,
                "tolerance": each.tolerance,
                "calls": each.calls,
                "cost": each.cost,
                "loss": _known(each.loss),
                "within_loss": _known(each.within_loss),
                "random_loss": _known(each.random_loss),
                "pair_loss": _known(each.pair_loss),
            }
            for each in found.splits
        ],
    }


def _drawn(made: RandomEscalation) -> dict[str, Any]:
    return {
        "loss": _known(made.loss),
        "low": _known(made.low),
        "high": _known(made.high),
        "p_value": made.p_value,
        "draws": made.draws,
    }


def _rows(found: JurySimulation) -> list[dict[str, Any]]:
    """Everything that has a number of calls and a loss, one row each, under the same columns."""
    nothing: dict[str, Any] = dict.fromkeys(
        ("kind", "name", "jurors", "dimension", "tolerance", "calls", "cost", "spearman", "spearman_low",
         "spearman_high", "loss", "loss_low", "loss_high", "within", "within_low", "within_high", "within_loss",
         "within_loss_low", "within_loss_high", "random_loss", "random_low", "random_high", "offset",
         "n_unscored")
    )  # fmt: skip
    rows = []
    for each in found.policies:
        row = nothing | {"kind": "policy", "name": each.name, "jurors": " + ".join(each.jurors)}
        row |= {"calls": each.calls, "cost": each.cost, "offset": each.offset, "n_unscored": each.n_unscored}
        row |= numbers(each.spearman, "spearman") | numbers(each.loss, "loss")
        rows.append(row | numbers(each.within, "within") | numbers(each.within_loss, "within_loss"))
    for point in found.curve:
        row = nothing | {"kind": "curve", "name": "adaptive jury", "jurors": " + ".join(found.jurors)}
        row |= {"tolerance": point.tolerance, "calls": point.calls, "cost": point.cost}
        row |= {"random_loss": _known(point.random_loss), "random_low": _known(point.random_low)}
        rows.append(row | {"random_high": _known(point.random_high)} | numbers(point.loss, "loss"))
    for jurors, spent, loss in found.fixed:
        row = nothing | {"kind": "fixed", "name": "fixed jury", "jurors": " + ".join(jurors), "loss": loss}
        rows.append(row | {"cost" if found.adaptive.cost is not None else "calls": spent})
    for one in found.dimensions:
        row = nothing | {"kind": "dimension", "name": "adaptive jury", "dimension": one.dimension}
        rows.append(row | numbers(one.rule, "spearman") | numbers(one.loss, "loss"))
    return rows


def _write_table(path: str, found: JurySimulation) -> None:
    import polars as pl

    try:
        pl.DataFrame(_rows(found), infer_schema_length=None).write_csv(path)
    except OSError as error:
        raise MedjuryError(f"{path} cannot be written: {error.strerror or error}") from error


def _write(path: str, text: str) -> None:
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise MedjuryError(f"{path} cannot be written: {error.strerror or error}") from error


def _write_rule(path: str, found: JurySimulation, options: argparse.Namespace) -> None:
    from medjury import __version__
    from medjury.judging import SavedAdaptiveRule, save_adaptive_rule

    file = Path(options.ratings)
    # A mapping's own bytes say nothing of the files that it describes.
    table = file.is_file() and file.suffix.lower() not in (".yaml", ".yml")
    digest = hashlib.sha256(file.read_bytes()).hexdigest() if table else None
    learnt = {
        "signal": found.signal,
        "seed": options.seed,
        "cases": found.n_training[0],
        "ratings": file.name,
        "ratings_sha256": digest,
        "medjury": __version__,
        "result": found.verdict,
    }
    save_adaptive_rule(path, SavedAdaptiveRule(found.rule, found.jurors, dict(found.scales)), learnt)


def _known(value: float) -> float | None:
    return None if value != value else value


def _costs(text: str | None) -> dict[str, float] | None:
    if text is None:
        return None
    found = {}
    for each in words(text) or []:
        name, equals, price = each.rpartition("=")
        try:
            found[name] = float(price)
        except ValueError:
            equals = ""
        if not equals:
            raise MedjuryError(f"--cost {each!r}: write JUROR=NUMBER, such as gpt-4o=2.5")
    return found


def _signals(text: str | None) -> Any:
    from medjury.calibration import DEFAULT_JURY_SIGNALS, JURY_SIGNALS

    known = {signal.replace(" ", "_"): signal for signal in JURY_SIGNALS}
    for name in words(text) or []:
        if name not in known:
            raise MedjuryError(f"there is no signal {name!r}; they are {', '.join(known)}")
    return DEFAULT_JURY_SIGNALS if text is None else tuple(known[name] for name in words(text) or [])
