"""A key that an endpoint repeats goes nowhere: not into messages, log, manifest, report, tables or store."""

from __future__ import annotations

import asyncio
import json
from base64 import b64encode
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from tests.loopback import LoopbackServer
from tests.models.conftest import key  # noqa: F401 - a fixture
from tests.models.samples import KEY, KINDS, model_at, request
from tests.studies.running import run_without_report

from medjury.cli import main
from medjury.models import AuditLog, Gate, MemoryCache, ModelError

SECRETS = {"HEADER": "gateway-Secret/77+x", "QUERY": "query-secret-5150"}
Write = Callable[..., Path]


async def ask(kind: str, behaviour: str, tmp_path: Path, **options: Any) -> Any:
    with LoopbackServer(behaviour) as endpoint:
        address = f"{endpoint.url}?code={SECRETS['QUERY']}" if kind == "openai" else endpoint.url
        model = model_at(kind, address, **options)
        the_gate = Gate(cache=MemoryCache(), audit=AuditLog(tmp_path / "audit.jsonl"), attempts=1)
        try:
            return await the_gate.ask(model, request())
        finally:
            await model.close()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("status", [400, 401, 403, 404, 429, 500, 302])
async def test_a_key_in_the_words_of_a_failure_is_masked(kind: str, status: int, tmp_path: Path) -> None:
    words = f"Incorrect API key provided: {KEY} or {KEY.upper()}"
    body = json.dumps({"error": {"message": words, "code": status}})
    with pytest.raises(ModelError) as caught:
        await ask(kind, f"raw:{status} {body}", tmp_path)
    for shown in (caught.value.message, str(caught.value), repr(caught.value)):
        assert KEY.lower() not in shown.lower()
    assert KEY not in (tmp_path / "audit.jsonl").read_text()


@pytest.mark.parametrize("before", range(190 - len(KEY), 201, 5))
async def test_a_key_at_the_place_where_long_words_are_cut_is_not_halved(before: int, tmp_path: Path) -> None:
    for sign in ("x ", "{"):
        words = (sign * 200)[:before] + f' "{KEY}" was sent' + " and more" * 30
        with pytest.raises(ModelError) as caught:
            await ask("openai", f"raw:400 {json.dumps({'error': {'message': words}})}", tmp_path)
        assert KEY[:4].lower() not in caught.value.message.lower()


async def test_headers_and_queries_are_masked_as_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GATEWAY_SECRET", SECRETS["HEADER"])
    said = f"bad: {SECRETS['HEADER']}, {quote(SECRETS['HEADER'], safe='')}, {SECRETS['QUERY']}, ward-seven, {KEY}"
    headers = {"X-Subscription": "env:GATEWAY_SECRET", "X-Ward": "ward-seven"}
    with pytest.raises(ModelError) as caught:
        await ask("openai", f"raw:400 {json.dumps({'error': said})}", tmp_path, headers=headers)
    shown = caught.value.message
    assert "bad: ***, ***, ***, ***, ***" in shown


async def test_a_header_is_masked_without_its_first_word_and_a_key_in_base64(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GATEWAY", "Bearer gateway-key-0815")
    coded = [b64encode(each.encode()).decode() for each in (KEY, "gateway-key-0815")]
    said = f"bad: gateway-key-0815, {coded[0]}, {coded[1]}."
    headers = {"Authorization": "env:GATEWAY"}
    with pytest.raises(ModelError) as caught:
        await ask("openai", f"raw:400 {json.dumps({'error': said})}", tmp_path, headers=headers)
    assert not any(each.rstrip("=") in caught.value.message for each in ("gateway-key-0815", *coded))
    answer = await ask("openai", f"ok:I got gateway-key-0815 and {coded[0]}", tmp_path, headers=headers)
    assert "gateway-key" not in answer.reply.text and coded[0].rstrip("=") not in answer.reply.text


@pytest.mark.parametrize("kind", KINDS)
async def test_a_key_in_an_answer_is_masked_and_plain_headers_are_not(kind: str, tmp_path: Path) -> None:
    said = json.dumps({"explanation": f"you sent {KEY} from ward-seven", "score": 3})
    options = {"headers": {"X-Ward": "ward-seven"}} if kind in ("openai", "azure") else {}
    answer = await ask(kind, f"ok:{said}", tmp_path, **options)
    assert json.loads(answer.reply.text) == {"explanation": "you sent *** from ward-seven", "score": 3}


@pytest.mark.parametrize(
    "reply",
    [
        f"raw:401 {json.dumps({'error': {'message': f'Incorrect API key provided: {KEY}'}})}",
        f"raw:400 {json.dumps({'error': {'message': f'cannot use header Bearer {KEY}'}})}",
        f"raw:200 {json.dumps({'error': {'message': f'the key {KEY} is suspended'}})}",
        f"raw:200/text/plain Hello {KEY}",
        f"redirect:http://127.0.0.1:9/{KEY}",
        f"ok:I was given {KEY} and will not grade.",
    ],
    ids=["401", "400", "200", "plain", "redirect", "answer"],
)
def test_nothing_that_a_run_writes_holds_the_key(
    reply: str, write_study: Write, server: LoopbackServer, capfd: pytest.CaptureFixture[str]
) -> None:
    server.endpoint.behaviours = lambda _: reply
    study = write_study(judge={"api_key_env": "MEDJURY_TEST_KEY"}, max_unscored=1.0)
    run_without_report(study)
    main(["report", str(study.parent / "runs" / "small")])
    said = capfd.readouterr()
    assert server.calls and KEY not in said.out + said.err
    written = list(_files(study.parent))
    assert len(written) >= 6
    assert [each.name for each in written if KEY.encode() in each.read_bytes()] == []


def _files(folder: Path) -> Iterator[Path]:
    return (each for each in folder.rglob("*") if each.is_file())


async def test_what_is_no_secret_is_not_masked(tmp_path: Path) -> None:
    answers = await asyncio.gather(
        *(
            ask(kind, 'ok:{"explanation": "a sk is a task of 2024-10-21", "score": 2}', tmp_path)
            for kind in KINDS
        )
    )
    assert {json.loads(each.reply.text)["explanation"] for each in answers} == {
        "a sk is a task of 2024-10-21"
    }
