"""A jury as a metric of deepeval."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from medjury.foundation.errors import MedjuryError
from medjury.suites._exchange._answer_jury import AnswerJury
from medjury.suites._exchange._wanted import wanted


class UnscoredError(MedjuryError):
    """The jury gave no score, and nothing is put in its place."""


def deepeval_metric(jury: AnswerJury | str | Path, *, threshold: float = 0.5) -> Any:
    """A metric for `deepeval.evaluate` and `assert_test`, from a jury or a study file. The test case's `input` is
    the prompt, `actual_output` the answer, `expected_output` the reference; inputs of the instrument that its
    metadata names come from there.

    Where the jury gives no score the metric has none: it raises `UnscoredError` and sets `error`, so that deepeval
    stops, or reports an error where it was told to ignore errors. It never counts as 0."""
    base = wanted("deepeval.metrics", "medjury[deepeval]", "a jury as a metric of deepeval").BaseMetric
    asked = jury if isinstance(jury, AnswerJury) else AnswerJury(jury)

    class JuryMetric(base):  # type: ignore[misc, valid-type]
        def __init__(self) -> None:
            self.threshold = threshold
            self.evaluation_model = ", ".join(asked.judges)
            self.async_mode, self.strict_mode, self.include_reason = True, False, True
            self._forget()

        def _forget(self) -> None:
            self.score: float | None = None
            self.success: bool | None = None
            self.reason: str | None = None
            self.error: str | None = None
            self.score_breakdown: Mapping[str, float] = {}

        def measure(self, test_case: Any, *args: Any, **kwargs: Any) -> float:
            self._forget()
            found = asked.opinion(
                test_case.actual_output or "",
                prompt=test_case.input or "",
                reference=test_case.expected_output,
                named=test_case.metadata,
            )
            if found.score is None:
                self.error, self.success = f"UNSCORED: {found.why}", False
                raise UnscoredError(self.error)
            self.score, self.success = found.score, found.score >= self.threshold
            self.score_breakdown, self.reason = dict(found.grades), found.because()
            return found.score

        async def a_measure(self, test_case: Any, *args: Any, **kwargs: Any) -> float:
            return await asyncio.to_thread(self.measure, test_case)

        def is_successful(self) -> bool:
            return self.error is None and bool(self.success)

        @property
        def __name__(self) -> str:
            return asked.title

    return JuryMetric()
