"""`medjury triage`: which cases a clinician should see first, and what that order is worth."""

from __future__ import annotations

import argparse
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
    from medjury.calibration import RoutineDisagreement, TriagedRatings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_rating_options(parser, reference=False)
    parser.add_argument(
        "--threshold",
        type=float,
        help="a severe error: the reference's score is this or less (default: 2nd grade)",
    )
    parser.add_argument(
        "--gap",
        type=float,
        help="… and the jury's score is at least this much higher (errors the jury missed)",
    )
    parser.add_argument(
        "--boundary", type=float, help="score at which a decision turns (default: above threshold)"
    )
    parser.add_argument(
        "--high-is-dangerous", action="store_true", default=None, help="high scores are the dangerous ones"
    )
    parser.add_argument(
        "--catch", type=float, default=0.8, help="share of severe errors to catch (default: 0.8)"
    )
    parser.add_argument("--level", type=float, default=0.9, help="coverage of conformal sets (default: 0.9)")
    parser.add_argument(
        "--decide-at",
        type=float,
        metavar="SCORE",
        help="which cases can be decided at this score without a clinician?",
    )
    parser.add_argument(
        "--error", type=float, default=0.05, help="error level of such decisions (default: 0.05)"
    )
    parser.add_argument(
        "--decide",
        choices=("both", "pass", "fail"),
        default="both",
        help="decide both ways, or one (default: both)",
    )
    parser.add_argument(
        "--routine",
        metavar="DIMENSION",
        help="where the panel wrote 1 (disagrees with the routine diagnosis) or 0: probability by mean score",
    )
    parser.add_argument("--folds", type=int, default=5, help="folds of whole cases (default: 5)")
    parser.add_argument("--resamples", type=int, default=1000, help="bootstrap resamples (default: 1000)")
    parser.add_argument(
        "--top", type=int, default=20, help="how many cases to print (default: 20; JSON: all)"
    )
    parser.add_argument("--out", metavar="FILE", help="write the whole order as .csv")


def run(options: argparse.Namespace) -> int:
    need_statistics()
    from medjury.calibration import routine_disagreement_of, triage_ratings

    frame, instrument, warnings = read_rated(options)
    names = words(options.dimension)
    if names is not None and len(names) > 1:
        raise MedjuryError("triage is by one dimension: name one")
    shared: dict[str, Any] = {
        "reference": words(options.reference) or [],
        "judges": words(options.judge),
        "scale": options.scale,
        "instrument": instrument,
        "high_is_dangerous": options.high_is_dangerous,
    }
    if options.routine is not None:
        if not shared["reference"] or names is None:
            raise MedjuryError("--routine needs --reference (the panel) and --dimension (the safety score)")
        show_notes(warnings)
        found = routine_disagreement_of(frame, dimension=names[0], panel_dimension=options.routine, **shared)
        _show_routine(found, options)
        return 0
    triaged = triage_ratings(
        frame,
        dimension=None if names is None else names[0],
        threshold=options.threshold,
        gap=options.gap,
        boundary=options.boundary,
        level=options.level,
        catch=options.catch,
        decide_at=options.decide_at,
        decide=options.decide,
        error=options.error,
        folds=options.folds,
        seed=options.seed,
        resamples=options.resamples,
        **shared,
    )
    show_notes([*warnings, *triaged.warnings])
    ranking = _ranking(triaged)
    if options.out is not None:
        _write(ranking, options.out)
    if options.json:
        show_json(_content(triaged, ranking, options))
    else:
        _show(triaged, ranking, options)
    return 0


def _ranking(found: TriagedRatings) -> list[dict[str, Any]]:
    part, made = found.part, found.triage
    jury = part.jury
    rows = []
    for rank, place in enumerate(made.order.tolist(), start=1):
        row: dict[str, Any] = {
            "rank": rank,
            "item": str(part.items[place]),
            "system": str(part.systems[place]),
            "priority": _number(made.priority[place]),
            "jury": _number(jury[place]),
            **{name: _number(values[place]) for name, values in made.signals.items()},
        }
        if found.sets is not None:
            row["grade_low"] = _number(found.sets.sets.low[place])
            row["grade_high"] = _number(found.sets.sets.high[place])
        if found.automatic is not None:
            row["decision"] = str(found.automatic.decisions[place])
        rows.append(row)
    return rows


def _content(
    found: TriagedRatings, ranking: list[dict[str, Any]], options: argparse.Namespace
) -> dict[str, Any]:
    made = found.triage
    content: dict[str, Any] = {
        "dimension": found.part.dimension,
        "judges": list(found.part.jurors),
        "reversed": found.reversed,
        "how": made.how,
        "weights": made.weights,
        "n_labelled": made.n_labelled,
        "n_severe": made.n_severe,
        "n_unscored": made.n_unscored,
        "ranking": ranking,
        "warnings": list(found.warnings),
    }
    if made.curves is not None:
        content["curves"] = [
            {"order": name, "reviewed": share, **numbers(caught, "caught"), "random": share}
            for name, curve in made.curves.items()
            for share, caught in zip(curve.reviewed, curve.caught, strict=True)
        ]
        content["review_to_catch"] = [
            {
                "order": name,
                "catch": options.catch,
                **numbers(curve.review_to_catch, "review"),
                **numbers(curve.area, "area"),
                **({} if curve.saved_by_rule is None else numbers(curve.saved_by_rule, "saved_by_rule")),
            }
            for name, curve in made.curves.items()
        ]
    if found.sets is not None:
        content["conformal"] = {
            "level": options.level,
            **numbers(found.sets.coverage, "coverage"),
            **numbers(found.sets.mean_width, "mean_width"),
        }
    if found.automatic is not None:
        decided = found.automatic
        content["automatic"] = {
            "threshold": options.decide_at,
            "error_level": options.error,
            **numbers(decided.share, "share"),
            **numbers(decided.error, "error"),
            **numbers(decided.missed, "missed"),
            "n_taught": decided.n_taught,
            "n_tested": decided.n_tested,
            "n_decided": decided.n_decided,
            "n_wrong": decided.n_wrong,
            "guarantee": decided.guarantee,
        }
    return content


def _show(found: TriagedRatings, ranking: list[dict[str, Any]], options: argparse.Namespace) -> None:
    made = found.triage
    show_table(ranking[: options.top])
    if len(ranking) > options.top:
        print(f"… and {len(ranking) - options.top} more; --out FILE.csv writes all of them")
    print(f"\nOrder: {made.how}.")
    if made.curves is not None:
        print(
            f"\nShare of cases to review to catch {100 * options.catch:g} % of {made.n_severe} severe errors"
        )
        rows: list[dict[str, Any]] = [
            {
                "order": name,
                "review": interval(curve.review_to_catch),
                "area": interval(curve.area),
                "rule saves": "" if curve.saved_by_rule is None else interval(curve.saved_by_rule),
            }
            for name, curve in made.curves.items()
        ]
        rows.append({"order": "random", "review": f"{options.catch:.3f}", "area": "0.500", "rule saves": ""})
        show_table(rows)
    if found.sets is not None:
        print(
            f"\nConformal sets at {100 * options.level:g} %: coverage {interval(found.sets.coverage)} on "
            "held-out"
        )
        print(f"cases, {interval(found.sets.mean_width)} grades wide on average.")
    if found.automatic is not None:
        print(f"\nDecided without a clinician: {interval(found.automatic.share)} of the cases.")
        print(f"Of the tested cases below the threshold, passed: {interval(found.automatic.missed)}.")
        print(found.automatic.guarantee)


def _show_routine(found: RoutineDisagreement, options: argparse.Namespace) -> None:
    if options.json:
        show_json(
            {
                **numbers(found.slope, "slope"),
                "p_value": found.p_value,
                "n": found.n,
                "n_disagree": found.n_disagree,
                "n_unknown": found.n_unknown,
                "curve": [{"score": at, **numbers(each, "probability")} for at, each in found.curve],
                "bands": [
                    {"lowest": low, "highest": high, **numbers(share, "share"), "n": share.n}
                    for low, high, share in found.bands
                ],
                "method": found.slope.method,
            }
        )
        return
    print(f"Panel disagrees with the routine diagnosis in {found.n_disagree} of {found.n} cases.")
    print(f"Log-odds per point of the mean score: {interval(found.slope)}, p = {found.p_value:.2g}\n")
    show_table([{"mean score": f"{at:.1f}", "P(disagrees)": interval(each)} for at, each in found.curve[::5]])


def _number(value: float) -> float | None:
    return None if value != value else float(value)


def _write(ranking: list[dict[str, Any]], out: str) -> None:
    import polars as pl

    if not out.lower().endswith(".csv"):
        raise MedjuryError(f"{out}: the order is written as .csv; give that ending")
    try:
        pl.DataFrame(ranking, infer_schema_length=None).write_csv(out)
    except OSError as error:
        raise MedjuryError(f"{out} cannot be written: {error.strerror or error}") from error
