"""Words of the prompt that an endpoint repeats do not reach a rating, however short; the rest of them does."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import polars
import pytest
from tests.loopback import LoopbackServer
from tests.models.conftest import key  # noqa: F401 - a fixture
from tests.models.samples import KINDS, ask_once, request
from tests.studies.running import run_without_report

from medjury.instruments import Reason
from medjury.models import ModelError
from medjury.models._echo import without_echo
from medjury.models._faults import Place, fault

NOTE = (
    "Jane Roe, born 1941, MRN A-4711, saw Dr O'Hara. Temperature 38.2, not supported by family. Invalid. "
    "Model patient. The model of a heart was shown."
)

ECHOES = [
    ("Syntax error near 'Jane Roe'", "Syntax error near (left out)"),
    ('unexpected token "roe"', "unexpected token (left out)"),
    ("unexpected word roe, after jane", "unexpected word (left out), after (left out)"),
    ("cannot parse JANE ROE at byte 12", "cannot parse (left out) at byte 12"),
    ("cannot parse `A-4711`", "cannot parse (left out)"),
    ("bad number 1941 in input", "bad number (left out) in input"),
    ("Dr O'Hara is unknown", "(left out) is unknown"),
    ("value 'Roe, born' is not allowed", "value (left out) is not allowed"),
]
KEPT = [
    "Unsupported value: 'temperature' does not support 0.0 with this model",
    "Invalid request: the model 'llama' is not loaded",
    "maximum context length is 8192 tokens",
    "This is not supported",
    "it was not supported",
]


@pytest.mark.parametrize(("said", "shown"), ECHOES)
def test_a_short_echo_is_left_out(said: str, shown: str) -> None:
    assert without_echo(said, [NOTE]) == shown


@pytest.mark.parametrize("said", KEPT)
def test_what_an_endpoint_says_of_itself_is_kept(said: str) -> None:
    assert without_echo(said, [NOTE]) == said


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("status", [400, 404, 500])
async def test_no_adapter_passes_a_name_on(kind: str, status: int) -> None:
    body = json.dumps({"error": {"message": "Syntax error near 'Jane Roe'", "code": status}})
    with pytest.raises(ModelError, match=r"near \(left out\)") as caught:
        await ask_once(kind, f"raw:{status} {body}", request(NOTE))
    assert "Roe" not in caught.value.message


def test_a_rating_does_not_hold_a_name(write_study: Callable[..., Path], server: LoopbackServer) -> None:
    server.endpoint.behaviours = lambda _: "400:Syntax error near 'Jane Roe'"
    cases = [{"id": "a", "candidate": "Fine.", "texts": {"context": NOTE}}]
    study = write_study(cases=cases, max_unscored=1.0)
    assert run_without_report(study) == 0
    rows = polars.read_parquet(study.parent / "runs" / "small" / "ratings.parquet").filter(rater_kind="judge")
    told = "".join(each or "" for each in rows["explanation"])
    assert "near (left out)" in told and "Roe" not in told


@pytest.mark.parametrize(
    ("words", "reason", "fatal"),
    [
        ("", Reason.PROVIDER, True),
        ("Forbidden", Reason.PROVIDER, True),
        ("Access denied by policy", Reason.PROVIDER, True),
        ("Your input was flagged by moderation", Reason.REFUSAL, False),
        ("content_filter triggered", Reason.REFUSAL, False),
    ],
)
def test_a_plain_403_ends_the_run_and_a_filter_does_not(words: str, reason: Reason, fatal: bool) -> None:
    error = fault(Place("h", "m", "KEY"), 403, words, [])
    assert (error.reason, error.fatal) == (reason, fatal)
