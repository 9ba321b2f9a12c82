"""What a tuning needs and will take: cases, their split, objective, judge and gate; calls and price."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from medjury.foundation.documents import nearest, validate_part
from medjury.foundation.errors import MedjuryError
from medjury.instruments import Dimension, Instrument, Unscored
from medjury.judging import PROMPT_VERSION, Rater, Speaker, Used
from medjury.models import (
    AuditLog,
    Budget,
    ChatModel,
    Gate,
    Limits,
    MemoryCache,
    PriceList,
    ReplyCache,
    audit_totals,
    estimate_tokens,
)
from medjury.store.runs import files
from medjury.studies import (
    Humans,
    ModelPart,
    Study,
    read_rules,
    touched_marks,
)
from medjury.tuning._gepa import need
from medjury.tuning._labelled_cases import (
    SIDES,
    Labelled,
    Split,
    as_stated,
    graded,
    labelled_cases,
    split_cases,
)
from medjury.tuning._objective import Objective, make_objective
from medjury.tuning._prompt_texts import case_inputs, editable_texts
from medjury.tuning._settings import TuningPart, rollouts

_WRITER_TOKENS = 4096


def read_settings(study: Study, **stated: object) -> TuningPart:
    """The part `tuning:` of the study file; what is `stated` on the command line goes before it."""
    said = {
        **(study.settings.tuning or {}),
        **{name: value for name, value in stated.items() if value is not None},
    }
    return validate_part(study.document, ("tuning",), said, TuningPart)


@dataclass(frozen=True)
class Preparation:
    """`judge` is the study's judge as it is; `cases` are all that can be learned from, with so many single `labels`
    of clinicians; `left_out` counts by reason what cannot; `settings_hash` tells one tuning from another."""

    study: Study
    part: TuningPart
    place: int
    instrument: Instrument
    dimensions: tuple[Dimension, ...]
    humans: Humans
    cases: Sequence[Labelled]
    labels: int
    left_out: Mapping[str, int]
    split: Split
    objective: Objective
    writer: Speaker
    writer_part: ModelPart
    folder: Path
    settings_hash: str
    others: tuple[tuple[ChatModel, ModelPart], ...] = ()  # that the tuned prompt is run with at the end

    @property
    def prices(self) -> PriceList:
        """The study's, with the tuning's own models' on top."""
        prices = self.study.prices
        for model, part in ((self.writer.model, self.writer_part), *self.others):
            if part.price is not None:
                prices = prices.with_price(model, **part.price.model_dump())
        return prices

    @property
    def clinicians(self) -> int:
        return len({each.rater for each in self.humans.ratings})

    @property
    def judge(self) -> Rater:
        return self.study.jury.judges[self.place]


def prepare(
    study: Study, part: TuningPart, *, out: str | Path | None = None, rehearse: bool = False
) -> Preparation:
    """Everything short of the first question; a rehearsal writes nothing."""
    need("gepa" if part.way == "gepa" else "optuna")
    place = study.judge_place(part.judge)
    instrument = study.jury.judges[place].instrument
    names = [each.name for each in instrument.dimensions]
    for name in part.dimensions or ():
        if name not in names:
            raise MedjuryError(
                f"{study.file}: tuning.dimensions: no dimension {name!r}; {nearest(name, names)}"
            )
    if part.way == "examples" and part.dimensions is not None and set(part.dimensions) != set(names):
        raise MedjuryError(
            f"{study.file}: an example has a grade on every dimension; take `tuning.dimensions` out, or name the "
            "study's own `dimensions`"
        )
    editable_texts(instrument, part.texts)
    dimensions = graded(instrument, part.dimensions or names)
    humans = Humans.read(study, rehearse=rehearse)
    cases, labels, left_out = labelled_cases(study, humans, [each.name for each in dimensions], part.group)
    assert humans is not None
    if study.split is not None:
        if "split" in (study.settings.tuning or {}):
            raise MedjuryError(
                f"{study.file}: `split` and `tuning.split` both say which cases are learned from; take the sizes "
                "out of `tuning`"
            )
        split = as_stated(cases, study.split, seed=part.seed, seen_before=touched_marks(instrument))
    else:
        split = split_cases(
            cases,
            dimensions,
            sizes=part.split,
            seed=part.seed,
            group=part.group,
            seen_before=touched_marks(instrument),
            development=read_rules(study.file)[0].development_cases,
        )
    objective = make_objective(part.objective, instrument, dimensions, split.training, part.cost_matrix)
    study.rater_with(place, instrument)  # what cannot be tuned is refused here
    models = list(study.models)
    for settings in part.models:
        study.rater_with(place, instrument, model=settings, models=models)
    writer, writer_part = _writer(study, part, place)
    stated = {
        "part": part.described(),
        "judge": study.jury.judges[place].settings_hash(),
        "instrument": instrument.fingerprint(),
        "split": split.hash(),
        "writer": dict(writer.model.identity),
        "prompt": PROMPT_VERSION,
    }
    digest = hashlib.sha256(json.dumps(stated, sort_keys=True, default=str).encode()).hexdigest()
    named = out or part.output
    base = study.file.resolve().parent
    folder = study.output.with_name(f"{study.output.name}-tuning") if named is None else base / named
    return Preparation(
        study, part, place, instrument, dimensions, humans, cases, labels, left_out, split, objective, writer,
        writer_part, folder if out is None else Path(out), digest, tuple(models[len(study.models) :]),
    )  # fmt: skip


def _writer(study: Study, part: TuningPart, place: int) -> tuple[Speaker, ModelPart]:
    """The model that writes prompts: the one that is named, else the judge's own first model."""
    if part.reflector is not None:
        model, how = study.model_of(part.reflector, "reflector")
    else:
        model = study.jury.judges[place].models[0]
        how = next(each for known, each in study.models if known is model)
    tokens = (
        max(how.max_tokens, _WRITER_TOKENS) if "max_tokens" not in how.model_fields_set else how.max_tokens
    )
    # Drawn, not repeated: several proposals for the same misses must differ.
    temperature = (
        how.temperature if "temperature" in how.model_fields_set and part.reflector is not None else 1.0
    )
    return Speaker(model, temperature, how.seed, tokens), how


# The gate of a tuning: the study's hosts, budget, prices and pace, and a log in the tuning folder.


def tuning_gate(made: Preparation, prices: PriceList, cache: ReplyCache | None) -> Gate:
    """The gate that every question of a tuning passes; without a cache, one to check with."""
    study, log = made.study, made.folder / files.AUDIT_LOG
    caps = study.settings.budget
    parts = {model.name: part for model, part in (*made.others, *study.models)}
    parts.setdefault(made.writer.model.name, made.writer_part)
    return Gate(
        cache=MemoryCache() if cache is None else cache,
        allow_hosts=study.settings.allow_hosts,
        budget=Budget.after(audit_totals(log), caps.money, caps.calls),
        prices=prices,
        audit=None if cache is None else AuditLog(log),
        limits={
            name: Limits(part.concurrency, part.requests_per_minute, part.tokens_per_minute)
            for name, part in parts.items()
        },
    )


def tuning_models(made: Preparation) -> list[ChatModel]:
    """Every model that a tuning may ask."""
    others = [model for model, _ in made.others]
    return list({id(each): each for each in (*made.judge.models, made.writer.model, *others)}.values())


# What a tuning will take, told before the first question: judgements, proposals, calls and price.


_WRITTEN_TOKENS = 600  # of a new text: a stated assumption
_FEEDBACK_TOKENS = 200
FITTED = 60  # training cases on which the tuned prompt is looked at, to see whether it knows them by heart


@dataclass(frozen=True)
class TuningPlan:
    """Expected calls by what they are for, their price (None: not known) and what was split how."""

    lines: tuple[str, ...]
    judgements: int
    proposals: int
    held_out: int
    money: float | None
    currency: str

    @property
    def calls(self) -> int:
        return self.judgements + self.proposals + self.held_out

    def content(self) -> dict[str, Any]:
        names = ("lines", "judgements", "proposals", "held_out", "calls", "money", "currency")
        return {name: getattr(self, name) for name in names}

    def text(self) -> str:
        price = "not known" if self.money is None else f"{self.money:,.2f} {self.currency}"
        return "\n".join(
            [
                *self.lines,
                f"search: at most {self.judgements:,} judgements of cases and {self.proposals:,} proposals; "
                f"held-out: {self.held_out:,} judgements",
                f"In all about {self.calls:,} calls, price {price}. Answers that are stored already cost nothing.",
                "Tokens are estimated from characters; an answer that is asked for again comes on top.",
            ]
        )


def plan_tuning(made: Preparation, prices: PriceList) -> TuningPlan:
    """The most that the search takes, and what the held-out cases take."""
    part, split = made.part, made.split
    each = _mean_use(made)
    if part.way == "gepa":
        texts = editable_texts(made.instrument, part.texts)
        judgements = rollouts(part.budget, len(texts), len(split.validation))
        batch = min(part.minibatch, len(split.training))
        judgements += batch * (1 + part.candidates) + part.candidates * len(
            split.validation
        )  # the last round
        proposals = part.candidates * max(1, judgements // batch)
    else:
        judgements, proposals = (1 + len(part.shots) * part.trials) * len(split.validation), 0
    rounds = 1 + len(part.learning_curve)
    models = max(1, len(part.models)) * part.runs if part.models or part.runs > 1 else 0
    fitted = 2 * min(FITTED, len(split.training))
    again = models * len(split.held_out) if part.evaluate else 0
    held_out = (2 * rounds + 1) * len(split.held_out) + fitted + again if part.evaluate else 0
    judge_price = prices.estimate(made.judge.models[0], each.tokens_in, each.tokens_out)
    write_price = prices.estimate(made.writer.model, _proposal_tokens(made), _WRITTEN_TOKENS)
    named = [prices.estimate(model, each.tokens_in, each.tokens_out) for model, _ in made.others]
    others = named or [judge_price]
    known = (not proposals or write_price is not None) and (not again or None not in others)
    money = None
    if judge_price is not None and known:
        money = (rounds * judgements + held_out - again) * judge_price
        money += rounds * proposals * (write_price or 0.0)
        money += again * sum(each or 0.0 for each in others) / len(others)
    return TuningPlan(
        tuple(split_lines(made)), rounds * judgements, rounds * proposals, held_out, money, prices.currency
    )


def split_lines(made: Preparation) -> list[str]:
    """The labelled cases and how they were split, for a reader."""
    split, found = made.split, made.split.described(made.dimensions)
    lines = [
        f"{len(made.cases):,} labelled cases ({made.labels:,} labels of "
        f"{made.clinicians:,} raters), kept together by {split.group}, seed {split.seed}, split "
        f"{found.hash[:12]}"
    ]
    for side in SIDES:
        labels = ", ".join(f"{name}: {count:,}" for name, count in found.labels[side].items())
        lines.append(
            f"  {side.replace('_', '-'):10} {len(split.of(side)):,} cases of {found.groups[side]:,} groups "
            f"({labels})"
        )
    left_out = dict(made.left_out)
    if apart := len(made.cases) - sum(len(split.of(side)) for side in SIDES):
        left_out["it belongs to a development case, or was tuned on before"] = apart
    lines += [f"  left out: {count:,} ({why})" for why, count in left_out.items()]
    if found.kin:
        lines.append(
            f"! {found.kin:,} held-out cases are of patients, items or texts that tuning sees too: what "
            "they show may be what it learned by heart. Group by patient"
        )
    return lines


def _mean_use(made: Preparation) -> Used:
    total, count = Used(), 0
    for case in made.split.seen[:50]:
        for unit in made.judge.units(case.case, 0):
            expected = made.judge.expected(unit)
            if not isinstance(expected, Unscored):
                total = total.plus(expected)
        count += 1
    return Used(1, total.tokens_in // max(1, count), total.tokens_out // max(1, count))


def _proposal_tokens(made: Preparation) -> int:
    shown = made.split.training[: made.part.minibatch]
    own = sum(estimate_tokens(case_inputs(made.instrument, each.case)) + _FEEDBACK_TOKENS for each in shown)
    return own + estimate_tokens(made.instrument.instructions) + 400
