"""A jury as an annotator of HELM, and the metric that makes its scores statistics of HELM.

HELM asks an annotator for `name` and `annotate` and a metric for `evaluate`; nothing of it is imported until then.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from medjury.suites._exchange._answer_jury import AnswerJury, Opinion
from medjury.suites._exchange._wanted import wanted

_NAME = "medjury"


class JuryAnnotator:
    """Named in a run specification of HELM: `AnnotatorSpec(class_name="medjury.suites.JuryAnnotator",
    args={"study": "study.yaml"})`. An annotation without a score has no key `score`, but `status: UNSCORED` and
    `why`: a metric that reads it cannot take a failure for a number."""

    name = _NAME

    def __init__(self, study: Any) -> None:
        self._jury = study if isinstance(study, AnswerJury) else AnswerJury(study)

    def annotate(self, request_state: Any) -> dict[str, Any]:
        """What the jury says of the first completion of a request."""
        result, instance = request_state.result, request_state.instance
        if result is None or not result.success or not result.completions:
            return _annotation(Opinion(None, "the model gave no answer to judge"))
        correct = [each.output.text for each in instance.references if "correct" in each.tags]
        return _annotation(
            self._jury.opinion(
                result.completions[0].text,
                prompt=instance.input.text,
                reference=correct[0] if correct else None,
            )
        )

    def annotate_all(self, request_states: Sequence[Any]) -> list[dict[str, Any]]:
        return [self.annotate(each) for each in request_states]


def _annotation(opinion: Opinion) -> dict[str, Any]:
    scored = {} if opinion.score is None else {"score": opinion.score}
    return {**scored, **opinion.details()}


def helm_jury_metric() -> Any:
    """The metric, for `MetricSpec(class_name="medjury.suites.helm_jury_metric")`: `medjury_score` of the answers
    that have one, and `medjury_unscored`, 1 or 0, of every answer. HELM's own metric of annotations stops at the
    first answer without a score."""
    base = wanted("helm.benchmark.metrics.metric", "medjury[helm]", "a jury's scores in HELM").Metric
    made = wanted("helm.benchmark.metrics.statistic", "medjury[helm]", "a jury's scores in HELM").Stat
    named = wanted(
        "helm.benchmark.metrics.metric_name", "medjury[helm]", "a jury's scores in HELM"
    ).MetricName

    class JuryMetric(base):  # type: ignore[misc, valid-type]
        def evaluate_generation(
            self, adapter_spec: Any, request_state: Any, metric_service: Any, eval_cache_path: str
        ) -> list[Any]:
            found = request_state.annotations[_NAME]
            unscored = made(named(f"{_NAME}_unscored")).add(0 if "score" in found else 1)
            scored = [made(named(f"{_NAME}_score")).add(found["score"])] if "score" in found else []
            return [unscored, *scored]

    return JuryMetric()
