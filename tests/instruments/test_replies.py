"""Which replies are read, and as what: the replies of every file in `replies/`, and those that hypothesis makes.

A line of such a file is `{"reply", "token_in_reply", "expect": "read" or "not read", "score"}`. `{TOKEN}` in a
reply is the token that its question showed; the instrument has one dimension, accuracy, from 1 to 5. What is not
read is handed back to the judge; a reply that is read with another score than `score` is the worst case of all.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from medjury.instruments import (
    AnswerError,
    Dimension,
    Input,
    Instrument,
    Reason,
    Score,
    extract_json,
    needs_token,
    read_answer,
    read_reply,
)
from medjury.instruments._reader import LONGEST_REPLY, REASONING

FOLDER = Path(__file__).parent / "replies"
TOKEN = "7f3a09c41e"
INSTRUMENT = Instrument(
    "one", "1", "One", "Grade.", (Input("candidate", "Note"),),
    (Dimension("accuracy", "Accuracy", "Is it right?", {grade: str(grade) for grade in range(1, 6)}),),
)  # fmt: skip
LINES = [
    pytest.param(json.loads(line), id=f"{file.stem}:{number}")
    for file in sorted(FOLDER.glob("*.jsonl"))
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
    if line.strip()
]


def score_of(reply: str, token: str) -> float | None:
    """The grade that is read, or None."""
    try:
        outcome = read_answer(INSTRUMENT, read_reply(reply, token).value)["accuracy"]
    except AnswerError:
        return None
    return outcome.value if isinstance(outcome, Score) else None


@pytest.mark.parametrize("line", LINES)
def test_every_reply_is_read_as_its_line_states(line: dict[str, Any]) -> None:
    holds = line.get("token_in_reply")
    assert holds in (None, "{TOKEN}", "{TOKEN}" in line["reply"]), "the line contradicts itself"
    assert line["expect"] in ("read", "not read")
    expected = line["score"] if line["expect"] == "read" else None
    assert score_of(line["reply"].replace("{TOKEN}", TOKEN), TOKEN) == expected


@pytest.mark.parametrize("line", LINES)
def test_where_the_question_showed_no_token_nothing_is_read_by_one(line: dict[str, Any]) -> None:
    reply = line["reply"].replace("{TOKEN}", TOKEN)
    found = score_of(reply, "")
    # Nobody knows here that a verdict is a wrong one; a study refuses it, as a text under a key not asked for.
    assert found in (None, line.get("score")) or '"verdict"' in reply.lower()
    if found is not None:
        assert read_reply(reply, "").way == "object"


def test_the_files_hold_what_they_should() -> None:
    lines = [line.values[0] for line in LINES]
    assert len(lines) >= 40
    assert {line["expect"] for line in lines} == {"read", "not read"}


def test_the_token_is_not_a_part_of_the_answer() -> None:
    assert read_reply(f'{{"accuracy": 4, "verdict": "{TOKEN}"}}', TOKEN) == ({"accuracy": 4}, "object")
    assert read_reply(f'So: {{"accuracy": 4, "verdict": "{TOKEN}"}}', TOKEN) == ({"accuracy": 4}, "token")


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ("no object", "holds no JSON object"),
        ("[1, 2]", "not a JSON object"),
        ('{"a": 1', "the JSON is broken"),
        ('{"a": NaN}', "NaN and Infinity"),
        ('{"a": 1e999}', "too large"),
        ('{"a": ' + "9" * 5_000 + "}", "too large"),
        ('{"a": 1, "a": 1}', "a key occurs twice"),
        ('{"a": {"b": 1, "b": 2}}', "a key occurs twice"),
        ('{"a": 1} {"a": 1}', "other text follows"),
        ("<think>{", "reasoning never ends"),
        ('{"a": 1, "verdict": "0000000000"}', "is not the one that the question shows"),
        (f"verdict {TOKEN}: " + '{"a": 1}', "no whole JSON object in it has the"),
        (f'x {{"verdict": "{TOKEN}"}} {{"verdict": "{TOKEN}"}}', "2 objects have the"),
        (f'x {{"verdict": "{TOKEN}"}} y', "other text follows the object"),
        (f"{TOKEN} " + "{" * 200, "too many braces"),
        (f"{TOKEN} " + "{}" * 2_000, "too many JSON objects"),
        (f"{TOKEN} " + '{"a":' * 100_000, "nested too deeply"),
        ('{"a":' * 100_000, "nested too deeply"),
    ],
)
def test_what_is_not_read_has_its_reason(reply: str, why: str) -> None:
    with pytest.raises(AnswerError, match=why) as error:
        read_reply(reply, TOKEN)
    assert error.value.reason is Reason.PARSE


def test_a_message_quotes_nothing_of_the_reply() -> None:
    with pytest.raises(AnswerError) as error:
        read_reply('{"why": "Mrs Smith of 12 High Street has", "score" 3}', TOKEN)
    assert "Smith" not in str(error.value)


def test_a_reply_that_is_too_long_counts_as_cut_off() -> None:
    assert read_reply('{"a": 1}'.ljust(LONGEST_REPLY)).value == {"a": 1}
    with pytest.raises(AnswerError) as error:
        read_reply('{"a": 1}'.ljust(LONGEST_REPLY + 1))
    assert error.value.reason is Reason.TRUNCATED


@pytest.mark.parametrize(("opening", "closing"), REASONING)
def test_a_block_of_reasoning_counts_only_where_it_opens_the_reply_and_is_closed(
    opening: str, closing: str
) -> None:
    assert score_of(f'{opening}x{closing}{{"accuracy": 2}}', TOKEN) == 2
    assert score_of(f'\n {opening}x{closing}\n```json\n{{"accuracy": 2}}\n```', TOKEN) == 2
    for reply in (
        f'{opening}x {{"accuracy": 5}}',
        f'x {opening}y{closing}{{"accuracy": 5}}',
        f'{closing}{{"accuracy": 5}}',
        f'{opening}x{closing}{{"accuracy": 5}}{closing}',
        f'{opening}x{closing}{{"accuracy": 1}} {opening}y{closing}{{"accuracy": 5}}',
    ):
        assert score_of(reply, TOKEN) is None


def test_a_cell_of_a_table_may_hold_an_array() -> None:
    assert extract_json('[{"rating": 4}]') == [{"rating": 4}]
    with pytest.raises(AnswerError):
        extract_json('The answer is [{"rating": 4}]')


def test_a_recording_keeps_the_token_where_the_reply_cannot_be_read_without() -> None:
    assert not needs_token('{"a": 1}', TOKEN) and not needs_token('{"a": {"verdict": "x"}}', TOKEN)
    assert needs_token(f'x {{"verdict": "{TOKEN}"}}', TOKEN) and needs_token('{"verdict": "x"}', TOKEN)
    assert not needs_token('{"verdict": "x"}', "")


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)
_OBJECTS = st.dictionaries(st.text().filter(lambda key: key != "verdict"), _JSON, max_size=5)


@given(_OBJECTS, st.booleans(), st.booleans())
def test_any_object_is_read_back(value: dict[str, Any], fenced: bool, ascii_only: bool) -> None:
    for given_value in (value, {**value, "verdict": TOKEN}):
        text = json.dumps(given_value, ensure_ascii=ascii_only, indent=1)
        assert read_reply(f"```json\n{text}\n```" if fenced else text, TOKEN).value == value


@given(st.text(), _OBJECTS, st.text(alphabet=" \n\t"))
def test_an_object_with_the_token_is_read_whatever_comes_before_it(
    before: str, value: dict[str, Any], after: str
) -> None:
    before = before.replace("{", "")
    assume(not any(opening.lower() in f"{before} ".lower() for opening, _ in REASONING))
    reply = f"{before} {json.dumps({**value, 'verdict': TOKEN})}{after}"
    assert read_reply(reply, TOKEN).value == value


@given(st.text() | st.text(alphabet='{}[]"\\:, 1a`<>'))
def test_any_text_is_read_or_refused(text: str) -> None:
    for reply in (text, f"{text}{TOKEN}"):
        try:
            assert isinstance(read_reply(reply, TOKEN).value, dict)
        except AnswerError as error:
            assert str(error)


@pytest.mark.parametrize("filling", [" ", "{", "[{", '"', "\\", "<think>"])
def test_a_long_reply_is_read_in_the_time_that_its_length_takes(filling: str) -> None:
    """An object, 40,000 spaces and an x once took 25 seconds."""
    start = time.process_time()
    for reply in (f'{{"accuracy": 5}}{filling * 40_000}x', f"{filling * 40_000}{TOKEN}"):
        assert score_of(reply, TOKEN) is None
    assert time.process_time() - start < 5
