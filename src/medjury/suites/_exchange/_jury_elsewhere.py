"""The jury of a study in the hands of another program: an opinion on one answer, in deepeval, HELM and Inspect."""

from __future__ import annotations

import asyncio
import importlib
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from medjury.foundation.errors import MedjuryError
from medjury.instruments import Instrument
from medjury.intake.cases import Case
from medjury.store.ratings import Rating
from medjury.studies import Study, judge_cases, load_study

# Which of another program's texts an instrument is shown under which name.

_ANSWER, _REFERENCE = "candidate", "reference"


def texts_for(instrument: Instrument, prompt: str, named: Mapping[str, Any] | None = None) -> dict[str, str]:
    """The instrument's inputs beside the answer and the reference: those that the other program has under the same
    name, and the prompt for the one that is left. Where several are left, which of them the prompt is would be a
    guess: they stay out, and an answer that needs them is unscored for want of its input."""
    named = named or {}
    others = [each for each in instrument.inputs if each.name not in (_ANSWER, _REFERENCE)]
    found = {each.name: str(named[each.name]) for each in others if named.get(each.name) not in (None, "")}
    open_ones = [each.name for each in others if each.required and each.name not in found]
    if not open_ones and not found and others:
        open_ones = [others[0].name]  # the prompt helps, although the instrument can do without
    if len(open_ones) == 1 and prompt.strip():
        found[open_ones[0]] = prompt
    return found


@dataclass(frozen=True, slots=True)
class Opinion:
    """The jury's score from 0 (worst) to 1 (best), or None and `why`. `grades` are its own by dimension, as the
    instrument has them, `votes` those of each judge, `unscored` the reasons of what has no grade."""

    score: float | None
    why: str = ""
    grades: Mapping[str, float] = field(default_factory=dict)
    votes: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    unscored: Mapping[str, str] = field(default_factory=dict)
    explanations: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if (self.score is None) != bool(self.why):
            raise ValueError("an opinion has either a score or the reason why there is none")

    def details(self) -> dict[str, Any]:
        """Everything but the score, as plain JSON values. Without a score it begins with the word UNSCORED."""
        told: dict[str, Any] = {} if self.score is not None else {"status": "UNSCORED", "why": self.why}
        told["grades"] = dict(self.grades)
        told["votes"] = {name: dict(each) for name, each in self.votes.items()}
        return told | ({"unscored": dict(self.unscored)} if self.unscored else {})

    def because(self) -> str:
        """The judges' explanations, one to a line."""
        return "\n".join(f"{name}: {text}" for name, text in self.explanations.items())


class AnswerJury:
    """The jury of a study (or of its file), asked for an opinion on one answer after another.

    Every answer passes the study's own gate, store, budget and log, and its redaction: one that was judged before
    costs nothing, and one that the budget does not allow is unscored. The score is the mean of the dimensions, each
    on its own scale put between 0 and 1; where one of them has no grade there is no score, because a mean of what
    happens to be there would compare different things. Answers are judged in turn, the judges of each at once."""

    def __init__(self, study: Study | str | Path) -> None:
        self._study = study if isinstance(study, Study) else load_study(study)
        benches = self._study.jury.all_benches
        if len(benches) != 1:
            raise MedjuryError(
                "name a study whose judges vote as one jury; this one has several juries, or none"
            )
        self._bench = benches[0].name
        self.instrument: Instrument = self._study.jury.judges[0].instrument
        known = [each.name for each in self.instrument.dimensions]
        self.dimensions = tuple(self._study.settings.dimensions or known)
        self._turn = threading.Lock()

    @property
    def title(self) -> str:
        return f"Medjury: {self.instrument.title}"

    @property
    def judges(self) -> tuple[str, ...]:
        return tuple(each.name for each in self._study.jury.judges)

    def opinion(
        self,
        answer: str,
        *,
        prompt: str = "",
        reference: str | None = None,
        named: Mapping[str, Any] | None = None,
    ) -> Opinion:
        """Judge one answer. The prompt and the `named` texts become the inputs of the instrument; one that it needs
        and that is missing leaves the answer unscored, as does any failure of a judge."""
        if not answer.strip():
            return Opinion(None, "the answer is empty: there is nothing to judge")
        texts = texts_for(self.instrument, prompt, named)
        case = Case("answer", candidate=answer, reference=reference or None, texts=texts, system="answer")
        try:
            with self._turn:
                rows = judge_cases(self._study, [case])
        except MedjuryError as error:
            return Opinion(None, f"the jury gave no score: {error}")
        return self._opinion(rows)

    def _opinion(self, rows: Sequence[Rating]) -> Opinion:
        grades: dict[str, float] = {}
        votes: dict[str, dict[str, float]] = {}
        unscored: dict[str, str] = {}
        because: dict[str, str] = {}
        lacking = set(self.dimensions)
        for row in rows:
            if row.dimension not in self.dimensions or row.rater not in (self._bench, *self.judges):
                continue
            own = row.rater == self._bench
            name = row.dimension if own else f"{row.rater}: {row.dimension}"
            if own and (row.score is not None or row.status == "not_applicable"):
                lacking.discard(row.dimension)
            if row.score is not None:
                (grades if own else votes.setdefault(row.rater, {}))[row.dimension] = row.score
            elif row.status != "not_applicable":
                unscored[name] = str(row.reason or row.status)
            if row.explanation and not own:
                because[name] = row.explanation
        if lacking:
            reasons = "; ".join(f"{name} ({why})" for name, why in unscored.items()) or "no rating"
            return Opinion(None, f"the jury gave no score: {reasons}", grades, votes, unscored, because)
        if not grades:
            return Opinion(None, "the jury gave no score: no dimension applies to this answer")
        parts = [self._share(name, grade) for name, grade in grades.items()]
        return Opinion(sum(parts) / len(parts), "", grades, votes, unscored, because)

    def _share(self, name: str, grade: float) -> float:
        scale = self.instrument.dimension(name)
        share = (grade - scale.lowest) / (scale.highest - scale.lowest)
        return min(1.0, max(0.0, share if scale.higher_is_better else 1.0 - share))


# Other programs are asked for only when somebody uses them.


def wanted(module: str, package: str, what: str) -> Any:
    """A module of another program, or how to get it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MedjuryError(
            f"{what} needs a package that is not installed here, or cannot be used ({error}): "
            f'pip install "{package}"'
        ) from None


# A jury as a metric of deepeval.


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


# A jury as an annotator of HELM, and the metric that makes its scores statistics of HELM.
#
# HELM asks an annotator for `name` and `annotate` and a metric for `evaluate`; nothing of it is imported until
# then.


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


# A jury as a scorer of Inspect.


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
