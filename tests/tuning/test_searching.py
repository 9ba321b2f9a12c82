"""What a tuning expects, tries, keeps and writes down, without an endpoint."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from tests.tuning.world import write_task

from medjury.instruments import NotApplicable, Reason, Score, Unscored, load_instrument
from medjury.models import PriceList, estimate_tokens
from medjury.statistics import Estimate
from medjury.store.runs import TuningManifest, file_hash
from medjury.studies import load_study
from medjury.tuning import _folder, _plan, _tune
from medjury.tuning._gepa import Found, InstrumentAdapter, Trajectory, _Notes, candidate_id
from medjury.tuning._held_out import CurvePoint
from medjury.tuning._lineage import Ancestor, Judged, Lineage
from medjury.tuning._objective import feedback, make_objective
from medjury.tuning._plan import Preparation, TuningPlan, plan_tuning, prepare, read_settings
from medjury.tuning._prompt_texts import case_inputs, editable_texts, reflection_messages, with_texts
from medjury.tuning._result import TuningResult
from medjury.tuning._session import TuningStoppedError

START, NEW = {"instructions": "Grade the impact."}, {"instructions": "Look for a lost negation."}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Preparation:
    """A tuning before its first question: 72 cases of 18 patients."""
    folder = tmp_path_factory.mktemp("made")
    study = load_study(
        write_task(folder, "http://127.0.0.1:1/v1", report={"clinician_minutes_per_case": 2.0})
    )
    return prepare(study, read_settings(study, seed=3), out=folder / "out")


def with_part(made: Preparation, **settings: Any) -> Preparation:
    return replace(made, part=made.part.model_copy(update=settings))


# What it will take.


class Prices:
    """A judgement costs 1, a proposal 100, where the price is known."""

    currency = "EUR"

    def __init__(self, made: Preparation, judged: float | None = 1.0, written: float | None = 100.0) -> None:
        used, tokens = _plan._mean_use(made), _plan._proposal_tokens(made)
        self.known = {
            (made.judge.models[0].name, used.tokens_in, used.tokens_out): judged,
            (made.writer.model.name, tokens, 600): written,
        }

    def estimate(self, model: Any, tokens_in: int, tokens_out: int) -> float | None:
        return self.known[model.name, tokens_in, tokens_out]


@pytest.mark.parametrize(
    ("settings", "judgements", "proposals", "held_out"),
    [
        ({}, 172, 57, 3 * 12 + 2 * 44),
        ({"candidates": 4, "minibatch": 90}, 150 + 44 * 5 + 4 * 16, 4 * (434 // 44), 3 * 12 + 88),
        ({"learning_curve": [2, 9]}, 3 * 172, 3 * 57, 7 * 12 + 88),
        ({"models": [{}, {}], "runs": 5}, 172, 57, (3 + 10) * 12 + 88),
        ({"runs": 2}, 172, 57, (3 + 2) * 12 + 88),
        ({"models": [{}]}, 172, 57, (3 + 1) * 12 + 88),
        ({"evaluate": False, "budget": 0, "minibatch": 44}, 44 * 2 + 16, 2, 0),
        ({"way": "examples", "shots": [0, 2], "trials": 5}, 11 * 16, 0, 3 * 12 + 88),
    ],
)
def test_a_plan_counts_every_call_and_its_price(
    settings: Any, judgements: int, proposals: int, held_out: int, made: Preparation
) -> None:
    own = with_part(made, **settings)
    assert [len(own.split.of(side)) for side in ("training", "validation", "held_out")] == [44, 16, 12]
    prices: Any = Prices(own)
    plan = plan_tuning(own, prices)
    assert (plan.judgements, plan.proposals, plan.held_out) == (judgements, proposals, held_out)
    assert (plan.money, plan.currency) == (judgements + held_out + 100 * proposals, "EUR")
    assert plan.lines == tuple(_plan.split_lines(own)) and plan.calls == judgements + proposals + held_out
    dear: Any = Prices(own, judged=None)
    unknown: Any = Prices(own, written=None)
    assert plan_tuning(own, dear).money is None
    assert plan_tuning(own, unknown).money == (None if proposals else judgements + held_out)


def test_tokens_are_estimated_from_the_cases_that_are_shown(made: Preparation) -> None:
    shown = [estimate_tokens(case_inputs(made.instrument, each.case)) for each in made.split.training[:3]]
    writer, how = _plan._writer(made.study, made.part, 0)
    assert (writer.temperature, writer.max_tokens) == (1.0, 4096) and writer.seed == how.seed is not None
    tokens = sum(shown) + 3 * 200 + estimate_tokens(made.instrument.instructions) + 400
    assert _plan._proposal_tokens(made) == tokens
    one = replace(made, split=replace(made.split, training=made.split.training[:1], validation=()))
    (unit,) = made.judge.units(made.split.training[0].case, 0)
    used, expected = _plan._mean_use(one), made.judge.expected(unit)
    assert not isinstance(expected, Unscored) and used.calls == 1
    assert (used.tokens_in, used.tokens_out) == (expected.tokens_in, expected.tokens_out)
    none = _plan._mean_use(replace(made, split=replace(made.split, training=(), validation=())))
    assert (none.calls, none.tokens_in, none.tokens_out) == (1, 0, 0)


def test_a_plan_is_told_with_what_was_left_out(made: Preparation) -> None:
    lines = _plan.split_lines(made)
    assert lines[0].startswith(
        "72 labelled cases (216 labels of 3 raters), kept together by patient, seed 3, "
    )
    assert [line.partition(" (")[0] for line in lines[1:]] == [
        "  training   44 cases of 11 groups",
        "  validation 16 cases of 4 groups",
        "  held-out   12 cases of 3 groups",
    ]
    assert lines[3].endswith("(impact 0: 4, impact 1: 4, impact 2: 4)")
    less = replace(made.split, training=made.split.training[1:])
    less = replace(less, held_out=(*less.held_out, made.split.training[0]), group="none")
    told = _plan.split_lines(
        replace(made, split=less, left_out={"it is odd": 1200}, cases=[*made.cases, *made.cases])
    )
    assert "  left out: 1,200 (it is odd)" in told
    assert "  left out: 72 (it belongs to a development case, or was tuned on before)" in told
    assert told[-1].startswith("! 1 held-out cases are of patients") and lines[-1][0] == " "
    plan = TuningPlan(("a", "b"), 1000, 20, 3, 1234.5, "EUR")
    assert plan.text().splitlines()[:2] == ["a", "b"] and "price 1,234.50 EUR" in plan.text()
    assert "price not known" in replace(plan, money=None).text()


# The search.


def said(score: float | None) -> Judged:
    outcome = Unscored(Reason.REFUSAL, "no") if score is None else Score(score)
    return Judged({"impact": outcome}, 0.5, 1)


class Session:
    """One that asks nobody: judges say `scores` in turn, the writer `replies`."""

    def __init__(
        self, folder: Path, scores: Sequence[float | None] = (), replies: Sequence[str] = ()
    ) -> None:
        self.lineage = Lineage.open(folder, "h")
        self.spent, self.calls, self.unknown_cost = {}, Counter[str](), False
        self._scores, self._replies = iter(scores), iter(replies)
        self.asked: list[Any] = []

    def judge(self, instrument: Any, candidate: str, cases: Any) -> list[Judged]:
        assert candidate == candidate_id(instrument)
        self.asked.append((instrument, cases))
        return [said(next(self._scores)) for _ in cases]

    def write(self, messages: Any, candidate: str) -> str:
        self.asked.append((messages, candidate))
        return next(self._replies)

    def wait_for(self, work: Any) -> Any:
        return work


def adapter(made: Preparation, folder: Path, **more: Any) -> tuple[InstrumentAdapter, Session]:
    session = Session(folder, **more)
    own: Any = session
    return InstrumentAdapter(made.instrument, made.objective, own, made.split.training), session


def test_a_batch_is_judged_and_its_misses_are_what_is_told(made: Preparation, tmp_path: Path) -> None:
    batch = [
        next(each for each in made.split.training if each.truth["impact"] == grade) for grade in (0, 1, 2)
    ]
    own, session = adapter(made, tmp_path, scores=[0, None, 0, 0, 1, 2])
    seen = own.evaluate(batch, NEW, capture_traces=True)
    assert session.asked == [(with_texts(made.instrument, NEW), batch)] and seen.outputs[0] == said(0)
    assert seen.scores == [made.objective.regret(case, said(score).outcomes)
                           for case, score in zip(batch, (0, None, 0), strict=True)]  # fmt: skip
    assert [each.reward for each in seen.trajectories] == [
        made.objective.reward(case, said(score).outcomes)
        for case, score in zip(batch, (0, None, 0), strict=True)
    ]
    told = [
        feedback(case, said(score).outcomes, made.objective)
        for case, score in ((batch[1], None), (batch[2], 0))
    ]
    records = [
        {"inputs": case_inputs(made.instrument, case.case), "feedback": text}
        for case, text in zip(batch[1:], told, strict=True)
    ]
    assert own.make_reflective_dataset(NEW, seen, ["a", "b"]) == {"a": records, "b": records}
    right = own.evaluate(batch, NEW)
    assert right.trajectories is None and right.scores == [0, 0, 0]
    perfect = SimpleNamespace(trajectories=[own.trajectory(batch[0], said(0))])
    assert len(own.make_reflective_dataset(NEW, perfect, ["a"])["a"]) == 1, (
        "of a batch without misses all of it"
    )


def test_a_text_that_cannot_be_used_leaves_the_text_and_is_written_down(
    made: Preparation, tmp_path: Path
) -> None:
    words = "one two three four five six seven eight nine ten eleven twelve"
    first = made.split.training[0]
    case = replace(first, case=replace(first.case, reference=words[:27], candidate=words[28:]))
    name, records = "instructions", [{"inputs": "I", "feedback": "F"}, {"inputs": "J", "feedback": "G"}]
    replies = ["<new text>Look.</new text>", "<new text> </new text>", f"So: {words}", f"So: {words}"]
    own, session = adapter(made, tmp_path, replies=replies)
    own.training = [*made.split.training[1:3], case]
    texts = [own.propose_new_texts(START, {name: records}, [name]) for _ in range(3)]
    assert [each[name] for each in texts] == ["Look.", START[name], START[name]]
    parent = candidate_id(with_texts(made.instrument, START))
    asked = reflection_messages(made.instrument, name, START[name], records)
    assert [each[1] for each in session.asked] == [parent] * 3
    assert [len(each.content) for each in session.asked[0][0]] == [len(each.content) for each in asked]
    empty, quoted = own.refused
    known = {"status": "refused", "feedback": ("F", "G")}
    assert empty == Ancestor("", None, (parent,), {name: ""}, (name,), why="the proposal is empty", **known)
    assert quoted.why.startswith("the proposal quotes") and quoted.texts == {name: ""}
    assert session.lineage.ancestors[0] == empty
    own.may_quote = True
    assert own.propose_new_texts(START, {name: records}, [name]) == {name: f"So: {words}"}
    long = "word " * 5000
    own._refuse("p", name, long, "too long", [])
    assert own.refused[-1].texts == {name: long}, "what quotes nobody is kept"


def proposal(
    text: dict[str, str], *, before: Sequence[Trajectory] = (), after: Sequence[Trajectory] = ()
) -> Any:
    return SimpleNamespace(
        candidate=text, parent_program_ids=[0], eval_before=SimpleNamespace(trajectories=[*before]),
        eval_after=SimpleNamespace(trajectories=[*after]),
    )  # fmt: skip


def test_what_helps_is_kept_with_its_ancestors_and_the_best_is_chosen_by_validation(
    made: Preparation, tmp_path: Path
) -> None:
    own, session = adapter(made, tmp_path)
    own.objective = make_objective("rmse", made.instrument, made.dimensions, made.split.training)
    validation = made.split.validation[:3]
    notes = _Notes(own, validation)
    right, wrong = ([own.trajectory(case, said(one(case))) for case in made.split.training[:2]]
                    for one in (lambda case: case.truth["impact"], lambda case: None))  # fmt: skip
    better = {"instructions": "Better."}
    tried = [
        proposal(START),
        proposal(NEW, before=wrong, after=right),
        proposal(better, before=[*wrong, *right]),
    ]
    state = SimpleNamespace(program_candidates=[START])
    judge = SimpleNamespace(should_accept=lambda each, given: given is state and each is tried[1])
    start, new, dropped = (candidate_id(own.instrument_of(each)) for each in (START, NEW, better))
    session.spent, session.calls = {new: 1.5}, Counter({new: 7})

    def told(candidate: str, score: Any) -> None:
        for case in validation:
            session.lineage.note_judged(candidate, case.key, 0, said(score(case)))

    told(start, lambda case: 0 if case is validation[0] else 2 - case.truth["impact"])
    assert notes.select(tried, state, judge) == [tried[1]], "and what is not new is not tried"
    (gone,) = session.lineage.ancestors
    assert (gone.hash, gone.number, gone.parents, gone.texts) == (
        dropped, None, (start,), editable_texts(own.instrument_of(better))
    )  # fmt: skip
    assert (gone.status, gone.why) == ("dropped", "no better on the misses it was written for")
    assert gone.changed == ("instructions",) and gone.cases == tuple(
        each.case.key for each in [*wrong, *right]
    )
    assert gone.feedback == tuple(each.feedback for each in wrong) and (gone.validation, gone.whole) == (
        None,
        None,
    )
    notes.on_valset_evaluated({"candidate": START, "candidate_idx": 0})
    told(new, lambda case: case.truth["impact"])
    notes.on_valset_evaluated({"candidate": NEW, "candidate_idx": 1})
    first, second = session.lineage.kept
    assert (first.hash, first.number, first.parents, first.changed) == (start, 0, (), ())
    assert (first.before, first.after, first.status, first.why, first.cases) == (None, None, "kept", "", ())
    assert (second.hash, second.number, second.parents) == (new, 1, (start,))
    assert second.before == sum(each.reward for each in wrong) / 2 < second.after
    assert (second.cost, second.calls, first.cost, first.calls) == (1.5, 7, 0.0, 0)
    outcomes = [said(case.truth["impact"]).outcomes for case in validation]
    rewards = [own.objective.reward(case, each) for case, each in zip(validation, outcomes, strict=True)]
    whole = own.objective.whole(validation, outcomes)
    assert (second.validation, second.whole) == (pytest.approx(sum(rewards) / 3), whole)
    found = notes.found(START)
    assert (candidate_id(found.best), candidate_id(found.start)) == (new, start)
    assert (found.validation, found.start_validation, found.tried) == (whole, first.whole, 1)
    assert found.memorised is None and whole > first.whole != first.validation
    third = {"instructions": "By heart."}
    notes.on_valset_evaluated({"candidate": third, "candidate_idx": 3})
    session.lineage.note(
        replace(second, hash=candidate_id(own.instrument_of(third)), number=3, parents=(new,))
    )
    again = notes.found(START)
    assert candidate_id(again.best) == new and again.memorised == own.instrument_of(third)
    assert again.tried == 3
    gains = notes._gains()
    assert gains[new] == second.after - second.before and gains[start] == 0.0
    assert gains[candidate_id(own.instrument_of(third))] == 2 * gains[new]
    session.unknown_cost = True
    assert notes._ancestor(own.instrument_of(NEW), [], None, 1, "kept", "").cost is None
    bare = _Notes(own, validation).found(START)
    assert (bare.best, bare.tried, bare.memorised) == (bare.start, 0, None)


# What is written down.


def test_an_instrument_is_written_with_all_that_is_not_as_by_default(tmp_path: Path) -> None:
    stated = {
        "name": "own", "version": "2", "title": "Own", "instructions": "Look.\nTwice.", "notes": "n",
        "inputs": [{"name": "candidate", "label": "Answer"},
                   {"name": "context", "label": "Talk", "required": False}],
        "dimensions": [
            {"name": "a", "label": "A", "definition": "Is it?", "grades": {0: "no", 1: "yes"}},
            {"name": "b", "label": "B", "definition": "How?", "grades": {0: "bad", 2: "good"},
             "higher_is_better": False, "skip": {"dimension": "a", "equals": 0}},
            {"name": "c", "label": "C", "definition": "So?", "grades": {1: "x", 3: "y"},
             "may_be_not_applicable": True},
        ],
        "reversed": [{"name": "r", "of": "b", "label": "R"}],
        "composites": [{"name": "m", "weights": {"a": 0.25, "c": 0.75}, "label": "M", "needs_every_part": True},
                       {"name": "k", "weights": {"a": 1.0}, "label": "K"}],
        "examples": [{"inputs": {"candidate": "x"}, "scores": {"a": 1, "b": 2, "c": None}, "explanation": "so"}],
        "parameters": {"p": 1},
    }  # fmt: skip
    (tmp_path / "own.yaml").write_text(yaml.safe_dump(stated))
    own = load_instrument(tmp_path / "own.yaml")
    assert _folder.instrument_content(own) == stated
    file = tmp_path / "tuned.yaml"
    _folder.write_instrument(_folder.with_facts(own, {"way": "gepa"}, ["b", "a"]), file)
    assert load_instrument(file).parameters == {"p": 1, "tuning": {"way": "gepa", "touched": "a b"}}
    text = file.read_text()
    assert "`instrument: tuned.yaml`" in text and "instructions: |-\n  Look.\n  Twice.\n" in text
    assert text.index("name: own") < text.index("version:") < text.index("parameters:")


def result(made: Preparation, *, gain: float | None = 0.1, **more: Any) -> TuningResult:
    estimate = SimpleNamespace(value=gain, low=0.0, high=0.2)
    best = with_texts(made.instrument, NEW)
    found = Found(best, made.instrument, 0.7, 0.4)
    held_out: Any = SimpleNamespace(gain=estimate, cases=12)
    return TuningResult(
        made.folder, "complete", "", found, held_out, calls=7, cost=1.5, currency="EUR", **more
    )


def test_a_tuned_instrument_says_how_it_was_tuned(made: Preparation) -> None:
    facts = {
        "way": "gepa", "study": "planted", "judge": "judge", "objective": "cost_matrix", "split": made.split.hash(),
        "group": "patient", "training": 44, "validation": 16, "labels": 216, "calls": 7, "cost": 1.5,
        "currency": "EUR",
    }  # fmt: skip
    point = CurvePoint(5, 9, Estimate(0.1, 0.0, 0.2, 12, "m"))
    assert _folder._facts(made, result(made, curve=[point])) == facts | {
        "held_out": 12, "gain": [0.1, 0.0, 0.2], "curve": [point.as_dict()]
    }  # fmt: skip
    assert _folder._facts(made, result(made, gain=None)) == facts
    unknown = replace(result(made), held_out=None, cost=None)
    assert _folder._facts(made, unknown) == {name: facts[name] for name in facts if name != "cost"}


@pytest.mark.parametrize(("status", "price"), [("complete", 1.0), ("complete", None), ("incomplete", 1.0)])
def test_a_folder_says_what_came_of_its_tuning(
    status: str, price: float | None, made: Preparation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, files = replace(made, folder=tmp_path), ["lineage.jsonl", "tuned.yaml", "report.md"]
    prices: Any = SimpleNamespace(
        as_of="2026", currency="EUR", price={made.judge.models[0]: price}.__getitem__
    )
    spent = SimpleNamespace(calls=9, money=2.5)
    monkeypatch.setattr(_folder, "audit_totals", {tmp_path / "audit.jsonl": spent}.__getitem__)
    monkeypatch.setattr(
        _folder, "report_text", lambda given, came, ancestors: f"{came.labels} {len(ancestors)}"
    )
    manifest = _folder.described(own, prices)
    assert (manifest.study, manifest.way) == ("planted", "gepa")
    assert (manifest.status, manifest.judge) == ("running", "judge")
    assert manifest.settings["seed"] == 3 and "output" not in manifest.settings
    assert manifest.settings_hash == made.settings_hash
    assert manifest.split == made.split.described(made.dimensions)
    assert (manifest.labels, manifest.clinicians, manifest.prices.currency) == (216, 3, "EUR")
    assert manifest.touched == tuple(sorted(made.split.touched())) and len(manifest.packages) == 3
    came = result(made) if status == "complete" else TuningResult(tmp_path, status, "over budget")
    whole = _folder.concluded(own, came, manifest, Lineage.open(tmp_path, "h"), prices)
    assert (whole.calls, whole.cost, whole.currency) == (9, 2.5 if price else None, "EUR")
    assert (whole.clinician_hours, whole.labels) == (216 * 2 / 60, 216)
    written = TuningManifest.read(tmp_path)
    assert written.instrument is not None and written.instrument.name == made.instrument.name
    assert (written.status, written.why, written.calls, written.cost) == (status, came.why, 9, whole.cost)
    assert written.files == {
        name: file_hash(tmp_path / name) for name in files[: 3 if status == "complete" else 1]
    }
    opened = status == "complete"
    assert (len(written.answer_hashes), written.held_out_ratings) == ((12, 24) if opened else (0, 0))
    if opened:
        assert (tmp_path / "report.md").read_text() == "216 0"
        tuned = load_instrument(tmp_path / "tuned.yaml")
        assert tuned.parameters["tuning"]["calls"] == 9 and tuned.instructions == NEW["instructions"]


def test_held_out_scores_are_written_without_texts(made: Preparation, tmp_path: Path) -> None:
    own = replace(made, folder=tmp_path, split=replace(made.split, held_out=made.split.held_out[:4]))
    outcomes = [Score(2), NotApplicable(), Unscored(Reason.REFUSAL, "no")]
    _folder.write_held_out(own, {"tuned": [*({"impact": each} for each in outcomes), None]})
    rows = [*csv.reader((tmp_path / "held-out.csv").read_text().splitlines())]
    assert rows[0] == ["item", "system", "rater", "dimension", "score", "status", "truth"]
    ends = [["2", "scored"], ["", "not_applicable"], ["", "unscored (refusal)"]]
    assert rows[1:] == [
        [case.case.id, "asr", "tuned", "impact", *end, str(case.truth["impact"])]
        for case, end in zip(own.split.held_out, ends, strict=False)
    ]


# From the first question to the last.


@pytest.mark.parametrize("stopped", [False, True])
def test_a_tuning_ends_with_its_folder_also_where_it_is_stopped(
    stopped: bool, made: Preparation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Any] = []

    async def work(
        given: Preparation, lineage: Lineage, prices: PriceList, store: Any, run: str
    ) -> TuningResult:
        manifest = TuningManifest.read(given.folder)
        assert manifest.status == "running" and set(manifest.touched) == made.split.touched()
        seen.append((given.folder, lineage.settings_hash, run))
        if stopped:
            raise TuningStoppedError("over_budget")
        return TuningResult(given.folder, "complete")

    monkeypatch.setattr(_tune, "_work", work)
    monkeypatch.setattr(
        _tune, "concluded", lambda given, came, manifest, lineage, prices: (came, manifest.status)
    )
    came: Any = _tune.tune_study(made.study, made.part, out=tmp_path / "out")
    ending = ("incomplete", "over_budget") if stopped else ("complete", "")
    assert ((came[0].status, came[0].why), came[1]) == (ending, "running")
    assert seen == [(tmp_path / "out", made.settings_hash, f"planted tuning@{made.settings_hash[:12]}")]
