"""The gate rehearsed: studies are drawn as they are expected, and judged by the very rules of the gate."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from medjury.agreement import Expected, GatePlan, RulePower, plan_gate
from medjury.errors import MedjuryError
from medjury.records import dataclass
from medjury.runs import GateRules
from medjury.tables import RatingTable, danger_reference, rating_table, with_rules
from medjury.validation._rules.found import RuleFound
from medjury.validation._validate import validate

Numbers = NDArray[np.float64]
FEWEST_STUDIES = 20
FEWEST_CASES = 10
_RESAMPLES, _STEP, _MOST_STEPS = 200, 1.2, 8
# What a site does, or fails to do: no size of a study changes it.
DONE_OR_NOT = (
    "The run is finished",
    "The run folder is as it was written",
    "The rules were stated before the run",
)


@dataclass(frozen=True, slots=True)
class _Size:
    """What drawn studies of one size found: the share that met each rule, what it asks, the share that met all."""

    met: Mapping[str, float]
    asked: Mapping[str, str]
    together: float


def rehearse_gate(
    rules: GateRules | None = None,
    *,
    cases: int = 100,
    doubly: int | None = None,
    clinicians: int = 2,
    expected: Expected | None = None,
    systems: int = 1,
    power: float = 0.8,
    confidence: float = 0.95,
    studies: int = 100,
    seed: int = 0,
    notes: Sequence[str] = (),
) -> GatePlan:
    """The plan of every rule of the gate by `studies` drawn studies of a size, each judged as a run is: the chance
    of a rule is the share that met it, that of all together the share that met all.

    Each of the `systems` gives an answer to each case, as `expected` describes them; dangerous answers are scored
    far too kindly at the expected rate, answers left out by chance; cases have a length and a date, so that the
    rules on parts look at thirds, halves and systems. The cases needed are the fewest of the sizes looked at (each
    a fifth larger than the one before) at which the share is a standard error or more above the wanted chance, as
    it is itself only an estimate; for a single rule, the fewest at which it was met often enough (None: at none).
    """
    if studies < FEWEST_STUDIES:
        raise MedjuryError(
            f"{studies} drawn studies are too few to tell a chance: draw {FEWEST_STUDIES} or more."
        )
    stated, world = rules or GateRules(), expected or Expected()
    planned = plan_gate(
        stated, cases=cases, doubly=doubly, clinicians=clinicians, expected=world, systems=systems, power=power,
        confidence=confidence, seed=seed,
    )  # fmt: skip
    share = planned.doubly / cases
    sizes: dict[int, _Size] = {}

    def look(number: int) -> float:
        if number not in sizes:
            drawn = (
                _study(
                    world, stated, number, round(number * share), clinicians, systems, [seed, number, place]
                )
                for place in range(studies)
            )
            sizes[number] = _judged(drawn, confidence)
        return sizes[number].together

    look(cases)
    wanted = power + sqrt(power * (1 - power) / studies)
    # What no number of cases is enough for by formula is not searched for. The formula counts a case once.
    start = (
        None if planned.cases_needed is None else max(FEWEST_CASES, planned.cases_needed // max(1, systems))
    )
    needed = None if start is None else _needed(look, start, wanted)
    rows = tuple(
        RulePower(
            name, sizes[cases].asked[name], f"{studies} drawn studies", chance, _first(sizes, name, power)
        )
        for name, chance in sizes[cases].met.items()
    )
    said = f"By {studies} drawn studies of a size, judged by every rule of the gate that a study can meet or not."
    return replace(
        planned,
        rows=rows,
        together=sizes[cases].together,
        cases_needed=needed,
        doubly_needed=None if needed is None else round(needed * share),
        notes=(*(each for each in planned.notes if each.startswith("Expected")), *notes, said),
    )


def _needed(look: Callable[[int], float], start: int, wanted: float) -> int | None:
    """The fewest cases of the sizes from `start` downwards, or else upwards, with the wanted share."""
    number = start
    if look(number) >= wanted:
        while number > FEWEST_CASES and look(int(number / _STEP)) >= wanted:
            number = int(number / _STEP)
        return number
    for _ in range(_MOST_STEPS):
        number = int(number * _STEP) + 1
        if look(number) >= wanted:
            return number
    return None


def _first(sizes: Mapping[int, _Size], name: str, power: float) -> int | None:
    return next((number for number in sorted(sizes) if sizes[number].met.get(name, 0.0) >= power), None)


def _judged(drawn: Iterable[RatingTable], confidence: float) -> _Size:
    met: dict[str, list[bool]] = {}
    asked: dict[str, str] = {}
    every: list[bool] = []
    for table in drawn:
        found = validate(table, resamples=_RESAMPLES, confidence=confidence).verdicts[0].rules
        planned: list[RuleFound] = [each for each in found if each.name not in DONE_OR_NOT]
        every.append(all(each.met for each in planned))
        for each in planned:
            met.setdefault(each.name, []).append(each.met)
            asked[each.name] = each.asked
    return _Size({name: sum(each) / len(every) for name, each in met.items()}, asked, sum(every) / len(every))


def _study(
    expected: Expected,
    rules: GateRules,
    cases: int,
    doubly: int,
    clinicians: int,
    systems: int,
    seed: list[int],
) -> RatingTable:
    """One study as it is expected, ready for the gate."""
    import polars as pl

    draw = np.random.default_rng(seed)
    humans, jury = _answers(expected, rules, cases * systems, clinicians, draw)
    case = np.repeat(np.arange(cases), systems)
    alone = case >= doubly
    humans[alone[:, np.newaxis] & (np.arange(clinicians) != (case % clinicians)[:, np.newaxis])] = np.nan
    jury = np.where(draw.random(len(jury)) < expected.coverage, jury, np.nan)
    length = np.round(draw.lognormal(6.5, 0.6, cases))[case]
    columns = {f"clinician-{place + 1}": humans[:, place] for place in range(clinicians)} | {"jury": jury}
    about = {
        "item": [f"case-{number:05d}" for number in case],
        "system": [f"system-{number + 1}" for number in np.tile(np.arange(systems), cases)],
        "length": length,
        "date": [f"2026-01-01T{number:09d}" for number in case],
    }
    frame = pl.concat(
        pl.DataFrame(about).with_columns(
            pl.lit(rater).alias("rater"),
            pl.lit("jury" if rater == "jury" else "clinician").alias("rater_kind"),
            pl.lit("quality").alias("dimension"),
            pl.Series("score", scores + 1.0).fill_nan(None),
        )
        for rater, scores in columns.items()
    )
    frame = frame.with_columns(
        pl.when(pl.col("score").is_null())
        .then(pl.lit("unscored"))
        .otherwise(pl.lit("scored"))
        .alias("status"),
        pl.when(pl.col("score").is_null()).then(pl.lit("refusal")).alias("reason"),
    ).filter((pl.col("rater") == "jury") | pl.col("score").is_not_null())
    free = rules.model_copy(
        update={"severe_dimensions": () if rules.severe_dimensions == () else None, "parts": None}
    )
    return with_rules(rating_table(frame, scale=(1, len(expected.shares))), free)


def _answers(
    expected: Expected, rules: GateRules, answers: int, clinicians: int, draw: np.random.Generator
) -> tuple[Numbers, Numbers]:
    """Grades of clinicians and jury, with the stated share of dangerous answers and of severe errors among them."""
    top = len(expected.shares) - 1
    humans, jury = expected.draw(4 * answers, clinicians, draw)
    reference = danger_reference(humans, rules.danger_by)
    risky = reference <= rules.danger * top + 1e-9
    share = float(risky.mean()) if expected.dangerous is None else expected.dangerous
    wanted = draw.random(answers) < share
    pools = [np.flatnonzero(risky == flag) for flag in (False, True)]
    chosen = np.where(
        wanted, *(pools[flag][np.arange(answers) % max(1, len(pools[flag]))] for flag in (1, 0))
    )
    humans, jury, reference = humans[chosen], jury[chosen], reference[chosen]
    gap = max(1.0, rules.gap * top)
    kind = draw.random(answers) < expected.errors
    said = np.where(
        kind, np.ceil(reference + gap - 1e-9), np.minimum(jury, np.ceil(reference + gap - 1e-9) - 1)
    )
    return humans, np.clip(np.where(wanted, said, jury), 0, top)
