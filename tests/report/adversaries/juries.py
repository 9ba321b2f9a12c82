"""Planted juries: bad ones that must be found out, each by the rules that its defect concerns, and good ones that
must pass once their study has the size that was planned for it (`planned.py`). Every jury is a function of a seed,
and what is wrong with it is known because it was planted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from tests.report.adversaries.worlds import KNOWN, World, graded, ratings, world
from tests.report.planted import rules, write_run

from medjury.validation import Verdict, validate

FLOOR = "Agreement with clinicians reaches the floor"
NOT_INFERIOR = "Not inferior to clinicians among themselves"
WITHIN = "The jury tells answers of one system apart"
OFFSET = "The jury is neither stricter nor kinder"
TWICE = "Enough cases rated by two clinicians"
OTHERS = "Agreement is as good on the other cases"
SEVERE = "Severe errors are rare"
SURELY_RARE = "and are rare beyond doubt"
DANGEROUS_SCORED = "and the dangerous answers too"
COVERAGE = "The jury scored what it was asked to"
MISSING = "Missing answers are not about quality"
PARTS = "Agreement holds in every part"
FAIR = "No part is scored too kindly or too strictly"
SCORED_PARTS = "The jury scored every part"
COPY = "The jury is no copy of one clinician"
OWN = "and is not made of the clinicians' scores"
GRADES = "No grade is scored too kindly or too strictly"


@dataclass(frozen=True, eq=False)
class Planted:
    """`make` gives the ratings of a seed, of a good jury with as many cases as it is told. A good jury has no
    `fails`; a bad one fails each of these rules."""

    name: str
    make: Callable[..., pl.DataFrame]
    fails: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def good(self) -> bool:
        return not self.fails

    def verdict(self, folder: Path, seed: int, cases: int | None = None) -> Verdict:
        """The gate's word on this jury, in a run folder as a study writes it; `cases` is the size of a good one."""
        frame = self.make(seed) if cases is None else self.make(seed, cases)
        parts = frame.select("item", *KNOWN).unique("item", maintain_order=True)
        run = write_run(folder, frame.drop(KNOWN), parts=parts, gate=rules(**self.settings))
        return validate(run, resamples=400).verdicts[0]


def _half_right(inside: Callable[[World], Any], seed: int) -> pl.DataFrame:
    """Right where `inside`, random elsewhere."""
    made = world(seed)
    return ratings(made, np.where(inside(made), made.jury(), made.noise()))


def blind_within_systems(seed: int) -> pl.DataFrame:
    made = world(seed, cases=100, systems=(-1.6, -0.5, 0.6, 1.6), spread=0.5, noise=0.3)
    means = {name: made.mean[made.system == name].mean() for name in set(made.system.tolist())}
    return ratings(made, graded(np.asarray([means[name] for name in made.system.tolist()])))


def silent_on_danger(seed: int, excused: bool = False) -> pl.DataFrame:
    """Twenty of the most dangerous answers have no score; coverage is 95 %."""
    made = world(seed)
    worst = np.argsort(made.truth)[:20]
    silent = np.isin(np.arange(made.size), worst)
    return ratings(made, np.where(silent, np.nan, made.jury()), silent if excused else None)


def right_on_the_doubly_rated(seed: int) -> pl.DataFrame:
    made = world(seed, cases=160, systems=(0.0,), doubly=12)
    return ratings(made, np.where(made.case < 12, made.jury(), made.noise()))


def too_strict(seed: int) -> pl.DataFrame:
    made = world(seed)
    return ratings(made, np.maximum(made.jury() - 1.0, 1.0))


def blind_to_split_clinicians(seed: int) -> pl.DataFrame:
    """On 60 answers one clinician says 1 and the other 4; the jury says 5."""
    made = world(seed)
    split = made.draw.permutation(made.size)[:60]
    made.clinicians[split] = [1.0, 4.0]
    said = made.jury()
    said[split] = 5.0
    return ratings(made, said)


def kind_to_danger(seed: int) -> pl.DataFrame:
    """A quarter of the dangerous answers are scored three grades too high."""
    made = world(seed)
    said = made.jury()
    hit = (made.lowest <= 2) & (made.draw.random(made.size) < 0.25)
    return ratings(made, np.where(hit, np.minimum(made.lowest + 3, 5.0), said))


def copies_one_clinician(seed: int) -> pl.DataFrame:
    made = world(seed)
    own = made.clinicians[:, 0]
    slip = made.draw.random(made.size) < 0.01
    return ratings(made, np.where(slip, graded(6 - own), own))


def abstains_on_long_records(seed: int) -> pl.DataFrame:
    made = world(seed)
    long = made.length > np.quantile(made.length, 0.9)
    return ratings(made, np.where(long, np.nan, made.jury()))


def constant(seed: int) -> pl.DataFrame:
    made = world(seed)
    return ratings(made, np.full(made.size, 4.0))


def random(seed: int) -> pl.DataFrame:
    made = world(seed)
    return ratings(made, made.noise())


def _kind(inside: Callable[[World], Any], seed: int) -> pl.DataFrame:
    """A grade too kind where `inside`."""
    made = world(seed)
    return ratings(made, np.minimum(made.jury() + np.where(inside(made), 1.0, 0.0), 5.0))


def blind_in_one_system(seed: int) -> pl.DataFrame:
    """One score for everything that one system of three wrote."""
    made = world(seed, cases=150, systems=(-0.3, 0.0, 0.3))
    own = made.system == "system-1"
    return ratings(made, np.where(own, graded(made.mean[own].mean()), made.jury()))


def below_sparse_clinicians(seed: int) -> pl.DataFrame:
    """Fifteen clinicians, two to a case, whose true agreement (kappa) is 0.65, and a jury 0.165 below them."""
    made = world(seed, cases=300, systems=(0.0,), clinicians=15, noise=0.915)
    return ratings(made, made.rater(1.64))


def never_gives_the_best_grade(seed: int) -> pl.DataFrame:
    made = world(seed)
    return ratings(made, np.minimum(made.jury(), 4.0))


def avoids_both_ends(seed: int) -> pl.DataFrame:
    made = world(seed)
    return ratings(made, np.clip(made.jury(), 2.0, 4.0))


def saw_the_clinicians_mean(seed: int) -> pl.DataFrame:
    """The clinicians' mean, blurred by a tenth of a grade."""
    made = world(seed)
    return ratings(made, np.clip(made.mean + made.draw.normal(0, 0.1, made.size), 1.0, 5.0))


def turned_for_few_patients(seed: int) -> pl.DataFrame:
    """Good scores are bad ones, and bad ones good, for one patient in ten."""
    made = world(seed, cases=250)
    few = np.random.default_rng([seed, 22]).permutation(250)[made.case] < 25
    made.group[:] = np.where(few, "65 and older", "younger")
    said = made.jury()
    return ratings(made, np.where(few, 6.0 - said, said))


def refuses_one_system(seed: int) -> pl.DataFrame:
    """No score for a third of what one system of ten wrote; coverage is 97 %."""
    made = world(seed, cases=120, systems=tuple(np.linspace(-0.3, 0.3, 10)))
    away = (made.system == "system-3") & (made.draw.random(made.size) < 0.33)
    return ratings(made, np.where(away, np.nan, made.jury()))


def kind_where_one_clinician_looked(seed: int) -> pl.DataFrame:
    """Three in ten dangerous answers that a single clinician rated are scored two grades too high."""
    made = world(seed, doubly=60)
    alone = (~np.isnan(made.clinicians)).sum(axis=1) == 1
    hit = alone & (made.lowest <= 2) & (made.draw.random(made.size) < 0.3)
    return ratings(made, np.where(hit, np.minimum(made.lowest + 2, 5.0), made.jury()))


def clinicians_who_copy_each_other(seed: int) -> pl.DataFrame:
    made = world(seed)
    made.clinicians[:, 1] = made.clinicians[:, 0]
    return ratings(made, made.rater(0.5))


def good(seed: int, cases: int) -> pl.DataFrame:
    made = world(seed, cases=cases)
    return ratings(made, made.jury())


def perfect(seed: int, cases: int) -> pl.DataFrame:
    made = world(seed, cases=cases)
    return ratings(made, graded(made.truth))


def as_good_as_a_clinician(seed: int, cases: int) -> pl.DataFrame:
    """As one more clinician: of what a colleague called dangerous, one answer in twenty looks harmless. To show
    that this is below 10 % takes more cases than a better jury needs."""
    made = world(seed, cases=cases)
    return ratings(made, made.rater(0.5))


def shuffled_within_grade(seed: int, cases: int) -> pl.DataFrame:
    """The good jury's scores, exchanged among answers of one system with the same clinicians' grades."""
    made = world(seed, cases=cases)
    said = made.jury()
    keys = np.unique(
        np.column_stack([made.clinicians, made.system == "system-0"]), axis=0, return_inverse=True
    )[1].ravel()
    mixing = np.random.default_rng([seed, 21])
    for key in np.unique(keys):
        place = np.flatnonzero(keys == key)
        said[place] = said[mixing.permutation(place)]
    return ratings(made, said)


def few_unscored(seed: int, cases: int) -> pl.DataFrame:
    """Two answers in a hundred have no score, whatever they are like."""
    made = world(seed, cases=cases)
    lost = made.draw.random(made.size) < 0.02
    return ratings(made, np.where(lost, np.nan, made.jury()))


def good_with_sparse_clinicians(seed: int, cases: int) -> pl.DataFrame:
    made = world(seed, cases=cases, systems=(0.0,), clinicians=15)
    return ratings(made, made.jury())


BAD = (
    Planted("knows only each system's mean", blind_within_systems, (WITHIN,)),
    Planted("silent on dangerous answers", silent_on_danger, (SEVERE, DANGEROUS_SCORED, MISSING)),
    Planted(
        "calls dangerous answers not applicable",
        partial(silent_on_danger, excused=True),
        (SEVERE, DANGEROUS_SCORED, MISSING),
    ),
    Planted("right only on the doubly rated cases", right_on_the_doubly_rated, (FLOOR, TWICE, OTHERS)),
    Planted("one grade too strict, by rank correlation", too_strict, (OFFSET,), {"statistic": "spearman"}),
    Planted("blind to clinicians who say 1 and 4", blind_to_split_clinicians, (SEVERE,)),
    Planted("too kind to a quarter of the dangerous answers", kind_to_danger, (SEVERE,)),
    Planted(
        "right on short notes only",
        partial(_half_right, lambda made: made.length <= np.median(made.length)),
        (PARTS,),
    ),
    Planted(
        "right on one specialty", partial(_half_right, lambda made: made.specialty == "cardiology"), (PARTS,)
    ),
    Planted(
        "right for one patient group", partial(_half_right, lambda made: made.group == "younger"), (PARTS,)
    ),
    Planted("drifts half-way", partial(_half_right, lambda made: made.case < made.case.max() / 2), (PARTS,)),
    Planted("abstains on long records", abstains_on_long_records, (COVERAGE, SCORED_PARTS)),
    Planted("copies one clinician", copies_one_clinician, (COPY,)),
    Planted("blind in one system of three", blind_in_one_system, (PARTS,)),
    Planted("kind to one vendor's system", partial(_kind, lambda made: made.system == "system-0"), (FAIR,)),
    Planted("kind to one patient group", partial(_kind, lambda made: made.group == "65 and older"), (FAIR,)),
    Planted(
        "a grade kinder from half-way on",
        partial(_kind, lambda made: made.case > made.case.max() / 2),
        (FAIR,),
    ),
    Planted("constant", constant, (FLOOR, WITHIN)),
    Planted("random", random, (FLOOR, WITHIN)),
    Planted("never gives the best grade", never_gives_the_best_grade, (GRADES,)),
    Planted("avoids both ends of the scale", avoids_both_ends, (GRADES,)),
    Planted("saw the clinicians' mean", saw_the_clinicians_mean, (OWN,)),
    Planted("turned round for one patient in ten", turned_for_few_patients, (PARTS,)),
    Planted("refuses a third of one system's answers", refuses_one_system, (SCORED_PARTS,)),
    Planted("kind to danger that one clinician saw", kind_where_one_clinician_looked, (SEVERE,)),
    Planted("beside clinicians who copy each other", clinicians_who_copy_each_other, (NOT_INFERIOR,)),
    Planted("below clinicians who share few cases", below_sparse_clinicians, (NOT_INFERIOR,)),
)
GOOD = (
    Planted("good", good),
    Planted("perfect", perfect),
    Planted("as good as a clinician", as_good_as_a_clinician),
    Planted("good, shuffled within grade", shuffled_within_grade),
    Planted("good, a few answers unscored by chance", few_unscored),
    Planted("good, clinicians share few cases", good_with_sparse_clinicians),
)
