"""The run of a suite: candidates are asked, answers marked, open ones judged, and the results kept.

Every step finds in the store what was done before, so that a suite that was stopped goes on where it was.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from medjury.foundation.errors import MedjuryError
from medjury.foundation.files import private_folder, whole_file, write_whole
from medjury.intake.cases import Case
from medjury.store.ratings import open_store, write_ratings
from medjury.studies import RunResult, run_study
from medjury.suites._benchmark import Benchmark, Item, prompt_of
from medjury.suites._leaderboard._results import (
    JuryResult,
    MemoryResult,
    ReachResult,
    Results,
    Spending,
)
from medjury.suites._memory import CompletionProbe, ExchangeabilityTest
from medjury.suites._running._answers import Asked, ask_candidate, candidate_folder, spent_in
from medjury.suites._running._assemble import Scores, assemble
from medjury.suites._running._jury import (
    RatedAnswers,
    agreement_of,
    answer_cases,
    jury_folder,
    jury_of,
    jury_run,
    jury_scores,
    jury_study,
    rated_answers,
    verdict_of,
)
from medjury.suites._running._marks import mark_answers, store_marks, trivial_of
from medjury.suites._running._plan import SuitePlan
from medjury.suites._running._suite import Suite
from medjury.tables import open_run

# Checks of items and candidates, kept beside the results of a suite: a later run or leaderboard shows them too.

CHECKS = "checks.json"
INSTRUMENT = "answerable"


def _read_as(kind: Any, value: Any) -> Any:
    """The frozen data of what a JSON file holds."""
    from pydantic import TypeAdapter

    return TypeAdapter(kind).validate_python(value)


def gold_cases(benchmark: Benchmark, items: Sequence[Item]) -> list[Case]:
    """The gold answers of a benchmark as cases for a study with the instrument `answerable`."""
    return [
        Case(item.id, candidate=item.gold[0], texts={"task": prompt_of(benchmark, item)}, system="gold")
        for item in items
        if item.gold
    ]


def _keep_answerable(folder: Path, benchmark: str, run: str | Path) -> None:
    """Keep what a study with the instrument `answerable` said of a benchmark's items; `run` is its run folder."""
    kept, found = read_checks(folder), _answerable(Path(run))
    others = [each for each in kept["reach"] if each.benchmark != benchmark]
    _write(folder, {**kept, "reach": (*others, ReachResult(benchmark, *found))})


def keep_probe(
    folder: str | Path, candidate: str, benchmark: str, probe: CompletionProbe | ExchangeabilityTest
) -> None:
    """Keep what a probe of memory found of one candidate and benchmark."""
    test = "completion" if isinstance(probe, CompletionProbe) else "order of items"
    made = MemoryResult(candidate, benchmark, test, probe.memorised(), probe.text())
    kept = read_checks(folder)
    same = (candidate, benchmark, test)
    others = [each for each in kept["memory"] if (each.candidate, each.benchmark, each.test) != same]
    _write(folder, {**kept, "memory": (*others, made)})


def read_checks(folder: str | Path) -> dict[str, Any]:
    """What was kept: `reach` and `memory`, as the results of a suite have them."""
    place = Path(folder) / CHECKS
    if not place.is_file():
        return {"reach": (), "memory": ()}
    try:
        told = json.loads(place.read_text(encoding="utf-8"))
        return {
            "reach": _read_as(tuple[ReachResult, ...], told["reach"]),
            "memory": _read_as(tuple[MemoryResult, ...], told["memory"]),
        }
    except (OSError, ValueError, TypeError, KeyError):
        raise MedjuryError(f"{place}: cannot be read; remove it and keep the checks again") from None


def _write(folder: str | Path, checks: Mapping[str, Any]) -> None:
    told = {name: [asdict(each) for each in rows] for name, rows in checks.items()}
    write_whole(Path(folder) / CHECKS, json.dumps(told, indent=1, allow_nan=False) + "\n")


def _answerable(run: Path) -> tuple[str, dict[str, float | None]]:
    """Who was asked, and by item 1, 0, or None where there is no score."""
    import polars as pl

    table = open_run(run)
    judges = [name for name, kind in table.raters.items() if kind == "judge"]
    rater = table.stored_jury or (judges[0] if len(judges) == 1 else "")
    rows = table.everything.filter(pl.col("rater") == rater, pl.col("dimension") == INSTRUMENT)
    if not rater or not rows.height:
        raise MedjuryError(
            f"{run}: holds nothing on {INSTRUMENT!r}; run a study with `instrument: {INSTRUMENT}` on gold answers"
        )
    pairs = rows.select("item", "score").iter_rows()
    return ", ".join(judges), {item: _said(score) for item, score in pairs}


def _said(score: float | None) -> float | None:
    """What most judges say; None where they are evenly split, or none said anything."""
    return None if score is None or score == 0.5 else float(score > 0.5)


# The results of a suite as files: read again, they make the same leaderboard without asking anybody.
#
# `results.json` has the facts, `items.jsonl` and `answers.jsonl` what was asked and said. They hold the texts of
# the data, so they are their owner's alone; what may be published is in the folder `leaderboard`.

FACTS, ITEMS, ANSWERS = "results.json", "items.jsonl", "answers.jsonl"


def save_results(results: Results, folder: Path) -> None:
    """Write the results into a folder; a half-written file never has the name."""
    private_folder(folder)
    facts = asdict(results)
    _write_lines(folder / ITEMS, facts.pop("items"))
    _write_lines(folder / ANSWERS, facts.pop("answers"))
    del facts["reach"], facts["memory"]  # they have a file of their own, which no run writes anew
    with whole_file(folder / FACTS) as file:
        json.dump(facts, file, indent=1, ensure_ascii=False, allow_nan=False)


def read_results(
    folder: str | Path,
    candidates: Sequence[str] | None = None,
    benchmarks: Sequence[str] | None = None,
    *,
    answerable: Iterable[tuple[str, str]] = (),
) -> Results:
    """The results that `medjury bench run` wrote into a folder, or those of some candidates and benchmarks.
    `answerable` are benchmarks with the run folder of a study that asked, with the instrument `answerable`,
    which of their gold answers can be reached: what it said is kept with the results."""
    place = Path(folder)
    if not (place / FACTS).is_file():
        raise MedjuryError(f"{place}: holds no {FACTS}; is it the folder of `medjury bench run`?")
    try:
        facts = json.loads((place / FACTS).read_text(encoding="utf-8"))
        facts |= {"items": _lines(place / ITEMS), "answers": _lines(place / ANSWERS)}
        made: Results = _read_as(Results, facts)
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise MedjuryError(f"{place}: the results cannot be read ({error}); run the suite again") from None
    for benchmark, run in answerable:
        if benchmark not in [each.name for each in made.benchmarks]:
            raise MedjuryError(f"--answerable names {benchmark!r}, which is not among the benchmarks")
        _keep_answerable(place, benchmark, run)
    return replace(made, **read_checks(place)).only(candidates, benchmarks)


def _write_lines(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    with whole_file(path) as file:
        for row in rows:
            file.write(json.dumps(row, allow_nan=False) + "\n")


def _lines(path: Path) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


MARKS = "marks.parquet"
Told = Callable[[str], None]


def run_suite(
    plan: SuitePlan,
    *,
    watch: Any = None,
    tell: Told = lambda line: None,
    keep_going: bool = False,
    retry_unscored: bool = False,
    preflight: bool = True,
    resamples: int = 2000,
) -> tuple[Results, list[str]]:
    """Run a suite to the end, or as far as endpoints and budget allow: its results, and line by line what is
    missing. `tell` is given a line for each step; `resamples` are those of the jury's verdict and agreement."""
    suite = plan.suite
    private_folder(suite.output)
    how = {
        "watch": watch, "keep_going": keep_going, "retry_unscored": retry_unscored,
        "preflight": preflight, "ask": True,
    }  # fmt: skip
    asked = []
    for part in suite.settings.candidates:
        tell(f"{part.called}: asked {sum(len(each.items) for each in suite.benchmarks):,} items")
        money, calls, own = _left(suite, candidate_folder(suite, part.called), how)
        asked.append(ask_candidate(suite, part, money, calls, **own))
        tell(_ended(asked[-1].result))
    marks, failed = mark_answers(suite, asked)
    with open_store(suite.store) as store:
        run = store_marks(suite, marks, store)
        write_ratings(store.ratings(run), suite.output / MARKS)
    juries, scores, votes, rated = _judge(suite, asked, how, tell, resamples)
    agreement = agreement_of(rated, resamples=resamples)
    results = assemble(plan, asked, (marks, failed), juries, scores, votes, trivial_of(suite), agreement)
    results = replace(results, **read_checks(suite.output)).only()  # checks of others may be kept there too
    save_results(results, suite.output)
    return results, _missing(results)


def _left(
    suite: Suite, folder: Path, how: Mapping[str, Any]
) -> tuple[float | None, int | None, Mapping[str, Any]]:
    """How much of the suite's budget is left for one run folder (what all others have not spent), and how its
    study is run: where nothing is left, what is stored is read, and nobody is asked."""
    caps = suite.settings.budget
    folders = [
        *(candidate_folder(suite, each.called) for each in suite.settings.candidates),
        *(jury_run(suite, each) for each in suite.benchmarks),
    ]
    others = [spent_in(each) for each in folders if each.resolve() != folder.resolve()]
    money = None if caps.money is None else caps.money - sum(each for each, _ in others)
    calls = None if caps.calls is None else caps.calls - sum(each for _, each in others)
    if (money is not None and money <= 0) or (calls is not None and calls <= 0):
        return None, None, {**how, "ask": False}
    return money, calls, how


def _judge(
    suite: Suite,
    asked: Sequence[Asked],
    how: Mapping[str, Any],
    tell: Told,
    resamples: int,
) -> tuple[dict[str, JuryResult], Scores, list[Spending], list[tuple[str, RatedAnswers]]]:
    """The juries by benchmark, their scores, what each judge took, and the answers that clinicians rated."""
    juries: dict[str, JuryResult] = {}
    scores: dict[tuple[str, str, str], float | None] = {}
    votes: list[Spending] = []
    rated = []
    for chosen in suite.benchmarks:
        judged = jury_of(suite, chosen)
        cases = [] if judged is None else answer_cases(chosen, asked)
        if judged is None or not cases:
            continue
        tell(f"{chosen.name}: {len(cases):,} answers judged by {', '.join(_names(judged.judges))}")
        money, calls, own = _left(suite, jury_run(suite, chosen), how)
        study = jury_study(suite, chosen, judged, cases, jury_folder(suite, chosen), money=money, calls=calls)
        result = run_study(study, **own)
        tell(_ended(result))
        if not result.judged:
            continue
        names, folder = [each.name for each in study.jury.judges], study.output
        shown = str(folder.relative_to(suite.output)) if folder.is_relative_to(suite.output) else folder.name
        juries[chosen.name] = verdict_of(folder, names, shown, resamples)
        found = jury_scores(folder, judged.weights)
        scores |= {(chosen.name, item, system): score for (item, system), score in found.items()}
        votes += _votes(folder, chosen.name)
        people = rated_answers(folder, list(judged.weights))
        if people is not None:
            rated.append((chosen.benchmark.title, people))
    return juries, scores, votes, rated


def _votes(folder: Path, benchmark: str) -> list[Spending]:
    import polars as pl

    rows = open_run(folder).everything.filter(pl.col("rater_kind") == "judge")
    if not rows.height:
        return []
    sums = rows.group_by("rater", "system").agg(
        pl.col("calls", "tokens_in", "tokens_out", "cost").cast(pl.Float64).sum(),
        (pl.col("cost").is_null() & (pl.col("calls").fill_null(0) > 0)).any().alias("unknown"),
    )
    return [
        Spending(
            row["rater"],
            benchmark,
            row["system"],
            "judge",
            int(row["calls"]),
            int(row["tokens_in"]),
            int(row["tokens_out"]),
            None if row["unknown"] else row["cost"],
        )
        for row in sums.iter_rows(named=True)
    ]


def _ended(result: RunResult) -> str:
    """How a study of the suite ended. A preflight is a call like any other, and in the budget."""
    first = f", {result.preflights:,} of them for preflight" if result.preflights else ""
    calls = f"{result.calls:,} calls made now{first}"
    return f"  {result.status}{f': {result.why}' if result.why else ''}; {calls}"


def _names(judges: Sequence[Mapping[str, Any]]) -> list[str]:
    return [str(each.get("name") or each.get("model") or each.get("kind")) for each in judges]


def _missing(results: Results) -> list[str]:
    """What is missing, candidate by candidate."""
    counts: dict[tuple[str, str], int] = {}
    for answer in results.answers:
        if answer.state == "missing" and answer.reason != "no jury":
            key = answer.candidate, answer.reason
            counts[key] = counts.get(key, 0) + 1
    return [
        f"{candidate}: {count:,} answers missing ({reason})" for (candidate, reason), count in counts.items()
    ]
