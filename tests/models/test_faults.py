"""Every fault of an endpoint has a reason and a message, for every adapter; none becomes a whole answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import aiohttp
import pytest
from aiohttp.client_reqrep import ConnectionKey
from tests.models.samples import KEY, KINDS, VARIABLE, ask_once, request

from medjury.instruments import Reason
from medjury.models import ModelError, Reply
from medjury.models._connection import ForbiddenHostError
from medjury.models._faults import (
    LostReplyError,
    NotSentError,
    Place,
    connection_fault,
    error_words,
    fault,
    retry_after_seconds,
    without_echo,
)
from medjury.models._sdk import bounded

CONNECTION = ConnectionKey("gateway.example", 443, True, True, None, None, None)
ELSEWHERE = "redirect:http://elsewhere.example/v1"

# behaviour, reason, may be asked again, ends the run, a piece of the message
FAULTS = [
    ("429", Reason.RATE_LIMIT, True, False, "answered 429"),
    ("500", Reason.PROVIDER, True, False, "answered 500"),
    ("529", Reason.RATE_LIMIT, True, False, "answered 529"),
    ("reset", Reason.PROVIDER, True, False, "connection to 127.0.0.1 broke"),
    ("cut-body", Reason.PROVIDER, True, False, "connection to 127.0.0.1 broke"),
    ("truncated-json", Reason.PROVIDER, True, False, "cut off"),
    ("html", Reason.PROVIDER, False, False, "text/html, not JSON"),
    ("endless", Reason.PROVIDER, False, False, "larg"),
    ("401", Reason.PROVIDER, False, True, f"Check the key in the environment variable {VARIABLE}"),
    ("404", Reason.PROVIDER, False, True, "Check the url"),
    ("context", Reason.CONTEXT, False, False, "does not fit the model"),
    (ELSEWHERE, Reason.PROVIDER, False, True, "redirects to http://elsewhere.example/v1"),
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("behaviour", "reason", "retry", "fatal", "words"), FAULTS, ids=[f[0] for f in FAULTS]
)
async def test_a_fault_has_its_reason_and_its_message(
    kind: str, behaviour: str, reason: Reason, retry: bool, fatal: bool, words: str
) -> None:
    with pytest.raises(ModelError) as caught:
        await ask_once(kind, behaviour, largest_body=100_000)
    error = caught.value
    assert (error.reason, error.retry, error.fatal) == (reason, retry, fatal)
    assert words in error.message
    assert KEY not in error.message and KEY not in repr(error)


@pytest.mark.parametrize("kind", KINDS)
async def test_a_slow_body_is_a_timeout(kind: str) -> None:
    with pytest.raises(ModelError, match=r"within 0\.3 s") as caught:
        await ask_once(kind, "slow:5", timeout=0.3)
    assert caught.value.reason is Reason.TIMEOUT and caught.value.retry


@pytest.mark.parametrize("kind", KINDS)
async def test_an_endpoint_that_does_not_run_is_named(kind: str) -> None:
    from tests.models.samples import model_at

    model = model_at(kind, "http://127.0.0.1:9")
    with pytest.raises(ModelError, match=r"127\.0\.0\.1: is the endpoint running") as caught:
        await model.ask(request())
    assert caught.value.retry
    await model.close()


@pytest.mark.parametrize("kind", KINDS)
async def test_the_wait_that_an_endpoint_asks_for_is_known(kind: str) -> None:
    with pytest.raises(ModelError) as caught:
        await ask_once(kind, "429:7")
    assert caught.value.retry_after == 7


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("behaviour", "finish"), [("ok", "stop"), ("length", "length"), ("refusal", "refusal"), ("empty", "stop")]
)
async def test_how_an_answer_ended_is_known(kind: str, behaviour: str, finish: str) -> None:
    reply: Reply = await ask_once(kind, behaviour)
    assert reply.finish == finish
    assert (reply.text == "") == (behaviour == "empty")
    assert reply.tokens_in > 0 and reply.seconds > 0
    if behaviour == "ok":
        assert json.loads(reply.text)["score"] in {1, 2, 3, 4, 5}


@pytest.mark.parametrize("kind", KINDS)
async def test_an_answer_of_another_shape_is_no_reply(kind: str) -> None:
    with pytest.raises(ModelError) as caught:
        await ask_once(kind, "not-json")
    assert caught.value.reason is Reason.PROVIDER


@pytest.mark.parametrize("kind", KINDS)
async def test_an_error_that_repeats_the_prompt_is_not_passed_on(kind: str) -> None:
    note = "Mrs Example, born 1941, has a mass in the left breast"
    with pytest.raises(ModelError) as caught:
        await ask_once(kind, f"400:cannot parse '{note}'", request(f"The note: {note}."))
    assert "Example" not in caught.value.message and "left out" in caught.value.message


@pytest.mark.parametrize(
    "changed",
    [str.upper, str.title, lambda note: note.replace(" ", "_"), lambda note: note.replace(", ", '","')],
)
def test_an_echo_in_another_case_or_with_other_signs_is_an_echo(changed: Callable[[str], str]) -> None:
    note = "Frau Beispiel, Hauptstraße 7, has a mass in the left breast"
    assert "left out" in without_echo(f"cannot parse {changed(note)}", [f"The note: {note}."])


def test_words_shorter_than_an_echo_are_kept() -> None:
    assert without_echo("model not loaded", ["a model not loaded yet"]) != "model not loaded"
    assert without_echo("bad  seed\n", ["no bad seed"]) == "bad seed"


@pytest.mark.parametrize(
    ("status", "words", "fatal", "advice"),
    [
        (429, "insufficient_quota You exceeded your current quota", True, "no quota left"),
        (403, "permission_error Your API key may not use this model", True, "Check the key"),
        (403, "blocked by the firewall", True, "check the rights of the key"),
        (400, "API key not valid. Please pass a valid API key", True, "Check the key"),
    ],
)
def test_what_no_further_call_can_mend_ends_the_run(
    status: int, words: str, fatal: bool, advice: str
) -> None:
    error = fault(Place("h", "m", "KEY"), status, words, [])
    assert error.fatal is fatal and advice in error.message


@pytest.mark.parametrize(
    ("status", "words", "retry_after", "reason"),
    [
        (429, "Rate limit reached; add a payment method at /account/billing", None, Reason.RATE_LIMIT),
        (429, "RESOURCE_EXHAUSTED check your plan and billing details", 20.0, Reason.RATE_LIMIT),
        (429, "insufficient_quota for this minute", 20.0, Reason.RATE_LIMIT),
        (500, "billing-gateway is not reachable", None, Reason.PROVIDER),
    ],
)
def test_a_word_about_billing_does_not_end_a_run_that_may_go_on(
    status: int, words: str, retry_after: float | None, reason: Reason
) -> None:
    error = fault(Place("h", "m", "KEY"), status, words, [], retry_after)
    assert (error.reason, error.retry, error.fatal) == (reason, True, False)
    assert error.retry_after == retry_after


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (400, "Your credit balance is too low"),
        (402, ""),
        (403, "billing is not active"),
        (429, "Your credit balance is too low"),
    ],
)
def test_an_empty_account_ends_the_run(status: int, words: str) -> None:
    error = fault(Place("h", "m", "KEY"), status, words, [])
    assert error.fatal and "no quota left" in error.message


async def test_a_body_nested_too_deeply_says_nothing() -> None:
    deep = b"[" * 200_000
    assert error_words(deep) == ""
    with pytest.raises(ModelError, match="cut off") as caught:
        async with bounded(Place("h", "m"), 60):
            json.loads(deep)
    assert caught.value.reason is Reason.PROVIDER and caught.value.retry


def test_a_prompt_that_a_filter_refused_is_a_refusal() -> None:
    error = fault(Place("h", "m"), 400, "content_filter The response was filtered", [])
    assert error.reason is Reason.REFUSAL and not error.retry


def test_retry_after_is_read_in_seconds_and_as_a_date() -> None:
    now = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)
    later = format_datetime(now + timedelta(seconds=90), usegmt=True)
    assert retry_after_seconds("2.5") == 2.5
    assert retry_after_seconds(later, now) == 90
    assert retry_after_seconds(format_datetime(now - timedelta(days=1), usegmt=True), now) == 0
    for nothing in (None, "", "soon", "nan", "inf"):
        assert retry_after_seconds(nothing) is None


@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        (aiohttp.ClientConnectorDNSError(CONNECTION, OSError()), NotSentError, "is the endpoint running"),
        (aiohttp.ClientConnectorError(CONNECTION, OSError()), NotSentError, "is the endpoint running"),
        (aiohttp.ServerDisconnectedError(), LostReplyError, "broke"),
    ],
)
def test_a_name_that_leads_nowhere_was_sent_nothing(error: Exception, kind: type, words: str) -> None:
    found = connection_fault(Place("gateway.example", "m"), error)
    assert type(found) is kind and words in found.message and found.retry


def test_a_host_that_is_not_allowed_is_named_however_deep_a_package_puts_it() -> None:
    error = aiohttp.ClientConnectorError(CONNECTION, OSError())
    error.__cause__ = ForbiddenHostError("other.example is not this machine")
    found = connection_fault(Place("gateway.example", "m"), error)
    assert isinstance(found, NotSentError) and found.fatal and "other.example" in found.message
