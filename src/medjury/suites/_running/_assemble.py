"""From what was asked, marked and judged to the results that a leaderboard is made of."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from medjury.instruments import Reason
from medjury.models import context_window
from medjury.suites._benchmark import Item, prompt_of
from medjury.suites._leaderboard._results import (
    AgreementResult,
    AnswerResult,
    BaselineResult,
    BenchmarkResult,
    CandidateResult,
    HelmResult,
    ItemResult,
    JuryResult,
    Results,
    Spending,
)
from medjury.suites._marking._codes import gold_codes
from medjury.suites._marking._helm import HELM, HELM_RULES
from medjury.suites._marking._metrics import JURY
from medjury.suites._running._answers import Asked, Given, spent_in
from medjury.suites._running._jury import jury_run
from medjury.suites._running._marks import Marks, text_marks, weight_of
from medjury.suites._running._plan import SuitePlan
from medjury.suites._running._suite import Chosen, Suite

_AT_FAULT = "the gold answer cannot be marked"
# What the results have of a benchmark as its file states it.
_SAME_FACTS = (
    "name", "title", "category", "subcategory", "metrics", "open", "access", "curation", "source", "licence",
    "citation",
)  # fmt: skip
_TAKEN = ("calls", "tokens_in", "tokens_out", "money")
_NO_JURY, _NOT_JUDGED, _NOT_ASKED = "no jury", "not judged", "not asked"


# The jury's scores by (benchmark, item, candidate); None where it gave none.
Scores = Mapping[tuple[str, str, str], float | None]


def assemble(
    plan: SuitePlan,
    asked: Sequence[Asked],
    marked: tuple[Marks, Mapping[str, str]],
    juries: Mapping[str, JuryResult],
    scores: Scores,
    votes: Sequence[Spending],
    trivial: tuple[tuple[BaselineResult, ...], Mapping[str, frozenset[str]]],
    agreement: tuple[AgreementResult, ...],
) -> Results:
    """The results of a run; `juries` are those of the open benchmarks that were judged, `votes` what they cost.
    An item whose own gold answer is at fault marks nobody: it is left out, and counted."""
    suite, (marks, failed), (baselines, decided) = plan.suite, marked, trivial
    at_fault = {each.name: _at_fault(each, asked, marks, baselines) for each in suite.benchmarks}
    notes = [*suite.notes()]
    notes += [f"{metric} was not computed: {why}" for metric, why in failed.items()]
    folders = [each.study.output for each in asked]
    folders += [jury_run(suite, each) for each in suite.benchmarks if each.name in juries]
    paid = sum(spent_in(folder)[0] for folder in folders)
    spending = _spending(plan, asked, votes)
    known = all(each.money is not None for each in spending)
    return Results(
        suite.name,
        tuple(
            _benchmark(suite, each, juries.get(each.name), len(at_fault[each.name]))
            for each in suite.benchmarks
        ),
        tuple(_candidate(each) for each in asked),
        tuple(
            ItemResult(
                chosen.name,
                item.id,
                prompt_of(chosen.benchmark, item),
                item.gold,
                item.patient,
                item.id in decided.get(chosen.name, ()),
            )
            for chosen in suite.benchmarks
            for item in chosen.items
            if item.id not in at_fault[chosen.name]
        ),
        tuple(
            each
            for each in _answers(suite, asked, marks, juries, scores)
            if each.item not in at_fault[each.benchmark]
        ),
        baselines,
        spending,
        agreement,
        plan.currency,
        plan.prices_as_of,
        paid if known else None,
        datetime.now(UTC).isoformat(timespec="seconds"),
        # What holds of every benchmark, the page says by itself.
        tuple(each for each in notes if not each.startswith("MADE-UP ROWS")),
        published=suite.published,
    )


def _at_fault(
    chosen: Chosen, asked: Sequence[Asked], marks: Marks, baselines: Sequence[BaselineResult]
) -> set[str]:
    """The items whose own gold answer cannot be marked. Candidates' marks alone do not show them all: one that
    abstains, or cannot be read, is marked before the item's own query is run. The trivial answers were all run."""
    metric = chosen.benchmark.metrics[0]
    found = {
        item.id
        for item in chosen.items
        for each in asked
        if (mark := marks.get((each.part.called, chosen.name, item.id), {}).get(metric))
        and mark.reason is Reason.INPUT
    }
    for baseline in (each for each in baselines if each.benchmark == chosen.name):
        found |= {item.id for item in chosen.items if item.id not in baseline.scores}
    return found


def _benchmark(suite: Suite, chosen: Chosen, jury: JuryResult | None, at_fault: int) -> BenchmarkResult:
    facts = chosen.benchmark
    left_out = dict(chosen.loaded.left_out) | ({_AT_FAULT: at_fault} if at_fault else {})
    return BenchmarkResult(
        **{name: getattr(facts, name) for name in _SAME_FACTS},
        metric=facts.metrics[0],
        sample=chosen.sample,
        drawn_from=len(chosen.loaded.items),
        left_out=left_out,
        problems=len(chosen.loaded.problems),
        jury=jury,
        known=chosen.loaded.known,
        helm=_helm(chosen) if suite.settings.marks == HELM else None,
    )


def _helm(chosen: Chosen) -> HelmResult | None:
    helm = chosen.benchmark.helm
    return (
        None
        if helm is None
        else HelmResult(helm.name, HELM_RULES.get(helm.rule, ""), helm.split, helm.prompt)
    )


def _candidate(asked: Asked) -> CandidateResult:
    model = asked.study.models[0][0]
    price = asked.study.prices.price(model)
    # Refusals and the like are findings about a candidate; what stopped it is told.
    stopped = asked.result.why if asked.result.status != "complete" else ""
    return CandidateResult(
        asked.part.called,
        model.vendor,
        str(model.identity.get("model", "")),
        context_window(model),
        None if price is None else (price.input, price.output),
        stopped,
    )


def _answers(
    suite: Suite, asked: Sequence[Asked], marks: Marks, juries: Collection[str], scores: Scores
) -> Iterator[AnswerResult]:
    for chosen in suite.benchmarks:
        for each in asked:
            for item in chosen.items:
                given = each.answers.get(f"{chosen.name}/{item.id}")
                found = _answer(chosen, item, each.part.called, given, marks)
                if chosen.benchmark.metrics[0] == JURY and given is not None and given.state == "scored":
                    found = (
                        _judged(found, scores) if chosen.name in juries else replace(found, reason=_NO_JURY)
                    )
                yield found


def _answer(chosen: Chosen, item: Item, candidate: str, given: Given | None, marks: Marks) -> AnswerResult:
    if given is None:
        return AnswerResult(chosen.name, item.id, candidate, "missing", reason=_NOT_ASKED)
    bare = AnswerResult(
        chosen.name, item.id, candidate, "missing", reason=given.reason or _NOT_JUDGED, answer=given.text,
        note=given.message,
    )  # fmt: skip
    metric = chosen.benchmark.metrics[0]
    own = marks.get((candidate, chosen.name, item.id), {})
    others = text_marks(own, metric)
    if given.state != "scored":
        return replace(bare, state=given.state, others=others, weight=_silent_weight(chosen, item))
    if metric == JURY or metric not in own:
        return replace(bare, others=others)
    mark = own[metric]
    read = replace(bare, read=mark.read, note=mark.note, others=others, weight=weight_of(metric, mark))
    if mark.score is None:
        return replace(read, state="unanswered", reason=mark.reason.value if mark.reason else "parse")
    return replace(read, state="scored", score=mark.score, reason="")


def _silent_weight(chosen: Chosen, item: Item) -> float:
    """What an item counts for a candidate that said nothing: in a micro average, every code it missed."""
    return float(max(1, len(gold_codes(item)))) if chosen.benchmark.metrics[0] == "code_f1" else 1.0


def _judged(found: AnswerResult, scores: Scores) -> AnswerResult:
    score = scores.get((found.benchmark, found.item, found.candidate))
    return (
        replace(found, reason=_NOT_JUDGED)
        if score is None
        else replace(found, state="scored", score=score, reason="")
    )


def _spending(plan: SuitePlan, asked: Sequence[Asked], votes: Sequence[Spending]) -> tuple[Spending, ...]:
    """What was planned, with what it came to beside it."""
    actual: dict[tuple[str, str, str, str], Spending] = {}
    for each in asked:
        for place, given in each.answers.items():
            key = ("candidate", each.part.called, place.partition("/")[0], each.part.called)
            actual[key] = _plus(actual.get(key), given)
    for row in votes:
        actual["judge", row.payer, row.benchmark, row.candidate] = row
    rows = []
    for row in plan.spending:
        found = actual.get((row.role, row.payer, row.benchmark, row.candidate))
        rows.append(
            replace(row, calls=0, money=0.0)
            if found is None
            else replace(row, **{name: getattr(found, name) for name in _TAKEN})
        )
    return tuple(rows)


def _plus(before: Spending | None, given: Given) -> Spending:
    known = before or Spending("", "", "", money=0.0)
    # An answer that never came cost nobody knows how much; the log has what was paid.
    money = given.money if given.calls else 0.0
    return replace(
        known,
        calls=known.calls + given.calls,
        tokens_in=known.tokens_in + given.tokens_in,
        tokens_out=known.tokens_out + given.tokens_out,
        money=None if money is None or known.money is None else known.money + money,
    )
