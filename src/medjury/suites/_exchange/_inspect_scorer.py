"""A jury as a scorer of Inspect."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from medjury.suites._exchange._answer_jury import AnswerJury, Opinion
from medjury.suites._exchange._wanted import wanted


def inspect_scorer(jury: AnswerJury | str | Path) -> Any:
    """A scorer for a task of Inspect, from a jury or a study file: the sample's input is the prompt, its target the
    reference; inputs of the instrument that its metadata names come from there. An answer without a score is
    Inspect's own unscored one (`Score.unscored`), which its metrics leave out; why is in its explanation."""
    scorers = wanted("inspect_ai.scorer", "inspect-ai", "a jury as a scorer of Inspect")
    asked = jury if isinstance(jury, AnswerJury) else AnswerJury(jury)

    @scorers.scorer(metrics=[scorers.mean(), scorers.stderr()], name="medjury")  # type: ignore[untyped-decorator]
    def medjury() -> Any:
        async def score(state: Any, target: Any) -> Any:
            answer = state.output.completion
            found = await asyncio.to_thread(
                asked.opinion,
                answer,
                prompt=state.input_text,
                reference=target.text,
                named=state.metadata,
            )
            return _score(scorers.Score, answer, found)

        return score

    return medjury()


def _score(made: Any, answer: str, found: Opinion) -> Any:
    if found.score is None:
        reason = "grader_failed" if answer.strip() else "no_response"
        return made.unscored(reason=reason, answer=answer, explanation=found.why, metadata=found.details())
    return made(value=found.score, answer=answer, explanation=found.because(), metadata=found.details())
