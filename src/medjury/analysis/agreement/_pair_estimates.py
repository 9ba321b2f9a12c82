"""Every estimate of one pair of raters, on the same resamples: what a row block of the table is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from medjury.analysis.agreement._classification import (
    ClassRows,
    class_rows,
    counted_rates,
    no_rate_reason,
    of_counts,
    rate_names,
    without_rare_classes,
)
from medjury.analysis.agreement._correlation import no_spread_reason
from medjury.analysis.agreement._differences import LIMITS, absolute_offset, wilcoxon_signed_rank
from medjury.analysis.agreement._icc import FORMS
from medjury.analysis.agreement._kappa import NAMES as KAPPAS
from medjury.analysis.agreement._pair_statistics import (
    ALPHAS,
    BY_SYSTEM,
    CHANCE,
    GAPS,
    NEED_SCALE,
    ORDER,
    TAU_PRODUCTS,
    WITHOUT_SCALE,
    Pair,
    Settings,
    counted,
    pair_names,
    tau_apart,
    two_rater_statistics,
)
from medjury.analysis.agreement._roc import area_statistics, area_under_curve
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
from medjury.tables import Grades

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
_CORRELATIONS = ("pearson", "spearman")
_WEIGHTED = ("offset", "mae", "rmse", *_CORRELATIONS)
_OF_GRADES = ("exact_match", *KAPPAS.values())
# What does not count grades.
_OF_SCORES = {*GAPS, *LIMITS, *WITHOUT_SCALE, *FORMS, ALPHAS[-1]}


def weighted_estimates(pair: Pair, settings: Settings) -> Found:
    """What can be weighted, with its interval, and why there is nothing of the rest."""
    assert pair.weights is not None
    grades, counting = counted(pair)
    said = f"; weighted by 1/probability, {len(pair.rows)} ratings are worth {effective_n(pair.weights):.1f}"
    statistics = two_rater_statistics(_WEIGHTED if grades is None else (*_WEIGHTED, *_OF_GRADES), grades)
    # Only shares count, so that the weights may be put on any footing: one of 1 is the mean.
    weights, strata = pair.weights / pair.weights.mean(), pair.strata
    made = replicates(
        np.column_stack([pair.rows, weights]) if strata is None else strata.rows(pair.rows),
        by_last_column(statistics) if strata is None else by_strata(statistics),
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
        note = counting if name in _OF_GRADES else ""
        found[name] = replace(estimate, method=estimate.method + note + said)
    if grades is not None:
        same = (grades.grade(pair.rows) == grades.grade(pair.rows[:, ::-1])).all(axis=1)
        share = weighted_proportion(same, weights, pair.clusters, confidence=settings.confidence)
        found["exact_match"] = replace(share, method=share.method + counting)
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
    grades, note = counted(pair)
    names, positive = pair_names(pair, grades, settings) if item else [], pair.positive()
    statistics = [collapsed(two_rater_statistics(names, grades), (0, 1))] if names else []
    if "auc" in names and positive is not None:
        statistics.append(collapsed(area_statistics(positive), (0, 1)))
    systems = 0 if pair.systems is None else len(np.unique(pair.systems))
    if systems:
        wanted = settings.statistics is None or any(name.endswith(_BY_SYSTEM) for name in settings.statistics)
        statistics += [between_and_within(settings)] if item and wanted else []
        statistics += [of_system_means] if system else []
    made = replicates(
        system_rows(pair.rows, pair.systems, pair.cases, settings.seed),
        combined(*statistics),
        clusters=pair.clusters,
        resamples=settings.resamples,
        seed=settings.seed,
    )
    of_items = _of_items(pair, grades, note, names, made, settings) if item else {}
    if system and not systems:
        reason = "one system only was scored by both raters; two or more are needed"
        return of_items, {"spearman": undefined(reason, 1, "means of systems")}
    means = estimates_of_means(made, systems, settings.confidence)
    if "offset" in means:
        means["absolute_offset"] = absolute_offset(means["offset"])
    return of_items, {name: each for name, each in means.items() if _shown(name, pair, settings)}


def _of_items(
    pair: Pair, grades: Grades | None, note: str, names: Sequence[str], made: Replicates, settings: Settings
) -> Found:
    spread = no_spread_reason(pair.rows)
    levels = () if grades is None else tuple(float(value) for value in grades.values)
    estimates: dict[str, Estimate] = {}
    for name in made.observed:
        if name in names:
            reason = no_rate_reason(name) if name in rate_names(levels) else spread
            estimate = made.estimate(name, confidence=settings.confidence, reason=reason)
            said = "" if name in _OF_SCORES else note
            estimates[name] = replace(estimate, method=estimate.method + said)
    if settings.resamples and grades is None:
        estimates |= _matches(pair, estimates, settings.confidence)
    elif settings.resamples and grades is not None:
        rows = class_rows(levels, np.asarray(levels), grades.grade(pair.rows), pair.clusters)
        estimates |= _counted_rates(rows, note, estimates, settings.confidence)
        estimates |= without_rare_classes(estimates, rows)
    if "offset" in estimates:
        estimates["absolute_offset"] = absolute_offset(estimates["offset"])
    estimates |= _area(pair, settings)
    if settings.wants("kendall_tau_b") and tau_apart(pair, settings):
        estimates["kendall_tau_b"] = _tau(pair, settings)
    if pair.systems is not None:
        estimates |= estimates_by_system(made, len(np.unique(pair.systems)), settings.confidence)
    estimates |= _of_a_constant_rater(pair.rows if grades is None else grades.grade(pair.rows), estimates)
    for name, reason in _missing(pair, grades).items():
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


def _of_a_constant_rater(rows: Floats, estimates: Mapping[str, Estimate]) -> dict[str, Estimate]:
    """What a rater who always says the same leaves: no kappa and no ICC, which would be 0 with anybody, and
    coefficients that stay high without any agreement, marked as such."""
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


def _missing(pair: Pair, grades: Grades | None) -> dict[str, str]:
    """What cannot be had without the scale, and why."""
    if pair.grades is not None:
        return {}
    reasons = dict.fromkeys(NEED_SCALE, "needs the full scale, and none was given")
    if grades is None:
        names = (*KAPPAS.values(), "fleiss_kappa", *ALPHAS[:2])
        reasons |= dict.fromkeys(names, "the scores are not whole grades and no scale was given")
    return reasons


def _tau(pair: Pair, settings: Settings) -> Estimate:
    resamples = max(200, int(TAU_PRODUCTS / len(sample(pair.rows).counts) ** 2))
    made = replicates(
        pair.rows,
        two_rater_statistics(["kendall_tau_b"]),
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
