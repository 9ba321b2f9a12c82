"""JSON in less time is the same JSON: signs when it is written, values and errors when it is read."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from medjury.json_text import json_bytes, json_writer, read_json

VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None)),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)
OPTIONS: list[dict[str, Any]] = [
    {},
    {"sort_keys": True},
    {"ensure_ascii": False, "separators": (",", ":")},
    {"sort_keys": True, "separators": (",", ":")},
]
# What two parsers may take differently.
ODD = [
    b"NaN", b"-Infinity", b"-NaN", b"-0", b"-0.0", b"1e999", b"1e-999", b"01", b"1.", b".5", b"+1", b'"\x01"',
    b'"\t"', b'{"a":1,"a":2}', b'{"b":0,"a":1,"b":2}', b'"\\ud800"', b'"\\ud83d\\ude00"', b"\xef\xbb\xbf1",
    b"[1,]", b"1 2", b"", b'"\xff"', b'"\xed\xa0\x80"', b"[" * 150 + b"]" * 150, b"[" * 300 + b"]" * 300,
    b"[" * 100_000, b"9" * 30, b"9" * 4_300, b"9" * 4_301, b"-" + b"9" * 4_301, b"1" * 4_400 + b".5",
    b"9223372036854775808", b"8.41e21", b"5e-324", b"2.2250738585072011e-308", b"0." + b"0" * 400 + b"1",
    '"é"'.encode("utf-16"), "1".encode("utf-32"), b"1\x00", b"'a'", b"1_0", b"/**/1", b"\x0c1", b'"\\x41"',
]  # fmt: skip


def same(one: Any, other: Any) -> bool:
    if type(one) is not type(other):
        return False
    if isinstance(one, float):
        return (one == other and math.copysign(1, one) == math.copysign(1, other)) or (
            one != one and other != other
        )
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[name], other[name]) for name in one)
    return bool(one == other)


def both_read(data: bytes | str) -> None:
    try:
        expected = json.loads(data)
    except (ValueError, RecursionError) as error:
        with pytest.raises(type(error)) as found:
            read_json(data)
        assert str(found.value) == str(error)
        return
    assert same(read_json(data), expected)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@given(value=VALUES)
def test_values_are_written_as_the_standard_library_writes_them(options: dict[str, Any], value: Any) -> None:
    assert json_writer(**options)(value) == json.dumps(value, **options)


@given(value=VALUES)
@example(value="\ud800")
@example(value={"\udfff": [1e-7, 1e22, -0.0, 2**70]})
@example(value=["\x7f\x85\u2028", "\x00\n"])
def test_lines_for_ourselves_hold_the_same_values(value: Any) -> None:
    written = json_bytes(value)
    assert b"\n" not in written
    assert same(json.loads(written), json.loads(json.dumps(value)))
    assert same(read_json(written), json.loads(json.dumps(value)))


def test_a_line_for_ourselves_may_be_deep() -> None:
    value: Any = 1
    for _ in range(400):
        value = [value]
    assert json.loads(json_bytes(value)) == value


def test_what_cannot_be_written_is_refused_and_the_next_value_is_written() -> None:
    write = json_writer()
    with pytest.raises(TypeError, match="not JSON serializable"):
        write({"a": [object()]})
    endless: list[object] = []
    endless.append(endless)
    with pytest.raises(RecursionError):
        write(endless)
    assert write({"a": [1]}) == '{"a": [1]}'


@pytest.mark.parametrize("data", ODD, ids=lambda data: repr(data[:24]))
def test_odd_texts_are_read_as_the_standard_library_reads_them(data: bytes) -> None:
    both_read(data)


@pytest.mark.parametrize(
    "text", ['"\ud800"', '{"a": "\udfff fine"}', "x\ud800", "\ud800", '{"\ud83d\ude00": 1}']
)
def test_half_a_surrogate_pair_is_read_as_the_standard_library_reads_it(text: str) -> None:
    both_read(text)


@pytest.mark.parametrize("value", [None, 1, ["1"], {}])
def test_what_is_no_text_is_refused_as_ever(value: Any) -> None:
    with pytest.raises(TypeError, match="must be str, bytes or bytearray"):
        read_json(value)


@given(value=VALUES, ascii=st.booleans())
def test_what_was_written_is_read(value: Any, ascii: bool) -> None:
    text = json.dumps(value, ensure_ascii=ascii)
    both_read(text)
    both_read(text.encode("utf-8", "surrogatepass"))


@given(st.integers(), st.integers(0, 10**30), st.integers(-400, 400))
@example(0, 1, -324)
def test_numbers_are_read_to_the_last_digit(whole: int, part: int, power: int) -> None:
    for text in (f"{whole}", f"{whole}.{part}", f"{whole}.{part}e{power}", f"{whole}E{power}"):
        both_read(text.encode())


@given(st.binary(max_size=12) | st.text('{}[]",:\\ua1-.eE0\n\x1f', max_size=12).map(str.encode))
def test_broken_texts_are_refused_in_the_same_words(data: bytes) -> None:
    both_read(data)


@given(VALUES, st.data())
def test_a_damaged_document_is_read_by_neither_or_alike(value: Any, data: st.DataObject) -> None:
    text = bytearray(json.dumps({"choices": [value]}).encode())
    for _ in range(data.draw(st.integers(1, 3))):
        text[data.draw(st.integers(0, len(text) - 1))] = data.draw(st.sampled_from(b'"\\{}[],:0 \x00\xff'))
    both_read(bytes(text))
