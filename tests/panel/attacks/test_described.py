"""The interface as it describes itself, fuzzed: no answer is a fault of the server, and each is as described."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from tests.panel.attacks.test_api import JUDGE, program
from tests.panel.visitors import Visitor

PATHS = [
    ("GET", "/api/rounds"),
    ("GET", "/api/ratings"),
    ("GET", "/api/openapi.json"),
    ("POST", "/api/judge"),
]
Described = tuple[Visitor, dict[str, str]]


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> Described:
    # No judge answers at this port: every text is refused or left unscored.
    judges = JUDGE.format(url="http://127.0.0.1:9/v1").replace(", api_key_env: TAPIR_KEY", "")
    return program(tmp_path_factory.mktemp("described"), judges)


@pytest.mark.parametrize("with_key", [True, False], ids=["with a key", "without one"])
@pytest.mark.parametrize("method, path", PATHS)
def test_no_request_is_answered_by_a_fault_or_otherwise_than_described(
    described: Described, method: str, path: str, with_key: bool
) -> None:
    import schemathesis

    visitor, key = described
    schema = schemathesis.openapi.from_dict(visitor.get("/api/openapi.json", headers=key).json())
    operation = schema[path][method]

    @given(case=operation.as_strategy())
    @settings(
        max_examples=40, deadline=None, derandomize=True, database=None, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    def ask(case: Any) -> None:
        arguments = case.as_transport_kwargs(
            base_url="http://localhost:8765", headers=key if with_key else {}
        )
        arguments.pop("cookies", None)
        answer = visitor.request(**arguments)
        assert answer.status_code < 500 or answer.status_code == 503, answer.text
        known = {*operation.definition.raw["responses"], "400"} if with_key else {"401", "405", "429"}
        assert str(answer.status_code) in known and (with_key or set(answer.json()) == {"error"})
        assert "/tmp/" not in answer.text and "Traceback" not in answer.text

    ask()
