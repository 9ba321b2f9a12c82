"""An answer: a reply as the gate gives it, with what it took and which model says that it answered."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from medjury.models._chat import ChatModel, Reply

# Anything else is no model's name, and may be a piece of the prompt.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,119}")
_LONGEST = 200  # signs of a name that is remembered
_UNREADABLE, NOT_TOLD = "unreadable-name", "not told"
DEPLOYMENTS = "azure"  # the kind of endpoint that knows deployments, not models
# A release: a day, a month or a number that a name ends in, or the word for the newest one.
_RELEASE = re.compile(
    r"[-@:](\d{4}-\d{2}-\d{2}|\d{8}|2\d(0[1-9]|1[0-2])|(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])|0\d{2}|latest)$"
)


def asked_name(model: ChatModel, reply: Reply) -> str:
    """The model that is asked for, as its endpoint knows it. Inside this process it is the one that answers, unless
    its answers were recorded elsewhere."""
    stated = model.identity.get("model", "")
    inside = model.host is None and not (model.recorded and stated)
    return readable_name(reply.model if inside else stated)


def is_deployment(model: ChatModel) -> bool:
    """Whether it is asked for by a name that a site has given it, which tells nothing of the model behind it."""
    return model.identity.get("kind") == DEPLOYMENTS


def readable_name(name: str) -> str:
    """The name that an endpoint reports, for tables and reports; it is a stranger's text, so only signs that names
    are made of are let through."""
    return (_known_name if len(name) <= _LONGEST else _checked_name)(name)


def _checked_name(name: str) -> str:
    name = name.strip()
    if not name:
        return NOT_TOLD
    return name if _NAME.fullmatch(name) else _UNREADABLE


_known_name = lru_cache(maxsize=256)(_checked_name)  # one endpoint says the same thousands of times


def same_model(asked: str, answered: str) -> bool:
    """Whether two names mean the same model: they are equal but for capitals, for a path before the name that only
    one of them has, and for a release at the end that only one of them has. Two releases are two models. A name
    that is not known contradicts none.

    >>> same_model("gpt-4o", "gpt-4o-2024-08-06"), same_model("gpt-4o-2024-11-20", "gpt-4o-2024-08-06")
    (True, False)
    """
    if NOT_TOLD in (asked, answered):
        return True
    one, two = asked.strip().casefold(), answered.strip().casefold()
    if ("/" in one) != ("/" in two):
        one, two = one.rpartition("/")[2], two.rpartition("/")[2]
    one, two = (name.removesuffix(":latest").removesuffix("-latest") for name in (one, two))
    return one == two or _RELEASE.sub("", one) == two or one == _RELEASE.sub("", two)


@dataclass(frozen=True, slots=True)
class Answer:
    """A reply and what it took. `cost` is what was paid now: 0 for a cached reply, None where the price is
    not known. `worth` is what the reply costs whoever paid for it, so that ways of judging can be compared.
    `key` is that of the call, under which the reply is stored; `asked` is the model that was asked for, and
    `answered` the one that says it answered ("not told" where the endpoint does not say). `was_read` where an
    earlier run had read it as the answer to its question, which was put in other words then."""

    reply: Reply
    cost: float | None
    from_cache: bool
    attempts: int
    worth: float | None
    key: str = ""
    asked: str = ""
    was_read: bool = False

    @property
    def answered(self) -> str:
        return readable_name(self.reply.model)
