"""A chosen rule on the half of the cases that it was not found on: everything that is reported of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations

import numpy as np

from medjury.analysis.calibration._jury_search import (
    LOST,
    WITHIN,
    Candidate,
    Wanted,
    agreement_replicates,
    best_fixed,
    loss_against,
    spent_share,
    tolerances_of,
)
from medjury.analysis.calibration._jury_simulation import (
    JurySimulation,
    JurySplit,
    RandomEscalation,
    SimulationRow,
)
from medjury.analysis.calibration._jury_votes import (
    Calls,
    JuryTable,
    Order,
    calls_made,
    doubts,
    fixed_scores,
    scores_after,
)
from medjury.statistics import Estimate, Floats, Replicates

FULL, ADAPTIVE, SYSTEM = "full jury", "adaptive jury", "the system alone, no call"
BEST_FIXED, _FIXED = "best fixed ", ("juror", "pair", "triple")
_CURVE_POINTS, _CURVE_DRAWS, _CURVE_RESAMPLES = 14, 40, 1000


# Who is called, how often, and what they say together.
Asked = tuple[Order, Calls, Floats]


def held_out(
    training: JuryTable,
    tested: JuryTable,
    chosen: Candidate,
    wanted: Wanted,
    *,
    shown: bool,
    tried: int,
    splits: tuple[JurySplit, ...],
    warnings: tuple[str, ...],
    data_sha256: str,
) -> JurySimulation:
    """Everything that is reported of a rule that was found on the training half."""
    rule = chosen.rule
    doubt = doubts(tested, chosen.order, rule)
    policies = _policies(training, tested, chosen, calls_made(doubt, rule.tolerance))
    scores = {name: given for name, (_, _, given) in policies.items()}
    made = agreement_replicates(
        tested,
        scores,
        resamples=wanted.resamples,
        seed=wanted.seed,
        within=True,
        by_dimension=(FULL, ADAPTIVE),
    )
    _, calls, _ = policies[ADAPTIVE]
    estimate = partial(made.estimate, confidence=wanted.confidence)
    rows = [_policy(name, estimate, tested, policies, wanted) for name in policies]
    rows += [*_curve(tested, chosen, doubt, wanted), *_fixed(tested, wanted)]
    for name in tested.dimensions:
        agreed, loss = (estimate(f"{ADAPTIVE} | {name}{of}") for of in ("", LOST))
        rows.append(SimulationRow("dimension", ADAPTIVE, dimension=name, spearman=agreed, loss=loss))
    return JurySimulation(
        rows=tuple(rows),
        by_full_jury=tuple(estimate(f"{FULL} | {name}") for name in tested.dimensions),
        jurors=_names(tested, chosen.order),
        scales=tuple(zip(tested.dimensions, tested.scales, strict=True)),
        signal=chosen.signal,
        rule=rule,
        shown=shown,
        wanted_loss=wanted.loss,
        wanted_calls=wanted.spent,
        random=_random(tested, chosen, calls, made, wanted),
        later=None if calls.min() > 1 else _random(tested, chosen, calls, made, wanted, later=True),
        over_pair=_over_pair(made, "", wanted),
        over_pair_within=_over_pair(made, WITHIN, wanted),
        stopped_after=tuple(int((calls == k).sum()) for k in range(1, len(chosen.order) + 1)),
        n_training=_size(training),
        n_tested=_size(tested),
        n_rules=tried,
        splits=splits,
        alike=_alike(scores[FULL], scores[ADAPTIVE], rule.threshold),
        warnings=warnings,
        seed=wanted.seed,
        data_sha256=data_sha256,
    )


def lost_at_random(
    table: JuryTable, chosen: Candidate, calls: Calls, draws: int, seed: int, *, later: bool = False
) -> Floats:
    """What is lost where the same numbers of calls go to answers drawn by lot, the jurors' order being the same;
    `later` draws among those with two calls or more, and leaves alone where the first vote settled it."""
    generator = np.random.default_rng([seed, 1])
    full, places = fixed_scores(table, table.everybody), np.flatnonzero(calls > 1 if later else calls > 0)
    drawn = []
    for _ in range(draws):
        lot = calls.copy()
        lot[places] = generator.permutation(calls[places])
        drawn.append(
            loss_against(full, scores_after(table, chosen.order, lot, chosen.rule.minimum), table.labels)
        )
    return np.array(drawn)


def _policies(training: JuryTable, tested: JuryTable, chosen: Candidate, calls: Calls) -> dict[str, Asked]:
    """The full jury, the rule, the fixed juries that were best on the other half, and the system alone."""
    found = {FULL: _always(tested, tested.everybody)}
    found[ADAPTIVE] = chosen.order, calls, scores_after(tested, chosen.order, calls, chosen.rule.minimum)
    for size, word in enumerate(_FIXED, start=1):
        if size < len(tested.jurors):
            found[BEST_FIXED + word] = _always(tested, best_fixed(training, size))
    if len(set(tested.systems.tolist())) > 1:
        nobody = np.zeros(len(tested.votes), dtype=np.int64)
        found[SYSTEM] = (), nobody, _system_alone(training, tested)
    return found


def _always(table: JuryTable, members: Order) -> Asked:
    calls = np.full(len(table.votes), len(members), dtype=np.int64)
    return members, calls, fixed_scores(table, members)


def _policy(
    name: str,
    estimate: Callable[..., Estimate],
    table: JuryTable,
    policies: Mapping[str, Asked],
    wanted: Wanted,
) -> SimulationRow:
    order, calls, scores = policies[name]
    gap = scores - policies[FULL][2]
    return SimulationRow(
        "policy",
        name,
        _names(table, order),
        None,
        *shares_spent(table, order, calls, wanted),
        estimate(name),
        estimate(name + LOST),
        estimate(name + WITHIN, reason="it gives all answers of a system the same score"),
        estimate(name + WITHIN + LOST),
        float(np.nanmean(gap)) if order else None,
        int(np.isnan(scores[table.present]).sum()),
    )


def _random(
    table: JuryTable,
    chosen: Candidate,
    calls: Calls,
    made: Replicates,
    wanted: Wanted,
    *,
    later: bool = False,
) -> RandomEscalation:
    lost = lost_at_random(table, chosen, calls, wanted.draws, wanted.seed, later=later)
    known = lost[np.isfinite(lost)]  # where agreement does not exist, neither side was better
    as_good = int((known <= made.observed[ADAPTIVE + LOST] + 1e-12).sum())
    drawn = calls[calls > 1] if later else calls
    p_value = (1 + as_good) / (1 + len(known)) if len(np.unique(drawn)) > 1 and known.size else None
    return RandomEscalation(*_spread(lost), wanted.draws, p_value)


def _over_pair(made: Replicates, kind: str, wanted: Wanted) -> Estimate | None:
    """How much better than the best fixed pair the rule agrees, on the same resamples."""
    pair = f"{BEST_FIXED}pair{kind}{LOST}"
    if pair not in made.observed:
        return None
    return made.difference(pair, ADAPTIVE + kind + LOST, confidence=wanted.confidence)


def _curve(table: JuryTable, chosen: Candidate, doubt: Floats, wanted: Wanted) -> Iterator[SimulationRow]:
    """The rule at tolerances from none to any, the chosen one among them; only the chosen one was chosen."""
    known = tolerances_of(doubt[:-1])
    steps = np.unique(np.linspace(0, len(known) - 1, _CURVE_POINTS).round().astype(int))
    order, points, seen = chosen.order, {}, set()
    wished = [chosen.rule.tolerance, *(known[step] for step in steps)]
    for tolerance in wished:  # the chosen one first: of two that make the same calls the first is kept
        calls = calls_made(doubt, tolerance)
        if (total := int(calls.sum())) not in seen:
            seen.add(total)
            points[f"at {tolerance:g}"] = (tolerance, calls)
    minimum = chosen.rule.minimum
    scores = {name: scores_after(table, order, calls, minimum) for name, (_, calls) in points.items()}
    made = agreement_replicates(
        table,
        {FULL: fixed_scores(table, table.everybody), **scores},
        resamples=min(wanted.resamples, _CURVE_RESAMPLES),
        seed=wanted.seed,
    )
    for name, (tolerance, calls) in sorted(points.items(), key=lambda point: point[1][0]):
        mean, low, high = _spread(lost_at_random(table, chosen, calls, _CURVE_DRAWS, wanted.seed))
        yield SimulationRow(
            "curve",
            ADAPTIVE,
            _names(table, order),
            None,
            *shares_spent(table, order, calls, wanted),
            loss=made.estimate(name + LOST, confidence=wanted.confidence),
            tolerance=tolerance,
            random_loss=mean,
            random_low=low,
            random_high=high,
        )


def _fixed(table: JuryTable, wanted: Wanted) -> Iterator[SimulationRow]:
    """Every fixed jury of up to three, for the figure; one that gives all answers the same score has no loss."""
    full = fixed_scores(table, table.everybody)
    for size in range(1, min(len(_FIXED), len(table.jurors) - 1) + 1):
        for members in combinations(table.everybody, size):
            loss = loss_against(full, fixed_scores(table, members), table.labels)
            if np.isfinite(loss):
                share = spent_share(np.full(1, size), members, wanted.prices)
                calls, cost = (None, share) if wanted.priced else (share, None)
                lost = Estimate(loss, None, None, len(table.cases), "no interval")
                names = _names(table, members)
                yield SimulationRow("fixed", "fixed jury", names, None, calls, cost, loss=lost)


def _system_alone(training: JuryTable, tested: JuryTable) -> Floats:
    """A score that knows nothing but the system: the clinicians' mean grade of it on the other half."""
    known = {}
    for system in set(training.systems.tolist()):
        labels = training.labels[training.systems == system]
        count = (~np.isnan(labels)).sum(axis=0)
        known[system] = np.where(count > 0, np.nansum(labels, axis=0) / np.maximum(count, 1), np.nan)
    nothing = np.full(len(training.dimensions), np.nan)
    return np.stack([known.get(system, nothing) for system in tested.systems.tolist()])


def _alike(full: Floats, found: Floats, threshold: float | None) -> float | None:
    if threshold is None:
        return None
    both = ~np.isnan(full) & ~np.isnan(found)
    return float(((full >= threshold) == (found >= threshold))[both].mean())


def _names(table: JuryTable, order: Sequence[int]) -> tuple[str, ...]:
    return tuple(table.jurors[juror] for juror in order)


def shares_spent(table: JuryTable, order: Order, calls: Calls, wanted: Wanted) -> tuple[float, float | None]:
    """The calls and, where the jurors have prices, the cost, as shares of the full jury's."""
    share = spent_share(calls, order, (1.0,) * len(table.jurors))
    return share, spent_share(calls, order, wanted.prices) if wanted.priced else None


def _size(table: JuryTable) -> tuple[int, int]:
    return len(set(table.cases.tolist())), len(table.cases)


def _spread(losses: Floats) -> tuple[float, float, float]:
    """Mean and 95 % of the draws in which agreement exists; NaN where it never does."""
    known = losses[np.isfinite(losses)]
    if not known.size:
        return float("nan"), float("nan"), float("nan")
    low, high = np.quantile(known, [0.025, 0.975])
    return float(known.mean()), float(low), float(high)
