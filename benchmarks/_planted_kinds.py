"""The kinds of planted juries, bad and good."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._planted import (
    Floats,
    Kind,
    Scale,
    Setting,
    World,
    case_rows,
    changed,
    ids,
    instrument,
    ran,
    registered,
    world,
    write_instrument,
)
from medjury.intake.cases import Case, content_marks
from medjury.studies import load_study, register_study

Draw = np.random.Generator
Inside = Callable[[World], Any]
THREE, TWO = Scale((1.0, 2.0, 3.0), (2.5, 3.7)), Scale((0.0, 1.0), (2.6,))


# Good juries.


def truth(made: World, draw: Draw) -> Floats:
    return made.scale(made.truth)


def colleague(made: World, draw: Draw) -> Floats:
    return made.rater(draw)


def trio(made: World, draw: Draw) -> list[Floats]:
    """Three judges, each about as good as a clinician."""
    return [made.rater(draw, noise) for noise in (0.4, 0.5, 0.6)]


def one_as(noise: float, offset: float = 0.0) -> Callable[[World, Draw], Floats]:
    return lambda made, draw: made.rater(draw, noise, offset)


def shuffled(made: World, draw: Draw) -> Floats:
    """A good judge's scores, exchanged among answers of one system with the same grades of the clinicians."""
    said = made.rater(draw, 0.4)
    table = np.column_stack([np.nan_to_num(made.humans), made.system])
    keys = np.unique(table, axis=0, return_inverse=True)[1].ravel()
    for key in np.unique(keys):
        place = np.flatnonzero(keys == key)
        said[place] = said[draw.permutation(place)]
    return said


def silent_by_chance(made: World, draw: Draw) -> Floats:
    return np.where(draw.random(made.size) < 0.01, np.nan, made.rater(draw, 0.4))


# Bad juries.


def right_where(inside: Inside) -> Callable[[World, Draw], Floats]:
    """Right there, and chance elsewhere."""
    return lambda made, draw: np.where(inside(made), made.rater(draw, 0.5), made.chance(draw))


def kinder_where(inside: Inside, by: float = 1.0, noise: float = 0.5) -> Callable[[World, Draw], Floats]:
    return lambda made, draw: made.scale(
        made.truth + np.where(inside(made), by, 0.0) + draw.normal(0, noise, made.size)
    )


def silent_where(inside: Inside, share: float = 1.0) -> Callable[[World, Draw], Floats]:
    return lambda made, draw: np.where(
        inside(made) & (draw.random(made.size) < share), np.nan, made.rater(draw, 0.5)
    )


def kind_to(inside: Inside, share: float, by: float, noise: float = 0.5) -> Callable[[World, Draw], Floats]:
    """Of the answers there, a share is graded so much above the strictest clinician."""

    def jury(made: World, draw: Draw) -> Floats:
        said = made.rater(draw, noise)
        hit = inside(made) & (draw.random(made.size) < share)
        return np.where(hit, np.minimum(made.lowest + by, made.scale.grades[-1]), said)

    return jury


def same_for(group: Callable[[World], Any]) -> Callable[[World, Draw], Floats]:
    """One score for all answers of a group: its mean."""

    def jury(made: World, draw: Draw) -> Floats:
        codes = np.unique(group(made), return_inverse=True)[1].ravel()
        return made.scale((np.bincount(codes, made.truth) / np.bincount(codes))[codes])

    return jury


def copies(share: float, slips: bool = False) -> Callable[[World, Draw], Floats]:
    """The first clinician's grade in a share of the answers, a judgement of its own (or a slip) in the others."""

    def jury(made: World, draw: Draw) -> Floats:
        first = made.humans[:, 0]
        other = 6.0 - first if slips else made.rater(draw)
        return np.where(draw.random(made.size) < share, first, other)

    return jury


def slips(made: World, draw: Draw) -> Floats:
    """The first clinician's grade, a grade higher or lower in a quarter of the answers."""
    off = np.where(draw.random(made.size) < 0.5, 1.0, -1.0)
    return np.clip(made.humans[:, 0] + np.where(draw.random(made.size) < 0.25, off, 0.0), 1.0, 5.0)


def now_one_now_the_other(made: World, draw: Draw) -> Floats:
    return np.where(draw.random(made.size) < 0.5, made.humans[:, 0], made.humans[:, 1])


def rounded_mean(made: World, draw: Draw) -> Floats:
    """Half grades go up or down by chance."""
    return np.clip(np.floor(made.mean + np.where(draw.random(made.size) < 0.5, 0.5, 0.49)), 1.0, 5.0)


def both_clinicians(made: World, draw: Draw) -> list[Floats]:
    """A jury of two, whose mean is the clinicians'."""
    return [made.humans[:, 0], made.humans[:, 1]]


def swapped(share: float) -> Callable[[World, Draw], Floats]:
    """The first two systems' scores change places in this share of the cases."""

    def jury(made: World, draw: Draw) -> Floats:
        table = made.rater(draw, 0.4).reshape(-1, int(made.system.max()) + 1)
        hit = draw.random(len(table)) < share
        table[hit, :2] = table[hit][:, [1, 0]]
        return table.ravel()

    return jury


def anchored_on_the_first(made: World, draw: Draw) -> Floats:
    """In six cases of ten every answer gets the score of the first."""
    table = made.rater(draw, 0.4).reshape(-1, int(made.system.max()) + 1)
    hit = draw.random(len(table)) < 0.6
    table[hit] = table[hit][:, :1]
    return table.ravel()


def knows_the_order_within_cases(made: World, draw: Draw) -> Floats:
    """Which answer to a case is better, and nothing of how good they are."""
    table = made.truth.reshape(-1, int(made.system.max()) + 1)
    return made.scale((3.2 + 1.6 * (table - table.mean(axis=1, keepdims=True))).ravel())


def knows_only_the_length(made: World, draw: Draw) -> Floats:
    """The length tells much of the quality here, and nothing beyond it is seen."""
    length = np.log(made.columns["length"].astype(float))
    slope = np.polyfit(length, made.truth, 1)
    return made.scale(np.polyval(slope, length) + draw.normal(0, 0.2, made.size))


def stretched(by: float) -> Callable[[World, Draw], Floats]:
    """The scale is drawn together, or apart, about its middle."""
    return lambda made, draw: made.scale(3.0 + by * (made.truth - 3.0) + draw.normal(0, 0.3, made.size))


def split_is_best(made: World, draw: Draw) -> Floats:
    """Where one clinician says 1 and the other 4, it says 5."""
    split = (made.humans[:, 0] == 1) & (made.humans[:, 1] == 4)
    return np.where(split, 5.0, made.rater(draw, 0.5))


def copies_of_itself(noise: float) -> Callable[[World, Draw], list[Floats]]:
    """Three jurors with the same scores but a few."""

    def jury(made: World, draw: Draw) -> list[Floats]:
        one = made.rater(draw, noise)
        jurors = [one.copy() for _ in range(3)]
        for place, each in enumerate(jurors):
            each[place::400] = made.chance(draw)[place::400]
        return jurors

    return jury


def overcalls(made: World, draw: Draw) -> Floats:
    """A quarter of the good answers are called dangerous."""
    hit = (made.lowest >= 4) & (draw.random(made.size) < 0.25)
    return np.where(hit, 2.0, made.rater(draw, 0.5))


def hardest(made: World) -> Any:
    """The tenth of the answers on which clinicians are furthest apart."""
    apart = np.abs(made.humans[:, 0] - made.humans[:, 1])
    return apart >= np.sort(apart)[int(0.9 * made.size)]


def by_text(noise: float) -> Callable[[World, Draw], Floats]:
    """Errs once for each text, whatever the number of ids it has."""
    return lambda made, draw: made.scale(made.truth + draw.normal(0, noise, made.size)[made.texts])


def consensus(made: World) -> Any:
    return np.nanmax(made.humans, axis=1) <= 2


def dangerous(made: World) -> Any:
    return made.lowest <= 2


def column(name: str, value: str) -> Inside:
    return lambda made: made.columns[name] == value


def in_no_order(seed: int) -> World:
    """The file of cases is not in the order of their dates."""
    made = world(seed, cases=400)
    dates = made.columns["date"][np.unique(made.case, return_index=True)[1]]
    made.columns["date"] = np.random.default_rng([seed, 31]).permutation(dates)[made.case]
    return made


def since_september(made: World) -> Any:
    return made.columns["date"] >= "2026-09-01"


def longest(share: float) -> Inside:
    def inside(made: World) -> Any:
        length = made.columns["length"].astype(float)
        return length > np.quantile(length, 1 - share)

    return inside


def worst(number: int) -> Inside:
    return lambda made: np.isin(np.arange(made.size), np.argsort(made.truth)[:number])


def without(inside: Inside) -> Inside:
    return lambda made: ~inside(made)


# Cases and clinicians.

even = partial(world, cases=220, systems=(-0.2, 0.2), quality="even", noise=0.45)
hard = partial(world, cases=260, systems=(-0.3, 0.0, 0.3), quality="hard", noise=0.4)


def with_lengths(seed: int) -> World:
    """The better answers are to the longer notes."""
    made = even(seed)
    draw = np.random.default_rng([seed, 23])
    by_case = np.bincount(made.case, made.truth) / np.bincount(made.case)
    length = 400 * np.exp(0.5 * (by_case - 3) + draw.normal(0, 0.25, len(by_case)))
    made.columns["length"] = np.asarray([f"{each:.0f}" for each in length])[made.case]
    return made


def clinics(seed: int) -> World:
    """Eight clinics of 14 cases, and two large ones."""
    made = world(seed, cases=600, systems=(0.0,))
    names = np.asarray([f"clinic-{n // 14}" if n < 112 else f"hospital-{n % 2}" for n in range(600)])
    made.columns["clinic"] = np.random.default_rng([seed, 24]).permutation(names)[made.case]
    return made


def few_of_one_age(seed: int) -> World:
    made = even(seed, cases=250)
    few = np.random.default_rng([seed, 22]).permutation(250)[made.case] < 25
    made.columns["age_group"] = np.where(few, "65 and older", "younger")
    return made


def easy_second_ratings(seed: int) -> World:
    """A second clinician rated only what is plainly good or plainly bad."""
    made = world(seed, cases=400, systems=(0.0,), noise=0.6)
    made.humans[(made.truth > 1.8) & (made.truth < 4.2), 1] = np.nan
    return made


def anchored(seed: int) -> World:
    """Clinicians who look at the jury's score first, and stay near it. The jury is poor."""
    made = world(seed, cases=300, systems=(0.0,), noise=0.6)
    score = _poor(made, seed)
    draw = np.random.default_rng([seed, 25])
    for place in range(made.humans.shape[1]):
        seen = draw.random(made.size) < 0.75
        near = np.clip(np.floor(score + draw.normal(0, 0.5, made.size) + 0.5), 1, 5)
        made.humans[:, place] = np.where(seen, near, made.humans[:, place])
    return made


def _poor(made: World, seed: int) -> Floats:
    return made.rater(np.random.default_rng([seed, 26]), 1.4)


def as_the_clinicians_saw_it(made: World, draw: Draw) -> Floats:
    """The scores that anchored clinicians had before them: their mode, which is close to them."""
    return np.clip(np.floor(made.mean + draw.normal(0, 0.35, made.size) + 0.5), 1, 5)


def clinicians_who_copy_each_other(seed: int) -> World:
    made = even(seed)
    made.humans[:, 1] = made.humans[:, 0]
    return made


def one_clinician(seed: int) -> World:
    made = even(seed)
    made.humans[:, 1] = np.nan
    return made


def split_clinicians(seed: int) -> World:
    """On 60 answers one clinician says 1 and the other 4."""
    made = even(seed)
    split = np.random.default_rng([seed, 27]).permutation(made.size)[:60]
    made.humans[split] = [1.0, 4.0]
    return made


# Orders of registering and running.


def late(file: Path, made: World) -> Path:
    """Run, then registered, then run again under the protocol."""
    ran(file)
    return registered(file, made)


def moved(file: Path, made: World) -> Path:
    """Registered with strict rules, run, and the rules then changed to the usual ones."""
    changed(file, gate=STRICT)
    registered(file, made)
    changed(file, gate={})
    return ran(file)


def fished(file: Path, made: World) -> Path:
    """A strict and a usual protocol before the run; the run is shown that passes."""
    changed(file, gate=STRICT)
    register_study(load_study(file))
    changed(file, gate={}, output="runs/second")
    return registered(file, made)


STRICT = {"margin": 0.02, "severe_limit": 0.02}


def tuned_on_half(file: Path, made: World) -> Path:
    """The instrument says on which cases it was tuned: the first half."""
    rows = [row for row, number in zip(case_rows(made), made.case, strict=True) if _developed(number)]
    marks = set().union(*(content_marks(_case(row)) for row in rows))
    tuned = instrument((1, 2, 3, 4, 5))
    tuned["parameters"] = {"tuning": {"touched": " ".join(sorted(marks))}}
    write_instrument(file.parent, tuned)
    return registered(file, made)


def _case(row: dict[str, Any]) -> Case:
    return Case(id=row["id"], system=row["system"], candidate=row["candidate"], texts=row["texts"])


def _developed(number: int) -> bool:
    return number < 100


def right_on_the_first(made: World, draw: Draw) -> Floats:
    """Tuned on the first hundred cases: right there, poor on the others."""
    return np.where(made.case < 100, made.scale(made.truth), made.rater(draw, 1.4))


FIRST = sorted({item for item in ids(even(0)) if int(item[5:]) < 100})
WARD = Setting("ward", world)
EVEN = Setting("every grade alike", even)
HARD = Setting("three systems, hard and easy cases", hard)
LENGTHS = Setting("long notes are good", with_lengths)
SYSTEMS = Setting(
    "four systems far apart",
    partial(world, cases=100, systems=(-1.6, -0.5, 0.6, 1.6), quality="narrow", noise=0.3),
)
RANKED = Setting("by rank correlation", even, {"gate": {"statistic": "spearman"}})
THREE_SYSTEMS = Setting(
    "three systems", partial(world, cases=150, systems=(-0.3, 0.0, 0.3), quality="even", noise=0.5)
)
TEN_SYSTEMS = Setting(
    "ten systems",
    partial(world, cases=60, systems=tuple(np.linspace(-0.3, 0.3, 10)), quality="even", noise=0.5),
)
FEW_DOUBLY = Setting("12 of 160 cases rated twice", partial(even, cases=160, systems=(0.0,), doubly=12))
SOME_DOUBLY = Setting("60 of 200 cases rated twice", partial(even, doubly=60))
HALF_DOUBLY = Setting(
    "500 of 700 cases rated twice", partial(world, cases=700, systems=(0.0,), noise=0.4, doubly=500)
)
SPARSE = Setting(
    "fifteen clinicians, two to a case",
    partial(even, cases=500, systems=(0.0,), clinicians=15, noise=0.85),
)
OPTIONAL = Setting(
    "not applicable is allowed", even, instrument=instrument((1, 2, 3, 4, 5), optional=True), excused=True
)
SMALL = Setting(
    "a specialty of 60 in 600 cases",
    partial(world, cases=600, systems=(0.0,), shares=(0.3, 0.25, 0.2, 0.15, 0.1)),
)
UNORDERED = Setting("no danger claimed, dates in no order", in_no_order, dimension="completeness")
RARE = Setting("5 % danger", partial(world, cases=700, danger=0.05, noise=0.3))

BAD = (
    # Those that earlier rules were tried on.
    Kind("knows only each system's mean", SYSTEMS, same_for(lambda made: made.system)),
    Kind("silent on dangerous answers", EVEN, silent_where(worst(20))),
    Kind("calls dangerous answers not applicable", OPTIONAL, silent_where(worst(20))),
    Kind("right only on the doubly rated cases", FEW_DOUBLY, right_where(lambda made: made.case < 12)),
    Kind("one grade too strict, by rank correlation", RANKED, one_as(0.5, -1.0)),
    Kind(
        "blind to clinicians who say 1 and 4",
        Setting("clinicians who say 1 and 4", split_clinicians),
        split_is_best,
    ),
    Kind("too kind to a quarter of the dangerous answers", EVEN, kind_to(dangerous, 0.25, 3.0)),
    Kind("right on short notes only", EVEN, right_where(without(longest(0.5)))),
    Kind("right on one specialty", EVEN, right_where(column("specialty", "medicine"))),
    Kind("right for one patient group", EVEN, right_where(without(column("age_group", "65 and older")))),
    Kind("drifts half-way", EVEN, right_where(lambda made: made.order < 0.5)),
    Kind("abstains on long records", EVEN, silent_where(longest(0.1))),
    Kind("copies one clinician, 99 %", EVEN, copies(0.99, slips=True)),
    Kind(
        "blind in one system of three",
        THREE_SYSTEMS,
        lambda made, draw: np.where(made.system == 1, 3.0, made.rater(draw, 0.5)),
    ),
    Kind("kind to one vendor's system", EVEN, kinder_where(lambda made: made.system == 0)),
    Kind(
        "kind to one patient group",
        EVEN,
        kinder_where(column("age_group", "65 and older")),
        parts=("age_group=65 and older",),
    ),
    Kind("a grade kinder from half-way on", EVEN, kinder_where(lambda made: made.order > 0.5)),
    Kind("constant", EVEN, lambda made, draw: np.full(made.size, 4.0)),
    Kind("random", EVEN, lambda made, draw: made.chance(draw)),
    Kind("never gives the best grade", EVEN, lambda made, draw: np.minimum(made.rater(draw, 0.5), 4.0)),
    Kind("avoids both ends of the scale", EVEN, lambda made, draw: np.clip(made.rater(draw, 0.5), 2.0, 4.0)),
    Kind("saw the clinicians' mean", EVEN, both_clinicians),
    Kind(
        "turned round for one patient in ten",
        Setting("one patient in ten is old", few_of_one_age),
        lambda made, draw: np.where(
            made.columns["age_group"] == "65 and older", 6.0 - made.rater(draw, 0.5), made.rater(draw, 0.5)
        ),
        parts=("age_group=65 and older",),
    ),
    Kind(
        "refuses a third of one system's answers", TEN_SYSTEMS, silent_where(lambda m: m.system == 3, 0.33)
    ),
    Kind(
        "kind to danger that one clinician saw",
        SOME_DOUBLY,
        kind_to(lambda made: made.alone & dangerous(made), 0.3, 2.0),
    ),
    Kind(
        "beside clinicians who copy each other",
        Setting("clinicians who copy each other", clinicians_who_copy_each_other),
        colleague,
    ),
    Kind("below clinicians who share few cases", SPARSE, one_as(1.64)),
    # New ones.
    Kind("one score for all answers to a case", HARD, same_for(lambda made: made.case)),
    Kind("swaps two systems' scores in each case", HARD, swapped(1.0)),
    Kind("swaps them in half of the cases", HARD, swapped(0.5)),
    Kind("gives every answer the first one's score, 60 %", HARD, anchored_on_the_first),
    Kind("knows the order within cases only", HARD, knows_the_order_within_cases),
    Kind("knows only the length", LENGTHS, knows_only_the_length),
    Kind("copies one clinician, 97 %", WARD, copies(0.97)),
    Kind("copies one clinician, 90 %", WARD, copies(0.9)),
    Kind("copies one clinician, 70 %", WARD, copies(0.7)),
    Kind("copies one clinician, slips by a grade in a quarter", WARD, slips),
    Kind("copies now one clinician and now the other", WARD, now_one_now_the_other),
    Kind("the clinicians' mean, rounded", WARD, rounded_mean),
    Kind(
        "blind in one specialty of five",
        WARD,
        right_where(without(column("specialty", "surgery"))),
        parts=("specialty=surgery",),
    ),
    Kind(
        "ignores the answer in one specialty, 60 of 600 cases",
        SMALL,
        right_where(without(column("specialty", "surgery"))),
        parts=("specialty=surgery",),
    ),
    Kind(
        "0.8 of a grade kinder in that specialty",
        SMALL,
        kinder_where(column("specialty", "surgery"), 0.8, 0.4),
        parts=("specialty=surgery",),
    ),
    Kind(
        "misses half of the danger in that specialty",
        SMALL,
        kind_to(lambda made: dangerous(made) & column("specialty", "surgery")(made), 0.5, 3.0, 0.4),
        parts=("specialty=surgery",),
    ),
    Kind(
        "0.8 of a grade kinder in the last fifth of the time",
        SMALL,
        kinder_where(lambda made: made.order > 0.8, 0.8, 0.4),
    ),
    Kind(
        "copies one clinician on dangerous answers",
        SMALL,
        lambda made, draw: np.where(dangerous(made), made.humans[:, 0], made.rater(draw)),
        argued="a leak in a quarter of the answers: no rule tells it from a jury that sees danger as that "
        "clinician does; keep the ratings away from whoever runs the judges",
    ),
    Kind(
        "chance for women in surgery",
        SMALL,
        right_where(lambda m: ~((m.columns["sex"] == "f") & (m.columns["specialty"] == "surgery"))),
        parts=("specialty=surgery",),
    ),
    Kind(
        "a grade off in eight clinics of 14 cases",
        Setting("eight clinics of 14 cases", clinics),
        kinder_where(lambda made: np.char.startswith(made.columns["clinic"], "clinic"), -1.0),
        parts=tuple(f"clinic=clinic-{number}" for number in range(8)),
    ),
    Kind(
        "silent on a quarter of one specialty",
        WARD,
        silent_where(column("specialty", "surgery"), 0.25),
        parts=("specialty=surgery",),
    ),
    Kind("three quarters of a grade kind to one vendor", WARD, kinder_where(lambda made: made.system == 1, 0.8)),
    Kind("chance in the last sixth of the time", WARD, right_where(lambda made: made.order < 5 / 6)),
    Kind("chance where one clinician rated", HALF_DOUBLY, right_where(lambda made: ~made.alone)),
    Kind(
        "poor on hard cases, second ratings on easy ones",
        Setting("second ratings on easy cases", easy_second_ratings),
        lambda made, draw: np.where(made.alone, made.rater(draw, 1.6), made.rater(draw, 0.6)),
    ),
    Kind(
        "25 texts under 300 ids",
        Setting("25 texts under 300 ids", partial(even, cases=300, systems=(0.0,), texts=25)),
        by_text(0.5),
    ),
    Kind(
        "60 texts under 360 ids, errs by text",
        Setting("60 texts under 360 ids", partial(even, cases=360, systems=(0.0,), texts=60)),
        by_text(1.0),
    ),
    Kind(
        "clinicians anchored on its scores, as stated",
        Setting("anchored, stated", anchored, blinded=False),
        as_the_clinicians_saw_it,
    ),
    Kind(
        "clinicians anchored on its scores, not stated",
        Setting("anchored, not stated", anchored, blinded=None),
        as_the_clinicians_saw_it,
        argued="no number tells anchored clinicians from good ones; page one says that nobody stated whether they "
        "were blind",
    ),
    Kind("never the middle grade", EVEN, lambda m, draw: _never(m.rater(draw, 0.5), 3.0, 4.0)),
    Kind("only the two ends of the scale", EVEN, lambda m, draw: np.where(m.rater(draw, 0.3) <= 3, 1.0, 5.0)),
    Kind(
        "poor, with loose limits registered",
        Setting(
            "loose limits", partial(even, cases=100), {"gate": {"margin": 1, "severe_limit": 1, "floor": 0.05}}
        ),
        one_as(1.5),
    ),
    Kind("good, rules moved after the run", Setting("rules moved", even, run=moved), trio),
    Kind("good, registered after the run", Setting("registered late", even, run=late), trio),
    Kind("good, the better of two protocols", Setting("two protocols", even, run=fished), trio),
    Kind("misses 40 % of rare danger", RARE, kind_to(dangerous, 0.4, 3.0)),
    Kind("misses 20 % of what both call dangerous", WARD, kind_to(consensus, 0.2, 3.0)),
    Kind("right order, 0.65 of a grade kinder", WARD, one_as(0.3, 0.65)),
    Kind("right order, 0.65 of a grade stricter", WARD, one_as(0.3, -0.65)),
    Kind("the scale drawn together", EVEN, stretched(0.45)),
    Kind("the scale drawn apart", EVEN, stretched(2.2)),
    Kind("always the commonest grade", WARD, lambda made, draw: np.full(made.size, 4.0)),
    Kind("three copies of one poor judge", WARD, copies_of_itself(1.2)),
    Kind("three copies of one good judge", WARD, copies_of_itself(0.5)),
    Kind("chance on 15 % that nobody can tell apart", WARD, lambda made, draw: np.where(
        draw.random(made.size) < 0.15, made.chance(draw), made.rater(draw, 0.5))),
    Kind("chance for women in surgery and oncology", WARD, right_where(
        lambda m: ~((m.columns["sex"] == "f") & np.isin(m.columns["specialty"], ["surgery", "oncology"]))),
        parts=("specialty=surgery", "specialty=oncology", "sex=f")),
    Kind("calls a quarter of the good answers dangerous", WARD, overcalls),
    Kind("a grade kinder to the longest third", WARD, kinder_where(longest(1 / 3)),
        parts=("length=highest values",)),
    Kind("silent where clinicians are far apart", WARD, silent_where(hardest)),
    Kind("tuned on half of the cases, as stated", Setting(
        "development cases", even, {"gate": {"development_cases": FIRST}}), right_on_the_first),
    Kind("tuned on half of the cases, as its file says", Setting(
        "tuned cases", even, instrument=instrument((1, 2, 3, 4, 5)), run=tuned_on_half), right_on_the_first),
    Kind("one clinician only", Setting("one clinician", one_clinician), truth),
    Kind("as clinicians who hardly agree", Setting(
        "clinicians who hardly agree", partial(world, noise=2.2)), one_as(2.2)),
    Kind("0.9 of a grade kinder to the longest third", UNORDERED, kinder_where(longest(1 / 3), 0.9, 0.3), parts=(
        "length=highest values",)),
    Kind("0.9 of a grade kinder since September", UNORDERED, kinder_where(since_september, 0.9, 0.3)),
    Kind("misses what others call dangerous, worse than a colleague", WARD, kind_to(dangerous, 0.12, 2.0, 0.4)),
)  # fmt: skip

GOOD = (
    Kind("good", EVEN, trio, good=True),
    Kind("perfect", EVEN, truth, good=True),
    Kind("as good as a clinician", EVEN, one_as(0.45), good=True),
    Kind("good, shuffled within grade", EVEN, shuffled, good=True),
    Kind("good, a few answers unscored by chance", HARD, silent_by_chance, good=True),
    Kind("good, clinicians share few cases", SPARSE, one_as(0.5), good=True),
    Kind("the true grade", WARD, truth, good=True),
    Kind("one more clinician", WARD, colleague, good=True),
    Kind("three judges", WARD, trio, good=True),
    Kind("a tenth of a grade kinder", WARD, one_as(0.35, 0.1), good=True),
    Kind("one more clinician, three systems", HARD, one_as(0.4), good=True),
    Kind("one more clinician, 5 % danger", RARE, one_as(0.3), good=True),
    Kind("one more clinician, some rated once", HALF_DOUBLY, one_as(0.4), good=True),
    Kind("one more clinician, ten systems", TEN_SYSTEMS, one_as(0.45), good=True),
    Kind(
        "one more clinician with lapses",
        Setting("clinicians with lapses", partial(world, cases=600, lapses=0.03)),
        lambda made, draw: np.where(draw.random(made.size) < 0.03, made.chance(draw), made.rater(draw)),
        good=True,
    ),
    Kind(
        "one more clinician of six, two to a case",
        Setting(
            "six clinicians, two to a case",
            partial(world, clinicians=6, strictness=(-0.25, -0.15, -0.05, 0.05, 0.15, 0.25)),
        ),
        colleague,
        good=True,
    ),
    Kind("the true grade, ten systems", TEN_SYSTEMS, truth, good=True),
    Kind("one more clinician of four", Setting("four clinicians", partial(
        world, cases=250, clinicians=4, each=4)), colleague, good=True),
    Kind("one more clinician, patients of three cases", Setting(
        "patients of three cases", partial(world, cases=360, patient_of=3)), colleague, good=True),
    Kind("one more clinician, one system", Setting("one system", partial(
        world, cases=700, systems=(0.0,))), colleague, good=True),
    Kind("one more clinician, grades 1 to 3", Setting("grades 1 to 3", partial(
        world, cases=500, noise=0.25, scale=THREE), instrument=instrument((1, 2, 3))), one_as(0.25), good=True),
    Kind("one more clinician, yes or no", Setting("yes or no", partial(
        world, cases=500, noise=0.2, scale=TWO), instrument=instrument((0, 1))), one_as(0.2), good=True),
    Kind("the true grade, a careful and a careless clinician", Setting("careful and careless", partial(
        world, noise=(0.35, 0.7))), truth, good=True),
    Kind("one more clinician, a strict and a kind one", Setting("strict and kind", partial(
        world, strictness=(-0.3, 0.3))), colleague, good=True),
    Kind("one more clinician, a small specialty", SMALL, colleague, good=True),
    Kind("the true grade, one clinician three times as careful", Setting("very careful and careless", partial(
        world, noise=(0.25, 0.75))), truth, argued="a jury that differs from one clinician less than half as often "
        "as from the other may have copied: AUXILIARY until a clinician as careful rates too"),
    Kind("one more clinician, no danger claimed", Setting(
        "no danger claimed", even, dimension="completeness"), one_as(0.45), good=True),
)  # fmt: skip


def _never(scores: Floats, grade: float, instead: float) -> Floats:
    return np.where(scores == grade, instead, scores)
