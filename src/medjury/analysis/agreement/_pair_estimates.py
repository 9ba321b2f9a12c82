"""Every estimate of one pair of raters, on the same resamples: what a row block of the table is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from medjury.analysis.agreement._classification import (
    ClassRows,
    class_rows,
    counted_rates,
    of_counts,
    without_rare_classes,
)
from medjury.analysis.agreement._correlation import (
    Correlation,
    correlation_statistics,
    no_spread_reason,
)
from medjury.analysis.agreement._differences import (
    Difference,
    absolute_offset,
    difference_statistics,
    wilcoxon_signed_rank,
)
from medjury.analysis.agreement._icc import FORMS
from medjury.analysis.agreement._kappa import NAMES as KAPPAS
from medjury.analysis.agreement._pair_statistics import (
    ALPHAS,
    BY_SYSTEM,
    CHANCE,
    NEED_SCALE,
    ORDER,
    TAU_PRODUCTS,
    WITHOUT_SCALE,
    Counted,
    Pair,
    PairStatistics,
    Settings,
    counted,
    grade_statistics,
    pair_statistics,
)
from medjury.analysis.agreement._roc import area_under_curve
from medjury.analysis.agreement._row import NOT_READ
from medjury.analysis.agreement._systems import (
    between_and_within,
    collapsed,
    estimates_by_system,
    estimates_of_means,
    of_system_means,
    system_rows,
)
from medjury.analysis.agreement._weighting import by_last_column, by_strata
from medjury.statistics import (
    FEWEST_CLUSTERS,
    Estimate,
    Floats,
    Replicates,
    clustered_proportion,
    combined,
    effective_n,
    replicates,
    sample,
    undefined,
    weighted_proportion,
)

# Two raters on answers that were drawn with unequal probabilities: every row counts as one over its own.
#
# The weighted table of pairs estimates that of all answers (Horvitz & Thompson 1952, J Am Stat Assoc 47:663-685),
# so whatever is read from shares of pairs (exact match, differences, kappas, correlations) is estimated by reading
# it from the weighted table. Where one rater scored all answers, the table is made to fit that rater's scores of
# all (`PostStrata`). Intervals resample whole cases with their weights, read or not. What counts rows instead (ICC,
# signed ranks) has no weighted form here and says so.

NOT_WEIGHTED = (
    "the answers were drawn with unequal probabilities, and this statistic has no weighted form here"
)
Found = dict[str, tuple[Estimate, float | None]]
_OF_SCORES: tuple[Difference, ...] = ("offset", "mae", "rmse")
_CORRELATIONS: tuple[Correlation, ...] = ("pearson", "spearman")
WEIGHTED = ("exact_match", *_OF_SCORES, "absolute_offset", *_CORRELATIONS, *KAPPAS.values())


def weighted_estimates(pair: Pair, settings: Settings) -> Found:
    """What can be weighted, with its interval, and why there is nothing of the rest."""
    assert pair.weights is not None
    on = counted(pair)
    said = f"; weighted by 1/probability, {len(pair.rows)} ratings are worth {effective_n(pair.weights):.1f}"
    parts = [difference_statistics(_OF_SCORES), correlation_statistics(_CORRELATIONS)]
    if on.grades is not None:
        parts.append(grade_statistics(on.grades))
    # Only shares count, so that the weights may be put on any footing: one of 1 is the mean.
    weights, strata = pair.weights / pair.weights.mean(), pair.strata
    made = replicates(
        np.column_stack([pair.rows, weights]) if strata is None else strata.rows(pair.rows),
        by_last_column(combined(*parts)) if strata is None else by_strata(combined(*parts)),
        clusters=pair.clusters if strata is None else strata.clusters,
        resamples=settings.resamples,
        seed=settings.seed,
        n=len(pair.rows),
    )
    if strata is not None:
        said += strata.said
    found: dict[str, Estimate] = {}
    for name in made.observed:
        estimate = made.estimate(name, confidence=settings.confidence, reason=no_spread_reason(pair.rows))
        note = on.note if name in ("exact_match", *KAPPAS.values()) else ""
        found[name] = replace(estimate, method=estimate.method + note + said)
    if on.grades is not None:
        same = (on.grades.grade(pair.rows) == on.grades.grade(pair.rows[:, ::-1])).all(axis=1)
        share = weighted_proportion(same, weights, pair.clusters, confidence=settings.confidence)
        found["exact_match"] = replace(share, method=share.method + on.note)
        if said := _never_varies(pair.rows):
            known = [name for name in KAPPAS.values() if name in found]
            found |= dict.fromkeys(known, undefined(said, len(pair.rows), "none"))
    found["absolute_offset"] = absolute_offset(found["offset"])
    systems = BY_SYSTEM if pair.systems is not None else ()
    for name in (*ORDER, *systems):
        found.setdefault(name, undefined(NOT_WEIGHTED, len(pair.rows), "none"))
    scaleless = _CORRELATIONS if pair.metric else (*ORDER, *systems)
    return {name: (found[name], None) for name in scaleless if name in found and settings.wants(name)}


def _never_varies(rows: Floats) -> str:
    """Who of the two gave every item the same score, as a sentence."""
    names = [who for who, column in zip(("reference", "rater"), rows.T, strict=True) if np.ptp(column) == 0]
    return f"the {' and the '.join(names)} gave every item the same score" if names else ""


_BY_SYSTEM = ("_systems", "_baseline")


def pair_estimates(
    pair: Pair, settings: Settings, *, item: bool = True, system: bool = False
) -> tuple[Found, dict[str, Estimate]]:
    """Everything the table says about a pair, in its order and all on the same resamples of cases: of single scores
    (estimate, p-value or None), and of the systems' means where asked for.

    Scores between grades are rounded half up for everything that counts grades, and the method says so;
    differences, correlations and ICCs use them as they are.
    """
    if not len(pair.rows):
        nothing = undefined("no item was scored by both raters", 0, "none")
        names = [name for name in ORDER if item and _shown(name, pair, settings)]
        return dict.fromkeys(names, (nothing, None)), {"spearman": nothing} if system else {}
    if pair.weights is not None:
        return (
            weighted_estimates(pair, settings) if item else {},
            {"spearman": undefined(NOT_WEIGHTED, len(pair.rows), "none")} if system else {},
        )
    on = counted(pair)
    parts = pair_statistics(pair, on, settings) if item else None
    statistics = [collapsed(parts.statistics, (0, 1))] if parts is not None else []
    systems = 0 if pair.systems is None else len(np.unique(pair.systems))
    if systems:
        statistics += [between_and_within(settings)] if item and _wants_systems(settings) else []
        statistics += [of_system_means] if system else []
    made = replicates(
        system_rows(pair.rows, pair.systems, pair.cases, settings.seed),
        combined(*statistics),
        clusters=pair.clusters,
        resamples=settings.resamples,
        seed=settings.seed,
    )
    of_items: Found = {} if parts is None else _of_items(pair, on, parts, made, settings)
    if system and not systems:
        reason = "one system only was scored by both raters; two or more are needed"
        return of_items, {"spearman": undefined(reason, 1, "means of systems")}
    means = estimates_of_means(made, systems, settings.confidence)
    if "offset" in means:
        means["absolute_offset"] = absolute_offset(means["offset"])
    return of_items, {name: each for name, each in means.items() if _shown(name, pair, settings)}


def _of_items(pair: Pair, on: Counted, parts: PairStatistics, made: Replicates, settings: Settings) -> Found:
    spread = no_spread_reason(pair.rows)
    estimates: dict[str, Estimate] = {}
    for name in made.observed:
        # The absolute offset is read from the offset.
        if name in parts.names and (settings.wants(name) or name == "offset"):
            estimate = made.estimate(
                name, confidence=settings.confidence, reason=parts.reasons.get(name, spread)
            )
            note = on.note if name in parts.of_grades else ""
            estimates[name] = replace(estimate, method=estimate.method + note)
    if settings.resamples and on.grades is None:
        estimates |= _matches(pair, estimates, settings.confidence)
    elif settings.resamples and on.grades is not None:
        levels = tuple(float(value) for value in on.grades.values)
        rows = class_rows(levels, np.asarray(levels), on.grades.grade(pair.rows), pair.clusters)
        estimates |= _counted_rates(rows, on.note, estimates, settings.confidence)
        estimates |= without_rare_classes(estimates, rows)
    if "offset" in estimates:
        estimates["absolute_offset"] = absolute_offset(estimates["offset"])
    estimates |= _area(pair, settings)
    if parts.thin and settings.wants("kendall_tau_b"):
        estimates["kendall_tau_b"] = _tau(pair, settings)
    if pair.systems is not None:
        estimates |= estimates_by_system(made, len(np.unique(pair.systems)), settings.confidence)
    estimates |= _of_a_constant_rater(pair, on, estimates)
    for name, reason in _missing(on).items():
        estimates[name] = undefined(reason, len(pair.rows), "none")
    found: Found = {name: (each, None) for name, each in estimates.items()}
    if settings.wants("wilcoxon_signed_rank"):
        found |= _signed_rank(pair)
    place = {name: place for place, name in enumerate(ORDER)}
    kept = [name for name in found if _shown(name, pair, settings)]
    return {name: found[name] for name in sorted(kept, key=lambda name: place.get(name, len(place)))}


def _area(pair: Pair, settings: Settings) -> dict[str, Estimate]:
    """DeLong's interval of the AUC: where every row is a case of its own."""
    positive = pair.positive()
    if pair.clusters is not None or positive is None or not settings.wants("auc"):
        return {}
    first, second = pair.rows.T
    return {"auc": area_under_curve(first, second, positive=positive, confidence=settings.confidence)}


def _matches(pair: Pair, estimates: Mapping[str, Estimate], confidence: float) -> dict[str, Estimate]:
    """The interval of exact matches without grades, where all match or none: no resample could move it."""
    found = estimates.get("exact_match")
    if found is None or found.value not in (0.0, 1.0):
        return {}
    hits = np.full(len(pair.rows), found.value == 1.0)
    return {"exact_match": clustered_proportion(hits, pair.clusters, confidence=confidence)}


def _counted_rates(
    rows: ClassRows, note: str, estimates: Mapping[str, Estimate], confidence: float
) -> dict[str, Estimate]:
    made = counted_rates(estimates, rows, confidence=confidence)
    prediger = estimates.get("brennan_prediger")
    if prediger and prediger.value is not None and rows.cases is None and rows.n >= FEWEST_CLUSTERS:
        # A straight line of the share of matches.
        matches = of_counts("exact_match", rows, confidence=confidence)
        if matches is not None:
            made["brennan_prediger"] = replace(_beyond_chance(matches, len(rows.names)), value=prediger.value)
    return {name: replace(found, method=found.method + note) for name, found in made.items()}


def _beyond_chance(matches: Estimate, grades: int) -> Estimate:
    low, high = (
        None if each is None else (each * grades - 1.0) / (grades - 1.0)
        for each in (matches.low, matches.high)
    )
    return replace(matches, low=low, high=high)


def _of_a_constant_rater(pair: Pair, on: Counted, estimates: Mapping[str, Estimate]) -> dict[str, Estimate]:
    """What a rater who always says the same leaves: no kappa and no ICC, which would be 0 with anybody, and
    coefficients that stay high without any agreement, marked as such."""
    rows = pair.rows if on.grades is None else on.grades.grade(pair.rows)
    said = _never_varies(rows)
    if not said or len(rows) < 2:
        return {}
    blind = (*KAPPAS.values(), *FORMS)
    found = {name: undefined(said, len(rows), "none") for name in blind if name in estimates}
    return found | {
        name: replace(each, method=f"{each.method}; {said}, {NOT_READ}")
        for name, each in estimates.items()
        if name in CHANCE and each.value is not None
    }


def _missing(on: Counted) -> dict[str, str]:
    """What cannot be had without the scale, and why."""
    if on.given:
        return {}
    reasons = dict.fromkeys(NEED_SCALE, "needs the full scale, and none was given")
    if on.grades is None:
        names = (*KAPPAS.values(), "fleiss_kappa", *ALPHAS[:2])
        reasons |= dict.fromkeys(names, "the scores are not whole grades and no scale was given")
    return reasons


def _tau(pair: Pair, settings: Settings) -> Estimate:
    resamples = max(200, int(TAU_PRODUCTS / len(sample(pair.rows).counts) ** 2))
    made = replicates(
        pair.rows,
        correlation_statistics(["kendall_tau_b"]),
        clusters=pair.clusters,
        resamples=resamples,
        seed=settings.seed,
        jackknife=False,
    )
    return made.estimate(
        "kendall_tau_b",
        method="percentile",
        confidence=settings.confidence,
        reason=no_spread_reason(pair.rows),
    )


def _signed_rank(pair: Pair) -> Found:
    test = wilcoxon_signed_rank(pair.rows[:, 0], pair.rows[:, 1])
    dependent = "; takes units as independent, which they are not here" if pair.clusters is not None else ""
    method = test.method + dependent
    if test.p_value is None:
        return {"wilcoxon_signed_rank": (undefined(test.reason, test.n, method), None)}
    return {"wilcoxon_signed_rank": (Estimate(test.rank_sum, None, None, test.n, method), test.p_value)}


def _shown(name: str, pair: Pair, settings: Settings) -> bool:
    fits = not pair.metric or name in WITHOUT_SCALE or name.endswith(_BY_SYSTEM)
    return fits and settings.wants(name)


def _wants_systems(settings: Settings) -> bool:
    return settings.statistics is None or any(name.endswith(_BY_SYSTEM) for name in settings.statistics)
