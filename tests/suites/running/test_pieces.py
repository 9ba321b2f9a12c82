"""The pieces of a suite's run: its file, its jury, its marks, and the results as they are kept."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.suites.leaderboard.made_up import results_of
from tests.suites.running.suites import CLOSED, OPEN, model, referrals, write_suite

from medjury.foundation.errors import MedjuryError
from medjury.instruments import Reason
from medjury.statistics import Estimate
from medjury.suites import keep_probe, load_benchmark, read_results
from medjury.suites._benchmark import Benchmark, Item, Loaded, Mark
from medjury.suites._leaderboard._results import (
    AgreementResult,
    AnswerResult,
    BaselineResult,
    JuryResult,
    ReachResult,
    Results,
    Spending,
)
from medjury.suites._memory import CompletionProbe
from medjury.suites._running._answers import Given
from medjury.suites._running._assemble import _answer, _at_fault, _judged, _plus, _silent_weight
from medjury.suites._running._jury import RatedAnswers, agreement_of, answer_cases, jury_of
from medjury.suites._running._marks import mark_answers, text_marks, trivial_of, weight_of
from medjury.suites._running._run import _missing, _said, gold_cases, read_checks, save_results
from medjury.suites._running._suite import BenchmarkPart, Chosen, Suite, load_suite

URL = "http://127.0.0.1:9/v1"


def suite(folder: Path, **settings: Any) -> Suite:
    given = {"benchmarks": [CLOSED], "candidates": [model(URL, "one")], **settings}
    return load_suite(write_suite(folder, **given))


def chosen(benchmark: Benchmark, *items: Item, **more: Any) -> Chosen:
    return Chosen(benchmark, BenchmarkPart(name=benchmark.name), Loaded(items, **more), items, False)


# The file.


def test_a_suite_file_is_read_with_its_short_forms(tmp_path: Path) -> None:
    found = suite(
        tmp_path,
        benchmarks=[OPEN, {"name": CLOSED, "data": referrals(tmp_path, 5), "items": 3}],
        jury=[model(URL, "j", file="x.jsonl", temperature=0.5)],
    )
    assert (found.name, found.folder, found.output) == ("small", tmp_path, tmp_path / "out")
    assert found.store == str(tmp_path / "out" / "store.sqlite")
    first, second = found.benchmarks
    assert (first.name, first.sample, second.name, second.sample) == (OPEN, True, CLOSED, False)
    assert (len(second.items), len(second.loaded.items)) == (3, 5)
    assert found.notes() == (
        f"MADE-UP ROWS, no data: {OPEN}. Their scores measure nothing; name the data of a benchmark with `data`",
        f"{CLOSED}: 3 of 5 items are asked",
    )
    cases = found.cases()
    assert len(cases) == len(first.items) + 3 and cases[-1].id.startswith(f"{CLOSED}/MRN-")
    assert cases[-1].texts["prompt"].strip() and cases[-1].metadata == {
        "most_tokens": second.benchmark.most_tokens
    }
    assert cases[-1].patient is None
    patient = chosen(first.benchmark, replace(first.items[0], patient="p")).cases()
    assert patient[0].patient == f"{OPEN}/p"
    judged = jury_of(found, first)
    assert judged is not None and jury_of(found, second) is None
    (judge,) = judged.judges
    assert (judge["explain"], judge["temperature"], judge["file"]) == (
        "after",
        0.5,
        str(tmp_path / "x.jsonl"),
    )


def test_what_is_not_asked_or_judged_is_noted(tmp_path: Path) -> None:
    (note,) = [each for each in suite(tmp_path, benchmarks=[OPEN]).notes() if "no jury" in each]
    assert f"open benchmarks ({OPEN})" in note
    assert not [
        each
        for each in suite(tmp_path, benchmarks=[OPEN], jury=[model(URL, "j")]).notes()
        if "no jury" in each
    ]
    found = suite(tmp_path)
    broken = replace(
        found.benchmarks[0], loaded=replace(found.benchmarks[0].loaded, problems=("a", "b"), remarks=("r",))
    )
    told = replace(found, benchmarks=(broken,), given=("given",)).notes()
    assert told[:2] == ("given", "r") and told[-1] == f"{CLOSED}: 2 rows cannot be items and are left out"


@pytest.mark.parametrize(
    ("store", "place"),
    [
        (None, "OUT/store.sqlite"),
        ("s.sqlite", "HERE/s.sqlite"),
        ("sqlite:///x", "sqlite:///x"),
        ("env:STORE", "HERE/t.sqlite"),
    ],
)
def test_a_store_is_a_file_or_an_address(
    tmp_path: Path, store: str | None, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STORE", "t.sqlite")
    found = suite(tmp_path, store=store)
    assert found.store == place.replace("OUT", str(tmp_path / "out")).replace("HERE", str(tmp_path))


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"store": "env:NO_SUCH_STORE"}, "the environment variable NO_SUCH_STORE is not set"),
        ({"candidates": [model(URL, "a"), model(URL, "a")]}, "two candidates are called 'a'"),
        ({"benchmarks": [CLOSED, OPEN, CLOSED]}, f"the benchmark '{CLOSED}' appears twice"),
        ({"benchmarks": [{"name": CLOSED, "items": 0}]}, "items"),
        ({"benchmarks": []}, "benchmarks"),
        ({"budget": {"calls": 0}}, "calls"),
        ({"budget": {"money": 0}}, "money"),
    ],
)
def test_a_wrong_suite_file_is_refused(tmp_path: Path, settings: dict[str, Any], problem: str) -> None:
    with pytest.raises(MedjuryError, match=problem):
        suite(tmp_path, **settings)


def test_a_suite_of_options_is_written_into_its_folder(tmp_path: Path) -> None:
    settings = {"suite": "s", "benchmarks": [CLOSED], "candidates": [model(URL, "a")]}
    made = load_suite(tmp_path / "o" / "suite.yaml", settings)
    assert made.output == tmp_path / "o" and made.file == tmp_path / "o" / "suite.yaml"
    assert load_suite(made.file).name == "s"


# The jury.


def test_the_papers_jury_needs_an_address_for_its_third_judge(tmp_path: Path) -> None:
    without = suite(tmp_path, benchmarks=[OPEN], jury="medhelm")
    with pytest.raises(MedjuryError, match="llama_url: ADDRESS"):
        jury_of(without, without.benchmarks[0])
    given = suite(tmp_path, benchmarks=[OPEN], jury={"preset": "medhelm", "llama_url": URL})
    judged = jury_of(given, given.benchmarks[0])
    assert judged is not None and judged.instrument == "note_quality"
    assert [each["name"] for each in judged.judges] == ["gpt-4o", "claude-3.7-sonnet", "llama-3.3-70b"]
    assert judged.judges[2]["url"] == URL and judged.judges[0]["url"] == "https://api.openai.com/v1"
    assert {(each["explain"], each["temperature"]) for each in judged.judges} == {("after", 0.0)}


@pytest.mark.parametrize(
    ("options", "weights"),
    [
        ({"dimensions": ["clarity", "accuracy"]}, {"clarity": 1.0, "accuracy": 1.0}),
        ({"composite": "no such"}, None),
        ({"dimensions": []}, {}),
    ],
)
def test_the_axes_are_those_that_are_named_else_of_a_composite_else_all(
    tmp_path: Path, options: dict[str, Any], weights: dict[str, float] | None
) -> None:
    found = suite(tmp_path, benchmarks=[OPEN], jury=[model(URL, "j")])
    one = replace(
        found.benchmarks[0], benchmark=found.benchmarks[0].benchmark.model_copy(update={"options": options})
    )
    judged = jury_of(found, one)
    assert judged is not None
    if weights is None:
        assert set(judged.weights.values()) == {1.0} and {"accuracy", "structure"} <= set(judged.weights)
    else:
        assert list(judged.weights.items()) == list(weights.items())
    wrong = replace(one, benchmark=one.benchmark.model_copy(update={"options": {"dimensions": ["no such"]}}))
    with pytest.raises(MedjuryError, match="note_quality has no dimension 'no such'"):
        jury_of(found, wrong)


def asked(name: str, answers: dict[str, Given], vendor: str = "v") -> Any:
    models = [(SimpleNamespace(vendor=vendor),)]
    return SimpleNamespace(
        part=SimpleNamespace(called=name), study=SimpleNamespace(models=models), answers=answers
    )


def test_only_answers_that_were_given_are_judged(tmp_path: Path) -> None:
    kind = load_benchmark(OPEN)
    items = suite(tmp_path, benchmarks=[OPEN]).benchmarks[0].items[:2]
    first, second = replace(items[0], patient="p", gold=("G", "H")), replace(items[1], gold=())
    answers = {f"{OPEN}/{first.id}": Given("yes"), f"{OPEN}/{second.id}": Given("no", "refusal")}
    both = {f"{OPEN}/{first.id}": Given("so"), f"{OPEN}/{second.id}": Given("or so")}
    found = answer_cases(
        chosen(kind, first, second), [asked("a", answers), asked("b", both, "w"), asked("c", {})]
    )
    assert [(each.id, each.system, each.candidate, each.vendor) for each in found] == [
        (first.id, "a", "yes", "v"), (first.id, "b", "so", "w"), (second.id, "b", "or so", "w")
    ]  # fmt: skip
    assert [(each.reference, each.patient) for each in found] == [("G", "p"), ("G", "p"), (None, None)]
    assert found[0].texts["context"].strip() and set(first.inputs) <= set(found[0].texts)


def test_an_answer_counts_against_its_candidate_or_is_missing() -> None:
    own = ("refusal", "empty", "truncated", "parse", "context", "missing", "out_of_range")
    assert {Given("", reason).state for reason in own} == {"unanswered"}
    assert {Given("", reason).state for reason in ("timeout", "provider", "over_budget", "not_stored")} == {
        "missing"
    }
    assert Given("x").state == "scored"


def rated(name: str, people: int, answers: int = 8, **others: Any) -> tuple[str, RatedAnswers]:
    chance = np.random.default_rng(people)
    truth = np.arange(answers, dtype=float)
    scores = truth[:, None] + chance.normal(0, 0.5, (answers, people))
    columns = {"jury": truth, "rouge_l": chance.normal(0, 1, answers), **others}
    return name, (tuple(f"i{number}" for number in range(answers)), scores, columns)


def test_agreement_has_a_row_for_each_benchmark_and_one_for_all() -> None:
    (one,) = agreement_of([rated("A", 2)], resamples=200)
    assert (one.benchmark, one.answers, one.clinicians, set(one.columns)) == (
        "A",
        8,
        2,
        {"jury", "rouge_l", "clinicians"},
    )
    assert one.columns["jury"].value > one.columns["rouge_l"].value  # type: ignore[operator]
    (alone,) = agreement_of([rated("A", 1, bertscore=np.full(8, np.nan))], resamples=200)
    assert set(alone.columns) == {"jury", "rouge_l"} and alone.clinicians == 1
    both = agreement_of([rated("A", 2), rated("B", 1, answers=6, bertscore=np.arange(6.0))], resamples=200)
    assert [(each.benchmark, each.answers, each.clinicians) for each in both] == [
        ("combined", 14, 3),
        ("A", 8, 2),
        ("B", 6, 1),
    ]
    assert set(both[0].columns) == {"jury", "rouge_l", "clinicians"} and "bertscore" in both[2].columns
    assert agreement_of([], resamples=200) == ()


# Marks.


def test_answers_are_marked_by_every_metric_and_one_that_cannot_work_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = suite(tmp_path, benchmarks=[{"name": CLOSED, "data": referrals(tmp_path, 3)}])
    both = ("exact_match", "jury", "yes_no_maybe")
    one = replace(
        found.benchmarks[0], benchmark=found.benchmarks[0].benchmark.model_copy(update={"metrics": both})
    )
    first, second, third = (f"{CLOSED}/{each.id}" for each in one.items)
    made = replace(found, benchmarks=(one,))
    given = {first: Given("yes"), second: Given("yes"), third: Given("", "timeout")}
    marks, failed = mark_answers(made, [asked("a", given)])
    assert {key: list(each) for key, each in marks.items()} == {
        ("a", CLOSED, item.id): ["exact_match", "yes_no_maybe"] for item in one.items[:2]
    }
    assert [each["exact_match"].score for each in marks.values()] == [1.0, 0.0] and failed == {}
    from medjury.suites._running import _marks as module

    whole = module.mark_all

    def broken(kind: Any, items: Any, answers: Any, metric: str, **more: Any) -> Any:
        if metric == failing:
            raise ImportError("no such model")
        return whole(kind, items, answers, metric, **more)

    monkeypatch.setattr(module, "mark_all", broken)
    failing = "yes_no_maybe"
    assert mark_answers(made, [asked("a", given)])[1] == {"yes_no_maybe": "no such model"}
    failing = "exact_match"
    with pytest.raises(ImportError):
        mark_answers(made, [asked("a", given)])


def test_a_mark_of_codes_weighs_as_many_codes_as_it_is_about() -> None:
    assert weight_of("code_f1", Mark(0.5, note="tp=1 fp=2 fn=3")) == 7.0
    assert weight_of("code_f1", Mark(1.0, note="tp=0 fp=0 fn=0")) == 1.0
    assert weight_of("code_f1", Mark(1.0)) == weight_of("medcalc", Mark(1.0, note="tp=1 fp=2 fn=3")) == 1.0
    marks = {"a": Mark(1.0), "b": Mark(0.5), "c": Mark(None, Reason.PARSE)}
    assert text_marks(marks, "a") == {"b": 0.5}


def test_trivial_answers_are_marked_and_say_which_items_they_decide(tmp_path: Path) -> None:
    found = suite(tmp_path, benchmarks=[{"name": CLOSED, "data": referrals(tmp_path, 4)}, OPEN])
    baselines, decided = trivial_of(found)
    assert {each.benchmark for each in baselines} == {CLOSED} and decided == {CLOSED: frozenset()}
    names = {each.name: each for each in baselines}
    assert {"empty", "copy of the input", "majority", "always A", "always B"} <= set(names)
    assert list(names["always A"].scores.values()) == [1.0, 0.0, 1.0, 0.0]
    assert set(names["always A"].weights.values()) == {1.0} and set(names["empty"].scores.values()) == {0.0}


# From these to results.


def test_an_answer_becomes_a_result_by_its_mark_or_its_reason() -> None:
    item = Item("1", {"note": "n"}, ("A",), {"A": "yes", "B": "no"})
    kind = chosen(load_benchmark(CLOSED).model_copy(update={"metrics": ("exact_match", "rouge_l")}), item)

    def result(given: Given | None, **marks: Mark) -> AnswerResult:
        return _answer(kind, item, "a", given, {("a", CLOSED, "1"): marks})

    bare = AnswerResult(CLOSED, "1", "a", "missing", reason="not asked")
    assert result(None) == bare
    assert result(Given("", "timeout", "slow")) == replace(bare, reason="timeout", note="slow")
    assert result(Given("no", "refusal")) == replace(bare, state="unanswered", reason="refusal", answer="no")
    assert result(Given("A")) == replace(bare, reason="not judged", answer="A")
    right = result(Given("A"), exact_match=Mark(1.0, read="A", note="n"), rouge_l=Mark(0.5))
    assert right == AnswerResult(CLOSED, "1", "a", "scored", 1.0, "", "A", "A", "n", {"rouge_l": 0.5})
    unread = result(Given("?"), exact_match=Mark(None, Reason.PARSE, note="why"))
    assert (unread.state, unread.reason, unread.score, unread.note) == ("unanswered", "parse", None, "why")
    codes = chosen(load_benchmark("mimic_iv_billing_code"), Item("1", {}, facts={"codes": ["I10", "E11"]}))
    assert _silent_weight(codes, codes.items[0]) == 2.0 and _silent_weight(kind, item) == 1.0
    assert _silent_weight(codes, Item("2", {})) == 1.0


def test_a_jurys_score_takes_the_place_of_a_mark() -> None:
    bare = AnswerResult("b", "1", "a", "missing", reason="not judged")
    scores = {("b", "1", "a"): 0.5, ("b", "2", "a"): None}
    assert _judged(bare, scores) == replace(bare, state="scored", score=0.5, reason="")
    for item in ("2", "3"):
        assert _judged(replace(bare, item=item, reason="x"), scores).reason == "not judged"


def test_an_item_whose_gold_answer_cannot_be_marked_is_at_fault() -> None:
    items = [Item(str(number), {}, ("A",)) for number in range(4)]
    kind = chosen(load_benchmark(CLOSED).model_copy(update={"metrics": ("exact_match",)}), *items)
    marks = {
        ("a", CLOSED, "0"): {"exact_match": Mark(None, Reason.INPUT)},
        ("a", CLOSED, "1"): {"exact_match": Mark(None, Reason.PARSE), "rouge_l": Mark(None, Reason.INPUT)},
    }
    trivial = [BaselineResult(CLOSED, "x", {"0": 1.0, "1": 1.0, "2": 1.0}), BaselineResult("other", "x", {})]
    assert _at_fault(kind, [asked("a", {})], marks, trivial) == {"0", "3"}
    assert _at_fault(kind, [asked("a", {})], marks, []) == {"0"} and _at_fault(kind, [], marks, []) == set()


def test_what_an_answer_took_is_added_up() -> None:
    first = _plus(None, Given("x", calls=1, tokens_in=2, tokens_out=3, money=0.5))
    assert (first.calls, first.tokens_in, first.tokens_out, first.money) == (1, 2, 3, 0.5)
    more = _plus(first, Given("x", calls=2, tokens_in=20, tokens_out=30, money=0.25))
    assert (more.calls, more.tokens_in, more.tokens_out, more.money) == (3, 22, 33, 0.75)
    assert _plus(first, Given("", calls=0, money=None)).money == 0.5
    assert _plus(first, Given("x", calls=1, money=None)).money is None
    assert _plus(replace(first, money=None), Given("x", calls=1, money=1.0)).money is None


def test_what_is_missing_is_counted_by_candidate_and_reason() -> None:
    results = results_of({"one": [2], "two": [2]}, items=3, benchmarks=["b"])
    reasons = ["timeout", "timeout", "no jury", "provider"]
    lost = [
        replace(each, state="missing", score=None, reason=why)
        for each, why in zip(results.answers, reasons, strict=False)
    ]
    assert _missing(replace(results, answers=(*lost, *results.answers[4:]))) == [
        "one: 2 answers missing (timeout)", "two: 1 answers missing (provider)"
    ]  # fmt: skip
    assert _missing(results) == []


# Files.


def full() -> Results:
    results = results_of({"one": [2]}, items=3, benchmarks=["b"], baseline=1)
    jury = JuryResult(("j",), "open/b", {"accuracy": "VALIDATED"}, "so", 2)
    estimate = Estimate(0.5, 0.25, 0.75, 9, method="m")
    return replace(
        results,
        benchmarks=(replace(results.benchmarks[0], jury=jury, left_out={"blank": 2}),),
        candidates=(replace(results.candidates[0], price=(1.0, 2.0), why="x"),),
        spending=(Spending("one", "b", "one", calls=2, money=0.5),),
        agreement=(AgreementResult("b", 3, 2, {"jury": estimate}),),
        notes=("ä",),
        paid=1.5,
    )


def test_results_are_read_back_as_they_were_kept(tmp_path: Path) -> None:
    save_results(full(), tmp_path / "out")
    assert read_results(tmp_path / "out") == full()
    facts = tmp_path / "out" / "results.json"
    facts.write_text(json.dumps({**json.loads(facts.read_text()), "of a later version": 1}))
    assert read_results(tmp_path / "out") == full()
    facts.write_text("{")
    with pytest.raises(MedjuryError, match="the results cannot be read"):
        read_results(tmp_path / "out")
    with pytest.raises(MedjuryError, match=r"holds no results\.json"):
        read_results(tmp_path)


def probe(items: int) -> CompletionProbe:
    return CompletionProbe(9, items, 9, 0, Estimate(items / 9, 0.0, 1.0, 9, method=""), 0.01, 3, 0)


def test_checks_are_kept_beside_the_results_and_the_last_of_a_kind_stays(tmp_path: Path) -> None:
    assert read_checks(tmp_path) == {"reach": (), "memory": ()}
    keep_probe(tmp_path, "one", "b", probe(0))
    keep_probe(tmp_path, "one", "b", probe(9))
    keep_probe(tmp_path, "two", "b", probe(0))
    keep_probe(tmp_path, "one", "of another suite", probe(0))
    found = read_checks(tmp_path)["memory"]
    assert [(each.candidate, each.benchmark, each.test, each.memorised) for each in found] == [
        ("one", "b", "completion", True), ("two", "b", "completion", False),
        ("one", "of another suite", "completion", False),
    ]  # fmt: skip
    save_results(full(), tmp_path)
    again = read_results(tmp_path)
    assert again.memory == found[:1] and again.reach == (), "of who and what is in these results alone"
    (tmp_path / "checks.json").write_text(
        json.dumps({"reach": [{"benchmark": "b", "judge": "j", "answerable": {"i": 0.0}}], "memory": []})
    )
    assert read_checks(tmp_path)["reach"] == (ReachResult("b", "j", {"i": 0.0}),)
    (tmp_path / "checks.json").write_text('{"reach": []}')
    with pytest.raises(MedjuryError, match="cannot be read; remove it and keep the checks again"):
        read_checks(tmp_path)


def test_gold_answers_become_cases_and_what_most_judges_say_of_them_counts() -> None:
    kind = load_benchmark(CLOSED).model_copy(update={"prompt": "Ask {note}"})
    cases = gold_cases(kind, [Item("1", {"note": "n"}, ("A", "B")), Item("2", {"note": "n"})])
    assert [(each.id, each.candidate, dict(each.texts), each.system) for each in cases] == [
        ("1", "A", {"task": "Ask n"}, "gold")
    ]
    assert [_said(each) for each in (None, 0.5, 0.0, 0.4, 0.6, 1.0)] == [None, None, 0.0, 0.0, 1.0, 1.0]
