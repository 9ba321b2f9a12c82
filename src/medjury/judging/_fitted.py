"""A rater under a rule for records that are too long: what does not fit is refused, or shortened and recorded.

The gate alone knows whether a prompt fits, at every step of every way of judging; where no tokenizer can be
asked, it learns it from the endpoint. Where a prompt is refused, the record is shortened by as much as it was
too long and the unit is begun again; steps that were answered before are begun again too, because their
questions have changed.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from medjury.foundation.errors import MedjuryError
from medjury.foundation.hashes import json_hash
from medjury.instruments import Reason
from medjury.intake.cases import Case
from medjury.judging._around import Around, GateAround
from medjury.judging._rater import Rated, Rater, Unit
from medjury.judging._rows import shared
from medjury.judging._shortening import FITTING_VERSION, Truncation, shorten
from medjury.models import (
    Answer,
    ChatModel,
    ContextError,
    Gate,
    MemoryCache,
    ModelError,
    Request,
    context_window,
)
from medjury.store.ratings import Rating
from medjury.store.runs import Body, RecordedCut

_MOST_ROUNDS = 40  # each leaves out at least a sentence more; a handful is enough
_Result = TypeVar("_Result")


class Fitted(Around):
    """A rater with the windows of its models and, if wanted, a rule by which a record may be shortened. Without
    a rule a prompt that does not fit is not sent, and its ratings are unscored, free of charge.

    `stated` says that the user gave the windows: with others, what was refused is looked at again.
    """

    def __init__(self, rater: Rater, truncation: Truncation | None = None, *, stated: bool = True) -> None:
        super().__init__(rater)
        self._truncation = truncation
        unknown = [model.name for model in rater.models if context_window(model) is None]
        if truncation is not None and unknown:
            raise MedjuryError(
                f"a record can only be shortened to fit if the model's window is known, and that of "
                f"{unknown[0]} is not; say `context_window: TOKENS` (prompt and answer together)"
            )
        settings = {
            "rater": rater.settings_hash(),
            "windows": [context_window(model) for model in rater.models],
            "truncation": None if truncation is None else [FITTING_VERSION, truncation.settings()],
        }
        bound = truncation is not None or stated
        self._settings_hash = json_hash(settings, sort_keys=False) if bound else rater.settings_hash()

    @property
    def truncation(self) -> Truncation | None:
        return self._truncation

    def settings_hash(self) -> str:
        return self._settings_hash

    def describe(self) -> Mapping[str, object]:
        return {
            **self.rater.describe(),
            "context": "refuse" if self.truncation is None else self.truncation.settings(),
            "context_window": {model.name: context_window(model) for model in self.models},
        }

    async def rate(self, unit: Unit, gate: Gate) -> Rated:
        async def attempt(case: Case, watched: Watched) -> tuple[Rated, bool]:
            rated = await self.rater.rate(replace(unit, case=case), watched)
            if watched.refused and not watched.sent:
                rated = replace(rated, ratings=[_unpaid(rating) for rating in rated.ratings])
            return rated, any(rating.reason is Reason.CONTEXT for rating in rated.ratings)

        rated, cut, wasted = await fit(unit.case, self.truncation, gate, attempt)
        ratings = _with_calls(rated.ratings, wasted)
        if cut is None:
            return Rated(ratings, rated.record)
        record = rated.record or Body(kind="context")
        return Rated(ratings, record.replaced(context=cut))


async def fit(
    case: Case,
    rule: Truncation | None,
    gate: Gate,
    attempt: Callable[[Case, Watched], Awaitable[tuple[_Result, bool]]],
) -> tuple[_Result, RecordedCut | None, Sequence[Answer]]:
    """Make an attempt with the case, and again with a shorter one for as long as a prompt does not fit and the
    rule leaves something to leave out. `attempt` says whether it failed for want of room. Returns the last
    attempt, what was left out of its case, and the answers of the attempts before it: they were paid for."""
    wasted: list[Answer] = []
    cut: RecordedCut | None = None
    excess, shorter = 0, case
    before: set[int] = set()
    for _ in range(_MOST_ROUNDS):
        watched = Watched(gate)
        result, failed = await attempt(shorter, watched)
        if rule is None or not failed or not watched.refused:
            return result, cut, wasted
        if (
            before & watched.questions
        ):  # the prompt does not show what is left out: it would be refused for ever
            return result, None, wasted
        before |= watched.questions
        excess += max(each.excess for each in watched.refused)
        found = shorten(case, rule, excess)
        if found is None:  # nothing more may be left out: it is refused as it is
            return result, None, wasted
        shorter, cut = found
        wasted += watched.answers
    return result, None, wasted


class Watched(GateAround):
    """Another gate, with what passed it and what it refused for its length. `sent` counts the questions that
    were not refused, whatever came of them."""

    def __init__(self, gate: Gate) -> None:
        super().__init__(gate)
        self.answers: list[Answer] = []
        self.refused: list[ContextError] = []
        self.questions: set[int] = set()  # those that were refused
        self.sent = 0

    async def ask(self, model: ChatModel, request: Request, repeat: int = 0, name: str = "") -> Answer:
        try:
            answer = await super().ask(model, request, repeat, name)
        except ContextError as error:
            self.refused.append(error)
            self.questions.add(hash(request.messages))
            self.sent += error.sent
            if error.paid is not None:
                self.answers.append(error.paid)
            raise
        except BaseException:
            self.sent += 1
            raise
        self.sent += 1
        self.answers.append(answer)
        return answer


class _Rehearsal(Gate):
    """A gate that lets nothing pass and keeps what it was asked."""

    def __init__(self) -> None:
        super().__init__(cache=MemoryCache())
        self.questions: list[tuple[ChatModel, Request]] = []

    async def ask(self, model: ChatModel, request: Request, repeat: int = 0, name: str = "") -> Answer:
        self.questions.append((model, request))
        raise ModelError(Reason.CONTEXT, "a rehearsal: nothing is asked")


async def first_questions(unit: Unit) -> list[tuple[ChatModel, Request]]:
    """What would be asked first for a unit, found without asking anybody. Later steps depend on answers."""
    rehearsal = _Rehearsal()
    await unit.rater.rate(unit, rehearsal)
    return rehearsal.questions


def _unpaid(rating: Rating) -> Rating:
    """A rating for which nothing was sent costs nothing, for certain."""
    return replace(rating, cost=0.0, seconds=0.0, tokens_in=0, tokens_out=0, calls=0)


def _with_calls(ratings: Sequence[Rating], wasted: Sequence[Answer]) -> Sequence[Rating]:
    """The ratings with their share of calls that were made before the record had to be shortened."""
    if not wasted:
        return ratings
    rows = len(ratings)
    costs = [answer.worth for answer in wasted]
    cost = None if None in costs else sum(each or 0.0 for each in costs) / rows
    seconds = sum(answer.reply.seconds for answer in wasted) / rows
    tokens_in = sum(answer.reply.tokens_in for answer in wasted)
    tokens_out = sum(answer.reply.tokens_out for answer in wasted)
    return [
        replace(
            rating,
            cost=None if rating.cost is None or cost is None else rating.cost + cost,
            seconds=None if rating.seconds is None else rating.seconds + seconds,
            tokens_in=None if rating.tokens_in is None else rating.tokens_in + into,
            tokens_out=None if rating.tokens_out is None else rating.tokens_out + out,
            calls=None if rating.calls is None else rating.calls + calls,
        )
        for rating, into, out, calls in zip(
            ratings, shared(tokens_in, rows), shared(tokens_out, rows), shared(len(wasted), rows), strict=True
        )
    ]
