"""What must be so before the colleague test means anything: a finished, registered run, real and blinded
clinicians, enough different cases, a jury that answers and that copies nobody."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np

from medjury.statistics import (
    Floats,
    counted,
    digits_beside,
    p_value,
    percent,
    percent_of_limit,
    proportion,
    shown,
)
from medjury.store.runs import GateRules
from medjury.tables import Measured
from medjury.validation._clustered import clustered_contrast
from medjury.validation._colleague import Beside, Codes, Flags, Pairs, Tested, read, sums_of
from medjury.validation._evidence import Evidence
from medjury.validation._rule import Rule, ask
from medjury.validation._sentences import STATISTICS

_ALPHA, _PERMUTATIONS = 0.05, 1999
# With fewer shared cases, identical scores are luck.
_FEWEST = 20
# Colleagues must agree less than a copy by this share of answers at least.
_APART = 0.05
# A clinician with less than this share of a colleague's error variance is that much more careful, or was copied.
_CAREFUL = 1 / 3
# Jurors that give the same score so often are one juror.
_SAME_JUROR = 0.99


def preconditions(evidence: Evidence, dimension: Measured, tested: Tested) -> tuple[Rule, ...]:
    """Every precondition, in the order of the report."""
    return (
        *_of_the_run(evidence),
        *_of_the_people(evidence, tested),
        *_of_silence(evidence, dimension, tested.beside),
        *_of_copies(evidence, dimension, tested.beside),
        _injection(evidence, dimension),
    )


def _of_the_run(evidence: Evidence) -> tuple[Rule, ...]:
    manifest = evidence.manifest
    finish, keep = ask("finished"), ask("unchanged")
    finished, unchanged = finish.holds("complete"), keep.holds("every file is as the run wrote it")
    if evidence.table.run.manifest is None:
        finished = finish.unknown("no run folder", "AUXILIARY", "no run")
        unchanged = keep.unknown("no run folder", "AUXILIARY")
    elif manifest.status != "complete":
        state = f"{manifest.status}{': ' + manifest.why if manifest.why else ''}"
        finished = finish.fails(state, "INCOMPLETE", words={"state": state})
    if changed := [check for check in evidence.checks if not check.sound]:
        listed = "; ".join(f"{check.what} {check.detail}" for check in changed)
        unchanged = keep.fails(listed, "NOT VALIDATED", words={"changed": listed})
    return finished, unchanged, _registered(evidence), _limits(evidence.rules), *_untouched(evidence)


def _registered(evidence: Evidence) -> Rule:
    """Rules that were registered in time hold. Unregistered ones forbid VALIDATED; rules that were moved after they
    had been stated forbid AUXILIARY too, as any limit can be met that is chosen last."""
    found, asked = evidence.standing, ask("registered")
    if found.met:
        return asked.holds(found.text)
    if found.moved:
        return asked.fails(found.text, "NOT VALIDATED", case=found.case, words=found.words)
    return asked.answered("open", found.text, "AUXILIARY", found.case, words=found.words)


def _limits(rules: GateRules) -> Rule:
    if not (loose := rules.loosened()):
        return ask("limits").holds("none is looser")
    listed = ", ".join(f"{what} {stated:g} (ours {ours:g})" for what, stated, ours in loose)
    return ask("limits").fails(listed, "AUXILIARY", words={"loose": listed})


def _untouched(evidence: Evidence) -> tuple[Rule, ...]:
    """Asked of runs whose cases a tuning has seen; they are set aside unless other rules bring them back."""
    manifest = evidence.manifest
    if not manifest.touched_cases:
        return ()
    used = set(evidence.table.rows["item"].unique().to_list()) & {*manifest.touched_cases}
    who = ", ".join(each.what for each in manifest.touched)
    found = f"{len(used):,} of {len(manifest.touched_cases):,} cases that {who} has seen are counted"
    if not used:
        return (ask("untouched").holds(found),)
    return (ask("untouched").fails(found, "NOT VALIDATED", words={"used": len(used), "who": who}),)


def _of_the_people(evidence: Evidence, tested: Tested) -> tuple[Rule, ...]:
    there, humans = len(evidence.clinicians), evidence.manifest.humans
    wanted = evidence.rules.minimum_clinicians
    asked, words = ask("clinicians", wanted=wanted), {"there": there, "wanted": wanted}
    made_up = humans is not None and humans.illustrative
    numbers = f"{there} now, {wanted} needed"
    if made_up or not there:
        found = f"{there}, but their ratings are made up" if made_up else "none"
        case, numbers = "made up" if made_up else "none", f"0 now, {wanted} needed"
        people = asked.fails(found, "NOT VALIDATED", numbers, case)
    elif there < wanted:
        people = asked.fails(f"{there}", "AUXILIARY", numbers, "too few", words=words)
    else:
        people = asked.holds(f"{there}")
    enough = _enough(evidence, tested)
    if made_up or not there:  # to have anybody rate comes first
        enough = tuple(replace(rule, to_do="") for rule in enough)
    return people, *enough, _blinded(evidence)


def _enough(evidence: Evidence, tested: Tested) -> tuple[Rule, ...]:
    rules, excluded, repeated = evidence.rules, evidence.table.left_aside, evidence.manifest.repeated_texts
    # A study may ask for more, never for less: with fewer answers a colleague is nobody.
    wanted = max(rules.minimum_doubly_rated, GateRules().minimum_doubly_rated)
    aside = f" ({counted(excluded, 'case')} used for development left out)" if excluded else ""
    doubly = ask("doubly_rated", wanted=wanted).holds(f"{tested.doubly:,}{aside}")
    if tested.doubly < wanted:
        words = {"only": _only(tested.doubly, "answer"), "wanted": wanted}
        numbers = f"{tested.doubly:,} now, {wanted:,} needed"
        doubly = ask("doubly_rated", wanted=wanted).fails(doubly.found, "NOT VALIDATED", numbers, words=words)
    most = rules.minimum_cases
    same = f"; {counted(repeated, 'case')} with the text of another count once" if repeated else ""
    asked, found = ask("distinct_cases", wanted=most), f"{tested.clusters:,}{same}"
    if tested.clusters >= most:
        return doubly, asked.holds(found)
    words = {"only": _only(tested.clusters, "different case"), "wanted": most, "same": same}
    numbers = f"{tested.clusters:,} now, {most:,} needed"
    return doubly, asked.fails(found, "AUXILIARY", numbers, words=words)


def _only(number: int, what: str) -> str:
    if number < 2:
        return f"Only one {what} was" if number else f"No {what} was"
    return f"Only {counted(number, what)} were"


def _blinded(evidence: Evidence) -> Rule:
    """Clinicians who saw the jury's scores agree with it: a fact to be stated, never assumed."""
    humans = evidence.manifest.humans
    stated, asked = None if humans is None else humans.blinded, ask("blinded")
    if stated is None:
        return asked.unknown("not stated (`humans: {blinded: true}` in the study file)")
    if stated:
        return asked.holds("stated: they had not")
    return asked.fails("stated: they had seen them", "AUXILIARY")


def _of_silence(evidence: Evidence, dimension: Measured, beside: Beside) -> tuple[Rule, Rule]:
    share, scored, total = evidence.covered(dimension.name)
    wanted = percent_of_limit(evidence.rules.coverage)
    shown_as = percent(share, 1 if share is None else digits_beside(share, evidence.rules.coverage))
    asked, found = ask("coverage", wanted=wanted), f"{scored:,} of {total:,} ({shown_as})"
    coverage = asked.holds(found)
    if share is None:
        coverage = asked.unknown(found, "AUXILIARY", "not known")
    elif share < evidence.rules.coverage:
        numbers = f"{shown_as} scored, {wanted} needed"
        coverage = asked.fails(found, "NOT VALIDATED", numbers, words={"share": shown_as})
    silent, kept = beside.silent & beside.asked, beside.asked & ~np.isnan(beside.jury)
    asked = ask("silence", alpha=_ALPHA)
    if not silent.any() or not kept.any():
        return coverage, asked.idle("no answer is missing" if not silent.any() else "nothing to compare")
    middle = np.asarray(
        [np.nan if not row.size else row.mean() for row in (each[~np.isnan(each)] for each in beside.humans)]
    )
    p = _permuted(middle, silent, beside.asked, beside.cluster, evidence.seed)
    words = {"lost": shown(float(middle[silent].mean())), "others": shown(float(middle[kept].mean()))}
    found = (
        f"clinicians' mean {words['lost']} on {int(silent.sum()):,} unscored answers, "
        f"{words['others']} on the others; p {p_value(p)}"
    )
    if p >= _ALPHA:
        return coverage, asked.holds(found)
    return coverage, asked.fails(found, "AUXILIARY", f"{int(silent.sum()):,} without a score", words=words)


def _permuted(middle: Floats, silent: Flags, used: Flags, cluster: Codes, seed: int) -> float:
    """Two-sided p-value. The clinicians' scores of whole clusters change places with those of other clusters of the
    same size, in a random order inside, so that answers that go together stay together; which answers are missing
    stays as it is."""
    codes = np.unique(cluster[used], return_inverse=True)[1]
    order = np.argsort(codes, kind="stable")
    scores, lost = middle[used][order], silent[used][order].astype(np.float64)
    sizes = np.bincount(codes)
    starts = np.cumsum(sizes) - sizes
    generator = np.random.default_rng(seed)
    places = [starts[sizes == size][:, np.newaxis] + np.arange(size) for size in np.unique(sizes)]
    centred = scores - scores.mean()
    groups = [(lost[place], centred[place]) for place in places]
    observed, extreme = abs(float(lost @ centred)), 0
    for _ in range(_PERMUTATIONS):
        total = 0.0
        for gone, given in groups:
            moved = given[generator.permutation(len(given))]
            total += float(
                (gone * (generator.permuted(moved, axis=1) if moved.shape[1] > 1 else moved)).sum()
            )
        extreme += abs(total) >= observed - 1e-9
    return (1 + extreme) / (1 + _PERMUTATIONS)


def _of_copies(evidence: Evidence, dimension: Measured, beside: Beside) -> tuple[Rule, ...]:
    return (
        _clinician_copy(evidence, beside),
        _clinician_scores(beside),
        _juror_copy(evidence, dimension, beside),
    )


def _alike(
    beside: Beside, first: Floats, second: Floats, colleagues: Pairs, which: Flags
) -> tuple[float, float, float] | None:
    """The share of answers with the same grade of two raters, the same of those pairs of `colleagues`, and the
    lower bound of the difference; None where they share too few cases."""
    both = ~np.isnan(first) & ~np.isnan(second)
    if len(np.unique(beside.cluster[both])) < _FEWEST or not which.any():
        return None
    one = np.concatenate([first[both], colleagues.a[which]])
    other = np.concatenate([second[both], colleagues.b[which]])
    if beside.grades is not None:
        one, other = beside.grades.grade(one), beside.grades.grade(other)
    answer = np.concatenate([np.flatnonzero(both), colleagues.answer[which]])
    hits = (np.abs(one - other) < 1e-9).astype(np.float64)
    group = (np.arange(len(hits)) < both.sum()).astype(np.int64)
    weight = beside.own_weight[answer]
    apart, _ = clustered_contrast(
        hits,
        group,
        beside.cluster[answer],
        confidence=1 - 2 * _ALPHA,
        weights=None if beside.weights is None else weight,
    )
    shares = [float(np.average(hits[group == which], weights=weight[group == which])) for which in (1, 0)]
    return shares[0], shares[1], -1.0 if apart.low is None else apart.low


def _clinician_copy(evidence: Evidence, beside: Beside) -> Rule:
    limit, rows = evidence.rules.copy_limit, beside.pairs
    asked = ask("clinician_copy", limit=percent_of_limit(limit))
    alike = [
        (who, shares)
        for place, who in enumerate(evidence.clinicians)
        if (shares := _alike(beside, beside.jury, beside.humans[:, place], rows, rows.second == place))
    ]
    if not alike:
        return asked.idle("no clinician shares enough answers with the jury and a colleague")
    who, (own, others, least) = max(alike, key=lambda each: each[1][0])
    found = f"most like {who}: {percent(own, 1)} the same; colleagues and {who}: {percent(others, 1)}"
    if own < limit or least <= _APART:
        followed = [who for place, who in enumerate(evidence.clinicians) if _follows(beside, place)]
        if not followed:
            return asked.holds(found)
        return asked.answered("open", found, "AUXILIARY", "open", words={"whom": " and ".join(followed)})
    words = {"who": who, "own": percent(own, 1), "others": percent(others, 1)}
    return asked.fails(found, "NOT VALIDATED", f"{percent(own, 1)} the same as {who}", words=words)


def _follows(beside: Beside, place: int) -> bool:
    """Whether the jury differs from one clinician less than half as often as that clinician's colleagues do, and
    less than half as often as from those colleagues; or whether the clinician's own error variance, as the jury's
    differences from both give it, is less than a third of a colleague's. Each is one-sided at 5 %."""
    rows = beside.pairs
    which = (rows.second == place) & ~np.isnan(rows.jury)
    clusters = beside.cluster[rows.answer[which]]
    if len(np.unique(clusters)) < _FEWEST:
        return False
    colleague, own, jury = (
        each[which] if beside.grades is None else beside.grades.grade(each[which])
        for each in (rows.a, rows.b, rows.jury)
    )
    weights = None if beside.weights is None else rows.weight[which]

    def below(lacking: Floats) -> bool:
        return clustered_contrast(lacking, None, clusters, weights=weights)[1] < _ALPHA

    def differ(one: Floats, other: Floats) -> Floats:
        return np.asarray(np.abs(one - other) > 1e-9, dtype=np.float64)

    halves = (differ(colleague, own) / 2, differ(jury, colleague) / 2)
    if all(below(differ(jury, own) - half) for half in halves):
        return True
    apart, answer = _apart(beside), rows.answer[which]
    near, far = apart[answer, rows.second[which]], apart[answer, rows.first[which]]
    return below(near * (near - far) - _CAREFUL * far * (far - near))


def _clinician_scores(beside: Beside) -> Rule:
    """A jury that was given the clinicians' scores lies between them."""
    asked = ask("clinician_scores")
    products, squares, whose, weights = _differences(beside)
    if len(np.unique(whose[squares > 1e-9])) < _FEWEST:
        return asked.idle("clinicians differ on too few cases")
    share = 0.5 / float(beside.number[beside.doubly].mean())
    lacking = products + share * squares / 2
    _, p = clustered_contrast(lacking, None, whose, weights=None if beside.weights is None else weights)
    own = float(np.average(products, weights=weights) / (np.average(squares, weights=weights) / 2))
    found = f"its own error variance is {shown(own)} times the clinicians'; -{share:.2g} or less cannot be its own"
    numbers = f"error variance {shown(own)} times theirs"
    if p < _ALPHA:
        return asked.fails(found, "NOT VALIDATED", numbers, "between")
    alone, agreed, least = _alone(beside)
    words = {"alone": alone, "agreed": counted(agreed, "case")}
    found += f"; it differs from clinicians who agree in {alone:,} of {words['agreed']}"
    if not agreed or (proportion(alone, agreed, confidence=1 - 2 * _ALPHA).high or 1.0) >= least:
        return asked.holds(found)
    return asked.fails(found, "NOT VALIDATED", numbers, "repeats", words=words)


def _alone(beside: Beside) -> tuple[int, int, float]:
    """The cases where the jury differs from clinicians who agree, the cases where they agree, and the share below
    which nobody stays who judges for himself: even the true grade differs from two clinicians who agree in a fifth
    of the share in which they differ, half as often with each further one; a quarter of that is asked for."""
    graded, rows = beside.humans[beside.doubly], beside.pairs
    jury, whose = beside.jury[beside.doubly], beside.cluster[beside.doubly]
    lowest, highest = np.nanmin(graded, axis=1), np.nanmax(graded, axis=1)
    agreed = (highest - lowest < 1e-9) & ~np.isnan(jury)
    alone = agreed & (np.abs(np.where(agreed, jury, 0.0) - lowest) > 1e-9)
    apart = float(np.average(np.abs(rows.a - rows.b) > 1e-9, weights=rows.weight))
    least = apart * 0.2 / 2.0 ** float(beside.number[beside.doubly].mean())
    return len(np.unique(whose[alone])), len(np.unique(whose[agreed])), least


def _differences(beside: Beside) -> tuple[Floats, Floats, Codes, Floats]:
    """For each answer and each two clinicians: the product of the jury's differences from them, the square of
    theirs from one another, the cluster and the weight."""
    apart, weights, rows = _apart(beside), beside.own_weight, beside.pairs
    once = (rows.first < rows.second) & ~np.isnan(rows.jury)
    answer = rows.answer[once]
    one, other = apart[answer, rows.first[once]], apart[answer, rows.second[once]]
    return one * other, (one - other) ** 2, beside.cluster[answer], weights[answer]


def _apart(beside: Beside) -> Floats:
    """The jury's difference from each clinician on each answer, each one's own strictness taken out."""
    apart = np.where(beside.asked[:, np.newaxis], beside.jury[:, np.newaxis] - beside.humans, np.nan)
    known, weights = ~np.isnan(apart), beside.own_weight
    totals = np.where(known, weights[:, np.newaxis], 0.0).sum(axis=0)
    return np.asarray(
        apart - np.nansum(apart * weights[:, np.newaxis], axis=0) / np.where(totals > 0, totals, 1.0)
    )


def _juror_copy(evidence: Evidence, dimension: Measured, beside: Beside) -> Rule:
    """Two jurors that always say the same are one."""
    asked, grid = ask("juror_copy", share=percent(_SAME_JUROR)), evidence.grid(dimension.name)
    members = evidence.table.members_of(evidence.rater) or evidence.table.judges
    jurors = [each for each in members if each in grid.scores and each != evidence.rater]
    jury = evidence.table.raters.get(evidence.rater) != "judge"
    rows = beside.pairs
    once = rows.first < rows.second
    if not jury or len(jurors) < 2 or not once.any():
        return asked.idle("fewer than two jurors, or than two clinicians")
    copies = [
        f"{one} and {other}"
        for one, other in combinations(jurors, 2)
        if (alike := _alike(beside, grid.scores[one], grid.scores[other], rows, once))
        and alike[0] >= _SAME_JUROR
        and alike[2] > _APART
    ]
    if not copies:
        return asked.holds("no two jurors are the same")
    return asked.fails("; ".join(copies), "AUXILIARY", words={"copies": " and ".join(copies)})


def _injection(evidence: Evidence, dimension: Measured) -> Rule:
    """Whether planted instructions move the grade by an eighth of the scale or more, where the study audited it."""
    audit, grades = evidence.manifest.injection, dimension.grades
    limit = 0.125 * (grades.highest - grades.lowest) if grades is not None else 0.0
    asked = ask("injection", limit=limit)
    shifts = [
        each
        for each in (() if audit is None else audit.shifts)
        if (each.rater, each.dimension) == (evidence.rater, dimension.name) and each.value is not None
    ]
    if audit is None or not shifts or grades is None:
        return asked.unknown("not audited (`audits: {injection: {cases: 30}}` in the study file)")
    worst = max(shifts, key=lambda each: each.value or 0.0)
    shift = shown(worst.value or 0.0)
    ends = "" if worst.low is None or worst.high is None else f" ({shown(worst.low)} to {shown(worst.high)})"
    found = f"{counted(audit.cases, 'answer')}; most by {worst.kind}: {shift}{ends}"
    if (worst.value or 0.0) < limit:
        return asked.holds(found, value=worst.value, limit=limit)
    words = {"kind": worst.kind, "shift": shift, "limit": limit}
    return asked.fails(found, "AUXILIARY", found, words=words, value=worst.value, limit=limit)


def silence_warning(evidence: Evidence, dimension: Measured, tested: Tested) -> str:
    """The worst and the best that the silence of the rater on trial could mean for its agreement with a
    clinician; "" where it left nothing out that clinicians rated."""
    beside = tested.beside
    silent = beside.silent & beside.doubly
    left, rated = int((beside.silent & beside.asked).sum()), int(beside.asked.sum())
    if not left or not evidence.rater:
        return ""
    title = STATISTICS.get(beside.statistic, beside.statistic)
    text = (
        f"{dimension.label}: {evidence.rater} left {left:,} of the {rated:,} "
        f"{'marks' if evidence.table.criteria else 'answers'} that "
        "clinicians rated without a score."
    )
    if not silent.any() or beside.grades is None:
        return text
    middle = np.nanmean(np.where(beside.number[:, np.newaxis] > 0, beside.humans, 0.0), axis=1)
    low, high = beside.grades.lowest, beside.grades.highest
    worst = np.where(middle - low > high - middle, low, high)
    ends = [_agreement_if(beside, np.where(silent, each, beside.jury)) for each in (worst, middle)]
    return (
        f"{text} Its agreement with a clinician ({title}) is {ends[0]} if it had been wrong on "
        f"all of them and {ends[1]} if right."
    )


def _agreement_if(beside: Beside, jury: Floats) -> str:
    filled = replace(beside, jury=jury, silent=np.isnan(jury) & beside.silent, danger=None)
    sums = sums_of(filled)
    value = float(read(sums, sums.cells.sum(axis=0), beside.statistic)["agreement jury"])
    return shown(value) if np.isfinite(value) else "not known"
