"""What holds for every way of judging. Keys are the same today as on the day an answer was stored: else every
stored answer would be asked again."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import pytest

from medjury.instruments import Reason, Unscored, load_instrument
from medjury.intake.cases import Case, Note
from medjury.judging import (
    PERSONAS,
    AdaptiveJury,
    AdaptiveRule,
    Agent,
    Answerer,
    Claims,
    ClosedLoop,
    Concordance,
    Deliberation,
    Drafter,
    Fitted,
    Judge,
    ModelChecked,
    Rater,
    Repeats,
    Speaker,
    Truncation,
)
from medjury.judging._claims.worked import CLAIM_EXAMPLES
from medjury.models import (
    Answer,
    ChatModel,
    Gate,
    MemoryCache,
    ModelError,
    Request,
    Scripted,
    make_model,
    request_key,
)

CASE = Case(
    "c1", "Start amlodipine 5 mg once daily.", "Begin amlodipine 5 mg daily.",
    {"question": "How should it be treated?", "specialty": "cardiology", "prompt": "Say something.",
     "context": "Blood pressure 160/95 twice."},
    notes=(Note("n1", "Blood pressure 160/95 twice. No chest pain.", "Clinic note", "2026-01-02"),),
)  # fmt: skip
MODEL, OTHER = Scripted("{}", name="one"), Scripted("[]", name="other")


def judge(instrument: str = "note_quality", **settings: object) -> Judge:
    return Judge(MODEL, load_instrument(instrument), **settings)  # type: ignore[arg-type]


def raters() -> Mapping[str, Rater]:
    asking, drawing = Speaker(MODEL), judge(temperature=0.7)
    agents = [Agent(PERSONAS[name], asking) for name in ("high_scorer", "low_scorer")]
    windowed = Judge(Scripted("{}", context_window=9_000), load_instrument("note_quality"))
    final = Judge(OTHER, load_instrument("note_quality"))
    return {
        "single": judge(),
        "per dimension": judge("pdsqi9", per_dimension=True),
        "before tokens": judge(prompt="1"),
        "reasons after": judge(explain="after", seed=None, temperature=None),
        "worked examples": judge("concordance", examples=load_instrument("concordance").examples),
        "repeats": Repeats(drawing, 3),
        "adaptive": AdaptiveJury("jury", [judge(), final], AdaptiveRule(tolerance=0.2)),
        "deliberation": Deliberation("talk", load_instrument("note_quality"), asking, agents),
        "claims": Claims("claims", load_instrument("concordance"), asking, asking),
        "claims with examples": Claims(
            "claims", load_instrument("grounding"), asking, asking, examples=CLAIM_EXAMPLES
        ),
        "concordance": Concordance(asking, load_instrument("preference")),
        "closed loop": ClosedLoop(final, judge(), asking),
        "drafting": Drafter(asking, "our drafts"),
        "answering": Answerer(asking),
        "fitted": Fitted(windowed, Truncation()),
        "strict": ModelChecked(judge()),
    }


class Listening(Gate):
    """Keeps the key and the name of every question, and answers none."""

    def __init__(self, failure: ModelError | None = None) -> None:
        super().__init__(cache=MemoryCache())
        self.asked: list[str] = []
        self.failure = failure or ModelError(Reason.REFUSAL, "nothing is asked")

    async def ask(self, model: ChatModel, request: Request, repeat: int = 0, name: str = "") -> Answer:
        self.asked.append(f"{request_key(model.identity, request, repeat)[:16]} {name[:16]}")
        raise self.failure


def keys_of(rater: Rater) -> list[str]:
    """The hash of its settings, and of its first unit the key and what it asks."""
    unit = rater.units(CASE, 1)[0]
    gate = Listening()
    asyncio.run(rater.rate(unit, gate))
    return [rater.settings_hash()[:16], unit.key[:16], *gate.asked]


FIXED: Mapping[str, list[str]] = {
    "single": ["61a0d339c6637e52", "f3250eba2d45ac68", "cd020a7b201d47dd 80e62b84ae607e3a"],
    "per dimension": ["8cc909f32aaaac4d", "89f484be9d4db327", "1b471e1651595d33 019380af14d71675"],
    "before tokens": ["3866ed864dd77cbf", "e5e6b747562d71ab", "cd020a7b201d47dd 80e62b84ae607e3a"],
    "reasons after": ["47fb6bdbca658fa1", "54325bf4e9292aa8", "953d7e69a2c5cd73 55390f96b8710500"],
    "worked examples": ["05aef43ae00c525e", "b5cea2ef4382c5a9", "8a710797f9926164 456899715c4ff458"],
    "repeats": [
        "f1cf3371a8ea52dd",
        "a1fe34e0c20788f5",
        "542b969bb8ca84ba 014dd52207f2cff1",
        "804d79f7270b8a56 24800ec4de2dfd34",
        "6d97f6ee27b2d26a 9f541eafeb79d6bc",
    ],
    "adaptive": [
        "a16ab77834e49fcf",
        "36037f1da502e4b0",
        "cd020a7b201d47dd 80e62b84ae607e3a",
        "853f551e89f8b31a 03a21117706e425d",
    ],
    "deliberation": [
        "345f4e0a19da3f44",
        "360ad768558b8b8e",
        "af61754994fe47aa 5f6721c1f5760351",
        "cc1d61ba5202eab5 0e82c69d3d35567f",
    ],
    "claims": ["ba17bf5891af601b", "0ac5fb2d167ff993", "26cd2adbdaf5bc57 d165923693c936f0"],
    "claims with examples": ["1b29252a4a337c5f", "d16770c6dec81e8a", "94c033cd5c6d4ea4 d165923693c936f0"],
    "concordance": ["49059e65669d8dea", "2e402314f6a82e18", "ca89efa571230388 456899715c4ff458"],
    "closed loop": ["84a8a72ed7cd1568", "eb670c82c8cea433", "03cdb9a36e9214d8 a407588dfc03bcff"],
    "drafting": ["4fcea99eff229c60", "88283a9b4304574d", "ffe10e2131c1d351 b9f8e108a1918b5b"],
    "answering": ["f4afbd4b02481720", "4f44da160aa9cecd", "6ef9258c0f984a75 d41519133321628d"],
    "fitted": ["31a57e84e380f9f4", "f4a67f3f79189485", "cd020a7b201d47dd 80e62b84ae607e3a"],
    "strict": ["f3343beff660a8a1", "0260bf3fe686661c", "cd020a7b201d47dd 80e62b84ae607e3a"],
}


@pytest.mark.parametrize("way", FIXED)
def test_what_was_asked_yesterday_has_the_same_keys_today(way: str) -> None:
    assert keys_of(raters()[way]) == FIXED[way]


def test_every_way_of_judging_has_fixed_keys() -> None:
    assert FIXED.keys() == raters().keys()


@pytest.mark.parametrize("way", FIXED)
def test_a_key_that_is_not_valid_ends_every_way(way: str) -> None:
    rater = raters()[way]
    gate = Listening(ModelError(Reason.PROVIDER, "the key is not valid", fatal=True))
    with pytest.raises(ModelError, match="the key is not valid"):
        asyncio.run(rater.rate(rater.units(CASE, 0)[0], gate))


@pytest.mark.parametrize("way", FIXED)
def test_a_case_without_its_input_is_unscored_without_a_call(way: str) -> None:
    rater, gate = raters()[way], Listening()
    unit = rater.units(Case("empty"), 0)[0]
    rated = asyncio.run(rater.rate(unit, gate))
    assert {(row.reason, row.cost) for row in rated.ratings} == {(Reason.INPUT, 0.0)} and not gate.asked
    assert isinstance(rater.expected(unit), Unscored)


@pytest.mark.parametrize(
    ("kind", "options", "identity"),
    [
        ("openai", {"url": "http://127.0.0.1:1/v1", "model": "m"}, {"kind": "openai", "model": "m"}),
        (
            "openai",
            {"url": "http://127.0.0.1:1/v1", "model": "m", "top_p": 0.5, "extra": {"x": 1}},
            {"kind": "openai", "model": "m", "extra": '{"x": 1}', "sampling": '{"top_p": 0.5}'},
        ),
        ("anthropic", {"model": "m", "top_k": 3}, {"kind": "anthropic", "model": "m", "sampling": '{"top_k": 3}'}),
        ("google", {"model": "m", "url": "http://127.0.0.1:1"}, {"kind": "google", "model": "m"}),
    ],
)  # fmt: skip
def test_a_model_is_known_by_the_same_words_as_yesterday(
    kind: str, options: dict[str, object], identity: dict[str, str]
) -> None:
    model = make_model(kind, **options)
    assert dict(model.identity) == identity
    request = Request((), None, 10, 0.0, 1)
    assert request_key(model.identity, request, 2) == request_key(identity, request, 2)


def test_the_key_of_a_request_is_what_it_was() -> None:
    request = judge().request(judge().units(CASE, 0)[0])
    assert isinstance(request, Request)
    assert (
        request_key({"kind": "openai", "model": "m"}, request, 0)
        == "3ecaae28ac8ce7219f5c0f7009d40d62ef9215de6464a76fc405bc0065ca042d"
    )
