"""A recorded model: which of the file's models it is, what it answers, and what it says of a file it cannot use."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from medjury.foundation.errors import MedjuryError
from medjury.instruments import Reason
from medjury.models import (
    Gate,
    MemoryCache,
    Message,
    ModelError,
    PriceList,
    RecordedAs,
    RecordedModel,
    Reply,
    Request,
    failure_of,
    request_key,
    write_answers,
)

IDENTITY = {"kind": "openai", "model": "gpt-4o"}
OTHER = {"kind": "openai", "model": "llama-3.3"}
REQUEST = Request((Message("user", "Is it so?"),), seed=None)


def file(tmp_path: Path, *models: RecordedAs, name: str = "answers.jsonl", **answers: Reply) -> Path:
    path = tmp_path / name
    there = models or (RecordedAs(names=["juror"], identity=IDENTITY, vendor="OpenAI", context_window=4000),)
    write_answers(path, there, answers.items())
    return path


def key(identity: dict[str, str] = IDENTITY, repeat: int = 0) -> str:
    return request_key(identity, REQUEST, repeat)


async def test_it_answers_as_recorded_each_draw_its_own_and_at_the_recorded_cost(tmp_path: Path) -> None:
    replies = {
        key(repeat=n): Reply(f"answer {n}", "stop", 10, 5, 2, 0.5, "gpt-4o-2024", n / 8) for n in range(3)
    }
    model = RecordedModel(file=str(file(tmp_path, **replies)), name="juror")
    assert (model.identity, model.vendor, model.context_window, model.host) == (
        IDENTITY,
        "OpenAI",
        4000,
        None,
    )
    gate = Gate(cache=MemoryCache(), prices=PriceList.shipped())
    for number in (2, 0, 1, 1):
        answer = await gate.ask(model, REQUEST, number)
        assert answer.reply == replies[key(repeat=number)]
        assert answer.worth == number / 8, "by the price list gpt-4o would cost something else"
        assert (answer.asked, answer.answered) == ("gpt-4o", "gpt-4o-2024")
    assert gate.money == 3 / 8


async def test_what_is_not_in_the_file_has_no_answer(tmp_path: Path) -> None:
    model = RecordedModel(file=str(file(tmp_path)), name="juror")
    gate = Gate(cache=MemoryCache())
    with pytest.raises(ModelError, match=r"no answer to this question is in answers\.jsonl") as raised:
        await gate.ask(model, REQUEST)
    assert raised.value.reason is Reason.NOT_STORED and not raised.value.fatal and gate.calls == 0


async def test_a_recorded_failure_comes_back_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    text = '{"excess": 40, "message": "too long by far", "reason": "context", "sent": true}'
    write_answers(path, [RecordedAs(names=["juror"], identity=IDENTITY)], [(key(), text)])
    model = RecordedModel(file=str(path), name="juror")
    with pytest.raises(ModelError) as raised:
        await Gate(cache=MemoryCache()).ask(model, REQUEST)
    assert repr(raised.value) == repr(failure_of(text, model)) and raised.value.message == "too long by far"


def test_the_model_is_chosen_by_its_id_then_by_its_name(tmp_path: Path) -> None:
    warm = {**OTHER, "extra": '{"top_p": 0.9}'}
    path = file(
        tmp_path,
        RecordedAs(names=["one"], identity=IDENTITY),
        RecordedAs(names=["two"], identity=OTHER),
        RecordedAs(names=["three", "talk/moderator"], identity=warm),
    )
    assert RecordedModel(file=str(path), name="any", model="gpt-4o").identity == IDENTITY
    assert RecordedModel(file=str(path), name="two").identity == OTHER
    assert RecordedModel(file=str(path), name="talk/moderator", model="llama-3.3").identity == warm
    for options, words in (
        ({"name": "four", "model": "llama-3.3"}, "several models that could be four"),
        ({"name": "four"}, "several models that could be four"),
        ({"name": "one", "model": "gpt-5"}, "holds no answers of gpt-5; its models are gpt-4o"),
    ):
        with pytest.raises(MedjuryError, match=words):
            RecordedModel(file=str(path), **options).check()


def test_nothing_is_opened_before_it_is_needed(tmp_path: Path) -> None:
    model = RecordedModel(file=str(tmp_path / "absent.jsonl"), name="juror")
    with pytest.raises(MedjuryError, match=r"absent\.jsonl: the recorded answers cannot be read"):
        model.check()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "line 1: the first line names no models"),
        (b'{"key": "k", "text": "secret words"}\n', "line 1: the first line names no models"),
        (b'{"format": "medjury answers 2", "models": []}\n', "line 1"),
        (b'HEADER{"key": "k", "text": 7}\n', "line 2: this is not a recorded answer"),
        (b'HEADER{"key": "k", "text": "secret words", "cost": -1}\n', "line 2"),
        (b'HEADER{"key": "k", "text": "secret words", "score": 5}\n', "line 2"),
        (b'HEADER{"key": "k", "text": "a"}\n{"key": "k", "text": "b"}\n', "line 3: this call appears twice"),
        (b"HEADER" + b"[" * 100_000 + b"\n", "line 2"),
        (b"\xff\xfe\n", "line 1"),
    ],
)
def test_a_file_that_is_none_is_refused_with_its_line_and_without_its_words(
    tmp_path: Path, content: bytes, words: str
) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_bytes(content.replace(b"HEADER", b'{"format": "medjury answers 1", "models": []}\n'))
    with pytest.raises(MedjuryError, match=words) as raised:
        RecordedModel(file=str(path), name="juror").check()
    assert "secret words" not in str(raised.value)


def test_half_a_gzip_file_is_refused(tmp_path: Path) -> None:
    path = file(tmp_path, name="answers.jsonl.gz", **{key(): Reply("so it is " * 500)})
    whole = path.read_bytes()
    assert b"so it is" in gzip.decompress(whole)
    for bad in (whole[: len(whole) // 2], b"not zipped at all"):
        path.write_bytes(bad)
        with pytest.raises(MedjuryError, match="cannot be read"):
            RecordedModel(file=str(path), name="juror").check()


async def test_any_sign_that_a_model_gave_is_kept(tmp_path: Path) -> None:
    path = file(tmp_path, **{key(): Reply("half a pair \ud83d, a null \x00 and \u2028")})
    model = RecordedModel(file=str(path), name="juror")
    assert (await model.ask(REQUEST)).text == "half a pair \ud83d, a null \x00 and \u2028"
