"""The jury of open benchmarks: an ordinary study of the candidates' answers, with a run folder like any other.

The preset `medhelm` is the jury of that paper: three judges at temperature 0, the score before its explanation,
three axes from 1 to 5, and the mean of all nine grades. Any other judges stand in their place by one line.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from medjury.analysis.agreement import icc_3_k_z, mean_icc_3_k_z
from medjury.foundation.errors import MedjuryError
from medjury.foundation.files import private_folder, write_whole
from medjury.instruments import Instrument, load_instrument
from medjury.intake.cases import Case, write_cases
from medjury.statistics import Estimate, Floats
from medjury.store.runs import RunFolder
from medjury.studies import Study, load_study
from medjury.suites._benchmark import Item, prompt_of
from medjury.suites._leaderboard._results import AgreementResult, JuryResult
from medjury.suites._running._answers import Asked
from medjury.suites._running._suite import Chosen, Suite
from medjury.tables import open_run
from medjury.validation import evidence_of, validation_of

INSTRUMENT, COMPOSITE = "note_quality", "overall"
_RUN = "run"
# The judges of the paper. Llama has no address of its own: it is wherever a site or a provider serves it.
_PAPER: tuple[dict[str, Any], ...] = (
    {
        "name": "gpt-4o", "kind": "openai", "url": "https://api.openai.com/v1", "model": "gpt-4o-2024-05-13",
        "api_key_env": "OPENAI_API_KEY",
    },
    {
        "name": "claude-3.7-sonnet", "kind": "anthropic", "model": "claude-3-7-sonnet-20250219",
        "api_key_env": "ANTHROPIC_API_KEY",
    },
    {"name": "llama-3.3-70b", "kind": "openai", "model": "meta-llama/Llama-3.3-70B-Instruct"},
)  # fmt: skip


@dataclass(frozen=True)
class Judged:
    """The axes of an open benchmark with their weights, its instrument and its judges."""

    instrument: str
    weights: Mapping[str, float]
    judges: tuple[dict[str, Any], ...]


def jury_of(suite: Suite, chosen: Chosen) -> Judged | None:
    """How one open benchmark is judged; None where the suite has no jury, or the benchmark is closed."""
    if suite.settings.jury is None or not chosen.benchmark.open:
        return None
    named = chosen.benchmark.instrument or INSTRUMENT
    beside = suite.folder / named
    named = str(beside) if beside.is_file() else named
    return Judged(named, _axes(chosen, load_instrument(named)), _judges(suite))


def _judges(suite: Suite) -> tuple[dict[str, Any], ...]:
    jury = suite.settings.jury
    assert jury is not None
    listed = [dict(each) for each in jury.judges] or [dict(each) for each in _PAPER]
    if not jury.judges:
        if jury.llama_url is None:
            raise MedjuryError(
                f"{suite.file}: jury: the third judge of the preset is Llama 3.3 70B, which has no address of its "
                "own; say where it is, `jury: {preset: medhelm, llama_url: ADDRESS}`, or name your own judges"
            )
        listed[2]["url"] = jury.llama_url
    for each in listed:
        if isinstance(each.get("file"), str):  # of recorded answers: it lies beside the suite file
            each["file"] = str(suite.folder / each["file"])
    # The score first, then the explanation; temperature 0 unless a judge states another.
    return tuple({"explain": "after", "temperature": 0.0, **each} for each in listed)


def _axes(chosen: Chosen, instrument: Instrument) -> dict[str, float]:
    """What the jury's score is the mean of: the axes that the benchmark names, those of the composite it names, or
    all of the instrument's."""
    options = chosen.benchmark.options
    known = [each.name for each in instrument.dimensions]
    composites = {each.name: dict(each.weights) for each in instrument.composites}
    if isinstance(named := options.get("dimensions"), list | tuple):
        weights = {str(name): 1.0 for name in named}
    else:
        weights = composites.get(str(options.get("composite", COMPOSITE))) or dict.fromkeys(known, 1.0)
    for name in weights:
        if name not in known:
            raise MedjuryError(
                f"{chosen.name}: {instrument.name} has no dimension {name!r}; it has {', '.join(known)}"
            )
    return {name: weight for name, weight in weights.items() if weight > 0}


def jury_folder(suite: Suite, chosen: Chosen) -> Path:
    return suite.output / "open" / chosen.name


def jury_run(suite: Suite, chosen: Chosen) -> Path:
    """The run folder of that study."""
    return jury_folder(suite, chosen) / _RUN


def answer_cases(chosen: Chosen, asked: Sequence[Asked]) -> list[Case]:
    """Every answer to an open benchmark as a case: the whole prompt is its context, the gold answer its
    reference."""
    return [
        replace(
            answer_case(chosen, item, given.text, each.part.called),
            vendor=each.study.models[0][0].vendor,
            patient=item.patient or None,
        )
        for item in chosen.items
        for each in asked
        if (given := each.answers.get(f"{chosen.name}/{item.id}")) is not None and given.state == "scored"
    ]


def answer_case(chosen: Chosen, item: Item, answer: str, system: str) -> Case:
    """One answer as a case."""
    texts = {**item.inputs, "context": prompt_of(chosen.benchmark, item)}
    reference = item.gold[0] if item.gold else None
    return Case(item.id, candidate=answer, reference=reference, texts=texts, system=system)


def jury_study(
    suite: Suite,
    chosen: Chosen,
    judged: Judged,
    cases: Sequence[Case],
    folder: Path,
    *,
    money: float | None = None,
    calls: int | None = None,
) -> Study:
    """The study of one open benchmark, written into its folder as any study is, and read from there."""
    private_folder(folder)
    write_cases(cases, folder / "cases.jsonl")
    jury = suite.settings.jury
    assert jury is not None
    settings: dict[str, Any] = {
        "study": f"{suite.name} {chosen.name}",
        "cases": "cases.jsonl",
        "instrument": judged.instrument,
        "dimensions": list(judged.weights),
        "judges": list(judged.judges),
        "jury": {"aggregate": jury.aggregate, "quorum": jury.quorum},
        "metrics": _metrics(suite, chosen),
        "allow_hosts": list(suite.settings.allow_hosts),
        "budget": {"money": money, "calls": calls},
        "store": suite.store,
        "output": _RUN,
    }
    if chosen.part.clinicians is not None:
        settings["humans"] = _clinicians(chosen.part.clinicians, suite.folder)
    lines = "".join(f"{name}: {json.dumps(value)}\n" for name, value in settings.items())
    write_whole(folder / "study.yaml", f"# The answers to {chosen.name}, judged.\n{lines}")
    return load_study(folder / "study.yaml")


def _metrics(suite: Suite, chosen: Chosen) -> list[str | dict[str, str]]:
    """The text metrics that rate beside the jury: ROUGE-L wherever there is a gold answer, and those that are
    named."""
    if not any(item.gold for item in chosen.items):
        return []
    return ["rouge_l", *(each for each in suite.settings.metrics if each != "rouge_l")]


def _clinicians(part: dict[str, Any] | str, folder: Path) -> dict[str, Any]:
    stated = {"path": part} if isinstance(part, str) else dict(part)
    for name in ("path", "file", "mapping"):
        if isinstance(stated.get(name), str) and (name != "mapping" or (folder / stated[name]).is_file()):
            stated[name] = str(folder / stated[name])
    return stated


def jury_scores(folder: Path, weights: Mapping[str, float]) -> dict[tuple[str, str], float | None]:
    """The jury's score of every answer by (item, system), from 0 to 1: the weighted mean of its axes, each on its
    own scale. None where an axis has no score: a mean of what happens to be there would compare different
    things."""
    import polars as pl

    table = open_run(folder)
    rows = table.everything.filter(
        pl.col("rater") == table.stored_jury, pl.col("dimension").is_in(list(weights))
    )
    found: dict[tuple[str, str], dict[str, float | None]] = {}
    for item, system, dimension, status, score in rows.select(
        "item", "system", "dimension", "status", "score"
    ).iter_rows():
        if status == "not_applicable":
            continue
        found.setdefault((item, system), {})[dimension] = _on_unit_scale(table, dimension, score)
    return {key: _weighted(axes, weights) for key, axes in found.items()}


def _on_unit_scale(table: Any, dimension: str, score: float | None) -> float | None:
    measured = table.dimension(dimension)
    if score is None or measured.grades is None:
        return None
    low, high = measured.grades.lowest, measured.grades.highest
    share = (score - low) / (high - low)
    return float(min(1.0, max(0.0, share if measured.higher_is_better else 1.0 - share)))


def _weighted(axes: Mapping[str, float | None], weights: Mapping[str, float]) -> float | None:
    if not axes or any(each is None for each in axes.values()):
        return None
    total = sum(weights[name] for name in axes)
    return min(1.0, sum(weights[name] * (each or 0.0) for name, each in axes.items()) / total)


# What may be said of a jury: its verdict, and its agreement with clinicians beside that of text metrics.


_UNRATED = "No clinician has rated these answers: nobody knows how far the jury agrees with one."
# Text metrics of a study by the names that a benchmark gives them.
_METRICS = {"rouge_l": "rouge_l", "bert_score": "bertscore", "bertscore": "bertscore"}


def verdict_of(folder: Path, judges: Sequence[str], shown: str, resamples: int) -> JuryResult:
    """The verdict on the jury of one run folder; `shown` is how the page names the folder."""
    try:
        table = open_run(folder, resamples=resamples)
        people = len(table.clinicians)
        found = validation_of(evidence_of(table, checks=RunFolder(folder).verify(unlisted=False)))
    except MedjuryError:
        return JuryResult(
            tuple(judges), shown, {}, "There is no verdict: `medjury gate` on its run folder says why."
        )
    words = {each.label: each.word for each in found.verdicts}
    reasons = dict.fromkeys(reason for each in found.verdicts for reason in each.reasons)
    why = " ".join(list(reasons)[:3]) if people else _UNRATED
    return JuryResult(tuple(judges), shown, words, why, people)


# Answers that clinicians rated: their items, by row one answer, the clinicians' mean over the axes in columns, the
# jury's beside them, and those of text metrics.
RatedAnswers = tuple[tuple[str, ...], Floats, Mapping[str, Floats]]


def rated_answers(folder: Path, axes: Sequence[str]) -> RatedAnswers | None:
    """The answers of a run that clinicians rated; None where nobody did."""
    import polars as pl

    table = open_run(folder)
    people = table.default_reference
    if not people:
        return None
    rows = table.rows.filter(pl.col("dimension").is_in(list(axes)), pl.col("score").is_not_null())
    means: dict[str, dict[tuple[str, str], float]] = {}
    for rater, item, system, score in (
        rows.group_by("rater", "item", "system").agg(pl.col("score").mean()).iter_rows()
    ):
        means.setdefault(rater, {})[item, system] = score
    answers = sorted({key for name in people for key in means.get(name, {})})
    if not answers:
        return None

    def column(rater: str) -> list[float]:
        return [means.get(rater, {}).get(key, np.nan) for key in answers]

    others = {"jury": np.array(column(table.stored_jury))} if table.stored_jury else {}
    for rater, kind in table.raters.items():
        if kind == "metric" and rater in _METRICS:
            others[_METRICS[rater]] = np.array(column(rater))
    scores = np.column_stack([column(name) for name in people])
    return tuple(item for item, _ in answers), scores, others


def agreement_of(rated: Sequence[tuple[str, RatedAnswers]], **how: Any) -> tuple[AgreementResult, ...]:
    """One row for each benchmark that clinicians rated, and one for all together where they are several."""
    rows = [_row(benchmark, *answers, how) for benchmark, answers in rated]
    if len(rated) < 2:
        return tuple(rows)
    width = sum(clinicians.shape[1] for _, (_, clinicians, _) in rated)
    blocks, start = [], 0
    for _, (answered, clinicians, _) in rated:  # those of two benchmarks are taken as different people
        block = np.full((len(answered), width), np.nan)
        block[:, start : start + clinicians.shape[1]] = clinicians
        start += clinicians.shape[1]
        blocks.append(block)
    beside = [each for _, (_, _, each) in rated]
    names = [name for name in beside[0] if all(name in each for each in beside)]
    others = {name: np.concatenate([each[name] for each in beside]) for name in names}
    items = tuple(f"{benchmark}/{item}" for benchmark, (answered, _, _) in rated for item in answered)
    return (_row("combined", items, np.vstack(blocks), others, how), *rows)


def _row(
    name: str, items: Sequence[str], clinicians: Floats, others: Mapping[str, Floats], how: Mapping[str, Any]
) -> AgreementResult:
    columns: dict[str, Estimate] = {
        each: icc_3_k_z(clinicians, scores, order="standardise_first", clusters=list(items), **how)
        for each, scores in others.items()
        if np.isfinite(scores).any()
    }
    if clinicians.shape[1] > 1:
        columns["clinicians"] = mean_icc_3_k_z(clinicians, clusters=list(items), **how)
    people = int(np.isfinite(clinicians).any(axis=0).sum())
    return AgreementResult(name, len(items), people, columns)
