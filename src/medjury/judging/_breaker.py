"""The breaker: a run that cannot succeed is stopped before it has cost much, with the reason and what cures it.

Of each model at most `FIRST_QUESTIONS` are under way until one of them was answered usably; where none of them was,
for whatever lasting reasons, so would the rest be. What may pass (a server that is unavailable) is given more time:
every question is tried several times, and only `IN_A_ROW` of them that fail without an answer between them stop the
run.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping
from contextvars import ContextVar

from medjury.instruments import TRANSIENT, Reason
from medjury.models import ChatModel, ModelError

FIRST_QUESTIONS = 20
IN_A_ROW = 10
# Failures that a run of them shows to be an outage. A server that asks for patience is available.
_OUTAGES = frozenset({Reason.PROVIDER, Reason.TIMEOUT})
# Nothing was paid, and the next case may be shorter; or nothing was asked at all.
_NOT_THE_MODELS = frozenset({Reason.CONTEXT, Reason.OVER_BUDGET, Reason.NOT_STORED, Reason.RATE_LIMIT})
_FORM = (
    "Its answers do not keep to the form: `medjury models check` shows what the endpoint takes; try "
    "another model"
)
_CURES: Mapping[Reason, str] = {
    Reason.TRUNCATED: "Raise `max_tokens` of this model: one that thinks before it answers needs several thousand",
    Reason.EMPTY: "Raise `max_tokens` if the model thinks before it answers; otherwise try another model",
    Reason.REFUSAL: "Take another model, or an instrument whose words it accepts",
    Reason.PROVIDER: "Correct `url`, `kind` or `model`: `medjury models check` shows what it answers",
    Reason.OTHER_MODEL: "Ask for the model by the name that answers, or take out `model_check: strict`",
    Reason.PARSE: _FORM,
    Reason.MISSING: _FORM,
    Reason.OUT_OF_RANGE: _FORM,
}


class HopelessError(ModelError):
    """Every further question would be paid for in vain: the run fails."""

    def __init__(self, reason: Reason, message: str) -> None:
        super().__init__(reason, message, fatal=True)


class UnreachableError(ModelError):
    """A model is unavailable for now: the run is incomplete, and goes on another time."""

    def __init__(self, reason: Reason, message: str) -> None:
        super().__init__(reason, message, fatal=True)


class Breaker:
    """Watches the questions of a run. With `keep_going` it lets everything pass."""

    def __init__(self, *, keep_going: bool = False) -> None:
        self._keep_going = keep_going
        self._models: dict[str, _Watched] = {}
        self._stopped: ModelError | None = None

    def question(self, model: ChatModel) -> Watch:
        """Around one question, re-asks included. Who asks tells how it ended; a question that ends in an error says
        nothing. Waits while too many are under way that nobody has seen answered."""
        free = self._keep_going or model.batch is not None  # a job is one question of thousands
        return Watch(self, model, None if free else self._models.setdefault(model.name, _Watched()))

    def check(self) -> None:
        """Stop here where the run is to stop."""
        if self._stopped is not None:
            raise self._stopped

    def ended(self, model: ChatModel, watched: _Watched, ending: Watch) -> None:
        watched.under_way -= 1
        watched.note(ending)
        self._stopped = self._stopped or watched.verdict(model)
        watched.wake()


class Watch:
    """One question while it is asked, and how it ended: well, or in a failure that lasts or may pass. Nothing is
    noted of an answer that was stored, or of one of which a part can be used. `watched` is None where nobody
    watches."""

    __slots__ = ("_breaker", "_model", "_watched", "good", "lasts", "message", "reason")

    def __init__(self, breaker: Breaker, model: ChatModel, watched: _Watched | None) -> None:
        self._breaker, self._model, self._watched = breaker, model, watched
        self.good = self.lasts = False
        self.reason: Reason | None = None
        self.message = ""

    async def __aenter__(self) -> Watch:
        if self._watched is not None:
            self._breaker.check()
            while self._watched.full:
                await self._watched.changed.wait()
                self._breaker.check()
            self._watched.under_way += 1
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._watched is not None:  # the engine stops once what came of the question is stored
            self._breaker.ended(self._model, self._watched, self)

    def answered(self) -> None:
        self.good = True

    def failed(self, reason: Reason, message: str, *, may_pass: bool = False) -> None:
        if reason in _NOT_THE_MODELS:
            return
        self.reason, self.message = reason, message
        self.lasts = reason not in TRANSIENT or (reason is Reason.PROVIDER and not may_pass)


class _Watched:
    """What is known of one model."""

    def __init__(self) -> None:
        self.changed = asyncio.Event()
        self.under_way = 0
        self._proven = False
        self._lost: Counter[Reason] = Counter()  # questions without an answer, by the reason that lasts
        self._in_a_row = 0  # of outages
        self._message = ""

    @property
    def full(self) -> bool:
        return not self._proven and self.under_way + self._lost.total() >= FIRST_QUESTIONS

    def note(self, ending: Watch) -> None:
        if ending.good:
            self._proven, self._in_a_row = True, 0
        elif ending.reason is None:
            return
        elif ending.lasts:
            self._in_a_row = 0
            self._lost[ending.reason] += 1
        elif ending.reason in _OUTAGES:
            self._in_a_row += 1
        self._message = ending.message

    def verdict(self, model: ChatModel) -> ModelError | None:
        """Why the run has to stop, where it has to."""
        if not self._proven and self._lost.total() >= FIRST_QUESTIONS:
            most = self._lost.most_common()
            why, _ = most[0]
            found = f"{model.name}: none of its first {self._lost.total()} answers can be used"
            reasons = ", ".join(f"{count:,} {reason.value}" for reason, count in most)
            found += f" ({reasons}); the last" if most[1:] else f", all for one reason ({why.value})"
            last = f"{found}: {self._message.rstrip('.')}. {_CURES.get(why, 'Try another model')}"
            return HopelessError(
                why,
                f"{last}. To ask the rest anyway: --keep-going. Once it is fixed, --retry-unscored asks "
                "for these answers again",
            )
        if self._in_a_row >= IN_A_ROW:
            found = f"{model.name}: {self._in_a_row} questions in a row failed; the last"
            return UnreachableError(Reason.PROVIDER, f"{found}: {self._message.rstrip('.')}")
        return None

    def wake(self) -> None:
        self.changed.set()
        self.changed = asyncio.Event()


# The breaker of the run that a question belongs to: raters pass their gate on through many hands.
BREAKER: ContextVar[Breaker | None] = ContextVar("breaker", default=None)


def breaker() -> Breaker:
    """The one of this run; where there is none, one that lets everything pass."""
    return BREAKER.get() or Breaker(keep_going=True)
