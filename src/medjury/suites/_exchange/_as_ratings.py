"""Another program's scores of a benchmark's items as ratings: one row for each item and metric, whether or not it
scored."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import astuple, replace
from pathlib import Path
from typing import Any

from medjury.foundation.documents import nearest
from medjury.foundation.errors import MedjuryError
from medjury.instruments import Reason
from medjury.intake import EvalLog
from medjury.intake.cases import Case
from medjury.judging import Sample, Speaker
from medjury.models import (
    Finish,
    Message,
    ModelError,
    RecordedAs,
    RecordedModel,
    Reply,
    failure_text,
    request_key,
    write_answers,
)
from medjury.statistics import counted
from medjury.store.ratings import Rating
from medjury.suites._benchmark import Benchmark, Helm, Item
from medjury.suites._exchange._others_answers import GivenAnswer, GivenRun, json_of, match_answers

# Another program's answers as a file of recorded answers, by which a suite takes them like any candidate's.
#
# Nothing is asked and nothing else changes: the same store, marks, jury and leaderboard. Only the question was
# another program's: its prompt, its examples and its settings, which is told wherever the scores are.


# Reads the run folders of HELM: `scenario_state.json` has the answers, `per_instance_stats.json` its scores.

STATE, STATISTICS, SPECIFICATION = "scenario_state.json", "per_instance_stats.json", "run_spec.json"


def helm_folders(path: Path) -> list[Path]:
    """The run folders at a path: it is one itself, or holds some (a suite of HELM)."""
    if not path.is_dir():
        return []
    return [path] if (path / STATE).is_file() else sorted(each.parent for each in path.glob(f"*/{STATE}"))


def read_helm_run(folder: Path) -> GivenRun:
    """One run folder. Requests that were changed on purpose (perturbed) and all trials but the first are left out,
    and counted."""
    state = _read(folder / STATE)
    try:
        model = str(state["adapter_spec"]["model"] or state["adapter_spec"]["model_deployment"])
        whole = [each for each in state["request_states"] if not each["instance"].get("perturbation")]
        wanted = [each for each in whole if each.get("train_trial_index", 0) == 0]
        scores = _helm_files_scores(folder)
        answers = tuple(_helm_files_answer(each, scores) for each in wanted)
        task = _task(folder)
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise MedjuryError(
            f"{folder}: is not a run folder of HELM that can be read ({type(error).__name__}: {error})"
        ) from None
    ids = [each.id for each in answers]
    twice = next((each for each in ids if ids.count(each) > 1), None) if len(set(ids)) < len(ids) else None
    if twice is not None:
        raise MedjuryError(f"{folder / STATE}: the instance {twice!r} appears twice; run HELM again")
    told = []
    if left := len(state["request_states"]) - len(whole):
        told.append(f"{folder.name}: {left:,} perturbed requests are left out")
    if left := len(whole) - len(wanted):
        told.append(f"{folder.name}: {left:,} requests of further trials are left out")
    return GivenRun("HELM", task, model, answers, tuple(told))


def _helm_files_answer(
    state: Mapping[str, Any], scores: Mapping[str, Mapping[str, float | None]]
) -> GivenAnswer:
    instance, result = state["instance"], state.get("result") or {}
    completions = result.get("completions") or []
    failure = ""
    if not result.get("success"):
        failure = str(result.get("error") or "the request failed")[:500]
    elif not completions:
        failure = "the result has no completion"
    first = completions[0] if completions else {}
    mapping = state.get("output_mapping") or {}
    return GivenAnswer(
        str(instance["id"]),
        str(instance["input"]["text"]),
        "" if failure else str(first["text"]),
        tuple(str(mapping[letter]) for letter in sorted(mapping)),
        failure,
        str((first.get("finish_reason") or {}).get("reason", "")),
        gold=tuple(
            str(each["output"]["text"])
            for each in instance.get("references") or ()
            if "correct" in each["tags"]
        ),
        scores={} if failure else scores.get(str(instance["id"]), {}),
    )


def _helm_files_scores(folder: Path) -> dict[str, dict[str, float | None]]:
    """HELM's own numbers of every instance; a statistic of nothing has none."""
    if not (folder / STATISTICS).is_file():
        return {}
    found: dict[str, dict[str, float | None]] = {}
    for each in _read(folder / STATISTICS):
        if each.get("train_trial_index", 0) or each.get("perturbation"):
            continue
        for name, mean in _means(each["stats"]):
            found.setdefault(str(each["instance_id"]), {})[name] = mean
    return found


def _means(statistics: Any) -> Iterator[tuple[str, float | None]]:
    for each in statistics:
        if each["name"].get("perturbation") is None:
            mean = each.get("mean") if each.get("count") else None
            yield str(each["name"]["name"]), None if mean is None else float(mean)


def _task(folder: Path) -> str:
    """The run's name less its model: `pubmed_qa:model=openai_gpt-4o` is `pubmed_qa`."""
    named = _read(folder / SPECIFICATION) if (folder / SPECIFICATION).is_file() else {}
    scenario, _, words = str(named.get("name") or folder.name).partition(":")
    kept = [
        each for each in words.split(",") if each and not each.startswith(("model=", "model_deployment="))
    ]
    return " ".join([scenario, *kept])


def _read(path: Path) -> Any:
    try:
        return json_of(path)
    except (OSError, ValueError, RecursionError) as error:
        raise MedjuryError(
            f"{path}: cannot be read as JSON ({type(error).__name__}); copy it again"
        ) from None


# Reads logs of Inspect, packed (`.eval`) or as JSON.

# What Inspect's letters say, as it counts them itself: N is a candidate that gave no answer, which is not right.
_LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}


def inspect_logs(path: Path) -> list[Path]:
    """The logs at a path: a file, or a folder of them."""
    if path.is_dir():
        return sorted(
            [*path.glob("*.eval"), *(each for each in path.glob("*.json") if _looks_like_one(each))]
        )
    return [path] if path.suffix == ".eval" or (path.suffix == ".json" and _looks_like_one(path)) else []


def read_inspect_log(path: Path) -> GivenRun:
    """One log. Of several epochs the first is taken, and what is left out is counted."""
    log = EvalLog.read(path) if path.suffix == ".eval" else _json_log(path)
    document = log.document
    try:
        first = [each for each in document["samples"] if each.get("epoch", 1) == 1]
        answers = tuple(_answer(each) for each in first)
        task, model = str(document["eval"]["task"]), str(document["eval"]["model"])
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise MedjuryError(
            f"{path}: is not a log of Inspect that can be read ({type(error).__name__}: {error})"
        ) from None
    told = [*log.reported, *(f"{path.name}: {count:,} × {what}" for what, count in log.left_out.items())]
    if left := len(document["samples"]) - len(first):
        told.append(f"{path.name}: {left:,} samples of further epochs are left out")
    return GivenRun("Inspect", task, model, answers, tuple(told))


def _json_log(path: Path) -> EvalLog:
    log = EvalLog.of(_parsed(path), path.name)
    if log is None:
        raise MedjuryError(
            f"{path}: is not a log of Inspect; write one with `inspect log dump FILE > log.json`"
        )
    return log


def _parsed(path: Path) -> Any:
    with suppress(OSError, ValueError, RecursionError):
        return json_of(path)
    return None


def _looks_like_one(path: Path) -> bool:
    return path.is_file() and EvalLog.of(_parsed(path), path.name) is not None


def _answer(sample: Mapping[str, Any]) -> GivenAnswer:
    output = sample.get("output") or {}
    choices = output.get("choices") or []
    error = sample.get("error") or {}
    failure = str(error.get("message", "the sample ended in an error"))[:500] if error else ""
    if not failure and not choices:
        failure = str(output.get("error") or "the sample has no output")[:500]
    usage = output.get("usage") or {}
    target = sample.get("target")
    return GivenAnswer(
        str(sample["id"]),
        _said(sample.get("input")),
        "" if failure else str(output.get("completion") or _said(choices[0]["message"]["content"])),
        tuple(map(str, sample.get("choices") or ())),
        failure,
        str(choices[0].get("stop_reason", "")) if choices else "",
        int(usage.get("input_tokens") or 0),
        int(usage.get("output_tokens") or 0),
        tuple(map(str, target if isinstance(target, list) else [target] if target else [])),
        {} if failure else dict(_scores(sample.get("scores") or {})),
    )


def _said(content: Any) -> str:
    """The text of an input or message: a text, parts of one, or messages, of which the user's are the question."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    parts = [
        str(each.get("text") or "") if "content" not in each else _said(each["content"])
        for each in content
        if each.get("role") in (None, "user")
    ]
    return "\n".join(part for part in parts if part)


def _scores(scores: Mapping[str, Any]) -> Iterator[tuple[str, float | None]]:
    for scorer, score in scores.items():
        value = score["value"]
        for part, each in value.items() if isinstance(value, dict) else [("", value)]:
            yield (f"{scorer} {part}" if part else scorer), _number(each)


def _number(value: Any) -> float | None:
    if isinstance(value, bool | int | float):
        return float(value) if math.isfinite(value) else None
    return _LETTERS.get(value) if isinstance(value, str) else None


_FINISHES: dict[str, Finish] = {
    "length": "length", "max_tokens": "length", "content_filter": "refusal", "model_length": "context",
}  # fmt: skip


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
    path: Path,
    questions: Sequence[tuple[Benchmark, Sequence[Item], Sequence[Case]]],
    speaker: Speaker,
    most_tokens: int | None,
    called: str,
    model: str | None,
    to: Path,
) -> tuple[list[str], dict[str, str] | None]:
    """Write the answers of one model at `path` as recorded answers to the items of these benchmarks, with the
    cases they are asked as; None for the `most_tokens` that the benchmark allows. What a reader must know; and
    of answers to HELM by case, as they were there, those that are put in our words: None of another
    program's."""
    runs = _of_one_model(path, model)
    answers = [each for run in runs for each in run.answers]
    program, by = runs[0].program, runs[0].model
    told = [
        f"{called}: its answers are those that {by} gave to {program}, with the prompts and settings there"
    ]
    told += [f"{called}: {line}" for run in runs for line in run.told]
    lines: list[tuple[Case, int, GivenAnswer]] = []
    helms: dict[str, str] = {}
    for benchmark, items, cases in questions:
        found, unmatched = match_answers(benchmark, items, answers, by=_asked_by(program, benchmark))
        reworded = len(helms)
        for item, case in zip(items, cases, strict=True):
            if item.id in found:
                answer = found[item.id]
                if program == "HELM" and (ours := _in_our_words(benchmark, answer)) is not None:
                    helms[case.id] = answer.text
                    answer = replace(answer, text=ours)
                lines.append((case, most_tokens or benchmark.most_tokens, answer))
        if benchmark.helm and (reworded := len(helms) - reworded):
            words = benchmark.helm.words.items()
            meant = ", ".join(f"{theirs or 'an empty one'} is {ours}" for ours, theirs in words)
            told.append(
                f"{called}: {benchmark.name}: {counted(reworded, 'answer')} read as HELM means them: {meant}"
            )
        told += [
            f"{called}: {benchmark.name}: {len(ids):,} of {len(items):,} items have no answer: {why}"
            for why, ids in unmatched.items()
        ]
    if not lines:
        raise MedjuryError(f"{path}: no answer belongs to an item of these benchmarks; {told[-1]}")
    # The same model's answers in another file are others: what is stored of one must not be found for the other.
    digest = hashlib.sha256(json.dumps([[case.id, astuple(each)] for case, _, each in lines]).encode())
    identity = {"kind": program, "model": f"{by} ({program})", "answers": digest.hexdigest()}
    was = RecordedAs(names=[called], identity=identity, vendor=by.partition("/")[0] if "/" in by else "")
    write_answers(to, [was], _recorded(lines, speaker, identity))
    return told, helms if program == "HELM" else None


def _asked_by(program: str, benchmark: Benchmark) -> Helm | None:
    return benchmark.helm if program == "HELM" else None


def _in_our_words(benchmark: Benchmark, answer: GivenAnswer) -> str | None:
    """The word that our prompt asks for where HELM's asks for another: an empty query says there that a question
    cannot be answered. An empty answer that was cut or withheld says nothing."""
    ended = not answer.failure and _FINISHES.get(answer.finish, "stop") == "stop"
    words = benchmark.helm.words if benchmark.helm else {}
    text = answer.text.strip()
    return next((ours for ours, theirs in words.items() if theirs == text and (text or ended)), None)


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
) -> Iterator[tuple[str, Reply | str]]:
    for case, most, answer in lines:
        message = Message("user", case.texts["prompt"])
        request = replace(speaker, max_tokens=most).request((message,), None, Sample())
        key = request_key(identity, request, request.draw)
        if answer.failure:
            yield key, failure_text(ModelError(Reason.PROVIDER, answer.failure), key)
        else:
            finish = _FINISHES.get(answer.finish, "stop")
            yield key, Reply(answer.text, finish, tokens_in=answer.tokens_in, tokens_out=answer.tokens_out)


def speaker_of(temperature: float | None, seed: int | None, max_tokens: int) -> Speaker:
    """Who is asked, as far as a key needs it: a recorded model is asked as any other."""
    return Speaker(RecordedModel(file="answers.jsonl"), temperature, seed, max_tokens, reasks=0, token=False)


_NOBODY_KNOWS_WHEN = "1970-01-01T00:00:00.000+00:00"


def ratings_of_given(
    path: str | Path, benchmark: Benchmark, items: Sequence[Item]
) -> tuple[list[Rating], list[str]]:
    """The scores that HELM or Inspect gave to the items of a benchmark, and what a reader must know of them. The
    rater is the program, the dimension its metric. A metric without a number, and an answer that never came, are
    unscored ratings."""
    found: list[Rating] = []
    told = []
    for run in read_given(Path(path)):
        answers, unmatched = match_answers(
            benchmark, items, run.answers, by=_asked_by(run.program, benchmark)
        )
        metrics = sorted({name for answer in run.answers for name in answer.scores})
        for item, answer in answers.items():
            found += [_rating(benchmark, run, item, answer, metric) for metric in metrics]
        told += [
            f"{run.model}: {len(ids):,} of {len(items):,} items have no score: {why}"
            for why, ids in unmatched.items()
        ]
        told += run.told
    return found, told


def _rating(benchmark: Benchmark, run: GivenRun, item: str, answer: GivenAnswer, metric: str) -> Rating:
    score = answer.scores.get(metric)
    failed = Reason.PROVIDER if answer.failure else Reason.MISSING
    return metric_rating(
        item,
        run.model,
        run.program,
        f"{benchmark.name}@{benchmark.version}",
        metric,
        score,
        None if score is not None else failed,
        created_at=_NOBODY_KNOWS_WHEN,
        stated=[run.program, run.model, benchmark.name, item, metric, score, answer.text],
    )


def metric_rating(
    item: str,
    system: str,
    rater: str,
    instrument: str,
    metric: str,
    score: float | None,
    reason: Reason | None,
    *,
    explanation: str = "",
    created_at: str,
    stated: Sequence[object],
) -> Rating:
    """What a metric said of an item, as a rating; its key is the hash of all that is `stated`."""
    return Rating(
        item=item,
        system=system,
        rater=rater,
        rater_kind="metric",
        instrument=instrument,
        dimension=metric,
        repeat=0,
        score=score,
        status="unscored" if score is None else "scored",
        reason=reason,
        explanation=explanation,
        seconds=None,
        tokens_in=None,
        tokens_out=None,
        cost=None,
        created_at=created_at,
        key=hashlib.sha256(json.dumps(stated).encode()).hexdigest(),
    )
