"""The key of a request is the hash of one stated text, whatever is done to make it fast."""

from __future__ import annotations

import hashlib
import json

from hypothesis import given
from hypothesis import strategies as st

from medjury.models import Message, Request
from medjury.models._gate.cache import request_key
from medjury.models._openai.dialect import Dialect, build_body

TEXTS = st.text(max_size=60)
REQUESTS = st.builds(
    Request,
    messages=st.lists(
        st.builds(Message, st.sampled_from(["system", "user", "assistant"]), TEXTS), min_size=1, max_size=4
    ).map(tuple),
    schema=st.none() | st.dictionaries(TEXTS, TEXTS, max_size=3),
    max_tokens=st.integers(1, 9999),
    temperature=st.none() | st.floats(0, 2),
    seed=st.none() | st.integers(0, 9),
)


@given(REQUESTS, st.dictionaries(TEXTS, TEXTS, max_size=3), st.integers(0, 5))
def test_a_key_is_the_hash_of_the_request_as_json_and_its_texts(
    request: Request, identity: dict[str, str], repeat: int
) -> None:
    parts = {
        "model": identity,
        "roles": [[message.role, len(message.content)] for message in request.messages],
        "schema": None if request.schema is None else json.dumps(request.schema, separators=(",", ":")),
        "max_tokens": request.max_tokens,
        "temperature": request.temperature,
        "seed": request.seed,
        "repeat": repeat,
    }
    digest = hashlib.sha256(json.dumps(parts, sort_keys=True, separators=(",", ":")).encode())
    for message in request.messages:
        digest.update(message.content.encode("utf-8", "surrogatepass"))
    assert request_key(identity, request, repeat) == digest.hexdigest()


@given(REQUESTS, st.sampled_from(["json_schema", "text"]))
def test_the_body_is_the_request_as_json(request: Request, form: str) -> None:
    dialect = (
        Dialect(form="json_schema")
        if form == "json_schema" or request.schema is not None
        else Dialect(form="text")
    )
    body = json.loads(build_body("a-model", request, dialect, {"top_p": 0.5}))
    assert body["messages"] == [{"role": each.role, "content": each.content} for each in request.messages]
    assert (body["model"], body["max_tokens"], body["top_p"]) == ("a-model", request.max_tokens, 0.5)
    assert body.get("temperature") == request.temperature and body.get("seed") == request.seed
    if request.schema is None:
        assert "response_format" not in body
    else:
        assert body["response_format"]["json_schema"]["schema"] == request.schema
