"""JSON as the standard library writes and reads it, sign for sign and value for value, in less time.

The standard encoder is made anew for every text that it writes; here it is made once, and long texts are written by
a quicker one. Of two parsers the quicker one is asked first: what it takes means the same to both, and what it
refuses is asked of the standard one.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from json import encoder
from typing import Any

from pydantic_core import from_json, to_json

_LONG = 200  # signs; below this the standard encoder is as quick


def json_writer(
    *, ensure_ascii: bool = True, sort_keys: bool = False, separators: tuple[str, str] = (", ", ": ")
) -> Callable[[object], str]:
    """What writes values as `json.dumps` does with the same options. A value that holds itself is a
    `RecursionError`.

    >>> json_writer(separators=(",", ":"))({"score": 4, "why": None})
    '{"score":4,"why":null}'
    """
    plain = json.JSONEncoder(ensure_ascii=ensure_ascii, sort_keys=sort_keys, separators=separators)
    make = getattr(encoder, "c_make_encoder", None)
    if make is None:  # this Python has none that is compiled
        return plain.encode
    strings = encoder.encode_basestring_ascii if ensure_ascii else encoder.encode_basestring
    item, key = separators
    encode = make(None, plain.default, strings, None, key, item, sort_keys, False, True)
    join = "".join
    return lambda value: join(encode(value, 0))


def json_bytes(value: object) -> bytes:
    """JSON without spaces, in UTF-8: for lines that only we read again. Not sign for sign what the standard encoder
    writes, but the same value.

    >>> json_bytes({"score": 0.5, "why": None})
    b'{"score":0.5,"why":null}'
    """
    try:
        return to_json(value)
    except ValueError:  # half a surrogate pair: only an escape can stand for it
        return json.dumps(value, separators=(",", ":")).encode()


def quoted(text: str) -> bytes:
    """The text as a JSON string in UTF-8. Half a surrogate pair cannot be written so: `UnicodeEncodeError`.

    >>> quoted('He said "no".\\n')
    b'"He said \\\\"no\\\\".\\\\n"'
    """
    if len(text) < _LONG:
        return encoder.encode_basestring(text).encode()
    # As bytes: a text that is not ASCII would keep its UTF-8 beside itself as long as it lives.
    return to_json(text.encode())


def read_json(data: bytes | str) -> Any:
    """What `json.loads` reads here; its errors are that one's too.

    >>> read_json(b'{"score": 4}')
    {'score': 4}
    """
    try:
        return from_json(data)
    except (ValueError, TypeError):  # a text with half a surrogate pair is no text to the quicker one
        return json.loads(data)
