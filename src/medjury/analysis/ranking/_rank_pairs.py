"""Ranking from pairs: how strong each system is where raters saw two answers side by side, and what each rater's
preferences are worth."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from medjury.analysis.ranking._bradley_terry import (
    FIRST,
    TIE,
    fit_strengths,
    information,
    without_end,
)
from medjury.analysis.ranking._ranking import Part, RankingAgreement, RankingRow, order_agreement
from medjury.analysis.ranking._ties import in_order, separate
from medjury.analysis.ranking._tournament import (
    Tournament,
    circular_triples,
    groups_that_met,
    tournament,
    verdicts,
    won_tied_lost,
)
from medjury.foundation.errors import MedjuryError
from medjury.intake.cases import PREFERENCE, SAME_TEXT, pair_of
from medjury.statistics import (
    UNDEFINED_ALLOWED,
    Estimate,
    Replicates,
    counted,
    flat,
    panels_figure,
    percent,
    undefined,
)
from medjury.tables import Names, RatingTable, rating_table

if TYPE_CHECKING:
    import polars
    from matplotlib.figure import Figure

_METHOD = "Bradley-Terry with ties and the effect of the place"
_REVERSED = -3.0
_SAME = 1e-9  # what is estimated step by step differs in the digits behind
_NO_ORDER = "each pair was shown in one order only"


@dataclass(frozen=True, slots=True)
class PairStanding(RankingRow):
    """One system. `strength` is in log-odds, the mean of all systems being 0; `expected_share` is the share of wins
    that the model expects against the others, a tie being half of one and no place the better. `tie_group`,
    `rank_low` and `rank_high` as in `Standing`; wins, ties and losses are verdicts as they were given."""

    system: str
    rank: int
    rank_low: int
    rank_high: int
    strength: Estimate
    expected_share: Estimate
    tie_group: str
    wins: int
    ties: int
    losses: int
    n: int

    def as_dict(self) -> dict[str, Any]:
        return {**flat(self), "reason": self.strength.reason, "method": self.strength.method}

    def shown(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__ if name != "n"}


@dataclass(frozen=True, slots=True)
class PairRater(RankingRow):
    """One rater's verdicts on pairs. `first_place` is the share of decided verdicts that the answer shown first
    wins where both systems are equally strong (half: the place does not matter), from the model. Of the `triples`
    of systems on one case that the rater put in order, `circular` ones run A over B, B over C, C over A. Of the
    verdicts on equal texts, `same_text_tied` were a tie, as they should be."""

    rater: str
    verdicts: int
    n_unscored: int
    ties: int
    first_place: Estimate
    triples: int
    circular: int
    same_text: int
    same_text_tied: int

    def as_dict(self) -> dict[str, Any]:
        return {**flat(self), "reason": self.first_place.reason, "method": self.first_place.method}

    def shown(self) -> dict[str, Any]:
        hidden = () if self.same_text else ("same_text", "same_text_tied")
        return {name: getattr(self, name) for name in self.__slots__ if name not in hidden}


@dataclass(frozen=True, slots=True)
class OtherOrder(RankingRow):
    """Two systems that direct grades put the other way round; `separated_by` names which of the two separates
    them: pairs, grades, both or neither."""

    better: str
    other: str
    separated_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PairRanking(Part[PairStanding]):
    """The systems from best to worst by the preferences of `raters`: its `rows`. The other tables: `each_rater`;
    `reference_ranks`, the same by the reference's preferences; `agreement` of the two orders; and, where direct
    grades of the same systems are given, the agreement with those (`beside`) and the systems that they order
    otherwise (`reordered`). None where there is nothing to make one of."""

    raters: tuple[str, ...]
    each_rater: Part[PairRater]
    reference_ranks: Part[PairStanding] | None = None
    agreement: Part[RankingAgreement] | None = None
    beside: Part[RankingAgreement] | None = None
    reordered: Part[OtherOrder] | None = None

    def plot(self) -> Figure:
        """The systems from best to worst, with intervals; letters are tie groups."""
        drawn = [(f"{row.rank}. {row.system} ({row.tie_group})", row.strength, ()) for row in self.rows]
        return panels_figure([("", "strength (log-odds)", drawn)])

    @property
    def systems(self) -> Part[PairStanding]:
        return Part(self.title, self.rows, self.warnings)

    def part(self, name: str) -> Part[Any]:
        """One of the tables by its name."""
        found: Part[Any] | None = getattr(self, {"raters": "each_rater"}.get(name, name), None)
        if found is None:
            raise MedjuryError(
                f"--show {name}: these pairs have no such table; there is one of systems and of raters, with "
                "clinicians of reference_ranks and agreement, with --beside of beside and reordered"
            )
        return found

    def text(self) -> str:
        parts = (
            self.systems,
            self.each_rater,
            self.reference_ranks,
            self.agreement,
            self.beside,
            self.reordered,
        )
        return "\n\n".join(part.text() for part in parts if part is not None)


def rank_pairs(
    table: object,
    *,
    raters: Names | None = None,
    reference: Names | None = None,
    confidence: float = 0.95,
    resamples: int | None = None,
    seed: int | None = None,
    beside: object = None,
) -> PairRanking:
    """Rank systems by preferences between two answers to one case (a study with `design: pairs`, or a table `item,
    first, second, preferred`).

    The jury ranks, or those who are named; the clinicians' own order is beside it. Strengths are those of Bradley
    and Terry with Davidson's ties; what the first place is worth is a parameter, so a rater who prefers it makes no
    system stronger where pairs were shown in both orders. Intervals resample whole cases (patients where one has
    several). A rater's verdicts that were drawn with a stated probability count one over it. `beside` are direct
    grades of the same systems: a run folder, a table or a file.
    """
    import polars as pl

    table = rating_table(table).with_weights
    if not table.pairs:
        raise MedjuryError("these ratings are of single answers, not of pairs; `rank` ranks by them")
    given, systems = verdicts(table)
    effort = (confidence, table.resamples(resamples), table.seed(seed))
    unit = "patient" if table.by_patient else "case"
    roles = table.roles(raters, reference, need_reference=False, themselves=True)
    own = tuple(roles.raters or roles.reference)
    juries = tuple(name for name in own if table.raters.get(name) == "jury")
    # A jury that is formed here has no verdict of its own on an order: its members vote.
    voting = tuple(name for name in own if name in table.raters) or tuple(roles.jurors)
    ranking = juries if juries and raters is None else voting
    met = tournament(given, systems, ranking)
    if not len(met.cell):
        raise MedjuryError(f"{', '.join(ranking) or 'nobody'} gave no verdict on any pair.")
    made, met = _standings(met, effort, unit)
    words = f"by the preferences of {', '.join(ranking)} on {counted(met.items, 'case')}"
    listed = dict.fromkeys((*ranking, *table.judges, *roles.reference, *table.clinicians))
    everyone = []
    for name in listed:
        own_verdicts = given.filter(pl.col("rater") == name)
        row = _rater(table, name, own_verdicts, tournament(given, systems, [name]), effort)
        everyone += [] if row is None else [row]
    yardstick = tuple(name for name in roles.reference if name not in ranking)
    theirs = agreement = None
    notes = [*met.warnings, *_reversed(table)]
    judged_by = tournament(given, systems, yardstick) if yardstick else None
    if judged_by is not None and not len(judged_by.cell):
        notes.append(f"no order to compare with: {', '.join(yardstick)} gave no verdict on any pair")
    elif judged_by is not None:
        rows, other = _standings(judged_by, effort, unit)
        theirs = Part(f"by the preferences of {', '.join(yardstick)}", rows, other.warnings)
        title = f"Kendall's tau-b with {', '.join(yardstick)}"
        agreement = _alike(", ".join(ranking), made, _shares(rows), title)
    compared, reordered = _beside(made, beside, ranking)
    return PairRanking(
        title=words,
        rows=made,
        warnings=(*table.warnings, *notes),
        raters=ranking,
        each_rater=Part("each rater", tuple(everyone), _of_raters(everyone)),
        reference_ranks=theirs,
        agreement=agreement,
        beside=compared,
        reordered=reordered,
    )


def pairs_worth(table: object, *, resamples: int | None = None, seed: int | None = None) -> dict[str, float]:
    """By pair of systems, how much one more verdict on it tells about their order: the standard error of the
    difference of their strengths, times the square root of what one verdict tells about it (its Fisher information,
    least where everybody knows the winner). From judges' verdicts alone: what clinicians said decides nothing."""
    table = rating_table(table)
    if not table.pairs:
        raise MedjuryError("these ratings are of single answers, not of pairs; use another way to draw")
    found = tournament(*verdicts(table), table.judges or table.of_kind(""))
    if not len(found.cell):
        raise MedjuryError("no judge gave a verdict on any pair.")
    compared = found.compared
    fit = fit_strengths(compared, found.counts[np.newaxis])
    drawn = found.replicates(table.resamples(resamples), table.seed(seed))
    strengths = np.column_stack([drawn.resampled[f"strength\0{name}"] for name in compared.systems])
    strengths = strengths[np.isfinite(strengths).all(axis=1)]
    sizes = {}
    for name in table.rows["system"].unique().to_list():
        if (pair := pair_of(name)) is None:
            continue
        one, other = (compared.systems.index(system) for system in pair)
        tells = float(np.sqrt(information(compared, fit, one, other)))
        spread = float(np.std(strengths[:, one] - strengths[:, other])) if len(strengths) > 1 else 1.0
        sizes[name] = max(tells * spread, 1e-6)
    return sizes


def _standings(
    found: Tournament, effort: tuple[float, int, int], unit: str
) -> tuple[tuple[PairStanding, ...], Tournament]:
    """The systems by these verdicts; `effort` is confidence, resamples and seed, `unit` what is resampled."""
    confidence, resamples, seed = effort
    systems, counts = found.compared.systems, found.counts
    ends = without_end(found.compared, counts)
    unknown = bool((ends & ends.T).any())
    drawn = found.replicates(resamples, seed)
    strengths = [_strength(found, drawn, ends, at, confidence) for at in range(len(systems))]
    shares = [
        undefined(_unknown(found, ends), drawn.n, _METHOD)
        if unknown
        else drawn.estimate(f"share\0{name}", confidence=confidence, statistic="accuracy")
        for name in systems
    ]
    # Shares, not strengths: on the way to a strength without end they stay where they can be compared.
    values = np.asarray([drawn.observed[f"share\0{name}"] for name in systems])
    if unknown:
        values = np.zeros(len(systems))
    draws = np.column_stack([drawn.resampled[f"share\0{name}"] for name in systems])
    whole = np.asarray(np.isfinite(draws).all(axis=1))
    _, apart = separate(values, draws[whole], freedom=drawn.units - 1, confidence=confidence)
    # What is left no longer stands for the data, and has no interval either.
    lost = int((~whole).sum())
    sparse = lost > UNDEFINED_ALLOWED * len(whole) and not unknown
    apart = apart & (not unknown) & (not sparse)
    given = won_tied_lost(found)
    rows = tuple(
        PairStanding(
            systems[at], rank, low, high, strengths[at], shares[at], letters, *given[at], sum(given[at])
        )
        for at, rank, low, high, letters in in_order(values, systems, apart, same=_SAME)
    )  # fmt: skip
    thin = _thin_words(found, lost, len(whole), unit) if sparse else ()
    return rows, replace(found, warnings=(*found.warnings, *_open_words(found, ends), *thin))


def _strength(
    found: Tournament, drawn: Replicates, ends: NDArray[np.bool_], at: int, confidence: float
) -> Estimate:
    systems = found.compared.systems
    if not ends.any():
        made = drawn.estimate(f"strength\0{systems[at]}", confidence=confidence)
        return replace(made, method=f"{_METHOD}; {made.method}")
    if (ends & ends.T).any():
        return undefined(_unknown(found, ends), drawn.n, _METHOD)
    above, below = (
        ", ".join(name for name, open_ in zip(systems, side, strict=True) if open_)
        for side in (ends[at], ends[:, at])
    )
    why = [
        *([f"never worse than {above}"] if above else []),
        *([f"never better than {below}"] if below else []),
    ]
    return undefined(
        f"no finite estimate: {' and '.join(why) or 'other systems have none'}", drawn.n, _METHOD
    )


def _rater(
    table: RatingTable, name: str, own: polars.DataFrame, found: Tournament, effort: tuple[float, int, int]
) -> PairRater | None:
    """One rater's `own` verdicts; None of one who was asked for none."""
    import polars as pl

    rows = table.rows.filter(pl.col("rater") == name, pl.col("dimension") == PREFERENCE)
    if not rows.height:
        return None
    triples, circular = circular_triples(own)
    same = own.filter(pl.col(SAME_TEXT) == "yes") if SAME_TEXT in own.columns else own.clear()
    return PairRater(
        name,
        own.height,
        int((rows["status"] == "unscored").sum()),
        int((found.outcome == TIE).sum()),
        _first_place(found, effort),
        triples,
        circular,
        same.height,
        int((same["outcome"] == TIE).sum()),
    )


def _first_place(found: Tournament, effort: tuple[float, int, int]) -> Estimate:
    n = len(found.cell)
    if not n:
        return undefined("gave no verdict", 0, _METHOD)
    if not found.compared.order:
        return undefined(_NO_ORDER, n, _METHOD)
    decided = found.outcome[found.outcome != TIE]
    if not len(decided):
        return undefined("every verdict is a tie", n, _METHOD)
    if len(set(decided.tolist())) < 2:
        place = "first" if decided[0] == FIRST else "second"
        # The likelihood rises to this end; with how many verdicts it may do so by chance is not the model's.
        value = 1.0 if place == "first" else 0.0
        return Estimate(value, None, None, n, f"no interval: the {place} place won every decided verdict")
    confidence, resamples, seed = effort
    made = found.replicates(resamples, seed).estimate(
        "first_place", confidence=confidence, statistic="accuracy", reason="no finite estimate"
    )
    return replace(made, method=f"{_METHOD}; {made.method}")


def _unknown(found: Tournament, ends: NDArray[np.bool_]) -> str:
    if not (found.outcome != TIE).any():
        return "every verdict is a tie, so nothing tells which system is better"
    systems, groups = found.compared.systems, groups_that_met(found)
    if groups.max(initial=0) > 0:
        apart = [
            [name for name, own in zip(systems, groups, strict=True) if own == each] for each in set(groups)
        ]
        listed = " and ".join(", ".join(each) for each in apart)
        return f"{listed} were never compared, directly or through others, so there is no order of all"
    one, other = np.argwhere(ends & ends.T)[0]
    return f"the verdicts do not tell {systems[one]} from {systems[other]}: the place explains them as well"


def _open_words(found: Tournament, ends: NDArray[np.bool_]) -> tuple[str, ...]:
    if (ends & ends.T).any():
        return (f"no order of the systems: {_unknown(found, ends)}",)
    if ends.any():
        return (
            "one system was never worse than another, so strengths have no finite estimate; the order is by the "
            "expected share of wins",
        )
    return ()


def _thin_words(found: Tournament, lost: int, resamples: int, unit: str) -> tuple[str, ...]:
    compared, clusters = found.compared, np.asarray(found.clusters)
    sides = compared.first[found.cell], compared.second[found.cell]
    fewest, name = min(
        (len(set(clusters[(sides[0] == at) | (sides[1] == at)])), name)
        for at, name in enumerate(compared.systems)
    )
    return (
        f"no intervals and no tie groups: in {lost:,} of {resamples:,} resamples the systems cannot be "
        f"compared; {name} is in the fewest, {counted(fewest, unit)}",
    )


def _reversed(table: RatingTable) -> Iterator[str]:
    """Raters whose verdicts are, case by case, the reverse of what all others say together."""
    grid = table.grid(PREFERENCE)
    names = [name for name, kind in table.raters.items() if kind != "jury" and name in grid.scores]
    cases, place = np.unique(grid.clusters, return_inverse=True)
    for name in names if len(names) > 2 else ():
        others = [np.nan_to_num(grid.scores[other]) for other in names if other != name]
        alike = np.bincount(place, np.nan_to_num(grid.scores[name]) * np.sum(others, axis=0), len(cases))
        # One-sided t over cases: below is nearly never reached by a rater who only errs.
        error = float(alike.std(ddof=1)) / np.sqrt(len(alike)) if len(alike) > 1 else 0.0
        if error > 0 and alike.mean() / error < _REVERSED:
            against = int((alike < -1e-9).sum())
            yield (
                f"{name}'s verdicts are the reverse of the others' in {against} of {len(alike)} cases, and alike "
                f"in {int((alike > 1e-9).sum())}: were A and B swapped?"
            )


def _won(rater: PairRater, place: str) -> str:
    share = rater.first_place.value or 0.0
    won = percent(share if place == "first" else 1.0 - share)
    return f"it wins {won} of the decided verdicts between equal systems"


def _of_raters(rows: Sequence[PairRater]) -> tuple[str, ...]:
    notes = []
    for each in rows:
        if each.verdicts and each.ties == each.verdicts:
            notes.append(f"{each.rater} called every pair a tie")
        low, high = each.first_place.low, each.first_place.high
        if low is not None and low > 0.5:
            notes.append(f"{each.rater} prefers the answer shown first: {_won(each, 'first')}")
        if high is not None and high < 0.5:
            notes.append(f"{each.rater} prefers the answer shown second: {_won(each, 'second')}")
        if each.first_place.value in (0.0, 1.0) and each.first_place.low is None:
            notes.append(f"{each.rater}: {each.first_place.method.removeprefix('no interval: ')}")
        if wrong := each.same_text - each.same_text_tied:
            notes.append(
                f"{each.rater} preferred one of two equal texts in {wrong} of {each.same_text} verdicts"
            )
    return tuple(notes)


def _shares(rows: Sequence[PairStanding]) -> dict[str, float]:
    return {row.system: value for row in rows if (value := row.expected_share.value) is not None}


def _alike(
    who: str, rows: Sequence[PairStanding], others: Mapping[str, float], title: str
) -> Part[RankingAgreement] | None:
    """Kendall's tau-b of two orders, by the values of both; None where one of them has no order."""
    values = _shares(rows)
    systems = tuple(sorted(values.keys() & others.keys()))
    if len(systems) < 2:
        return None
    one, other = (np.asarray([known[name] for name in systems]) for known in (values, others))
    return Part(title, (order_agreement(systems, one, other, n=len(systems), same=_SAME, rater=who),))


def _beside(
    rows: Sequence[PairStanding], beside: object, raters: Sequence[str]
) -> tuple[Part[RankingAgreement] | None, Part[OtherOrder] | None]:
    if beside is None:
        return None, None
    from medjury.analysis.ranking._rank import rank

    direct = rank(beside)
    means = {row.system: value for row in direct.rows if (value := row.macro_average.value) is not None}
    found = _alike(", ".join(raters), rows, means, "Kendall's tau-b with the order by direct grades")
    if found is None:
        raise MedjuryError("the direct grades and the pairs have fewer than two systems in common.")
    letters = {row.system: row.tie_group for row in direct.rows}
    other = []
    for one, two in combinations([row for row in rows if row.system in means], 2):
        mine, theirs = means[one.system], means[two.system]
        if mine < theirs - _SAME and one.expected_share.value != two.expected_share.value:
            groups = {
                "pairs": (one.tie_group, two.tie_group),
                "grades": (letters[one.system], letters[two.system]),
            }
            apart = [word for word, (first, second) in groups.items() if not set(first) & set(second)]
            other.append(OtherOrder(one.system, two.system, " and ".join(apart) or "neither"))
    title = "systems in another order by direct grades" + ("" if other else ": none")
    return found, Part(title, tuple(other))
