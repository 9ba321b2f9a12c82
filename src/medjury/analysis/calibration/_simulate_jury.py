"""`simulate_jury`: find a rule on half of the cases, and say on the other half what it saves and what it loses."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from medjury.analysis.calibration._conformal import first_share
from medjury.analysis.calibration._jury_held_out import held_out, lost_at_random, shares_spent
from medjury.analysis.calibration._jury_search import (
    LOST,
    WITHIN,
    Candidate,
    Wanted,
    agreement_replicates,
    best_fixed,
    calls_of,
    candidates,
    choose,
    orders_to_try,
)
from medjury.analysis.calibration._jury_simulation import JurySimulation, JurySplit
from medjury.analysis.calibration._jury_votes import (
    DEFAULT_JURY_SIGNALS,
    JURY_SIGNALS,
    JurySignal,
    JuryTable,
    Order,
    fixed_scores,
    jury_table,
    scores_after,
)
from medjury.analysis.calibration._maps import check_confidence
from medjury.analysis.calibration._part import judging_roles, jurors_of, parts_of
from medjury.foundation.documents import nearest
from medjury.foundation.errors import MedjuryError
from medjury.statistics import Floats
from medjury.tables import Names, rating_table

_SPLIT_DRAWS = 20
_CASES_PER_HALF = 20


# Finds the best rule on some cases, by this seed; whether its loss is shown to be small, and how many were tried.
_Search = Callable[[JuryTable, int], tuple[Candidate, bool, int]]


def simulate_jury(
    table: object,
    *,
    raters: Names | None = None,
    reference: Names | None = None,
    dimensions: Names | None = None,
    confidence: float = 0.95,
    resamples: int | None = None,
    seed: int | None = None,
    order: Sequence[str] | None = None,
    cost: Mapping[str, float] | None = None,
    loss: float = 0.01,
    calls: float = 0.55,
    minimum: int = 1,
    threshold: float | None = None,
    signals: Sequence[str] = DEFAULT_JURY_SIGNALS,
    level: float = 0.9,
    splits: int = 0,
    draws: int = 200,
) -> JurySimulation:
    """Replay stored votes of a full jury under rules that stop early.

    Cases are split in half by `seed`; a patient's cases, and one item's answers by all systems, stay together.
    The rule is found on the first half: the fewest calls (with `cost`, a price per juror, the least money) whose
    loss of agreement is shown to be at most `loss` at no more than the share `calls`. Everything reported comes
    from the second half. Jurors are asked in the given `order`, else the cheapest first, else in the best of a
    few orders. `splits` repeats search and test with as many further seeds. What follows from other dimensions is
    replayed only where it is named: nobody is asked for it.
    """
    table = rating_table(table)
    check_confidence(confidence)
    from medjury.judging import AdaptiveRule

    if not 0 < calls <= 1:
        raise MedjuryError(f"the share of calls lies between 0 and 1, such as 0.55, not {calls:g}")
    if not 0 <= loss < 1:
        raise MedjuryError(f"the loss of agreement lies between 0 and 1, such as 0.01, not {loss:g}")
    if draws < 1:
        raise MedjuryError(f"{draws} draws of random escalation are too few; give 1 or more")
    roles = judging_roles(table, raters, reference, kinds=("judge",))
    chosen = table.chosen(dimensions, derived=False) or table.dimensions
    parts, unknown = parts_of(table, roles, chosen, named=dimensions is not None)
    votes, notes = jury_table(parts, jurors_of(table, roles))
    votes, dropped = _with_labels(votes)
    prices = _prices(votes, cost)
    asked = _order(votes, order, None if cost is None else prices)
    if not 1 <= minimum <= len(votes.jurors):
        raise MedjuryError(f"the minimum is a number of votes from 1 to {len(votes.jurors)}, not {minimum}")
    kinds, seed = _signals(signals), table.seed(seed)
    wanted = Wanted(
        loss, calls, prices, cost is not None, table.resamples(resamples), draws, seed, confidence
    )
    first_rule = AdaptiveRule(0.0, minimum, threshold=threshold)

    def search(training: JuryTable, seed: int) -> tuple[Candidate, bool, int]:
        orders = orders_to_try(training, asked)
        found = list(candidates(training, orders, kinds, first_rule, prices, level))
        return *choose(training, found, wanted, seed), len(found)

    training, tested = _halves(votes, seed)
    best, shown, tried = search(training, seed)
    return held_out(
        training,
        tested,
        best,
        wanted,
        shown=shown,
        tried=tried,
        splits=tuple(_split(votes, wanted, search, seed + 1 + place) for place in range(splits)),
        warnings=(*table.warnings, *unknown, *notes, *dropped),
        data_sha256=votes.fingerprint,
    )


def _split(table: JuryTable, wanted: Wanted, search: _Search, seed: int) -> JurySplit:
    training, tested = _halves(table, seed)
    chosen, _, _ = search(training, seed)
    calls = calls_of(tested, chosen)
    policies = {
        "full": fixed_scores(tested, tested.everybody),
        "rule": scores_after(tested, chosen.order, calls, chosen.rule.minimum),
        "pair": fixed_scores(tested, best_fixed(training, 2)),
    }
    found = agreement_replicates(tested, policies, resamples=0, seed=seed, within=True).observed
    return JurySplit(
        seed,
        tuple(table.jurors[juror] for juror in chosen.order),
        chosen.signal,
        chosen.rule.tolerance,
        *shares_spent(tested, chosen.order, calls, wanted),
        found["rule" + LOST],
        found["rule" + WITHIN + LOST],
        float(lost_at_random(tested, chosen, calls, _SPLIT_DRAWS, seed).mean()),
        found["pair" + LOST],
    )


def _halves(table: JuryTable, seed: int) -> tuple[JuryTable, JuryTable]:
    """What a rule is found on, and what it is judged on."""
    first = first_share(table.cases, 0.5, seed)
    halves = table.where(first), table.where(~first)
    fewest = min(len(set(half.cases.tolist())) for half in halves)
    if fewest < _CASES_PER_HALF:
        raise MedjuryError(
            f"half of the labelled cases are {fewest}; a rule needs {_CASES_PER_HALF} or more to be found on, and "
            "as many to be tested on"
        )
    for half in halves:
        _require_spread(half, half.labels, f"the clinicians (seed {seed})")
        _require_spread(half, fixed_scores(half, half.everybody), f"the full jury (seed {seed})")
    return halves


def _require_spread(half: JuryTable, scores: Floats, who: str) -> None:
    for name, given in zip(half.dimensions, scores.T, strict=True):
        if len(np.unique(given[~np.isnan(given)])) < 2:
            raise MedjuryError(
                f"{name!r}: on one half of the cases {who} gave every answer the same score, so agreement does "
                "not exist there. Leave it out with --dimensions, or take another --seed"
            )


def _with_labels(table: JuryTable) -> tuple[JuryTable, tuple[str, ...]]:
    """Only what the clinicians graded, and only dimensions on which their grades differ."""
    labelled = ~np.isnan(table.labels).all(axis=1)
    kept = table.where(np.asarray(labelled))
    notes = []
    if not labelled.all():
        notes.append(f"{int((~labelled).sum()):,} answers left out: no clinician graded them")
    varies = [k for k, column in enumerate(kept.labels.T) if len(np.unique(column[~np.isnan(column)])) > 1]
    if not varies:
        raise MedjuryError(
            "the clinicians' grades do not differ on any dimension: there is no agreement to keep"
        )
    if len(varies) < len(kept.dimensions):
        lost = [name for k, name in enumerate(kept.dimensions) if k not in varies]
        notes.append(f"left out, as the clinicians gave everything the same grade: {', '.join(lost)}")
        kept = kept.of_dimensions(varies)
    return kept, tuple(notes)


def _prices(table: JuryTable, cost: Mapping[str, float] | None) -> tuple[float, ...]:
    if cost is None:
        return (1.0,) * len(table.jurors)
    for name, price in cost.items():
        if name not in table.jurors:
            raise MedjuryError(
                f"there is no juror {name!r} to give a cost for; {nearest(name, list(table.jurors))}"
            )
        if not np.isfinite(price) or price <= 0:
            raise MedjuryError(f"a call of {name} costs {price:g}; give a number above 0")
    missing = [name for name in table.jurors if name not in cost]
    if missing:
        raise MedjuryError(f"no cost is given for {', '.join(missing)}; give one for every juror or for none")
    return tuple(float(cost[name]) for name in table.jurors)


def _order(table: JuryTable, order: Sequence[str] | None, prices: Sequence[float] | None) -> Order | None:
    if order is not None:
        for name in order:
            if name not in table.jurors:
                raise MedjuryError(f"there is no juror {name!r} to ask; {nearest(name, list(table.jurors))}")
        if len(set(order)) < len(order) or len(order) < 2:
            raise MedjuryError("an order names two jurors or more, each once")
        return tuple(table.jurors.index(name) for name in order)
    if prices is None:
        return None
    return tuple(sorted(table.everybody, key=lambda juror: (prices[juror], table.jurors[juror])))


def _signals(names: Sequence[str]) -> tuple[JurySignal, ...]:
    """The signals by name, with blanks or underlines."""
    known = {signal.replace(" ", "_"): signal for signal in JURY_SIGNALS}
    found = []
    for name in names:
        if name.replace(" ", "_") not in known:
            raise MedjuryError(f"there is no signal {name!r}; they are {', '.join(known)}")
        found.append(known[name.replace(" ", "_")])
    return tuple(found)
