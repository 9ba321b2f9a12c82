"""How long a call takes of a model inside this process: nobody knows before one was tried."""

from __future__ import annotations

import time
from dataclasses import replace

from medjury.models import ChatModel, Message, ModelError, Request
from medjury.studies._planning.plan import JudgePlan, RunPlan
from medjury.studies._study import Study

# Neutral words, no clinical text; a token has about four characters.
_FILLER, _PER_TOKEN = "The weather was fair and the road was long. ", 4
_MOST_TOKENS = 20_000


async def timed_plan(study: Study, plan: RunPlan) -> RunPlan:
    """The plan with the time of every judge whose models all run in this process, from one call of the size that
    its calls have. Judges that others are asked for keep their guess, and so does one that gives no answer."""
    timed: dict[str, float] = {}
    judges = []
    for judge, part in zip(study.jury.judges, plan.judges, strict=True):
        local = [model for model in judge.models if _runs_here(model)]
        if len(local) < len(judge.models) or not part.calls:
            judges.append(part)
            continue
        seconds = await _seconds(local, part)
        if seconds is not None:
            timed[part.name] = seconds
        judges.append(part if seconds is None else replace(part, seconds=seconds * part.calls))
    for model, _ in study.models:
        await model.close()
    return replace(plan, judges=tuple(judges), timed=timed)


def _runs_here(model: ChatModel) -> bool:
    return model.host is None and not model.recorded and "weights" in model.identity


async def _seconds(models: list[ChatModel], part: JudgePlan) -> float | None:
    """The slowest of the models; None where one gives no answer."""
    tokens_in = min(part.tokens_in // part.calls, _MOST_TOKENS)
    words = _FILLER * max(1, tokens_in * _PER_TOKEN // len(_FILLER))
    asked = Message("user", f"{words}Say in a few sentences what this text is about.")
    request = Request((asked,), None, max(1, part.tokens_out // part.calls))
    longest = 0.0
    for model in models:
        try:
            await model.ask(replace(request, max_tokens=1, messages=(Message("user", "Ready?"),)))  # loads it
            started = time.monotonic()
            await model.ask(request)
        except ModelError:
            return None
        longest = max(longest, time.monotonic() - started)
    return longest
