"""Texts as JSON: the keys of stored answers hang on every sign, so it must be the standard encoder's, always."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from medjury.json_text import quoted

MIXED = st.text(st.sampled_from('ab \n\r\t"\\\x00\x1f\x7f\x85\u2028é😀'))


@given(st.text(st.characters(exclude_categories=["Cs"])) | MIXED | MIXED.map(lambda text: text + "a" * 200))
@example("long and plain, " * 20 + 'then one "sign" \\ and a line\n')
@example("long and plain, " * 20 + "\x7f\x08")
def test_a_text_is_written_as_the_standard_encoder_writes_it(text: str) -> None:
    assert quoted(text) == json.dumps(text, ensure_ascii=False).encode()


def test_every_sign_is_written_as_the_standard_encoder_writes_it() -> None:
    signs = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    for first in range(0, len(signs), 1_000):
        text = "".join(signs[first : first + 1_000])
        assert quoted(text) == json.dumps(text, ensure_ascii=False).encode()


@pytest.mark.parametrize("text", ["a\ud800b", "a" * 300 + "\ud800"])
def test_half_a_surrogate_pair_is_refused(text: str) -> None:
    with pytest.raises(UnicodeEncodeError):
        quoted(text)
