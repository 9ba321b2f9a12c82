"""A simulated jury for a terminal, as JSON, and as a fragment of a study file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from medjury.analysis.calibration._jury_simulation.result import SimulatedJury
from medjury.analysis.calibration._jury_simulation.rows import rows_of
from medjury.analysis.calibration._written import as_json, flat
from medjury.statistics import NOTHING, Estimate, Printable, ends, percent, shown, text_table

_LOST = ("lost", "lost inside", "lost at random", "lost by the best pair")


def text_of(found: SimulatedJury, rule_file: str | None) -> str:
    (cases, answers), (tested, of_tested) = found.n_training, found.n_tested
    made = found.random
    lost, low, high = (shown(value) for value in flat(made, "loss", "low", "high").values())
    lines = [
        *(f"! {warning}" for warning in found.warnings),
        f"{found.n_rules:,} rules tried on {cases:,} cases ({answers:,} answers), tested on {tested:,} others "
        f"({of_tested:,}).",
        f"Spearman with the reference: the mean of {len(found.dimensions)} dimensions, pooled over systems and "
        "inside them.",
        "",
        *text_table(_policies(found)),
        f"\nThe same calls at random lose {lost} (95 % of {made.draws} draws: {low} to {high}).",
        f"Answers that stopped after 1, 2, … calls: {', '.join(f'{n:,}' for n in found.stopped_after)}.",
    ]
    if found.alike is not None:
        side = f"The same side of {found.rule.threshold:g} as the full jury"
        lines.append(f"{side}: {percent(found.alike, 1)} of the scores.")
    by_dimension: list[dict[str, Printable]] = [
        {"dimension": each.dimension, "full jury": each.full, "adaptive jury": each.rule, "lost": each.loss}
        for each in found.dimensions
    ]
    lines += ["\nBy dimension", *text_table(by_dimension)]
    if found.splits:
        lines += _splits(found)
    lines += [f"\n{found.verdict}", "\nFor the study file:\n", fragment(found, rule_file)]
    return "\n".join(lines)


def fragment(found: SimulatedJury, rule_file: str | None) -> str:
    """The strategy as it goes into a study file; each juror still needs its own endpoint."""
    lines = [
        "strategy:",
        "  name: adaptive",
        "  jurors:  # in this order; complete each with kind, url and model",
    ]
    lines += [f"    - {{name: {juror}}}" for juror in found.jurors]
    rule = found.rule
    if rule_file is not None:
        return "\n".join([*lines, f"  rule: {Path(rule_file).name}"])
    if rule.widths is not None:
        return "\n".join([*lines, "  rule: rule.json  # --rule rule.json writes it: a table of widths"])
    stated = [f"tolerance: {rule.tolerance:g}", f"minimum: {rule.minimum}", f"maximum: {rule.maximum}"]
    stated += [f"threshold: {rule.threshold:g}"] if rule.threshold is not None else []
    return "\n".join([*lines, f"  rule: {{{', '.join(stated)}}}"])


def json_of(found: SimulatedJury) -> str:
    return as_json(
        {
            **flat(found, "verdict", "kept", "proved"),
            "shown_on_training_half": found.shown,
            "rule": {
                **flat(found, "jurors", "signal"),
                **flat(found.rule, "tolerance", "minimum", "maximum", "threshold"),
            },
            "random": flat(found.random),
            "random_after_two_votes": None if found.later is None else flat(found.later),
            "over_best_pair": {
                **({} if found.over_pair is None else ends(found.over_pair, "pooled")),
                **({} if found.over_pair_within is None else ends(found.over_pair_within, "within")),
            },
            "rows": [row.as_dict() for row in rows_of(found)],
            "stopped_after": list(found.stopped_after),
            "decided_alike": found.alike,
            "training": dict(
                zip(("cases", "answers", "rules"), (*found.n_training, found.n_rules), strict=True)
            ),
            "tested": dict(zip(("cases", "answers"), found.n_tested, strict=True)),
            "splits": [flat(each) for each in found.splits],
            "warnings": list(found.warnings),
        }
    )


def _policies(found: SimulatedJury) -> Sequence[Mapping[str, Printable]]:
    return [
        {
            "policy": each.name,
            "jurors": ", ".join(each.jurors),
            "calls": percent(each.calls, 1),
            "cost": None if each.cost is None else percent(each.cost, 1),
            "Spearman": each.spearman,
            "lost": each.loss,
            "inside systems": _or_nothing(each.within),
            "lost inside": _or_nothing(each.within_loss),
            "offset": shown(each.offset, 2),
        }
        for each in found.policies
    ]


def _or_nothing(estimate: Estimate) -> Printable:
    return NOTHING if estimate.value is None else estimate


def _splits(found: SimulatedJury) -> list[str]:
    rows: list[dict[str, Printable]] = [
        {
            **flat(each, "seed", "signal", "tolerance"),
            "jurors": ", ".join(each.jurors),
            "calls": percent(each.calls, 1),
            "cost": None if each.cost is None else percent(each.cost, 1),
            **dict(
                zip(
                    _LOST, flat(each, "loss", "within_loss", "random_loss", "pair_loss").values(), strict=True
                )
            ),
        }
        for each in found.splits
    ]
    spent = [each.calls if each.cost is None else each.cost for each in found.splits]
    cheap = [each for each, share in zip(found.splits, spent, strict=True) if share <= found.wanted_calls]
    pooled = [each for each in cheap if each.loss <= found.wanted_loss]
    inside = [each for each in pooled if not each.within_loss > found.wanted_loss]
    return [
        f"\nThe same with {len(found.splits)} further splits of the cases",
        *text_table(rows),
        f"Of {len(found.splits)} splits {len(pooled)} kept to what was wanted on the cases they were not found on, "
        f"{len(inside)} of them inside systems too.",
    ]
