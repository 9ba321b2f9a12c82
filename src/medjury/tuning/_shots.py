"""Search over examples: how many, which and in which order, chosen by the validation cases."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations

from medjury.foundation.errors import MedjuryError
from medjury.instruments import Dimension, Example, Instrument
from medjury.judging import chance
from medjury.tuning._gepa import Found, candidate_id
from medjury.tuning._labelled_cases import Labelled
from medjury.tuning._lineage import Ancestor
from medjury.tuning._objective import Objective
from medjury.tuning._prompt_texts import tuned_version
from medjury.tuning._session import Session
from medjury.tuning._settings import TuningPart

Order = tuple[int, ...]  # places in the shortlist, in the order in which they are shown


def search_shots(
    instrument: Instrument,
    training: Sequence[Labelled],
    validation: Sequence[Labelled],
    objective: Objective,
    session: Session,
    part: TuningPart,
) -> Found:
    """Try examples from a shortlist of training cases. Where every choice and order can be tried within the trials,
    all are; else Optuna's sampler looks where earlier trials did well, from a fixed seed."""
    if not validation:
        raise MedjuryError("there are no validation cases: nothing could be chosen by them; label more")
    listed = shortlist(training, objective.dimensions, part.shortlist, part.seed)
    plain = replace(instrument, examples=())
    scores: dict[Order, tuple[float, float]] = {}

    def worth(order: Order) -> tuple[float, float]:
        if order not in scores:
            made = with_shots(plain, [listed[at] for at in order], objective.dimensions)
            judged = session.wait_for(session.judge(made, candidate_id(made), list(validation)))
            said = [each.outcomes for each in judged]
            rewards = [objective.reward(case, each) for case, each in zip(validation, said, strict=True)]
            mean, whole = sum(rewards) / len(rewards), objective.whole(validation, said)
            scores[order] = (-math.inf if whole is None else whole, mean)
            _note(session, made, plain, order, len(scores) - 1, mean, whole)
        return scores[order]

    worth(())  # without any: what all others must beat
    for shots in sorted({min(each, len(listed)) for each in part.shots if each > 0}):
        _try(shots, listed, part, worth)
    best = max(scores, key=lambda order: (scores[order], -len(order)))
    made = with_shots(plain, [listed[at] for at in best], objective.dimensions)
    whole = [None if math.isinf(scores[each][0]) else scores[each][0] for each in (best, ())]
    return Found(made, plain, whole[0], whole[1], tried=len(scores) - 1)


def _try(shots: int, listed: Sequence[Labelled], part: TuningPart, worth: object) -> None:
    """All orders of this many examples, where that is few; else as many trials as the study allows."""
    assert callable(worth)
    if math.perm(len(listed), shots) <= part.trials:
        for order in permutations(range(len(listed)), shots):
            worth(order)
        return
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=part.seed))
    for _ in range(part.trials):
        trial = study.ask()
        order = tuple(
            trial.suggest_categorical(f"example {at}", list(range(len(listed)))) for at in range(shots)
        )
        if len(set(order)) < shots:  # an example shown twice
            study.tell(trial, state=optuna.trial.TrialState.PRUNED)
            continue
        whole, mean = worth(order)
        study.tell(trial, mean if math.isinf(whole) else whole)


def shortlist(
    training: Sequence[Labelled], dimensions: Sequence[Dimension], most: int, seed: int
) -> list[Labelled]:
    """Training cases that may be shown: in the order of chance, one of each label in turn, no two of one
    group while there are others."""
    first = dimensions[0]
    by_label: dict[int | None, list[Labelled]] = {}
    for each in sorted(training, key=lambda one: chance(seed, one.key)):
        by_label.setdefault(each.grade(first), []).append(each)
    found: list[Labelled] = []
    groups: set[str] = set()
    queues = [by_label[label] for label in sorted(by_label, key=lambda label: (label is None, label or 0))]
    while len(found) < most and any(queues):
        for queue in queues:
            if queue and len(found) < most:
                at = next((at for at, each in enumerate(queue) if each.group not in groups), 0)
                found.append(queue.pop(at))
                groups.add(found[-1].group)
    return found


def with_shots(
    instrument: Instrument, shots: Sequence[Labelled], dimensions: Sequence[Dimension]
) -> Instrument:
    """The instrument with these cases as its own examples, in this order."""
    if not shots:
        return instrument
    examples = tuple(_example(instrument, each, dimensions) for each in shots)
    return replace(instrument, version=tuned_version(instrument.version), examples=examples)


def _example(instrument: Instrument, case: Labelled, dimensions: Sequence[Dimension]) -> Example:
    inputs = {wanted.name: text for wanted in instrument.inputs if (text := case.case.words(wanted.name))}
    scores = {each.name: case.grade(each) for each in dimensions}
    reasons = [reason for each in dimensions for reason in case.reasons[each.name]]
    longest = max((each.partition(": ")[2] for each in reasons), key=len, default="")
    first = scores[dimensions[0].name]
    anchor = dimensions[0].grades[first] if first is not None else "This does not apply here."
    return Example(inputs, scores, longest or anchor.strip())


def _note(
    session: Session,
    made: Instrument,
    plain: Instrument,
    order: Order,
    number: int,
    mean: float,
    whole: float | None,
) -> None:
    name = candidate_id(made)
    session.lineage.note(
        Ancestor(
            hash=name,
            number=number,
            parents=() if not order else (candidate_id(plain),),
            texts={"examples": f"{len(order)} shots"},
            changed=("examples",) if order else (),
            validation=mean,
            whole=whole,
            cost=None if session.unknown_cost else session.spent.get(name, 0.0),
            calls=session.calls[name],
        )
    )
