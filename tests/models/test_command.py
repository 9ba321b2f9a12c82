"""`medjury models`: list, prices, pull, check."""

from __future__ import annotations

import json

import pytest
from tests.loopback import LoopbackServer
from tests.models.samples import KEY, VARIABLE

from medjury.cli import main


def test_list_names_every_kind_and_its_options(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "list"]) == 0
    out = capsys.readouterr().out
    assert "url (needed)" in out and "medjury[anthropic]" in out and "weights are here" in out


def test_prices_are_shown_with_their_date(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "prices"]) == 0
    assert "as of 20" in capsys.readouterr().out
    assert main(["models", "prices", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["models"]["gpt-4o"]["input"] == 2.5


def test_pull_does_nothing_where_the_weights_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "pull"]) == 0
    assert "already at" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("rejects", "words"),
    [((), "accepts a JSON schema itself"), (("response_format",), "spelled out in the prompt")],
)
def test_check_says_what_an_endpoint_can_do(
    rejects: tuple[str, ...], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with LoopbackServer(rejects=rejects, api_key=KEY) as server:
        command = ["models", "check", "--url", server.base_url, "--model", "m", "--api-key-env", VARIABLE]
        assert main(command) == 0
    out = capsys.readouterr().out
    assert words in out and "follows the schema" in out and KEY not in out


@pytest.mark.parametrize(
    ("behaviour", "words"),
    [
        ("401", "No key was sent"),
        ("html", "not JSON"),
        ("ok:I would say winter.", "does not follow the schema"),
        ("length", "was cut off at 1024 tokens; raise max_tokens"),
    ],
)
def test_check_says_what_is_wrong(behaviour: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    with LoopbackServer(behaviour) as server:
        assert main(["models", "check", "--url", server.base_url, "--model", "m"]) == 1
    assert words in capsys.readouterr().out


def test_check_sends_nothing_to_another_host_unless_it_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "check", "--url", "https://gateway.example/v1", "--model", "m"]) == 2
    assert "--allow-host gateway.example" in capsys.readouterr().err
    assert main(["models", "check", "--kind", "embedded", "--model", "m"]) == 2
    assert "--model does not go with --kind embedded" in capsys.readouterr().err
