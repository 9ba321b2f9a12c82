"""A rater under a rule for long records: refused for nothing, or shortened, recorded, and paid for honestly."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from medjury.instruments import Instrument, Reason, load_instrument
from medjury.intake.cases import Case, Note
from medjury.judging import Fitted, Judge, Truncation, Unit, first_questions
from medjury.judging._rater import Rated
from medjury.models import Gate, MemoryCache, Message, ModelError, Reply, Request, Scripted
from medjury.store.runs import Body

SENTENCE = "The patient was seen on the ward and is doing well today. "


@pytest.fixture(scope="module")
def instrument() -> Instrument:
    return load_instrument("pdsqi9")


def record(notes: int = 6) -> Case:
    dated = tuple(Note(f"n{each}", SENTENCE * 90, f"2025-01-0{each + 1}") for each in range(notes))
    return Case("1", candidate="Well today [n5].", notes=dated, metadata={"specialty": "cardiology"})


def grades(instrument: Instrument) -> str:
    return json.dumps(
        {each.name: {"explanation": "so", "score": each.highest} for each in instrument.dimensions}
    )


def judge(instrument: Instrument, window: int | None, **options: object) -> Judge:
    model = Scripted(grades(instrument), context_window=window)
    return Judge(model, instrument, max_tokens=500, **options)  # type: ignore[arg-type]


async def rate(fitted: Fitted, case: Case) -> tuple[Rated, Unit]:
    (unit,) = fitted.units(case, 0)
    return await fitted.rate(unit, Gate(cache=MemoryCache())), unit


async def test_by_default_what_does_not_fit_is_unscored_free_of_charge(instrument: Instrument) -> None:
    inner = judge(instrument, 6000)
    rated, _ = await rate(Fitted(inner), record())
    assert {(row.status, row.reason) for row in rated.ratings} == {("unscored", Reason.CONTEXT)}
    assert "takes 6,000 in all" in rated.ratings[0].explanation
    assert [(row.cost, row.calls, row.tokens_in) for row in rated.ratings] == [(0.0, 0, 0)] * len(
        rated.ratings
    )
    assert not inner.model.requests and rated.record is None  # type: ignore[attr-defined]


async def test_a_rule_leaves_out_whole_notes_and_records_them(instrument: Instrument) -> None:
    inner = judge(instrument, 6500)
    rated, unit = await rate(Fitted(inner, Truncation()), record())
    assert all(row.status != "unscored" and row.key == unit.key for row in rated.ratings)
    assert rated.record is not None and next(iter(rated.record.content())) == "kind"
    cut = rated.record.content()["context"]
    assert isinstance(cut, dict) and cut["notes_left_out"] and cut["shortened"] is None
    (asked,) = inner.model.requests  # type: ignore[attr-defined]
    prompt = asked.messages[-1].content
    assert "were left out here, because the whole record does not fit" in prompt
    assert "Note n5" in prompt and "Note n0" not in prompt and "Well today [n5]." in prompt
    assert json.dumps(rated.record.content())


async def test_a_case_that_fits_is_judged_whole_and_has_no_record(instrument: Instrument) -> None:
    inner = judge(instrument, 60_000)
    rated, _ = await rate(Fitted(inner, Truncation()), record())
    assert rated.record is None and rated.ratings[0].calls == 1
    prompt = inner.model.requests[0].messages[-1].content  # type: ignore[attr-defined]
    assert prompt.count(SENTENCE.strip()) == 540


async def test_where_nothing_more_may_be_left_out_it_is_refused(instrument: Instrument) -> None:
    case = Case("1", candidate=SENTENCE * 300, notes=(Note("n", SENTENCE),), metadata={"specialty": "x"})
    rated, _ = await rate(Fitted(judge(instrument, 4000), Truncation()), case)
    assert {row.reason for row in rated.ratings} == {Reason.CONTEXT} and rated.record is None


class TwoSteps(Judge):
    """Asks something short first, then for the grades."""

    async def rate(self, unit: Unit, gate: Gate) -> Rated:
        first = Request((Message("user", f"{len(unit.case.notes)} notes?"),), max_tokens=10)
        answer = await gate.ask(self.model, first)
        outcomes, answers = await self.grade(unit, gate)
        from medjury.judging._rows import rows_of

        return Rated(rows_of(unit, outcomes, [answer, *(answers or ())]), Body(kind="two"))


async def test_steps_begun_again_are_paid_for_in_the_ratings(instrument: Instrument) -> None:
    model = Scripted(lambda request: grades(instrument), context_window=6000)
    two = TwoSteps(model, instrument, max_tokens=500)
    rated, _ = await rate(Fitted(two, Truncation()), record())
    sent = len(model.requests)
    assert sent >= 3 and sum(row.calls or 0 for row in rated.ratings) == sent
    assert (
        rated.record is not None
        and list(rated.record.content()) == ["kind", "context"]
        and rated.record.kind == "two"
    )


async def test_a_failure_of_another_kind_is_left_as_it_is(instrument: Instrument) -> None:
    model = Scripted([ModelError(Reason.CONTEXT, "the endpoint says so itself")], context_window=60_000)
    rated, _ = await rate(Fitted(Judge(model, instrument), Truncation()), record())
    assert {row.reason for row in rated.ratings} == {Reason.CONTEXT} and rated.ratings[0].cost is None


def test_the_rule_and_the_window_are_part_of_the_hash(instrument: Instrument) -> None:
    inner = judge(instrument, 6000)
    hashes = {
        inner.settings_hash(),
        Fitted(inner).settings_hash(),
        Fitted(inner, Truncation()).settings_hash(),
        Fitted(inner, Truncation(keep="oldest")).settings_hash(),
        Fitted(judge(instrument, 7000), Truncation()).settings_hash(),
    }
    assert len(hashes) == 5
    assert Fitted(inner, stated=False).settings_hash() == inner.settings_hash()
    assert Fitted(inner, Truncation()).describe()["context"] == {"truncate": "notes", "keep": "newest"}


async def test_first_questions_are_found_without_asking_anybody(instrument: Instrument) -> None:
    inner = judge(instrument, 6000)
    (unit,) = Fitted(inner, Truncation()).units(record(), 0)
    ((model, request),) = await first_questions(unit)
    assert model is inner.model and "Note n0" in request.messages[-1].content
    assert not inner.model.requests  # type: ignore[attr-defined]


async def test_a_record_in_doubt_is_shortened_only_after_the_endpoint_refused_it(
    instrument: Instrument,
) -> None:
    def answer(request: Request) -> str | ModelError:
        whole = "were left out here" not in request.messages[-1].content
        return ModelError(Reason.CONTEXT, "maximum context length") if whole else grades(instrument)

    model = Scripted(answer, context_window=8000)
    inner = Judge(model, instrument, max_tokens=500)
    rated, _ = await rate(Fitted(inner, Truncation()), record())
    assert len(model.requests) == 2 and all(row.status != "unscored" for row in rated.ratings)
    assert rated.record is not None and rated.record.context and rated.record.context.notes_left_out
    model = Scripted(answer, context_window=8000)
    rated, _ = await rate(Fitted(Judge(model, instrument, max_tokens=500)), record())
    assert {row.reason for row in rated.ratings} == {Reason.CONTEXT} and len(model.requests) == 1


async def test_a_prompt_that_was_cut_and_paid_for_is_in_the_costs_of_the_shortened_one(
    instrument: Instrument,
) -> None:
    def answer(request: Request) -> Reply:
        whole = "were left out here" not in request.messages[-1].content
        return Reply(grades(instrument), tokens_in=8000 if whole else 5000, tokens_out=10)

    model = Scripted(answer, context_window=8000)
    rated, _ = await rate(Fitted(Judge(model, instrument, max_tokens=500), Truncation()), record())
    assert all(row.status != "unscored" for row in rated.ratings)
    assert sum(row.calls or 0 for row in rated.ratings) == 2 == len(model.requests)
    assert sum(row.tokens_in or 0 for row in rated.ratings) == 13_000


@pytest.mark.parametrize("cut", [True, False])
async def test_a_text_that_the_prompt_does_not_show_is_not_shortened_again_and_again(
    instrument: Instrument, cut: bool
) -> None:
    answer = Reply("{}", tokens_in=8000) if cut else ModelError(Reason.CONTEXT, "too long")
    model = Scripted([answer] * 9, context_window=8000)
    case = replace(record(), texts={"unseen": SENTENCE * 400})
    rated, _ = await rate(Fitted(Judge(model, instrument, max_tokens=500), Truncation("unseen")), case)
    assert {row.reason for row in rated.ratings} == {Reason.CONTEXT} and rated.record is None
    assert len(model.requests) == 2, "it is not paid for again and again"
