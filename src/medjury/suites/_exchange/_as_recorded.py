"""Another program's answers as a file of recorded answers, by which a suite takes them like any candidate's.

Nothing is asked and nothing else changes: the same store, marks, jury and leaderboard. Only the question was
another program's: its prompt, its examples and its settings, which is told wherever the scores are.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass, replace
from pathlib import Path

from medjury.foundation.documents import nearest
from medjury.foundation.errors import MedjuryError
from medjury.instruments import Reason
from medjury.intake.cases import Case
from medjury.judging import Sample, Speaker
from medjury.models import (
    Finish,
    Message,
    ModelError,
    RecordedAs,
    RecordedFailure,
    RecordedModel,
    Reply,
    failure_text,
    request_key,
    write_answers,
)
from medjury.suites._benchmark import Benchmark
from medjury.suites._exchange._given import GivenAnswer, GivenRun
from medjury.suites._exchange._helm_files import helm_folders, read_helm_run
from medjury.suites._exchange._inspect_logs import inspect_logs, read_inspect_log
from medjury.suites._exchange._match import match_answers
from medjury.suites._item import Item

_FINISHES: dict[str, Finish] = {
    "length": "length", "max_tokens": "length", "content_filter": "refusal", "model_length": "context",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Questions:
    """The items of one benchmark with the cases they are asked as, and how long an answer may be."""

    benchmark: Benchmark
    items: Sequence[Item]
    cases: Sequence[Case]
    most_tokens: int


def is_given(path: Path) -> bool:
    """True where a path holds another program's results."""
    return bool(helm_folders(path) or inspect_logs(path))


def read_given(path: Path) -> list[GivenRun]:
    """Every run at a path: run folders of HELM, logs of Inspect."""
    runs = [read_helm_run(each) for each in helm_folders(path)]
    runs += [read_inspect_log(each) for each in inspect_logs(path)]
    if not runs:
        raise MedjuryError(f"{path}: holds no run folder of HELM and no log of Inspect")
    return runs


def record_given(
    path: Path, questions: Sequence[Questions], speaker: Speaker, called: str, model: str | None, to: Path
) -> list[str]:
    """Write the answers of one model at `path` as recorded answers to these questions; what a reader must know."""
    runs = _of_one_model(path, model)
    answers = [each for run in runs for each in run.answers]
    program, by = runs[0].program, runs[0].model
    told = [
        f"{called}: its answers are those that {by} gave to {program}, with the prompts and settings there"
    ]
    told += [f"{called}: {line}" for run in runs for line in run.told]
    lines: list[tuple[Case, int, GivenAnswer]] = []
    for each in questions:
        matched = match_answers(each.benchmark, each.items, answers)
        for item, case in zip(each.items, each.cases, strict=True):
            if item.id in matched.answers:
                lines.append((case, each.most_tokens, matched.answers[item.id]))
        told += [
            f"{called}: {each.benchmark.name}: {len(ids):,} of {len(each.items):,} items have no answer: {why}"
            for why, ids in matched.unmatched.items()
        ]
    if not lines:
        raise MedjuryError(f"{path}: no answer belongs to an item of these benchmarks; {told[-1]}")
    # The same model's answers in another file are others: what is stored of one must not be found for the other.
    digest = hashlib.sha256(json.dumps([[case.id, astuple(each)] for case, _, each in lines]).encode())
    identity = {"kind": program, "model": f"{by} ({program})", "answers": digest.hexdigest()}
    was = RecordedAs(names=[called], identity=identity, vendor=by.partition("/")[0] if "/" in by else "")
    write_answers(to, [was], _recorded(lines, speaker, identity))
    return told


def _of_one_model(path: Path, model: str | None) -> list[GivenRun]:
    runs = read_given(path)
    models = sorted({each.model for each in runs})
    if model is not None and model not in models:
        raise MedjuryError(f"{path}: holds no answers of {model!r}; {nearest(model, models)}")
    if model is None and len(models) > 1:
        raise MedjuryError(f"{path}: holds answers of {', '.join(models)}; name one with `model`")
    return [each for each in runs if model in (None, each.model)]


def _recorded(
    lines: Sequence[tuple[Case, int, GivenAnswer]], speaker: Speaker, identity: dict[str, str]
) -> Iterator[tuple[str, Reply | RecordedFailure]]:
    for case, most, answer in lines:
        message = Message("user", case.texts["prompt"])
        request = replace(speaker, max_tokens=most).request((message,), None, Sample())
        key = request_key(identity, request, request.draw)
        if answer.failure:
            yield key, RecordedFailure(failure_text(ModelError(Reason.PROVIDER, answer.failure), key))
        else:
            finish = _FINISHES.get(answer.finish, "stop")
            yield key, Reply(answer.text, finish, tokens_in=answer.tokens_in, tokens_out=answer.tokens_out)


def speaker_of(temperature: float | None, seed: int | None, max_tokens: int) -> Speaker:
    """Who is asked, as far as a key needs it: a recorded model is asked as any other."""
    return Speaker(RecordedModel(file="answers.jsonl"), temperature, seed, max_tokens, reasks=0, token=False)
