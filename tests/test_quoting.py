"""Texts as JSON: the keys of stored answers hang on every sign, so it must be the standard encoder's, always."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from medjury.quoting import quoted

MIXED = st.text(st.sampled_from('ab \n\r\t"\\\x00\x1f\x7f\x85\u2028é😀'))


@given(st.text(st.characters(exclude_categories=["Cs"])) | MIXED)
@example("long and plain, " * 20 + 'then one "sign" \\ and a line\n')
@example("long and plain, " * 20 + "\x7f\x08")
def test_a_text_is_written_as_the_standard_encoder_writes_it(text: str) -> None:
    assert quoted(text) == json.dumps(text, ensure_ascii=False).encode()


def test_half_a_surrogate_pair_is_refused() -> None:
    with pytest.raises(UnicodeEncodeError):
        quoted("a\ud800b")
