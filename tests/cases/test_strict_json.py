"""Strict JSON: the content as the standard parser reads it, or the complaint."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from medjury.intake._files.json import JsonError, parse_json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@given(VALUES, st.booleans())
def test_content_is_read_as_it_was_written(value: object, in_ascii: bool) -> None:
    written = json.dumps(value, ensure_ascii=in_ascii).encode("utf-8", "replace")
    assert parse_json(written) == json.loads(written)


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (b'\xef\xbb\xbf{"id": 1}', "is not valid JSON (column 1)"),
        (b'{"id": 1} {', "is not valid JSON (column 11)"),
        (b'{"id":\n 1,}', "is not valid JSON (line 2, column 4)"),
        (b"", "is not valid JSON (column 1)"),
        (b'{"id": 1, "texts": {"a": 1, "a": 2}}', "has a field twice in one object; keep the right one"),
        (b'{"id": NaN}', "holds NaN or Infinity, which is not JSON"),
        (b'{"id": -Infinity}', "holds NaN or Infinity, which is not JSON"),
        (b'{"id": ' + b"9" * 5_000 + b"}", "is not valid JSON"),
        (b"[" * 100_000, "is nested deeper than 100 levels"),
        (b'{"id": "\xff"}', "is not valid UTF-8; save the file as UTF-8"),
    ],
)
def test_what_is_wrong_is_told_and_the_next_line_is_read(data: bytes, complaint: str) -> None:
    with pytest.raises(JsonError) as refused:
        parse_json(data)
    assert str(refused.value) == complaint
    assert parse_json(b'{"id": 1}\x0c\n') == {"id": 1}
