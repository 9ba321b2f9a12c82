"""What a tuning will take, told before the first question: judgements, proposals, calls and price."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from medjury.instruments import Unscored
from medjury.judging import Used
from medjury.models import PriceList, estimate_tokens
from medjury.tuning._preparation import Preparation
from medjury.tuning._search.reflection import case_inputs
from medjury.tuning._search.texts import editable_texts
from medjury.tuning._settings import rollouts

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
                "Tokens are estimated from characters; an answer that is handed back comes on top.",
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
    held_out = (2 * rounds + 1 + models) * len(split.held_out) + fitted if part.evaluate else 0
    judge_price = prices.estimate(made.judge.models[0], each.tokens_in, each.tokens_out)
    write_price = prices.estimate(made.writer.model, _proposal_tokens(made), _WRITTEN_TOKENS)
    known = judge_price is not None and (not proposals or write_price is not None)
    money = None
    if known:
        money = (rounds * judgements + held_out) * (judge_price or 0.0) + rounds * proposals * (
            write_price or 0.0
        )
    return TuningPlan(
        tuple(split_lines(made)), rounds * judgements, rounds * proposals, held_out, money, prices.currency
    )


def split_lines(made: Preparation) -> list[str]:
    """The labelled cases and how they were split, for a reader."""
    split, found = made.split, made.split.described(made.dimensions)
    lines = [
        f"{len(made.labelled.cases):,} labelled cases ({made.labelled.labels:,} labels of "
        f"{made.labelled.clinicians:,} raters), kept together by {split.group}, seed {split.seed}, split "
        f"{found.hash[:12]}"
    ]
    for side in ("training", "validation", "held_out"):
        labels = ", ".join(f"{name}: {count:,}" for name, count in found.labels[side].items())
        lines.append(
            f"  {side.replace('_', '-'):10} {len(split.of(side)):,} cases of {found.groups[side]:,} groups "
            f"({labels})"
        )
    lines += [f"  left out: {count:,} ({why})" for why, count in made.labelled.left_out.items()]
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
