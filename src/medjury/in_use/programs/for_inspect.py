"""The scorer `medjury/jury` of Inspect: the jury of a card grades every sample. Inspect alone imports this file."""

from __future__ import annotations

import asyncio
import math
from pathlib import Path
from typing import Any

from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState

from medjury.in_use.programs._card_jury import CardJury
from medjury.intake.cases import Case
from medjury.suites import texts_for


@scorer(metrics={"*": [mean(), stderr()]})  # type: ignore[untyped-decorator]
def jury(
    card: str | Path,
    study: str | Path | None = None,
    answers: str | Path | None = None,
    folder: str | Path | None = None,
    signers: str | Path | None = None,
) -> Scorer:
    """A score for every dimension of the card, on its own scale; NaN where there is none, with the reason. Another
    jury than the card's is an error, which ends the evaluation."""
    asked = CardJury(card, study=study, answers=answers, folder=folder, signers=signers)

    async def score(state: TaskState, target: Target) -> Score:
        answer, facts = state.output.completion, dict(state.metadata or {})
        if not answer.strip():
            return Score.unscored(reason="no_response", answer=answer, explanation="the answer is empty")
        case = Case(
            id=str(state.sample_id),
            candidate=answer,
            reference=target.text or None,
            texts=texts_for(asked.instrument, state.input_text, facts),
            system=str(facts.pop("system", state.model)),
            metadata={name: value for name, value in facts.items() if isinstance(value, str | int | float)},
        )
        found = await asyncio.to_thread(asked.judge, case)
        told: dict[str, Any] = {"answer": answer, "explanation": found.because(), "metadata": found.content()}
        if not found.scores:
            return Score.unscored(reason="grader_failed", **told)
        return Score(value={**dict.fromkeys(found.unscored, math.nan), **found.scores}, **told)

    return score
